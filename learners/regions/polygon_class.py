"""Polygons over the grid {0 .. d}^2: triangles, convex polygons with k edges, unions of k triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import and_, or_
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, InputError
from learners.arrays import Labels
from learners.domains import grid_rows
from learners.finite.counting import Numbered, check_code
from learners.geometry.clipping import clip, square
from learners.parameters import check_integer
from learners.regions.halfplane_class import Halfplane
from learners.regions.planar.families import Family, Region, halfplane_family, labels_of, masks_of, triangle_family

__all__ = [
    "ConvexPolygons",
    "Intersection",
    "Intersections",
    "PolygonUnions",
    "Triangles",
    "Union",
    "Unions",
    "Vertices",
    "triangle",
]

MAX_JOINS = 2**22
"""The most pairs of labellings that are joined to list a class."""

Vertices = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class Intersection:
    """The convex polygon that is the intersection of halfplanes; the whole plane where there are none.

    With halfspaces in their place it is a polytope, which has no `region`.
    """

    halfplanes: tuple[Any, ...]

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, 2)."""
        labels = np.ones(len(points), dtype=np.uint8)
        for halfplane in self.halfplanes:
            labels &= halfplane.predict(points)
        return labels

    def __str__(self) -> str:
        return " and ".join(map(str, self.halfplanes)) or "always 1"

    def region(self, side: int) -> tuple[Vertices, ...]:
        """Return the vertices of the part in the square [0, side]^2, in order around it; nothing if it is empty."""
        corners = square(0, side)
        for halfplane in self.halfplanes:
            z, a, b = halfplane.z, halfplane.a, halfplane.b
            corners = clip(corners, [z * (y - a * x - b) for x, y in corners])
        return (tuple(corners),) if len(corners) > 2 else ()


@dataclass(frozen=True)
class Union:
    """The union of regions; empty where there are none."""

    parts: tuple[Hypothesis, ...]

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, 2)."""
        labels = np.zeros(len(points), dtype=np.uint8)
        for part in self.parts:
            labels |= part.predict(points)
        return labels

    def __str__(self) -> str:
        return " or ".join(f"({part})" for part in self.parts) or "always 0"

    def region(self, side: int) -> tuple[Vertices, ...]:
        """Return the vertices of every part in the square [0, side]^2; the parts may overlap."""
        # Only unions of regions of the plane are drawn; the parts of others have no `region`.
        return tuple(vertices for part in self.parts for vertices in part.region(side))  # type: ignore[attr-defined]


def triangle(regions: Sequence[Region]) -> Intersection:
    """Return the intersection of the halfplanes (z, a, b)."""
    return Intersection(tuple(Halfplane(*region) for region in regions))


def joined_labellings(family: Family, k: int, join: Callable[[int, int], int]) -> dict[int, tuple[int, ...]]:
    """Return the masks that joining at most k labellings of a family gives, each with members that give it."""
    base = masks_of(family.labels)
    found: dict[int, tuple[int, ...]] = {mask: (i,) for i, mask in enumerate(base)}
    newest = found
    for _ in range(k - 1):
        if len(newest) * len(base) > MAX_JOINS:
            raise InputError(
                f"side and k allow too many polygons to list: joining {len(newest)} with {len(base)} labellings, "
                f"more than {MAX_JOINS} pairs"
            )
        following: dict[int, tuple[int, ...]] = {}
        for mask, members in newest.items():
            for i, other in enumerate(base):
                both = join(mask, other)
                if both not in found and both not in following:
                    following[both] = (*members, i)
        if not following:
            break
        found = found | following
        newest = following
    return found


Found = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]


@lru_cache(maxsize=32)
def _joined(family: Callable[[int], Family], side: int, k: int, join: Callable[[int, int], int]) -> Found:
    """Return the masks in ascending order, and members of the family that give each."""
    found = sorted(joined_labellings(family(side), k, join).items())
    return tuple(mask for mask, _ in found), tuple(members for _, members in found)


@dataclass(frozen=True)
class Joins(Numbered):
    """Labellings of the grid by at most k members of a family, joined; in lexicographic order."""

    side: int
    k: int

    _join: ClassVar[Callable[[int, int], int]]

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)
        check_integer("k", self.k, 1)

    @staticmethod
    def _family(side: int) -> Family:
        """Return the family that is joined."""
        raise NotImplementedError("a class says its family")

    @staticmethod
    def _polygon(regions: Sequence[Region]) -> Intersection:
        """Return the intersection of halfplanes, or of halfspaces."""
        return triangle(regions)

    def _found(self) -> Found:
        return _joined(self._family, self.side, self.k, type(self)._join)

    def _members(self, code: int) -> list[tuple[Region, ...]]:
        """Return the regions that concept number `code` joins."""
        check_code(self, code)
        regions = self._family(self.side).regions
        return [regions[i] for i in self._found()[1][int(code)]]

    @property
    def size(self) -> int:
        """The number of labellings; `InputError` if they are too many to list."""
        return len(self._found()[0])

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, dimension) of the grid."""
        width = (self.side + 1) ** points.shape[1]
        return labels_of(self._found()[0], width)[:, grid_rows(points, self.side)]


class Intersections(Joins):
    """Intersections of at most k halfplanes, or halfspaces."""

    _join: ClassVar[Callable[[int, int], int]] = staticmethod(and_)

    def concept(self, code: int) -> Intersection:
        """Return the intersection with that number."""
        return self._polygon([region for regions in self._members(code) for region in regions])


class Unions(Joins):
    """Unions of at most k polygons, or polytopes."""

    _join: ClassVar[Callable[[int, int], int]] = staticmethod(or_)

    def concept(self, code: int) -> Union:
        """Return the union with that number."""
        return Union(tuple(self._polygon(regions) for regions in self._members(code)))


@dataclass(frozen=True)
class ConvexPolygons(Intersections):
    """CONVEX-k-GON: the labellings of the grid by intersections of at most k halfplanes."""

    _family = staticmethod(halfplane_family)


@dataclass(frozen=True)
class Triangles(ConvexPolygons):
    """TRIANGLE: the labellings of the grid by intersections of three halfplanes."""

    k: int = 3


@dataclass(frozen=True)
class PolygonUnions(Unions):
    """TRIANGLE^{or k}: the labellings of the grid by unions of at most k triangles."""

    _family = staticmethod(triangle_family)
