"""The privacy of the rounds of Set Cover Learners, whatever they cover with: what they cost, and the budget of each.

**The worst-case game** of the Set Cover Learner bounds delta(epsilon) from above, and calibrates the budget of a round.
Two samples differ in one example x (present in S only) and, under replacement, in one example x' (present in S' only).
Fix the noise, which does not depend on the data. As long as x or x' is alive the scores of a hypothesis h differ by
q_S - q_S' between min(D_u, D_v) and max(D_u, D_v), where q = min(u, v) and

    D_u = [x is to be covered] ([h covers x] - 1/k) - the same for x',
    D_v = -[x must not be covered] [h covers x] + the same for x';

once both are deleted the executions coincide. Let F_j(c) be the greatest value of sum (P - c Q)_+ that nature can
reach in j more rounds. A round gives masses p_i and shifts s_i to kinds of hypotheses, and

    F_j(c) = sup sum_i p_i F_(j-1)(c e^(-a s_i) / N),    N = sum_i p_i e^(-a s_i),    F_0(c) = (1 - c)_+.

F is convex, so the ends of the ranges of s_i are enough; for a given N the masses solve a linear program with two
constraints, so two kinds are enough. Of two with the masses p and 1 - p, which are q and 1 - q in the other execution,

    p F(c q/p) + (1 - p) F(c (1 - q)/(1 - p)),    q = p r/(1 + p (r - 1)),    r = e^(-a (s_1 - s_2)),

is convex in (p, q), and the curve of q lies in the triangles between its tangents at neighbouring ones of some p and
its chords. So the value is at most the greatest at their corners: what is given is an upper bound, off by the square of
the distance of the p. F is kept on a grid of ln c, with interpolation linear in c, which for a convex function errs
upwards as well. Rounding is covered by a relative 1e-9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from dpaudit.contract import Domain, InputError, Pair, Panel, Picture, Relation, Shape, Supremum

from ..arrays import Floats
from ..bisection import last
from ..mechanisms.composition import Cost, largest_share
from ..parameters import check_integer, check_positive, check_probability


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
    # Rounded down: rounding in the bisection must not spend more than epsilon.
    most = epsilon * (1 - 1e-12)
    a = last(lambda a: 2 * (a * rounds / k + math.expm1(a) * y) <= most, 0.0, epsilon, 60)
    # Both are proved, so that the greater of them may be spent.
    return max(2 * a, composed_share(rounds, epsilon, delta))


def cost_of_share(k: int, rounds: int, share: float, delta: float) -> float:
    """Return an epsilon for which `rounds` rounds with eps_hat = `share` are (epsilon, delta)-private; inf if none.

    By the analysis of `noiseless_share`, which takes any noise that does not depend on the sample: with a =
    eps_hat/2 it is 2 e_1, e_1 = a J/k + (e^a - 1) ln(e (1 + e^(e_1))/delta). The right side grows with a slope below
    e^a - 1 in e_1, so that iteration from e_1 = 0 rises to the solution if e^a < 2.
    """
    a = share / 2
    e = 0.0
    # The iteration below has a slope of e^a - 1 and would not converge.
    if math.expm1(a) >= 1:
        return math.inf
    # It rises to the fixed point; 200 steps end within rounding unless e^a is close to 2.
    for _ in range(200):
        e = a * rounds / k + math.expm1(a) * (1 + math.log1p(math.exp(e)) - math.log(delta))
    # Rounded up: the iteration rises to the solution and ends below it.
    return 2 * e * (1 + 1e-9)


@lru_cache(maxsize=64)
def composed_share(rounds: int, epsilon: float, delta: float) -> float:
    """Return an eps_hat for which `rounds` eps_hat-private calls are (epsilon, delta)-private, rounded down."""
    share = largest_share(Fraction(epsilon), delta, lambda each: [Cost(each)] * rounds)
    # Rounded down, as the share was found in rational numbers.
    return float(share) * (1 - 1e-12)


def choice_cost(rounds: int, k: int, share: float) -> float:
    """Return (e/2) max{J (1 + 1/k), J + 1}: the pure cost of J rounds with parameter e, whatever n and delta.

    **Theorem.** In each of J rounds choose a set l with probability proportional to mu(l) exp(a q(l)), a = e/2,
    q = min{c_0 - b/k, -c_1}, where l covers c_0 of the R remaining examples to be covered (label 0) and c_1 of the
    others, b = R + w with noise w that does not depend on the sample, or without noise; then delete what l covers.
    Under replacement of one example the sequence of choices is a max{J (1 + 1/k), J + 1}-private. For J >= k and
    w = 0 that is the supremum over n, not attained, if some set covers a point x and another one does not.

    The proof is in docs/research/results.md: the loss of a round is at most e/2 times the range of the changes of the
    scores.
    """
    return share / 2 * max(rounds * (1 + 1 / k), rounds + 1)


def pure_share(k: int, rounds: int, epsilon: float) -> float:
    """Return the greatest e for which `choice_cost` is at most epsilon: 2 epsilon / max{J + 1, J (1 + 1/k)}.

    Basic composition allows epsilon/J; this is 2 k/(k + 1) times that for J >= k: 1, 1.33, 1.5, 1.6, ... for k = 1, 2,
    3, 4. It is rounded down by a relative 1e-15 or so.
    """
    # The last factor rounds down: the cost of the share must stay below epsilon.
    return 2 * epsilon / max(rounds + 1, rounds * (1 + 1 / k)) * (1 - 2.0**-50)


def choice_supremum(domain: Domain, rounds: int, k: int, share: float, covered: int) -> Supremum:
    """Return the supremum `choice_cost` for J >= k, with t copies of a point of the label `covered` beside another."""
    proof = (
        "theorem in docs/research/results.md: examples of unlike labels cost (e/2) (1 + 1/k) in every round, of like "
        "labels e/2 and once e; t copies of an example to be covered beside one of the other label reach the first"
    )
    x = domain.points()[0]

    def ray(t: int) -> Pair:
        left = domain.sample([x, x], [covered, 1 - covered], [t, 1])
        return Pair(left, domain.sample([x], [covered], [t + 1]), "one example against t of the other label")

    return Supremum(choice_cost(rounds, k, share), proof, ray)


# Parameters of the smallest instances, whose sequences of sets can be listed.
TINY = {"k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}
# Parameters of further instances whose utility is audited, for alpha = 0.2 and beta = 0.1.
AUDITED = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05}
VARIANTS = ("paper", "composition", "noiseless")


def rounds_for(k: int, alpha: float) -> int:
    """Return J = ceil(2 k ln(2/alpha)), at least 2 as alpha < 1: (1 - 1/(2 k))^J <= alpha/2."""
    check_integer("k", k, 1)
    check_probability("alpha", alpha)
    return math.ceil(2 * k * math.log(2 / alpha))


Kind = tuple[str, str]

COVER = "cover"
AVOID = "avoid"
NONE = ""
# Labels of x and x': on the side to be covered, on the side not to be covered, or no such example.
KINDS: dict[Relation, tuple[Kind, ...]] = {
    Relation.ADD_REMOVE_ONE: ((COVER, NONE), (NONE, COVER), (AVOID, NONE), (NONE, AVOID)),
    Relation.REPLACE_ONE: tuple((one, two) for one in (COVER, AVOID) for two in (COVER, AVOID)),
}

# The parts of [0, 1] at whose ends tangents touch. With twice as many the bound on delta falls by less than 1 %.
SLICES = 32
SAFETY = 1e-9


Atom = tuple[float, tuple[bool, bool]]
"""A kind of hypotheses in a round: the shift of their score, and who is alive afterwards."""


def _atoms(kind: Kind, alive: tuple[bool, bool], k: int) -> list[Atom]:
    """Return the kinds of hypotheses at the ends of their ranges of shifts."""
    found = []
    # Whether the hypothesis covers x, and x'; a point that is gone is not covered.
    for covers in product(*((False, True) if here else (False,) for here in alive)):
        u = v = 0.0
        for sign, label, here, hit in zip((1, -1), kind, alive, covers, strict=True):
            if here and label == COVER:
                # The part c_h - b/k of the score: b counts the example too.
                u += sign * (hit - 1 / k)
            elif here and label == AVOID:
                v -= sign * hit
        after = (alive[0] and not covers[0], alive[1] and not covers[1])
        # The score min(u, v) moves by something between the moves of its parts; F is convex, so the two ends suffice.
        found += [(shift, after) for shift in sorted({u, v})]
    return found


@dataclass(frozen=True)
class _Grid:
    """The functions F on ln c = low + step i, i < size."""

    low: float
    step: float
    size: int

    @property
    def values(self) -> Floats:
        return np.asarray(self.low + self.step * np.arange(self.size))

    def shifted(self, table: Floats, moves: Floats) -> Floats:
        """Return F(c e^m) for every move m, shape (moves, size), never below the truth: 1 left of the grid."""
        whole = np.floor(moves / self.step)
        rest = moves - whole * self.step
        share = (np.expm1(rest) / math.expm1(self.step))[:, None]
        # Right of the grid the last value holds, since F does not grow. The ends are as long as the longest move.
        steps = whole.astype(np.int64)
        beyond = int(np.abs(steps).max()) + 1
        padded = np.concatenate([np.ones(beyond), table, np.full(beyond, table[-1])])
        rows = np.lib.stride_tricks.sliding_window_view(padded, self.size + 1)[beyond + steps]
        return np.asarray((1 - share) * rows[:, :-1] + share * rows[:, 1:])


def _round(atoms: list[Atom], tables: dict[tuple[bool, bool], Floats], rate: float, grid: _Grid) -> Floats:
    """Return a bound on the value of one round over all pairs of kinds and all masses."""
    # All mass on one kind: the executions move alike, and only who is alive changes.
    best = np.max([tables[alive] for _, alive in atoms], axis=0)
    for (shift, alive), (other, left) in combinations(atoms, 2):
        if shift == other:
            # N = e^(-a s): the round moves nothing, and the better of the two alone is as good as any mixture.
            continue
        masses, one, two = _corners(rate * (other - shift))
        value = masses[:, None] * grid.shifted(tables[alive], one)
        value += (1 - masses)[:, None] * grid.shifted(tables[left], two)
        best = np.maximum(best, value.max(axis=0))
    return np.asarray(best)


@lru_cache(maxsize=1024)
def _corners(log_ratio: float) -> tuple[Floats, Floats, Floats]:
    """Return p, ln(q/p) and ln((1 - q)/(1 - p)) at the corners of the triangles; `log_ratio` is ln r.

    On the curve q/p = r/u and (1 - q)/(1 - p) = 1/u with u = 1 + p (r - 1). It is a hyperbola, so tangents at p_0 and
    p_1 meet where p = (u_0 p_1 + u_1 p_0)/(u_0 + u_1) and q = (u_0 q_0 + u_1 q_1)/(u_0 + u_1).
    """
    p = np.arange(SLICES + 1) / SLICES
    u = 1 + p * math.expm1(log_ratio)
    q = p * math.exp(log_ratio) / u
    both = u[:-1] + u[1:]
    met = (u[:-1] * p[1:] + u[1:] * p[:-1]) / both
    image = (u[:-1] * q[:-1] + u[1:] * q[1:]) / both
    one = np.concatenate([log_ratio - np.log(u), np.log(image / met)])
    two = np.concatenate([-np.log(u), np.log((1 - image) / (1 - met))])
    return np.concatenate([p, met]), one, two


def _check(k: int, rounds: int, **positive: float) -> None:
    check_integer("k", k, 1)
    check_integer("rounds", rounds, 1)
    for name, value in positive.items():
        check_positive(name, value)


def _kinds(relation: Relation) -> tuple[Kind, ...]:
    if relation not in KINDS:
        raise InputError(f"relation must be replace-one or add-remove-one, got {relation.value}")
    return KINDS[relation]


@lru_cache(maxsize=256)
def _curve(k: int, rounds: int, rate: float, reach: float, kind: Kind) -> tuple[_Grid, Floats]:
    """Return F for one kind of pair, on a grid of ln c in [-reach, reach]."""
    # F falls by a factor of about e for each e^a - 1 of ln c: an eighth of that is a fine step.
    step = min(rate / 8, reach / 200)
    grid = _Grid(-reach, step, math.ceil(2 * reach / step) + 1)
    # An example that does not exist is never alive.
    start = (kind[0] != NONE, kind[1] != NONE)
    states = [(one, two) for one, two in product((True, False), repeat=2) if one <= start[0] and two <= start[1]]
    # F_0(c) = (1 - c)_+: with no round left the outputs are alike.
    tables = dict.fromkeys(states, np.maximum(-np.expm1(grid.values), 0.0))
    for _ in range(rounds):
        # Backwards: F of a round from that of the rounds after it, for everybody who may be alive.
        tables = {state: _round(_atoms(kind, state, k), tables, rate, grid) for state in states}
    return grid, tables[start] * (1 + SAFETY)


def _kind_delta(k: int, rounds: int, rate: float, epsilon: float, kind: Kind) -> float:
    grid, curve = _curve(k, rounds, rate, 1.5 * epsilon, kind)
    # The first grid point at or below epsilon: delta does not grow.
    return float(curve[int((epsilon - grid.low) / grid.step)])


def game_delta(k: int, rounds: int, rate: float, epsilon: float, relation: Relation = Relation.REPLACE_ONE) -> float:
    """Return the game's upper bound on delta(epsilon) for `rounds` rounds with weights exp(rate q)."""
    _check(k, rounds, rate=rate, epsilon=epsilon)
    # The kind of pair is the adversary's choice.
    return max(_kind_delta(k, rounds, rate, epsilon, kind) for kind in _kinds(relation))


def game_epsilon(
    k: int, rounds: int, rate: float, delta: float, reach: float = 1.0, relation: Relation = Relation.REPLACE_ONE
) -> float:
    """Return the least epsilon on the grid up to `reach` at which the game's delta is at most `delta`; inf if none."""
    check_probability("delta", delta)
    epsilons, deltas = game_curve(k, rounds, rate, reach, relation)
    good = np.flatnonzero(deltas <= delta)
    return float(epsilons[good[0]]) if len(good) else math.inf


def game_curve(
    k: int, rounds: int, rate: float, reach: float = 1.0, relation: Relation = Relation.REPLACE_ONE
) -> tuple[Floats, Floats]:
    """Return a grid of epsilons from 0 to somewhat beyond `reach`, and the game's bound on delta at each."""
    _check(k, rounds, rate=rate, reach=reach)
    played = [_curve(k, rounds, rate, 1.5 * reach, kind) for kind in _kinds(relation)]
    grid = played[0][0]
    curve = np.max([values for _, values in played], axis=0)
    kept = grid.values >= 0
    return grid.values[kept], curve[kept]


def calibrate(k: int, rounds: int, epsilon: float, delta: float, relation: Relation = Relation.REPLACE_ONE) -> float:
    """Return the largest eps_hat (weights exp(eps_hat q / 2)), to 1 %, for which the game's bound meets the claim.

    It is proved to be enough for (epsilon, delta), and never less than eps_hat = epsilon / rounds, which basic
    composition allows.
    """
    _check(k, rounds, epsilon=epsilon)
    check_probability("delta", delta)
    composed = epsilon / rounds / 2
    low = composed
    high = 2 * composed
    while high < 4 * epsilon and game_delta(k, rounds, high, epsilon, relation) <= delta:
        low = high
        high = 2 * high
    # Bisect on the kind that is worst at the upper end, then step down until every kind agrees.
    worst = max(_kinds(relation), key=lambda kind: _kind_delta(k, rounds, high, epsilon, kind))
    # The answer is to 1 %, and a bisection step costs a whole game.
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        if _kind_delta(k, rounds, middle, epsilon, worst) <= delta:
            low = middle
        else:
            high = middle
    while low > composed and game_delta(k, rounds, low, epsilon, relation) > delta:
        # The bisection looked at one kind of pair; steps of half a per cent down until all kinds agree.
        low = max(composed, low / 1.005)
    return 2 * low


# The number of points that a curve is drawn through.
POINTS = 60


def calibration_picture(k: int, rounds: int, epsilon: float, delta: float) -> Picture:
    """Return ln-scaled curves delta(epsilon) of the game at the paper's eps_hat and at the calibrated one.

    The claim (epsilon, delta) is the one that both are to meet, under replacement.
    """
    printed = paper_share(epsilon, delta)
    found = calibrate(k, rounds, epsilon, delta)
    low = math.log10(delta) - 3
    shapes = [
        _drawn(k, rounds, printed, epsilon, low, "blue", f"the paper's eps_hat = {printed:.4f} (Claim 3.4)"),
        _drawn(k, rounds, found, epsilon, low, "purple", f"calibrated eps_hat = {found:.4f}"),
        Shape("points", ((epsilon, math.log10(delta)),), "orange", marker="square", label="the claim"),
    ]
    caption = (
        f"Calibration by the worst-case game, k = {k}, {rounds} rounds, one example replaced: the largest "
        f"eps_hat that meets epsilon = {epsilon:g}, delta = {delta:g} is {found / printed:.1f} times the paper's, so "
        f"that the paper's sample is about as many times too large. The sample plays no part."
    )
    axes = ("epsilon", "log10 of delta")
    return Picture((Panel(caption, (0.0, 1.2 * epsilon), (low, 0.0), tuple(shapes), *axes, equal=False),))


def _drawn(k: int, rounds: int, share: float, epsilon: float, low: float, tone: str, label: str) -> Shape:
    """Return delta(epsilon) for one eps_hat, down to 10^low."""
    epsilons, deltas = game_curve(k, rounds, share / 2, epsilon)
    logs: Floats = np.log10(np.maximum(deltas, 10.0 ** (low - 1)))
    shown = np.flatnonzero((logs > low - 0.5) & (epsilons <= 1.2 * epsilon))
    chosen = shown[np.unique(np.linspace(0, len(shown) - 1, POINTS).round().astype(int))]
    points = tuple((float(e), float(d)) for e, d in zip(epsilons[chosen], logs[chosen], strict=True))
    return Shape("line", points, tone, label=label)
