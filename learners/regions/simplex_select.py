"""Simplices over a small grid in three dimensions, selected privately (KMMS, Section 6, the extension to R^d)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.regions.kinds import SimplexRegions
from learners.regions.planar.polytope_families import DIMENSION
from learners.regions.polytope_class import Polytopes
from learners.regions.region_selection import ListedSelection

__all__ = ["LEARNERS", "SimplexSelect"]


@dataclass(frozen=True)
class SimplexSelect(SimplexRegions, ListedSelection):
    """Select an intersection of four halfspaces over the cube with probability proportional to exp(epsilon q / 2).

    q is the number of examples that it labels correctly. The exponential mechanism runs over all quadruples of the
    N = 104 labellings of the cube by halfspaces, and the output is the number of the labelling that the quadruple
    gives, so that a labelling has as much measure as quadruples make it. Pure epsilon-differential privacy.

    Utility. With probability 1 - b over the coins q >= max q - (2/epsilon) (4 ln N + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^3; 1.
    epsilon : float
        > 0.
    """

    id: ClassVar[str] = "simplex-select"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)
    _place: ClassVar[str] = "Section 6"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Prop2.5", "Proposition 2.5 over quadruples of halfspaces")

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the cube by intersections of at most four halfspaces."""
        return Polytopes(self.side, DIMENSION + 1)


LEARNERS = (SimplexSelect,)
