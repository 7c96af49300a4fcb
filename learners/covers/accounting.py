"""The privacy of the rounds of Set Cover Learners, whatever they cover with: what they cost, and the budget of each."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dpaudit.contract import Domain, Pair, Supremum

from ..bisection import last
from ..mechanisms.composition import Cost, largest_share
from ..parameters import check_integer, check_probability


def paper_share(epsilon: float, delta: float) -> float:
    """Return eps_hat = epsilon/(2 ln(e/delta)), KMMS Claim 3.4."""
    return epsilon / (2 * (1 - math.log(delta)))


@lru_cache(maxsize=64)
def noiseless_share(k: int, rounds: int, epsilon: float, delta: float) -> float:
    """Return an eps_hat per round for which the learner without noise is (epsilon, delta)-private, by proof.

    Let a = eps_hat/2 and S = S' plus one example x. For h_1 .. h_t up to the first that covers x the ratio of the
    probabilities of a round is e^(a (q_S - q_S')) Z_S'/Z_S; afterwards the executions coincide.

    x to be covered: scores of hypotheses covering x move by [0, 1 - 1/k], others by [-1/k, 0]. So Z_S'/Z_S <= e^(a/k)
    and M(S) <= e^(a J/k + a) M(S'). The other way, Z_S/Z_S' <= 1 + p (e^a - 1), p the probability that the round covers
    x on S'; the sum of p over rounds up to the first covering one exceeds y >= 1 with probability at most e^(1 - y).
    So M(S') <= e^(a J/k + (e^a - 1) y) M(S) + e^(1 - y).

    x not to be covered: scores of hypotheses covering x move by [-1, 0], others by 0: M(S') <= e^a M(S) and
    M(S) <= e^((e^a - 1) y) M(S') + e^(1 - y).

    Hence adding or removing an example costs (e1, d1), e1 = a J/k + (e^a - 1) ln(e/d1), and replacing one costs
    (2 e1, (1 + e^e1) d1). With 2 e1 = epsilon, d1 = delta/(1 + e^(epsilon/2)). The answer is the greater of this
    eps_hat and that of composition.
    """
    y = 1 + math.log1p(math.exp(epsilon / 2)) - math.log(delta)
    most = epsilon * (1 - 1e-12)
    a = last(lambda a: 2 * (a * rounds / k + math.expm1(a) * y) <= most, 0.0, epsilon, 60)
    return max(2 * a, composed_share(rounds, epsilon, delta))


def cost_of_share(k: int, rounds: int, share: float, delta: float) -> float:
    """Return an epsilon for which `rounds` rounds with eps_hat = `share` are (epsilon, delta)-private; inf if none.

    By the analysis of `noiseless_share`, which takes any noise that does not depend on the sample: with a =
    eps_hat/2 it is 2 e_1, e_1 = a J/k + (e^a - 1) ln(e (1 + e^(e_1))/delta). The right side grows with a slope below
    e^a - 1 in e_1, so that iteration from e_1 = 0 rises to the solution if e^a < 2.
    """
    a, e = share / 2, 0.0
    if math.expm1(a) >= 1:
        return math.inf
    for _ in range(200):
        e = a * rounds / k + math.expm1(a) * (1 + math.log1p(math.exp(e)) - math.log(delta))
    return 2 * e * (1 + 1e-9)


@lru_cache(maxsize=64)
def composed_share(rounds: int, epsilon: float, delta: float) -> float:
    """Return an eps_hat for which `rounds` eps_hat-private calls are (epsilon, delta)-private, rounded down."""
    share = largest_share(Fraction(epsilon), delta, lambda each: [Cost(each)] * rounds)
    return float(share) * (1 - 1e-12)


def choice_cost(rounds: int, k: int, share: float) -> float:
    """Return (e/2) max{J (1 + 1/k), J + 1}: the pure cost of J rounds with parameter e, whatever n and delta.

    **Theorem.** In each of J rounds choose a set l with probability proportional to mu(l) exp(a q(l)), a = e/2,
    q = min{c_0 - b/k, -c_1}, where l covers c_0 of the R remaining examples to be covered (label 0) and c_1 of the
    others, b = R + w with noise w that does not depend on the sample, or without noise; then delete what l covers.
    Under replacement of one example the sequence of choices is a max{J (1 + 1/k), J + 1}-private. For J >= k and
    w = 0 that is the supremum over n, not attained, if some set covers a point x and another one does not.

    The proof is in docs/results.md: the loss of a round is at most e/2 times the range of the changes of the scores.
    """
    return share / 2 * max(rounds * (1 + 1 / k), rounds + 1)


def pure_share(k: int, rounds: int, epsilon: float) -> float:
    """Return the greatest e for which `choice_cost` is at most epsilon: 2 epsilon / max{J + 1, J (1 + 1/k)}.

    Basic composition allows epsilon/J; this is 2 k/(k + 1) times that for J >= k: 1, 1.33, 1.5, 1.6, ... for k = 1, 2,
    3, 4. It is rounded down by a relative 1e-15 or so.
    """
    return 2 * epsilon / max(rounds + 1, rounds * (1 + 1 / k)) * (1 - 2.0**-50)


def choice_supremum(domain: Domain, rounds: int, k: int, share: float, covered: int) -> Supremum:
    """Return the supremum `choice_cost` for J >= k, with t copies of a point of the label `covered` beside another."""
    proof = (
        "theorem in docs/results.md: examples of unlike labels cost (e/2) (1 + 1/k) in every round, of like "
        "labels e/2 and once e; t copies of an example to be covered beside one of the other label reach the first"
    )
    x = domain.points()[0]

    def ray(t: int) -> Pair:
        left = domain.sample([x, x], [covered, 1 - covered], [t, 1])
        return Pair(left, domain.sample([x], [covered], [t + 1]), "one example against t of the other label")

    return Supremum(choice_cost(rounds, k, share), proof, ray)


AUDITED = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05}
"""Parameters of further instances whose utility is audited, for alpha = 0.2 and beta = 0.1."""
VARIANTS = ("paper", "composition", "noiseless")


def rounds_for(k: int, alpha: float) -> int:
    """Return J = ceil(2 k ln(2/alpha)), at least 2 as alpha < 1: (1 - 1/(2 k))^J <= alpha/2."""
    check_integer("k", k, 1)
    check_probability("alpha", alpha)
    return math.ceil(2 * k * math.log(2 / alpha))
