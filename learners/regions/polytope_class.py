"""Polytopes over the grid {0 .. d}^3: intersections of k halfspaces, and unions of k simplices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import and_, or_

from learners.halfspaces.concepts import Halfspace
from learners.regions.planar.families import Region
from learners.regions.planar.polytope_families import halfspace_family, simplex_family
from learners.regions.polygon_class import Intersection, Joins, Union, joined_labellings

__all__ = ["Polytopes", "SimplexUnions", "polytope"]

Found = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]


def polytope(functionals: Sequence[Region]) -> Intersection:
    """Return the intersection of the halfspaces (w_1, w_2, w_3, t)."""
    return Intersection(tuple(Halfspace(tuple(w), t) for *w, t in functionals))


@lru_cache(maxsize=8)
def _polytopes(side: int, k: int) -> Found:
    found = sorted(joined_labellings(halfspace_family(side), k, and_).items())
    return tuple(mask for mask, _ in found), tuple(members for _, members in found)


@lru_cache(maxsize=8)
def _simplex_unions(side: int, k: int) -> Found:
    found = sorted(joined_labellings(simplex_family(side), k, or_).items())
    return tuple(mask for mask, _ in found), tuple(members for _, members in found)


@dataclass(frozen=True)
class Polytopes(Joins):
    """The labellings of the grid by intersections of at most k halfspaces."""

    def _found(self) -> Found:
        return _polytopes(self.side, self.k)

    def concept(self, code: int) -> Intersection:
        """Return the polytope with that number."""
        regions = halfspace_family(self.side).regions
        return polytope([regions[i][0] for i in self._members(code)])


@dataclass(frozen=True)
class SimplexUnions(Joins):
    """The labellings of the cube by unions of at most k simplices, each the intersection of four halfspaces."""

    def _found(self) -> Found:
        return _simplex_unions(self.side, self.k)

    def concept(self, code: int) -> Union:
        """Return the union with that number."""
        regions = simplex_family(self.side).regions
        return Union(tuple(polytope(regions[i]) for i in self._members(code)))
