"""The interior point problem: find a point between the least and the greatest one of the data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError, Instance, Law, PrivacyClaim, Sample, UtilityClaim
from learners.inputs import check_run, check_sample
from learners.interior_points.solvers import ExponentialSolver, RecConcaveSolver, Solver
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.tree_log import TreeLog
from learners.parameters import check_integer, check_positive, check_probability
from learners.points.line import ThresholdsOnALine
from learners.points.threshold_class import Threshold
from learners.symmetries import moving_points

__all__ = [
    "LEARNERS",
    "InteriorPoint",
    "InteriorPointExponential",
    "InteriorPointRecConcave",
    "InteriorPointTreeLog",
    "as_codes",
    "multiset",
]

CENTERS = "Private Center Points and Learning of Halfspaces (COLT 2019)"
LECTURE = "Lecture 12: Private PAC Learning (lecture notes, in Hebrew)"


def multiset(values: NDArray[Any], counts: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the distinct values in ascending order, as Python integers, and how often each occurs."""
    if len(values) == 0:
        return [], []
    order = np.argsort(values, kind="stable")
    ordered, weights = values[order], counts[order]
    starts = np.flatnonzero(np.concatenate([[True], np.asarray(ordered[1:] != ordered[:-1], dtype=np.bool_)]))
    return [int(v) for v in ordered[starts]], [int(c) for c in np.add.reduceat(weights, starts)]


def as_codes(codes: list[int], size: int) -> NDArray[np.int64] | list[int]:
    """Return codes below `size` as an int64 array, or as they are where they may be too large."""
    return np.array(codes, dtype=np.int64) if size <= 2**63 else codes


def decimal_fraction(value: float) -> Fraction:
    """Return the fraction that the number shows in decimal: 0.1 is 1/10."""
    return Fraction(repr(float(value)))


class InteriorPoint(ThresholdsOnALine):
    """What the learners share: labels are ignored; code x is the point x, decoded as the threshold that ends there.

    The theorems promise no small error: the point solves the problem if it is between the least and the greatest one.
    """

    settings: ClassVar[tuple[str, ...]] = ("solution",)
    claim_id: ClassVar[str]
    source: ClassVar[str]

    def _solver(self, n: int) -> Solver:
        """Return the mechanism for n points."""
        raise NotImplementedError("an interior point learner says its solver")

    def _claim(self) -> PrivacyClaim:
        """Return the claim that the calls of the mechanism, with all levels made, add up to."""
        cost = self._solver(2**63).cost
        return PrivacyClaim(float(cost.epsilon), float(cost.delta), claim_id=self.claim_id, source=self.source)

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta."""
        raise NotImplementedError("an interior point learner says how many points it needs")

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return `points_needed(beta)`, whatever alpha."""
        check_probability("alpha", alpha)
        return self.points_needed(beta)

    def utility(self, alpha: float, beta: float, setting: str = "solution") -> UtilityClaim:
        """Return the claim that the point is interior with probability 1 - beta, for every sample of that size."""
        if setting != "solution":
            raise InputError(f"setting must be solution, got {setting!r}: the theorem is not on errors")
        size = self.sample_size(alpha, beta)
        failure = "the point lies outside the data"
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source, failure)

    def solves(self, code: int, sample: Sample) -> bool:
        """Say whether the point lies between the least and the greatest point of the sample."""
        points = sample.points[:, 0]
        return bool(points.min() <= code <= points.max())

    def decode(self, code: int) -> Threshold:
        """Return the threshold c(z) = 1 iff z <= code."""
        check_integer("code", code, 0, self.domain_size - 1)
        return Threshold(int(code) + 1)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[int]:
        """Return the points found by `size` independent runs; a list of integers from 2^63 points on."""
        check_run(sample, self.domain, size)
        points, counts = multiset(sample.points[:, 0], sample.counts)
        return as_codes(self._solver(sample.n).draw(points, counts, rng, size), self.domain_size)

    def law(self, sample: Sample) -> Law:
        """Return the law on all points of the domain; `InputError` if it has more than 4096."""
        check_sample(sample, self.domain)
        log_prob, error = self._solver(sample.n).log_law(*multiset(sample.points[:, 0], sample.counts))
        return Law(range(self.domain_size), log_prob, error)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return the flip of all labels: they are ignored."""
        return [moving_points(np.arange(self.domain_size), 1)]


@dataclass(frozen=True)
class InteriorPointExponential(InteriorPoint):
    """Find an interior point by the exponential mechanism with the score q(x) = min(#{x_i <= x}, #{x_i >= x}). Pure.

    The domain is never listed: between two neighbouring distinct points q is constant, so the choice is among at most
    2 m + 1 runs, exactly (see `mechanisms.equal_scores`), and then uniform within a run: O(n log n) in all.

    With n >= (4/epsilon) ln(domain_size/beta) the point is interior with probability 1 - beta (`points_needed`).

    Parameters
    ----------
    domain_size : int
        How many points there are, 2 .. 2^64. Codes are Python integers from 2^63 points on.
    epsilon : float
        The privacy claim, > 0.
    """

    domain_size: int
    epsilon: float

    id: ClassVar[str] = "interior-point-exponential"
    instance: ClassVar[Instance] = Instance({"domain_size": 5, "epsilon": 1.0}, n=4)
    claim_id: ClassVar[str] = "STE-IPP"
    source: ClassVar[str] = f"{LECTURE}, the interior point problem"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return self._claim()

    def _solver(self, n: int) -> Solver:
        return ExponentialSolver(self.domain_size, Fraction(self.epsilon))

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta."""
        check_probability("beta", beta)
        return ExponentialSolver(self.domain_size, Fraction(self.epsilon)).points_needed(beta)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return the flip of the label of each point, and the reflection of the line."""
        points = np.arange(self.domain_size)
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
        2 .. 2^64.
    epsilon, delta : float
        The budget, epsilon > 0 and delta in (0, 1), divided over the calls.
    alpha : float
        With `points_needed` examples the point has q > (1 - alpha) n/2; in (0, 1/2], a number with few decimals.
    """

    domain_size: int
    epsilon: float
    delta: float
    alpha: float = 0.5

    id: ClassVar[str] = "interior-point-rec-concave"
    instance: ClassVar[Instance] = Instance({"domain_size": 64, "epsilon": 2.0, "delta": 0.01}, n=24, exhaustive=False)
    claim_id: ClassVar[str] = "BMNS-Prop2.11"
    source: ClassVar[str] = f"{CENTERS}, Proposition 2.11"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)
        check_probability("delta", self.delta)
        check_probability("alpha", self.alpha)
        if self.alpha > 0.5:
            raise InputError(f"alpha must be in (0, 1/2], got {self.alpha!r}")

    @property
    def privacy(self) -> PrivacyClaim:
        """What the calls made add up to: (epsilon, delta) up to rounding, with 33 points or fewer (epsilon, 0)."""
        return self._claim()

    def _concave(self, n: int) -> RecConcave:
        alpha = decimal_fraction(self.alpha)
        return RecConcave.within(self.domain_size - 1, Fraction(n, 2), alpha, Fraction(self.epsilon), self.delta)

    def _solver(self, n: int) -> Solver:
        return RecConcaveSolver(self._concave(n))

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for q >= (1 - alpha) n/2 with probability 1 - beta."""
        check_probability("beta", beta)
        return RecConcaveSolver(self._concave(1)).points_needed(beta)


@dataclass(frozen=True)
class InteriorPointTreeLog(InteriorPoint):
    """Find an interior point by TreeLog, every call charged; see `mechanisms.tree_log` for the proof of privacy.

    The claim is the sum of the calls of all levels. Fewer than `points_needed` examples may get the exponential
    mechanism at some level, which costs less.

    Parameters
    ----------
    domain_size : int
        2 .. 2^64.
    epsilon, delta : float
        The budget, epsilon > 0 and delta in (0, 1), divided over the calls.
    beta : float
        With `points_needed` examples the point is interior with probability 1 - beta; in (0, 1).
    """

    domain_size: int
    epsilon: float
    delta: float
    beta: float

    id: ClassVar[str] = "interior-point-tree-log"
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 2.0, "delta": 0.01, "beta": 0.1}, n=290, exhaustive=False
    )
    claim_id: ClassVar[str] = "STE-TreeLog"
    source: ClassVar[str] = f"{LECTURE}, the interior point problem; proof in mechanisms.tree_log"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)
        check_probability("delta", self.delta)
        check_probability("beta", self.beta)

    @property
    def privacy(self) -> PrivacyClaim:
        """What the calls of all levels add up to: (epsilon, delta) up to rounding, with 16 points or fewer pure."""
        return self._claim()

    def _solver(self, n: int) -> Solver:
        return self._tree(n)

    def _tree(self, n: int) -> TreeLog:
        return TreeLog.within(self.domain_size, n, Fraction(self.epsilon), self.delta, self.beta)

    def points_needed(self, beta: float | None = None) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta (by default its own)."""
        wanted = self.beta if beta is None else beta
        check_probability("beta", wanted)
        if wanted < self.beta:
            raise InputError(f"beta must be at least {self.beta!r}, for which this learner is built; got {beta!r}")
        return self._tree(0).points_needed


LEARNERS = (InteriorPointExponential, InteriorPointRecConcave, InteriorPointTreeLog)
