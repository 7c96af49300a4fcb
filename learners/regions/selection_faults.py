"""The leaks of selections among listed regions, whatever the regions are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit.contract import Sample
from learners.arrays import Bools, Floats, Integers
from learners.domains import grid_rows
from learners.regions.planar.families import Family
from learners.regions.region_selection import ListedSelection

__all__ = ["ConsistentFirst", "Unhalved", "Unweighted"]


class Unhalved(ListedSelection):
    """Four times the rate."""

    fault: ClassVar[str] = "weights exp(2 epsilon q) under a claim of epsilon: four times the rate"

    @property
    def _rate(self) -> float:
        return 4 * super()._rate


class _Listed(ListedSelection):
    """A fault of the choice among listed regions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._listed()


class ConsistentFirst(_Listed):
    """Only the regions with the greatest score."""

    fault: ClassVar[str] = "chooses among the regions with the greatest score alone: the support shows the sample"

    def _eligible(self, correct: Integers) -> Bools | None:
        return np.asarray(correct == correct.max())


class Unweighted(_Listed):
    """Labellings of the sample chosen without regard to their measures."""

    fault: ClassVar[str] = "chooses how to label the sample without regard to measures: rare labels show its points"

    def _log_base(self, family: Family, sample: Sample) -> Floats:
        """Return ln of each region's share in the measure of those that label the sample alike."""
        rows = family.labels[:, grid_rows(sample.points, self.side)]
        _, kinds = np.unique(rows, axis=0, return_inverse=True) if rows.shape[1] else (None, np.zeros(len(rows), int))
        shares = np.exp(family.log_shares)
        kinds = kinds.ravel()
        return np.asarray(family.log_shares - np.log(np.bincount(kinds, weights=shares)[kinds]))
