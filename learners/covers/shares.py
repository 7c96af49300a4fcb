"""The privacy that a round of the Set Cover Learner may spend, by proof."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from learners.mechanisms.composition import Cost, largest_share

__all__ = ["composed_share", "noiseless_share", "paper_share"]


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
    low, high = 0.0, epsilon
    for _ in range(60):
        a = (low + high) / 2
        low, high = (a, high) if 2 * (a * rounds / k + math.expm1(a) * y) <= epsilon * (1 - 1e-12) else (low, a)
    return max(2 * low, composed_share(rounds, epsilon, delta))


@lru_cache(maxsize=64)
def composed_share(rounds: int, epsilon: float, delta: float) -> float:
    """Return an eps_hat for which `rounds` eps_hat-private calls are (epsilon, delta)-private, rounded down."""
    share = largest_share(Fraction(epsilon), delta, lambda each: [Cost(each)] * rounds)
    return float(share) * (1 - 1e-12)
