"""Points, thresholds and intervals, learned by consistent learners (not private) and by the exponential mechanism.

A third party learns its own finite class the same way: derive a frozen dataclass from `ConsistentLearner` or
`ExponentialLearner` that says its `domain` and its `concepts`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, Instance, Law, Sample
from learners.domains import Interval
from learners.finite.generic import (
    SLIDES,
    ConsistentLearner,
    ExponentialLearner,
    check_law_size,
    occam_sample_size,
    point_law,
)
from learners.inputs import check_run, check_sample
from learners.mechanisms import equal_scores
from learners.parameters import check_integer, check_positive
from learners.points.concepts import Constant, Point
from learners.points.interval_class import Intervals
from learners.points.line import PointsOnALine, ThresholdsOnALine
from learners.symmetries import moving_negatives, moving_points

__all__ = [
    "LEARNERS",
    "ConsistentLearner",
    "ExponentialLearner",
    "OccamConsistent",
    "PointConsistent",
    "PointExponential",
    "ThresholdConsistent",
    "ThresholdExponential",
]


@dataclass(frozen=True)
class PointConsistent(PointsOnALine, ConsistentLearner):
    """Learn points: c_i for the smallest i with (i, 1) in the sample, else the all-zero hypothesis. Not private.

    The error exceeds alpha only if the target's point has mass above alpha and never occurs: probability at most
    (1 - alpha)^n, so n >= ln(1/beta)/alpha suffices. Code `domain_size` is the all-zero hypothesis.
    """

    domain_size: int

    id: ClassVar[str] = "point-consistent"
    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)
    claim_id: ClassVar[str] = "NIS-Point"
    source: ClassVar[str] = f"{SLIDES}, Example 0: learning points"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1, 0]
        return int(positive.min()) if len(positive) else self.domain_size

    def decode(self, code: int) -> Hypothesis | None:
        """Return c_code, or the all-zero hypothesis for code `domain_size`."""
        return Constant(0) if code == self.domain_size else self.concepts.concept(code)

    def law(self, sample: Sample) -> Law:
        """Return all mass on the first i for which the example (i, 1) is in the sample, else on `domain_size`."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        seen = {(int(x), int(y)) for (x,), y in zip(sample.points, sample.labels, strict=True)}
        atom = next((i for i in range(self.domain_size) if (i, 1) in seen), self.domain_size)
        return point_law(range(self.domain_size + 1), atom)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil(ln(1/beta) / alpha): one bad event instead of |C|."""
        return occam_sample_size(0.0, alpha, beta)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of the permutations of the negative examples, which the learner ignores."""
        return moving_negatives(self.domain_size)


@dataclass(frozen=True)
class ThresholdConsistent(ThresholdsOnALine, ConsistentLearner):
    """Learn thresholds c_j(x) = 1 iff x < j: c_{i+1} for the largest i with (i, 1), c_0 if there is none. Not private.

    The slides define thresholds twice (x < j and x <= j) and return c_i, which is consistent only with the second.
    `literal=True` returns c_i of the first: it errs on i itself.
    """

    domain_size: int
    literal: bool = False

    id: ClassVar[str] = "threshold-consistent"
    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)
    claim_id: ClassVar[str] = "NIS-Thr"
    source: ClassVar[str] = f"{SLIDES}, Example 1: learning thresholds"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1, 0]
        return int(positive.max()) + (not self.literal) if len(positive) else 0

    def law(self, sample: Sample) -> Law:
        """Return all mass on one threshold, found by counting down from the right end of the domain."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        seen = {(int(x), int(y)) for (x,), y in zip(sample.points, sample.labels, strict=True)}
        i = next((i for i in range(self.domain_size - 1, -1, -1) if (i, 1) in seen), None)
        return point_law(range(self.concepts.size), 0 if i is None else i if self.literal else i + 1)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of the permutations of the negative examples, which the learner ignores."""
        return moving_negatives(self.domain_size)


@dataclass(frozen=True)
class OccamConsistent(ConsistentLearner):
    """Return the first interval [a, b] (or the empty one) that is consistent with the sample. Not private.

    The class has T (T + 1)/2 + 1 concepts over T = `domain_size` points; `FAIL` if none is consistent.
    """

    domain_size: int

    id: ClassVar[str] = "occam-consistent"
    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)
        _ = self.concepts

    @property
    def domain(self) -> Interval:
        """The integers 0 .. domain_size - 1."""
        return Interval(self.domain_size)

    @property
    def concepts(self) -> Intervals:
        """All closed intervals and the empty one."""
        return Intervals(self.domain_size)


@dataclass(frozen=True)
class PointExponential(PointsOnALine, ExponentialLearner):
    """Learn points privately by the exponential mechanism over all point functions."""

    domain_size: int
    epsilon: float

    id: ClassVar[str] = "point-exponential"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)
        check_positive("epsilon", self.epsilon)

    def decode(self, code: int) -> Point:
        """Return c_code."""
        return self.concepts.concept(code)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of all permutations of the points: a transposition and a cycle."""
        points = np.arange(self.domain_size)
        return [moving_points(np.array([1, 0, *points[2:]])), moving_points(np.roll(points, 1))]


@dataclass(frozen=True)
class ThresholdExponential(ThresholdsOnALine, ExponentialLearner):
    """Learn thresholds privately by the exponential mechanism over c_0 .. c_{domain_size}.

    The domain is never listed: between two neighbouring points of the sample all thresholds label it alike, so a sample
    of m distinct points leaves at most m + 1 runs of codes of equal score. `run` chooses a run by its length times
    exp(epsilon score / 2), exactly (see `mechanisms.equal_scores`), then a code of the run uniformly: O(m log m).

    Parameters
    ----------
    domain_size : int
        How many points there are, 2 .. 2^64. Codes are int64 below 2^63 points and Python integers from there on.
    epsilon : float
        The privacy claim, > 0.
    """

    domain_size: int
    epsilon: float

    id: ClassVar[str] = "threshold-exponential"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[int]:  # type: ignore[override]
        """Return the codes of `size` independent runs."""
        check_run(sample, self.domain, size)
        starts, correct = self.concepts.runs(sample)
        lengths = [b - a for a, b in itertools.pairwise([*starts, self.domain_size + 1])]
        eligible = self._eligible(sample, correct)
        kept = range(len(starts)) if eligible is None else [int(i) for i in np.flatnonzero(eligible)]
        cells = equal_scores.draw([lengths[i] for i in kept], correct[list(kept)], self._rate, rng, size)
        offsets = equal_scores.uniform_within([lengths[kept[cell]] for cell in cells], rng)
        codes = [starts[kept[cell]] + offset for cell, offset in zip(cells, offsets, strict=True)]
        return np.array(codes, dtype=np.int64) if self.domain_size < 2**63 else codes

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return the reflection x -> T - 1 - x with labels flipped: it takes c_j to c_{T - j}."""
        return [moving_points(np.arange(self.domain_size)[::-1].copy(), 1)]


LEARNERS = (PointConsistent, ThresholdConsistent, OccamConsistent, PointExponential, ThresholdExponential)
