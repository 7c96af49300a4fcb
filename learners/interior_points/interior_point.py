"""The interior point problem: find a point between the least and the greatest one of the data.

Private solvers behind one interface, for the reductions that call them, and the learners that are one call of a solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpaudit.contract import (
    CaseFamily,
    Distribution,
    InputError,
    Instance,
    Law,
    Pair,
    PrivacyClaim,
    Sample,
    Supremum,
    WorstFailure,
)

from ..arrays import Floats, Integers
from ..citations import BMNS, OURS
from ..domains import moving_points
from ..finite.counting import SOLUTION, ClassLearner, as_codes, solution_utility
from ..mechanisms.composition import Cost
from ..mechanisms.log_laws import check_size
from ..mechanisms.rec_concave import BASE, RecConcave
from ..mechanisms.selections import selections_failure
from ..mechanisms.steps import Multiset, Steps, interior_scores, multiset
from ..mechanisms.tree_log import TreeLog
from ..parameters import Built, check_choice, check_integer, check_law, check_parameters, check_probability, check_run
from ..points.concepts import Threshold, Thresholds

VARIANTS = ("exponential", "rec-concave", "tree-log")
# A point, the two points of a peak, and another point, of a case on which RecConcave needs many examples; and the share
# of the peak's height that the outer two keep.
PEAK = (31, 36, 37, 40)
BESIDE = 0.76
# No sampler lists the domain, so that towers of log* are within reach; beyond, integers get slow. From 4,300 digits on,
# 2^14284, Python does not write them, and no finding that quotes them is made.
LARGEST = 2 ** (2**14)
# Of RecConcave's failure rate: widths that have at most this probability together count as failures.
SKIPPED = 1e-6
_WORST = (
    "two points of the data have the scores n - g and g at least, 0 < g <= n/2, and exp(g epsilon/2) + exp((n - g) "
    "epsilon/2) is least for g = n/2; all of the domain but two points is outside then"
)


@dataclass(frozen=True)
class ExponentialSolver:
    """The exponential mechanism with weights exp(epsilon q / 2), q(x) = min(#{x_i <= x}, #{x_i >= x}); pure.

    q has sensitivity 1 and a maximum of at least n/2; points outside of the data have q = 0 and are returned with
    probability at most size e^(-epsilon n / 4).

    Positive controls restrict the scores, which are `eligible`'s value for the scores and the points.
    """

    size: int
    epsilon: Fraction
    eligible: Callable[[Steps, Sequence[int]], Steps] | None = None

    @property
    def cost(self) -> Cost:
        """(epsilon, 0)."""
        return Cost(self.epsilon)

    @property
    def rate(self) -> float:
        """The inverse temperature."""
        return float(self.epsilon) / 2

    def scores(self, points: Sequence[int], counts: Sequence[int]) -> Steps:
        """Return q, restricted to what may be returned."""
        whole = interior_scores(points, counts, self.size)
        if self.eligible is None:
            return whole
        return self.eligible(whole, points)

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the points found by `size` independent calls."""
        return self.scores(points, counts).draw_exponential(self.rate, rng, size)

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the log-probabilities of 0 .. size - 1 and a bound on their error."""
        check_size(self.size)
        return self.scores(points, counts).log_exponential(self.rate, self.size)

    def points_needed(self, beta: float) -> int:
        """Return ceil((4/epsilon) ln(size/beta)): enough for an interior point with probability 1 - beta."""
        return math.ceil(4 / float(self.epsilon) * (math.log(self.size) - math.log(beta)))


@dataclass(frozen=True)
class RecConcaveSolver:
    """RecConcave on q with the promise n/2, which q keeps at the median of any data."""

    concave: RecConcave

    @property
    def cost(self) -> Cost:
        """The guarantee of RecConcave's calls."""
        return self.concave.cost

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the points found by `size` independent calls."""
        return self.concave.draw(interior_scores(points, counts, self.concave.top + 1), rng, size)

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the log-probabilities of 0 .. size - 1 and a bound on their error."""
        return self.concave.log_law(interior_scores(points, counts, self.concave.top + 1))

    def points_needed(self, beta: float) -> int:
        """Return twice the promise needed."""
        return math.ceil(2 * self.concave.promise_needed(beta))


Solver = ExponentialSolver | RecConcaveSolver | TreeLog
"""Finds an interior point of n points of {0 .. size - 1}, given as ascending distinct points and counts."""


def check_variant(variant: str, delta: float | None) -> None:
    """Raise `InputError` unless the variant exists, and delta is given where it is needed."""
    check_choice("variant", variant, VARIANTS)
    if variant != "exponential" and delta is None:
        raise InputError(f"delta must be in (0, 1) for the variant {variant!r}, which is not pure; got None")


def make_solver(variant: str, size: int, n: int, epsilon: Fraction, delta: Fraction, beta: float) -> tuple[Solver, int]:
    """Return a solver for n points that costs at most (epsilon, delta), and how many points it needs for beta."""
    if variant == "tree-log":
        tree = TreeLog.within(size, n, epsilon, delta, beta)
        return tree, tree.points_needed
    # The promise n/2 is what q has at a median.
    made: ExponentialSolver | RecConcaveSolver = ExponentialSolver(size, epsilon)
    if variant == "rec-concave":
        made = RecConcaveSolver(RecConcave.within(size - 1, Fraction(n, 2), Fraction(1, 2), epsilon, delta))
    return made, made.points_needed(beta)


@dataclass(frozen=True)
class InteriorPoint(ClassLearner):
    """A learner that finds an interior point, labels ignored: code x is the point x, decoded as the threshold x + 1.

    The theorems promise no small error: the point solves the problem if it is between the least and the greatest one.
    """

    domain_size: int
    epsilon: float

    settings: ClassVar[tuple[str, ...]] = SOLUTION
    claim_id: ClassVar[str]
    source: ClassVar[str]
    _failure: ClassVar[str] = "the point lies outside the data"
    concepts = Built(Thresholds)
    utility = solution_utility

    def __post_init__(self) -> None:
        check_parameters(self, domain_size=(2, LARGEST))

    def _solver(self, n: int) -> Solver:
        raise NotImplementedError("an interior point learner has a solver")

    @property
    def privacy(self) -> PrivacyClaim:
        """The sum of the mechanism's calls, with all levels made, under replacement of one example."""
        # So many examples make every level that the mechanism can have; fewer may leave some out and cost less.
        cost = self._solver(2**63).cost
        return PrivacyClaim(float(cost.epsilon), float(cost.delta), claim_id=self.claim_id, source=self.source)

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta."""
        check_probability("beta", beta)
        solver = self._solver(0)
        # TreeLog is made for one beta; its learner has a method of its own.
        assert not isinstance(solver, TreeLog)
        return solver.points_needed(beta)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return `points_needed(beta)`, whatever alpha."""
        check_probability("alpha", alpha)
        return self.points_needed(beta)

    def solves(self, code: int, sample: Sample) -> bool:
        """Say whether the point lies between the least and the greatest point of the sample."""
        points = sample.points[:, 0]
        return bool(points.min() <= code <= points.max())

    def decode(self, code: int) -> Threshold:
        """Return the threshold c(z) = 1 iff z <= code."""
        check_integer("code", code, 0, self.domain_size - 1)
        return Threshold(int(code) + 1)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the points found by `size` independent runs; a list of integers from 2^63 points on."""
        check_run(sample, self.domain, size)
        points, counts = multiset(sample.points[:, 0], sample.counts)
        return as_codes(self._solver(sample.n).draw(points, counts, rng, size), self.domain_size)

    def law(self, sample: Sample) -> Law:
        """Return the law on all points of the domain; `InputError` if it has more than 4096."""
        check_law(self, sample)
        log_prob, error = self._solver(sample.n).log_law(*multiset(sample.points[:, 0], sample.counts))
        return Law(range(self.domain_size), log_prob, error)

    def symmetries(self) -> list[Integers]:
        """Return the flip of all labels: they are ignored."""
        return [moving_points(np.arange(self.domain_size), 1)]


def _outside(points: int, log_inside: float) -> float:
    """Return the share of so many points of weight 1 beside a weight e^log_inside."""
    # Beyond e^700 the share is 0 in floats anyway, and exp would overflow.
    if points:
        return 1 / (1 + math.exp(min(700.0, log_inside - math.log(points))))
    return 0.0


NEIGHBOURS = "a sample of two neighbouring points in the middle of the domain, half of the examples each"


def _neighbours(size: int, n: int) -> Multiset:
    """Return the sample of these words."""
    middle = size // 2
    if n == 1:
        return [middle], [1]
    return [middle - 1, middle], [n - n // 2, n // 2]


def _tree_samples(size: int, n: int) -> list[tuple[Multiset, str]]:
    """Return the samples on which TreeLog's failure rate is computed, in words each."""
    # As 6 = ..110 the point is neither the first nor the last leaf below a node, nor the last on the left, but for the
    # nodes of one and of two leaves.
    pile = min(6, size - 1)
    return [(_neighbours(size, n), NEIGHBOURS), (([pile], [n]), f"a sample of the point {pile} alone")]


@dataclass(frozen=True)
class InteriorPointExponential(InteriorPoint):
    """Find an interior point by the exponential mechanism with the score q(x) = min(#{x_i <= x}, #{x_i >= x}). Pure.

    The domain is never listed: between two neighbouring distinct points q is constant, so the choice is among at most
    2 m + 1 runs, exactly (see `mechanisms.exponential.draw_cells`), and then uniform within a run: O(n log n) in all.

    With n >= (4/epsilon) ln(domain_size/beta) the point is interior with probability 1 - beta (`points_needed`).

    Parameters
    ----------
    domain_size : int
        How many points there are, 2 .. 2^(2^14). Codes are Python integers from 2^63 points on.
    epsilon : float
        The privacy claim, > 0.
    """

    id: ClassVar[str] = "interior-point-exponential"
    instance: ClassVar[Instance] = Instance({"domain_size": 5, "epsilon": 1.0}, n=4)
    claim_id: ClassVar[str] = "OURS-IPP"
    source: ClassVar[str] = f"{OURS}, the interior point problem"

    def _solver(self, n: int) -> ExponentialSolver:
        return ExponentialSolver(self.domain_size, Fraction(self.epsilon))

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return the greatest probability of a point outside of the data, over all samples, which is attained.

        Of T points all but two neighbouring ones with n/2 examples each are outside, with weight 1 against
        exp(epsilon floor(n/2)/2) + exp(epsilon ceil(n/2)/2); or all but one that has all examples.
        docs/research/results.md has the proof, "Sample complexities that are known".
        """
        size = self.domain_size
        rate = self._solver(n).rate
        half = n // 2
        # With one example there are no equal shares.
        two = 0.0
        if n > 1:
            two = _outside(size - 2, float(np.logaddexp(rate * half, rate * (n - half))))
        one = _outside(size - 1, rate * n)
        if two >= one:
            places = [size // 2 - 1, size // 2]
            case = "equal shares on two neighbouring points"
        else:
            places = [size // 2]
            case = "all on one point"
        return WorstFailure(
            max(one, two), max(one, two), CaseFamily.INTERIOR_POINTS, {"domain_size": size, "rate": rate}, _WORST, "",
            0, tuple((x,) for x in places), (1 / len(places),) * len(places), case,
        )  # fmt: skip

    def supremum(self) -> Supremum:
        """Return the supremum, epsilon, not attained.

        Not above: the claim. Reached: S has 2 points at 0 and t at 1, one of those at 0 becomes 2 in S'. q(0) falls
        from 2 to 1, q(1) = min(#{x <= 1}, #{x >= 1}) grows from t to t + 1, and the law of S tends to the point 1; so
        the loss of 0 tends to epsilon/2 + epsilon/2. With a domain of two points one at 0 becomes 1 instead.
        """
        last = min(2, self.domain_size - 1)

        def ray(t: int) -> Pair:
            left = self.domain.sample([0, 1], [0, 0], [2, t])
            return Pair(left, self.domain.sample([0, 1, last], [0, 0, 0], [1, t, 1]), "a point moves over t others")

        proof = "2 points at 0 and t at 1; one at 0 moves over them: the score falls by 1 at 0 and grows by 1 at 1"
        return Supremum(self.epsilon, proof, ray)

    def symmetries(self) -> list[Integers]:
        """Return the flip of the label of each point, and the reflection of the line."""
        points = np.arange(self.domain_size)
        # Labels are ignored, so each of them may be flipped alone.
        flips = [moving_points(points, np.asarray(points == x, dtype=np.int64)) for x in points]
        return [*flips, moving_points(points[::-1].copy())]


@dataclass(frozen=True)
class InteriorPointRecConcave(InteriorPoint):
    """Find an interior point by RecConcave with the promise n/2.

    The claim is the sum of the calls made; with 33 points or fewer that is one exponential mechanism and the claim is
    pure. See `mechanisms.rec_concave` for the algorithm, its privacy and its utility.

    Parameters
    ----------
    domain_size : int
        2 .. 2^(2^14).
    epsilon, delta : float
        The budget, epsilon > 0 and delta in (0, 1), divided over the calls.
    alpha : float
        With `points_needed` examples the point has q > (1 - alpha) n/2; in (0, 1/2], a number with few decimals.
    """

    delta: float
    alpha: float = 0.5

    id: ClassVar[str] = "interior-point-rec-concave"
    instance: ClassVar[Instance] = Instance({"domain_size": 64, "epsilon": 2.0, "delta": 0.01}, n=24, exhaustive=False)
    claim_id: ClassVar[str] = "BMNS-Prop2.11"
    source: ClassVar[str] = f"{BMNS}, Proposition 2.11"
    _failure: ClassVar[str] = "fewer than (1 - alpha) n/2 of the data lie on one side of the point"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha > 0.5:
            raise InputError(f"alpha must be in (0, 1/2], got {self.alpha!r}")

    def solves(self, code: int, sample: Sample) -> bool:
        """Say whether the point keeps what the proposition promises: q >= (1 - alpha) n/2.

        That is, so many points of the sample are at most the point, and so many at least.
        """
        points = sample.points[:, 0]
        below = int(sample.counts[points <= code].sum())
        above = int(sample.counts[points >= code].sum())
        return min(below, above) >= (1 - self._alpha) * sample.n / 2

    @property
    def _alpha(self) -> Fraction:
        """The fraction that the digits of alpha show, 1/10 for 0.1, so that scores have a small denominator."""
        return Fraction(repr(float(self.alpha)))

    def worst_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return a case in which RecConcave recurses, and names no interval although it finds the right width.

        Two middle points are a peak of q of width 2 = K, 4 points away from the ends of its intervals of 8 K in both
        partitions; next to either is a point that keeps 76 % of the peak, in the next interval. So the lead is 12 % of
        n, which the stable selections miss up to about n = 900. Nothing where that does not fit.
        """
        if not PEAK[-1] < self.domain_size or self.domain_size <= BASE + 1:
            return []
        points = np.array(PEAK)[:, None]
        light = BESIDE / 2
        law = Distribution(points, np.array([light, 0.5 - light, 0.5 - light, light]))
        return [(0, law, "a peak of two points 4 away from the ends of its intervals, 76 % of it in the next ones")]

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the probability of a point with q < (1 - alpha) n/2; see `mechanisms.selections`.

        The median has q >= n/2. `InputError` where RecConcave recurses, so that it is no exponential mechanism.
        """
        if self.domain_size > BASE + 1:
            raise InputError.of("domain_size", self.domain_size, f"at most {BASE + 1}, for a bound on all cases")
        rate = float(self._concave(n).epsilon) / 2
        return selections_failure((self.domain_size,), rate, n, self._alpha / 2, strict=True)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the probability of a point that solves nothing on a sample, whatever alpha, and the sample in words.

        It has two neighbouring points, with half of the examples each: all others have q = 0.
        """
        points, counts = _neighbours(self.domain_size, n)
        scores = interior_scores(points, counts, self.domain_size)
        rate = self._concave(n).outside(scores, points[0], points[-1], SKIPPED)
        # Widths that are left out have counted as failures.
        return max(0.0, rate - SKIPPED), NEIGHBOURS

    def _concave(self, n: int) -> RecConcave:
        return RecConcave.within(self.domain_size - 1, Fraction(n, 2), self._alpha, Fraction(self.epsilon), self.delta)

    def _solver(self, n: int) -> Solver:
        return RecConcaveSolver(self._concave(n))


@dataclass(frozen=True)
class InteriorPointTreeLog(InteriorPoint):
    """Find an interior point by TreeLog, every call charged; see `mechanisms.tree_log` for the proof of privacy.

    The claim is the sum of the calls of all levels. Fewer than `points_needed` examples may get the exponential
    mechanism at some level, which costs less.

    Parameters
    ----------
    domain_size : int
        2 .. 2^(2^14).
    epsilon, delta : float
        The budget, epsilon > 0 and delta in (0, 1), divided over the calls.
    beta : float
        With `points_needed` examples the point is interior with probability 1 - beta; in (0, 1).
    """

    delta: float
    beta: float

    id: ClassVar[str] = "interior-point-tree-log"
    # More points than these answer the crafted samples always in the same way, which shows nothing.
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 2.0, "delta": 0.01, "beta": 0.1}, n=130, exhaustive=False
    )
    claim_id: ClassVar[str] = "OURS-TreeLog"
    source: ClassVar[str] = f"{OURS}, the interior point problem; proof in mechanisms.tree_log"

    def _solver(self, n: int) -> Solver:
        return self._tree(n)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the probability of a point outside of the data on the worse of two samples, and that sample in words.

        One has two neighbouring points, with half of the examples each; the other has all at the point 6, which the
        last step offers only where the recursion finds its depth, up to one.

        With fewer than 2 t + M examples there is no recursion and the exponential mechanism is used, which needs far
        fewer. With a few more than these the recursion has next to no data: the rate jumps up at each such number, and
        is given as the greatest at n examples or more.
        """
        sizes = [n, *(start + 1 for start in self._tree(n).starts if start >= n)]
        samples = [sample for m in sizes for sample in _tree_samples(self.domain_size, m)]
        return max((self._failure_on(data), words) for data, words in samples)

    def _failure_on(self, data: Multiset) -> float:
        return self._tree(sum(data[1])).outside(data, data[0][0], data[0][-1])

    def _tree(self, n: int) -> TreeLog:
        return TreeLog.within(self.domain_size, n, Fraction(self.epsilon), self.delta, self.beta)

    def points_needed(self, beta: float | None = None) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta (by default its own)."""
        wanted = self.beta if beta is None else beta
        check_probability("beta", wanted)
        # The levels of TreeLog are made for its own beta.
        if wanted < self.beta:
            raise InputError(f"beta must be at least {self.beta!r}, for which this learner is built; got {beta!r}")
        return self._tree(0).points_needed


LEARNERS = (InteriorPointExponential, InteriorPointRecConcave, InteriorPointTreeLog)
