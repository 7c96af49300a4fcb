"""Consistent learners of points, thresholds and intervals; none is private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Hypothesis, Instance, Law, Sample

from ..arrays import Integers
from ..citations import NIS
from ..domains import moving_negatives
from ..finite.consistent import ConsistentLearner, occam_sample_size
from ..finite.counting import check_law_size, point_law
from ..parameters import Built, check_sample
from .concepts import Constant, Intervals, Points, Thresholds


@dataclass(frozen=True)
class PointConsistent(ConsistentLearner):
    """Learn points: c_i for the smallest i with (i, 1) in the sample, else the all-zero hypothesis. Not private.

    The error exceeds alpha only if the target's point has mass above alpha and never occurs: probability at most
    (1 - alpha)^n, so n >= ln(1/beta)/alpha suffices. Code `domain_size` is the all-zero hypothesis.
    """

    domain_size: int

    id: ClassVar[str] = "point-consistent"
    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)
    claim_id: ClassVar[str] = "NIS-Point"
    source: ClassVar[str] = f"{NIS}, Example 0: learning points"

    concepts = Built(Points)

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

    def symmetries(self) -> list[Integers]:
        """Return generators of the permutations of the negative examples, which the learner ignores."""
        return moving_negatives(self.domain_size)


@dataclass(frozen=True)
class ThresholdConsistent(ConsistentLearner):
    """Learn thresholds c_j(x) = 1 iff x < j: c_{i+1} for the largest i with (i, 1), c_0 if there is none. Not private.

    The slides define thresholds twice (x < j and x <= j) and return c_i, which is consistent only with the second.
    `literal=True` returns c_i of the first: it errs on i itself.
    """

    domain_size: int
    literal: bool = False

    id: ClassVar[str] = "threshold-consistent"
    instance: ClassVar[Instance] = Instance({"domain_size": 4}, n=3)
    claim_id: ClassVar[str] = "NIS-Thr"
    source: ClassVar[str] = f"{NIS}, Example 1: learning thresholds"

    concepts = Built(Thresholds)

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

    def symmetries(self) -> list[Integers]:
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

    concepts = Built(Intervals)


LEARNERS = (PointConsistent, ThresholdConsistent, OccamConsistent)
