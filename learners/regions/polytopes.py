"""Simplices and polytopes over small grids in three dimensions (KMMS, Section 6, the extension to R^d)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.covers.accounting import AUDITED
from learners.regions.kinds import HalfspaceRegions, SimplexRegions
from learners.regions.planar.polytope_families import DIMENSION
from learners.regions.polytope_class import Polytopes, SimplexUnions
from learners.regions.region_cover import RegionCover
from learners.regions.region_selection import ListedSelection

__all__ = ["LEARNERS", "ConvexPolytope", "SimplexSelect", "SimplexUnion"]


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


@dataclass(frozen=True)
class ConvexPolytope(HalfspaceRegions, RegionCover):
    """Convex polytopes with at most k facets: cover the negatives by complements of halfspaces, spare the positives.

    The halfspaces are the labellings of {0 .. side}^3, side at most 2, with equal measure: a region is the number of
    one. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "convex-polytope"
    # Two rounds, so that all pairs of regions can be listed; with them only the sample's errors can be bounded.
    instance: ClassVar[Instance] = Instance(
        {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.74, "beta": 0.2}, n=2, alpha=0.9, beta=0.5
    )
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 1, "k": 2}, n=2, alpha=0.2, beta=0.1),)
    _covered_label: ClassVar[int] = 0
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, in three dimensions,")

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the grid by intersections of at most k halfspaces."""
        return Polytopes(self.side, self.k)


@dataclass(frozen=True)
class SimplexUnion(SimplexRegions, RegionCover):
    """Unions of at most k simplices over the cube: cover the positives by simplices, spare the negatives.

    The simplices have the measure of `simplex-select`. A union of polytopes is one of simplices. See
    `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "simplex-union"
    instance: ClassVar[Instance] = Instance(ConvexPolytope.instance.parameters, n=1, alpha=0.9, beta=0.5)
    audited: ClassVar[tuple[Instance, ...]] = ConvexPolytope.audited
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ConvexPolytope._theorem

    @property
    def concepts(self) -> SimplexUnions:
        """The labellings of the cube by unions of at most k simplices."""
        return SimplexUnions(self.side, self.k)


LEARNERS = (SimplexSelect, ConvexPolytope, SimplexUnion)
