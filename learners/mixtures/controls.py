"""Mixture learners with one known leak each, about the private examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Sample
from learners.arrays import Bools, Integers
from learners.mixtures.halfspace import MixtureHalfspace

__all__ = ["LEARNERS"]

# On a line the crafted samples have private points beyond the public ones, where behaviours part.
ON_A_LINE = Instance({"dimension": 1, "epsilon": 1.0, "side": 4}, n=6, exhaustive=False)


@dataclass(frozen=True)
class MixtureDoubled(MixtureHalfspace):
    """Broken control: the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-mixture-doubled"
    fault: ClassVar[str] = "weights exp(-epsilon errors): up to twice the claimed epsilon"

    @property
    def _rate(self) -> float:
        return self.epsilon


@dataclass(frozen=True)
class MixtureDistinct(MixtureHalfspace):
    """Broken control: hypotheses that label the whole sample alike are merged."""

    id: ClassVar[str] = "broken-mixture-distinct"
    _lists: ClassVar[bool] = True
    fault: ClassVar[str] = "keeps one hypothesis for each behaviour on the sample: behaviours show private points"
    instance: ClassVar[Instance] = ON_A_LINE

    def _eligible(self, sample: Sample, errors: Integers) -> Bools | None:
        points = np.unique(sample.points.astype(np.int64), axis=0)
        codes = self.codes(self.family(sample), np.arange(len(errors)))
        first: dict[bytes, int] = {}
        for index, code in enumerate(codes):
            first.setdefault(self.decode(code).predict(points).tobytes(), index)
        return np.isin(np.arange(len(errors)), list(first.values()))


@dataclass(frozen=True)
class MixtureAllPoints(MixtureHalfspace):
    """Broken control: private points span halfspaces too."""

    id: ClassVar[str] = "broken-mixture-all-points"
    fault: ClassVar[str] = "builds the halfspaces from private points as well: their coordinates are in the output"

    def _spanning(self, sample: Sample) -> Integers:
        return np.asarray(sample.points, dtype=np.int64)


@dataclass(frozen=True)
class MixtureShortcut(MixtureHalfspace):
    """Broken control: only hypotheses with the fewest errors are considered."""

    id: ClassVar[str] = "broken-mixture-shortcut"
    _lists: ClassVar[bool] = True
    fault: ClassVar[str] = "chooses among the hypotheses with the fewest errors alone: one private example shows"
    instance: ClassVar[Instance] = ON_A_LINE

    def _eligible(self, sample: Sample, errors: Integers) -> Bools | None:
        return np.asarray(errors == errors.min(), dtype=np.bool_)


LEARNERS = (MixtureDoubled, MixtureDistinct, MixtureAllPoints, MixtureShortcut)
