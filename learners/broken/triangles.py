"""Private selections of a triangle with one known leak each; on the sides whose triangles are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example, InputError, Sample
from learners.geometry.families import Family
from learners.listed_selection import Floats, grid_rows
from learners.triangles import LISTED_TRIANGLES, TriangleSelect

__all__ = ["LEARNERS"]

EXAMPLE = Example({"side": 1, "epsilon": 0.5}, n=2)


@dataclass(frozen=True)
class Unhalved(TriangleSelect):
    """Broken control: four times the rate."""

    id: ClassVar[str] = "broken-triangle-unhalved"
    fault: ClassVar[str] = "weights exp(2 epsilon q) under a claim of epsilon: four times the rate"
    example: ClassVar[Example] = EXAMPLE

    @property
    def _rate(self) -> float:
        return 4 * super()._rate


class _Listed(TriangleSelect):
    """Controls that change the choice among listed triangles."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side > LISTED_TRIANGLES:
            raise InputError(f"side must be at most {LISTED_TRIANGLES} for this control, got {self.side}")


@dataclass(frozen=True)
class ConsistentFirst(_Listed, TriangleSelect):
    """Broken control: only the triangles with the greatest score."""

    id: ClassVar[str] = "broken-triangle-consistent-first"
    fault: ClassVar[str] = "chooses among the triangles with the greatest score alone: the support shows the sample"
    example: ClassVar[Example] = EXAMPLE

    def _eligible(self, correct: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return np.asarray(correct == correct.max())


@dataclass(frozen=True)
class Unweighted(_Listed, TriangleSelect):
    """Broken control: labellings of the sample chosen without regard to their measures."""

    id: ClassVar[str] = "broken-triangle-unweighted"
    fault: ClassVar[str] = "chooses how to label the sample without regard to measures: rare labels show its points"
    example: ClassVar[Example] = Example({"side": 1, "epsilon": 0.2}, n=2)

    def _log_base(self, family: Family, sample: Sample) -> Floats:
        """Return ln of each triangle's share in the measure of those that label the sample alike."""
        rows = family.labels[:, grid_rows(sample, self.side)]
        _, kinds = np.unique(rows, axis=0, return_inverse=True) if rows.shape[1] else (None, np.zeros(len(rows), int))
        shares = np.exp(family.log_shares)
        kinds = kinds.ravel()
        return np.asarray(family.log_shares - np.log(np.bincount(kinds, weights=shares)[kinds]))


LEARNERS = (Unhalved, ConsistentFirst, Unweighted)
