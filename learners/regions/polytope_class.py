"""Polytopes over the grid {0 .. d}^3: intersections of k halfspaces, and unions of k simplices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learners.halfspaces.concepts import Halfspace
from learners.regions.planar.families import Region
from learners.regions.planar.polytope_families import halfspace_family, simplex_family
from learners.regions.polygon_class import Intersection, Intersections, Unions

__all__ = ["Polytopes", "SimplexUnions", "polytope"]


def polytope(regions: Sequence[Region]) -> Intersection:
    """Return the intersection of the halfspaces (w_1, w_2, w_3, t)."""
    return Intersection(tuple(Halfspace(tuple(w), t) for *w, t in regions))


@dataclass(frozen=True)
class Polytopes(Intersections):
    """The labellings of the grid by intersections of at most k halfspaces."""

    _family = staticmethod(halfspace_family)
    _polygon = staticmethod(polytope)


@dataclass(frozen=True)
class SimplexUnions(Unions):
    """The labellings of the cube by unions of at most k simplices, each the intersection of four halfspaces."""

    _family = staticmethod(simplex_family)
    _polygon = staticmethod(polytope)
