"""Private selections of a triangle with one known leak each; on the sides whose triangles are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import InputError, Instance
from learners.regions import selection_faults as faults
from learners.regions.triangles import LISTED_TRIANGLES, TriangleSelect

__all__ = ["LEARNERS"]

EXAMPLE = Instance({"side": 1, "epsilon": 0.5}, n=2)


@dataclass(frozen=True)
class Unhalved(faults.Unhalved, TriangleSelect):
    """Broken control: four times the rate."""

    id: ClassVar[str] = "broken-triangle-unhalved"
    instance: ClassVar[Instance] = EXAMPLE


class _Listed(TriangleSelect):
    """Controls that change the choice among listed triangles."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side > LISTED_TRIANGLES:
            raise InputError(f"side must be at most {LISTED_TRIANGLES} for this control, got {self.side}")


@dataclass(frozen=True)
class ConsistentFirst(faults.ConsistentFirst, _Listed):
    """Broken control: only the triangles with the greatest score."""

    id: ClassVar[str] = "broken-triangle-consistent-first"
    instance: ClassVar[Instance] = EXAMPLE


@dataclass(frozen=True)
class Unweighted(faults.Unweighted, _Listed):
    """Broken control: labellings of the sample chosen without regard to their measures."""

    id: ClassVar[str] = "broken-triangle-unweighted"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 0.2}, n=2)


LEARNERS = (Unhalved, ConsistentFirst, Unweighted)
