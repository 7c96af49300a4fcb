"""Kinds of regions of a grid: which are listed, what they measure, and how many there are."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import ConceptClass, Distribution, Hypothesis, InputError, Picture, Sample
from learners.arrays import Floats, Integers
from learners.covers.accounting import Measured
from learners.domains import Grid, grid_rows, moving_points
from learners.geometry.pictures import plane
from learners.halfspaces.concepts import Halfspace
from learners.regions.halfplane_class import Halfplane, Halfplanes
from learners.regions.planar.families import Family, Region, halfplane_family, triangle_family
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.planar.polytope_families import (
    DIMENSION,
    HALFSPACE_SIDE,
    SIMPLEX_SIDE,
    halfspace_family,
    simplex_family,
)
from learners.regions.planar.snapping import LISTED_SIDE
from learners.regions.polygon_class import Intersection, triangle
from learners.regions.polytope_class import polytope

__all__ = [
    "LISTED_TRIANGLES",
    "CountedRegions",
    "HalfplaneRegions",
    "HalfspaceRegions",
    "PlaneRegions",
    "Regions",
    "SimplexRegions",
    "TriangleRegions",
]

LISTED_TRIANGLES = 3
"""The largest side at which outputs are the labellings of the grid by triangles."""


class Regions(Measured):
    """A learner by regions of the grid, which are listed where there are few.

    V bounds the logarithm of the whole measure over the least measure of regions that agree on a sample, and D is the
    logarithm of the number of different regions on the grid.
    """

    side: int

    _dimension: ClassVar[int] = 2
    _most_side: ClassVar[int | None] = 2**256 - 1

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^2, or of a higher dimension where a learner says so."""
        return Grid(self.side, self._dimension)

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""
        raise NotImplementedError("a learner says its class")

    def decode(self, code: Any) -> Hypothesis:
        """Return the hypothesis of an output."""
        raise NotImplementedError("a learner says what its outputs stand for")

    def _family(self) -> Family | None:
        """Return the regions, None where they are too many to be listed."""
        raise NotImplementedError("a learner says its regions")

    def _listed(self) -> Family:
        """Return the regions, or raise `InputError` where they are not listed."""
        family = self._family()
        if family is None:
            raise InputError(f"side must be small enough to list the regions, got {self.side}; run has no such limit")
        return family

    def _region(self, parts: tuple[Region, ...]) -> Hypothesis:
        """Return the region that a family lists as these halfplanes, or halfspaces."""
        raise NotImplementedError("a learner says what its regions are")


class PlaneRegions(Regions):
    """Intersections of halfplanes with Lebesgue measure on their dual points, one in [-2 d^2, 2 d^2]^2 for each."""

    _components: ClassVar[int]

    @property
    def _log_ratio(self) -> float:
        """Return ln(64 d^7) for each dual point: area 32 d^4 in all, and cells of at least 1/(2 d^3)."""
        return self._components * math.log(64 * self.side**7)

    @property
    def _log_behaviours(self) -> float:
        return self._components * math.log(Halfplanes(self.side).size_bound)

    def picture(self, sample: Sample, codes: Any, target: Any = None) -> Picture:
        """Return what a report draws: the sample, the target and some outputs."""
        return plane(self.side, sample, [self.decode(code) for code in codes], target)

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `regions.planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)


class HalfplaneRegions(PlaneRegions):
    """Halfplanes."""

    _components: ClassVar[int] = 1

    def _family(self) -> Family | None:
        return halfplane_family(self.side) if self.side <= LISTED_SIDE else None

    def _region(self, parts: tuple[Region, ...]) -> Halfplane:
        return Halfplane(*parts[0])


class TriangleRegions(PlaneRegions):
    """Intersections of three halfplanes."""

    _components: ClassVar[int] = 3

    def _family(self) -> Family | None:
        return triangle_family(self.side) if self.side <= LISTED_TRIANGLES else None

    def _region(self, parts: tuple[Region, ...]) -> Intersection:
        return triangle(parts)


class CountedRegions(Regions):
    """Regions of which each labelling has the same measure."""

    @property
    def _log_measures(self) -> Floats:
        return np.zeros(len(self._listed()))

    @property
    def _log_ratio(self) -> float:
        return self._log_behaviours

    @property
    def _log_behaviours(self) -> float:
        return math.log(len(self._listed()))


class _SpaceRegions(Regions):
    """Regions of {0 .. side}^3 with counting measures."""

    _dimension: ClassVar[int] = DIMENSION

    def symmetries(self) -> list[Integers]:
        """Return generators of the symmetries of the grid: two permutations of the axes and a reflection.

        They permute the labellings by halfspaces and keep their counting measures.
        """
        points = self.domain.points().astype(np.int64)
        reflected = points.copy()
        reflected[:, 0] = self.side - points[:, 0]
        images = (points[:, [1, 0, 2]], points[:, [1, 2, 0]], reflected)
        return [moving_points(grid_rows(image, self.side)) for image in images]


class HalfspaceRegions(_SpaceRegions, CountedRegions):
    """Halfspaces."""

    _most_side: ClassVar[int | None] = HALFSPACE_SIDE

    def _family(self) -> Family:
        return halfspace_family(self.side)

    def _region(self, parts: tuple[Region, ...]) -> Halfspace:
        ((*normal, threshold),) = parts
        return Halfspace(tuple(normal), threshold)


class SimplexRegions(_SpaceRegions):
    """Intersections of four halfspaces; a labelling measures as much as there are quadruples that give it."""

    _most_side: ClassVar[int | None] = SIMPLEX_SIDE

    def _family(self) -> Family | None:
        return simplex_family(self.side)

    def _region(self, parts: tuple[Region, ...]) -> Intersection:
        return polytope(parts)

    @property
    def _log_ratio(self) -> float:
        """Return 4 ln N: the least measure is that of one quadruple of the N halfspaces."""
        return (DIMENSION + 1) * math.log(len(halfspace_family(self.side)))

    @property
    def _log_behaviours(self) -> float:
        return math.log(len(self._listed()))
