"""Unions of simplices over a small grid in three dimensions by the Set Cover Learner (KMMS, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.regions.convex_polytope import ConvexPolytope
from learners.regions.kinds import SimplexRegions
from learners.regions.polytope_class import SimplexUnions
from learners.regions.region_cover import RegionCover

__all__ = ["LEARNERS", "SimplexUnion"]


@dataclass(frozen=True)
class SimplexUnion(SimplexRegions, RegionCover):
    """Unions of at most k simplices over the cube: cover the positives by simplices, spare the negatives.

    The simplices have the measure of `simplex-select`. A union of polytopes is one of simplices. See
    `covers.regions.RegionCover`.
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


LEARNERS = (SimplexUnion,)
