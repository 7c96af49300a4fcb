"""Box learners with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpaudit.contract import Instance
from learners.boxes.exponential import BoxExponential
from learners.boxes.interior_point import BoxInteriorPoint
from learners.finite.faults import exponential_controls
from learners.interior_points.faults import ClaimsAsSound, HullSolver
from learners.interior_points.solvers import Solver

__all__ = ["LEARNERS"]


@dataclass(frozen=True)
class BoxExactCount(ClaimsAsSound, BoxInteriorPoint):
    """Broken control: the lecture's text, which counts the positive examples without noise and without charge."""

    literal: bool = True

    id: ClassVar[str] = "broken-box-ip-exact-count"
    fault: ClassVar[str] = "whether there are m positive examples is tested without noise"
    instance: ClassVar[Instance] = Instance({"side": 2, "dimension": 1, "epsilon": 8.0, "beta": 0.8}, n=4, beta=0.9)


@dataclass(frozen=True)
class BoxUndivided(ClaimsAsSound, BoxInteriorPoint):
    """Broken control: every interior point and the count spend the whole budget."""

    id: ClassVar[str] = "broken-box-ip-undivided"
    fault: ClassVar[str] = "the budget is not divided over the 2 d + 1 calls"
    instance: ClassVar[Instance] = Instance({"side": 2, "dimension": 1, "epsilon": 2.0, "beta": 0.8}, n=6, beta=0.9)

    def _shares(self) -> tuple[Fraction, Fraction, Fraction]:
        return Fraction(self.epsilon), Fraction(self.delta or 0), Fraction(0)


@dataclass(frozen=True)
class BoxHull(ClaimsAsSound, BoxInteriorPoint):
    """Broken control: the faces lie between the coordinates that the mechanism sees."""

    id: ClassVar[str] = "broken-box-ip-hull"
    fault: ClassVar[str] = "never puts a face outside of its m coordinates: the support shows the extreme examples"
    instance: ClassVar[Instance] = Instance(
        {"side": 2, "dimension": 1, "epsilon": 2.0, "beta": 0.9}, n=24, beta=0.95, exhaustive=False
    )

    def _plan(self) -> tuple[Solver, int, float]:
        _, m, scale = super()._plan()
        return HullSolver(self.side + 1, self._shares()[0]), m, scale


EXPONENTIAL = BoxDoubled, BoxSupport, BoxShortcut = exponential_controls(
    __name__, BoxExponential, "box", "boxes", Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=2)
)

LEARNERS = (BoxExactCount, BoxUndivided, BoxHull, *EXPONENTIAL)
