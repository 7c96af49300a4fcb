"""Points, thresholds and intervals on a line: functions, classes, and consistent learners, none of which is private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Hypothesis, Instance, Law, Sample

from ..arrays import Exact, Integers, Labels
from ..citations import NIS
from ..domains import Interval, moving_negatives, moving_points
from ..finite.consistent import ConsistentLearner, occam_sample_size
from ..finite.counting import Numbered, check_code, check_law_size, check_listable, point_law
from ..parameters import Built, check_integer, check_sample


@dataclass(frozen=True)
class Constant:
    """The hypothesis that gives every point the same label."""

    label: int

    def __post_init__(self) -> None:
        check_integer("label", self.label, 0, 1)

    def predict(self, points: Exact) -> Labels:
        """Return the label once for each point."""
        return np.full(len(points), self.label, dtype=np.uint8)

    def __str__(self) -> str:
        return f"always {self.label}"


@dataclass(frozen=True)
class Point:
    """The point function c_j(x) = 1 iff x = j."""

    j: int

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 1)."""
        return np.asarray(points[:, 0] == self.j, dtype=np.uint8)

    def __str__(self) -> str:
        return f"1 at {self.j} alone"


@dataclass(frozen=True)
class _OnALine(Numbered):
    """A class of intervals of the integers 0 .. domain_size - 1, each with its ends a and b, empty where b < a."""

    domain_size: int

    def __post_init__(self) -> None:
        _ = self.domain

    domain = Built(Interval)

    def _ends(self) -> tuple[Integers, Integers]:
        """Return the ends a and b of all concepts, (size,) each."""
        raise NotImplementedError("a class on a line has intervals")

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, 1)."""
        check_listable(self)
        a, b = self._ends()
        x = points[None, :, 0]
        return np.asarray((a[:, None] <= x) & (x <= b[:, None]), dtype=np.uint8)

    def correct(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,): N_0 + sum_{a <= x <= b} (n_1 - n_0)(x).

        N_0 is the number of negative examples. All sums are int64 and exact while there are fewer than 2^63 examples.
        """
        check_listable(self)
        positive = sample.labels == 1
        # Prefix sums of n_1 - n_0: the sum over [a, b] is a difference of two of them.
        below = np.zeros(self.domain_size + 1, dtype=np.int64)
        # `add.at` and not +=: a point may stand in the sample with either label.
        np.add.at(below, sample.points[:, 0] + 1, np.where(positive, sample.counts, -sample.counts))
        below = np.cumsum(below)
        a, b = self._ends()
        return np.asarray(int(sample.counts[~positive].sum()) + below[b + 1] - below[a], dtype=np.int64)


@dataclass(frozen=True)
class Points(_OnALine):
    """The class of the point functions c_0 .. c_{domain_size - 1} on {0 .. domain_size - 1}."""

    vc_dimension: ClassVar[int] = 1
    """A point is shattered by itself and any other; two points are never both labelled 1."""

    @property
    def size(self) -> int:
        """The number of concepts, domain_size."""
        return self.domain_size

    def _ends(self) -> tuple[Integers, Integers]:
        return np.arange(self.size), np.arange(self.size)

    def concept(self, code: int) -> Point:
        """Return c_code."""
        check_code(self, code)
        return Point(int(code))

    def symmetries(self) -> list[Integers]:
        """Return generators of all permutations of the points: a transposition and a cycle."""
        points = np.arange(self.domain_size)
        return [moving_points(np.array([1, 0, *points[2:]])), moving_points(np.roll(points, 1))]


@dataclass(frozen=True)
class Threshold:
    """The threshold c_j(x) = 1 iff x < j."""

    j: int

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 1)."""
        return np.asarray(points[:, 0] < self.j, dtype=np.uint8)

    def __str__(self) -> str:
        return f"1 below {self.j}"


@dataclass(frozen=True)
class Thresholds(_OnALine):
    """The class of the thresholds c_0 .. c_{domain_size} on {0 .. domain_size - 1}; c_0 is 0 everywhere."""

    vc_dimension: ClassVar[int] = 1
    """No threshold labels a point 0 and a greater one 1."""

    @property
    def size(self) -> int:
        """The number of concepts, domain_size + 1."""
        return self.domain_size + 1

    def _ends(self) -> tuple[Integers, Integers]:
        # c_j is [0, j - 1]: c_0 is empty.
        return np.zeros(self.size, dtype=np.int64), np.arange(-1, self.domain_size)

    def concept(self, code: int) -> Threshold:
        """Return c_code."""
        check_code(self, code)
        return Threshold(int(code))

    def symmetries(self) -> list[Integers]:
        """Return the reflection x -> T - 1 - x with labels flipped: it takes c_j to c_{T - j}."""
        return [moving_points(np.arange(self.domain_size)[::-1].copy(), 1)]

    def runs(self, sample: Sample) -> tuple[list[int], Integers]:
        """Return the first codes of the runs of equal score, and how many examples each run labels correctly.

        Thresholds j in (x, x'] label alike, x and x' being neighbouring points of the sample: the runs start at 0 and
        at x + 1 for each of its points x. Neighbouring runs may have equal scores. The domain may have 2^64 points.
        """
        positive = sample.labels == 1
        negatives = int(sample.counts[~positive].sum())
        if not len(sample.counts):
            return [0], np.array([0], dtype=np.int64)
        values = sample.points[:, 0]
        # The points of a sample are in order: those of either label at one place are neighbours.
        first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        excess = np.add.reduceat(np.where(positive, sample.counts, -sample.counts), first)
        starts = [0, *(int(x) + 1 for x in values[first])]
        return starts, negatives + np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(excess)])


@dataclass(frozen=True)
class Span:
    """The indicator of [a, b]: c(x) = 1 iff a <= x <= b; empty if b < a."""

    a: int
    b: int

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 1)."""
        return np.asarray((self.a <= points[:, 0]) & (points[:, 0] <= self.b), dtype=np.uint8)

    def __str__(self) -> str:
        if self.b < self.a:
            return "always 0"
        return f"1 from {self.a} to {self.b}"


@dataclass(frozen=True)
class Intervals(_OnALine):
    """The class of the indicators of all [a, b], 0 <= a <= b < domain_size, and of the empty interval.

    Number 0 is the empty interval, [0, -1]; the others follow in lexicographic order of (a, b).
    """

    vc_dimension: ClassVar[int] = 2
    """No interval labels three points in order 1, 0, 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_listable(self)

    @property
    def size(self) -> int:
        """T (T + 1) / 2 + 1 with T = domain_size."""
        return self.domain_size * (self.domain_size + 1) // 2 + 1

    def _ends(self) -> tuple[Integers, Integers]:
        # The entries on and above the diagonal of a square, row by row: all a <= b in order.
        a, b = np.triu_indices(self.domain_size)
        return np.concatenate([[0], a]).astype(np.int64), np.concatenate([[-1], b]).astype(np.int64)

    def concept(self, code: int) -> Span:
        """Return the interval with that number."""
        check_code(self, code)
        a, b = self._ends()
        return Span(int(a[code]), int(b[code]))


@dataclass(frozen=True)
class _OfPositives(ConsistentLearner):
    """A consistent learner that looks at the positive examples alone; its codes are 0 .. domain_size."""

    domain_size: int

    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)

    def _first(self, positive: set[int]) -> int:
        """Return the code by asking of one point after the other whether it is positive."""
        raise NotImplementedError("a learner of positive points has an order of these")

    def law(self, sample: Sample) -> Law:
        """Return all mass on the code that is found by asking of one point after the other whether it is positive."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        # By asking, and not by the maximum that a run takes: the two are compared with each other.
        positive = {int(x) for (x,), y in zip(sample.points, sample.labels, strict=True) if y == 1}
        return point_law(range(self.domain_size + 1), self._first(positive))

    def symmetries(self) -> list[Integers]:
        """Return generators of the permutations of the negative examples, which the learner ignores."""
        return moving_negatives(self.domain_size)


@dataclass(frozen=True)
class PointConsistent(_OfPositives):
    """Learn points: c_i for the smallest i with (i, 1) in the sample, else the all-zero hypothesis. Not private.

    The error exceeds alpha only if the target's point has mass above alpha and never occurs: probability at most
    (1 - alpha)^n, so n >= ln(1/beta)/alpha suffices. Code `domain_size` is the all-zero hypothesis.
    """

    id: ClassVar[str] = "point-consistent"
    claim_id: ClassVar[str] = "NIS-Point"
    source: ClassVar[str] = f"{NIS}, Example 0: learning points"

    concepts = Built(Points)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1, 0]
        return int(positive.min()) if len(positive) else self.domain_size

    def decode(self, code: int) -> Hypothesis | None:
        """Return c_code, or the all-zero hypothesis for code `domain_size`."""
        if code == self.domain_size:
            return Constant(0)
        found: Hypothesis = self.concepts.concept(code)
        return found

    def _first(self, positive: set[int]) -> int:
        return next((i for i in range(self.domain_size) if i in positive), self.domain_size)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil(ln(1/beta) / alpha): one bad event instead of |C|."""
        return occam_sample_size(0.0, alpha, beta)


@dataclass(frozen=True)
class ThresholdConsistent(_OfPositives):
    """Learn thresholds c_j(x) = 1 iff x < j: c_{i+1} for the largest i with (i, 1), c_0 if there is none. Not private.

    The slides define thresholds twice (x < j and x <= j) and return c_i, which is consistent only with the second.
    `literal=True` returns c_i of the first: it errs on i itself.
    """

    literal: bool = False

    id: ClassVar[str] = "threshold-consistent"
    claim_id: ClassVar[str] = "NIS-Thr"
    source: ClassVar[str] = f"{NIS}, Example 1: learning thresholds"

    concepts = Built(Thresholds)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1, 0]
        if len(positive):
            # c_{i + 1} is 1 at i, and c_i, which the slides return, is not.
            return int(positive.max()) + (not self.literal)
        return 0

    def _first(self, positive: set[int]) -> int:
        return next((i + (not self.literal) for i in reversed(range(self.domain_size)) if i in positive), 0)


@dataclass(frozen=True)
class OccamConsistent(ConsistentLearner):
    """Return the first interval [a, b] (or the empty one) that is consistent with the sample. Not private.

    The class has T (T + 1)/2 + 1 concepts over T = `domain_size` points; `FAIL` if none is consistent.
    """

    domain_size: int

    id: ClassVar[str] = "occam-consistent"
    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)

    concepts = Built(Intervals)


LEARNERS = (PointConsistent, ThresholdConsistent, OccamConsistent)
