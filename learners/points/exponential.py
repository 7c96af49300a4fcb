"""Points and thresholds by the exponential mechanism."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Instance, Sample, WorstFailure

from ..arrays import Integers, summed
from ..domains import ENUMERABLE
from ..finite.counting import as_codes
from ..finite.exponential import ExponentialLearner, RivalCounts
from ..finite.worst_case import points_failure, thresholds_failure
from ..mechanisms import exponential
from ..parameters import Built, check_integer, check_run
from .concepts import Points, Thresholds


@dataclass(frozen=True)
class PointExponential(ExponentialLearner):
    """Learn points privately by the exponential mechanism over all point functions.

    Beyond 2^22 points they are not listed: all points outside of the sample have the same score, so that a sample of m
    distinct points leaves m + 1 cells of equal score, and `run` takes O(m log m) steps.
    """

    domain_size: int
    epsilon: float

    id: ClassVar[str] = "point-exponential"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 1.0}, n=4)

    concepts = Built(Points)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of `size` independent runs."""
        if self.concepts.size <= ENUMERABLE:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        signed = np.where(sample.labels == 1, sample.counts, -sample.counts)
        points, gains = summed(sample.points[:, 0], signed)
        others = self.domain_size - len(points)
        # Each point of the sample, and all others together, which label the negative examples correctly.
        negatives = int(sample.counts[sample.labels == 0].sum())
        correct = np.append(gains, [0] * (others > 0)) + negatives
        sizes = [1] * len(points) + [others] * (others > 0)
        kept = np.flatnonzero(self._eligible(sample, correct)).tolist()
        cells = exponential.draw_cells([sizes[i] for i in kept], correct[kept], self._rate, rng, size)
        ranks = exponential.uniform_within([sizes[kept[cell]] for cell in cells], rng)
        places = [int(x) for x in points]
        # How many points that are not in the sample are before each that is.
        before = [place - i for i, place in enumerate(places)]
        codes = [
            places[kept[cell]] if kept[cell] < len(places) else rank + bisect_right(before, rank)
            for cell, rank in zip(cells.tolist(), ranks, strict=True)
        ]
        return as_codes(codes, self.concepts.size)

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return both ends of the failure rate over all cases; see `finite.worst_case.points_failure`.

        For more than 2^64 points, the bound for any class of so many concepts.
        """
        if self.domain_size > 2**64:
            return super().worst_failure(alpha, n)
        return points_failure(self.domain_size, self._rate, alpha, n)

    @property
    def _rivals(self) -> RivalCounts:
        """The target's own point is the hard one: all others are wrong there, one of them at the easy point too."""
        return RivalCounts(1, self.domain_size - 2, 0, 1, "the target's own point, and another")


@dataclass(frozen=True)
class ThresholdExponential(ExponentialLearner):
    """Learn thresholds privately by the exponential mechanism over c_0 .. c_{domain_size}.

    The domain is never listed: between two neighbouring points of the sample all thresholds label it alike, so a sample
    of m distinct points leaves at most m + 1 runs of codes of equal score. `run` chooses a run by its length times
    exp(epsilon score / 2), exactly (see `mechanisms.exponential.draw_cells`), then a code of the run uniformly:
    O(m log m).

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
        super().__post_init__()
        check_integer("domain_size", self.domain_size, 2, 2**64)

    concepts = Built(Thresholds)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of `size` independent runs."""
        check_run(sample, self.domain, size)
        starts, correct = self.concepts.runs(sample)
        # Python integers: the last run may have 2^64 thresholds.
        lengths = [b - a for a, b in itertools.pairwise([*starts, self.domain_size + 1])]
        # Runs of thresholds with equal scores are cells, weighed by how many thresholds each has.
        kept = np.flatnonzero(self._eligible(sample, correct)).tolist()
        cells = exponential.draw_cells([lengths[i] for i in kept], correct[kept], self._rate, rng, size)
        # All codes of a run label the sample alike and are equally likely.
        offsets = exponential.uniform_within([lengths[kept[cell]] for cell in cells], rng)
        codes = [starts[kept[cell]] + offset for cell, offset in zip(cells, offsets, strict=True)]
        return as_codes(codes, self.concepts.size)

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return both ends of the failure rate over all cases; see `finite.worst_case.thresholds_failure`.

        Where the sum over two counts is too long, the bound for any class of so many concepts.
        """
        try:
            return thresholds_failure(self.domain_size, self._rate, alpha, n)
        except InputError:
            return super().worst_failure(alpha, n)

    @property
    def _rivals(self) -> RivalCounts:
        """With target c_0, all others are wrong at the first point, and c_{domain_size} at the last one too."""
        return RivalCounts(1, self.domain_size - 1, 0, 1, "target c_0, the first and the last point")


LEARNERS = (PointExponential, ThresholdExponential)
