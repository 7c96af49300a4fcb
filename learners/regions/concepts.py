"""Concepts over the grid {0 .. d}^2: halfplanes, their intersections and unions of these, and the regions they make."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import and_, or_
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, InputError

from ..arrays import Exact, Integers, Labels
from ..domains import Grid, grid_rows
from ..finite.counting import Numbered
from ..parameters import Built, check_integer
from .families import (
    Family,
    Region,
    Regions,
    family_of,
    halfplane_count,
    halfplane_family,
    halfplane_masks,
    masks_of,
    triangle_family,
)
from .shapes import Halfplane, Intersection, Union, triangle
from .snapping import LISTED_SIDE
from .targets import TWO, edge_targets, regular_polygon

# The largest side at which outputs are the labellings of the grid by triangles.
LISTED_TRIANGLES = 3
# The most pairs of labellings that are joined to list a class.
MAX_JOINS = 2**22
# The masks below this are marked in a table.
TABLE = 2**26

def halfplanes(side: int) -> Regions:
    """Return the halfplanes with Lebesgue measure on their dual points, in [-2 d^2, 2 d^2]^2."""
    made = _with_dual_points(side, halfplane_family, LISTED_SIDE, lambda parts: Halfplane(*parts[0]), 1)
    return replace(made, count=partial(halfplane_count, side), masks=partial(halfplane_masks, side))


class Listed(Numbered):
    """A class of concepts with one for each labelling of a listed family, in lexicographic order of the labels."""

    side: int
    dimension: ClassVar[int] = 2
    _regions: ClassVar[Built[Regions]]
    domain = Built(Grid)

    @property
    def size(self) -> int:
        """The number of labellings."""
        return self._regions.size

    def concept(self, code: int) -> Any:
        """Return the region with that number."""
        return self._regions.decode(code)

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, dimension) of the grid."""
        return self._regions.family.labels[:, grid_rows(points, self.side)]


@dataclass(frozen=True)
class Halfplanes(Listed):
    """The class of the distinct labellings of {0 .. side}^2 by halfplanes: 14, 58, 174 for side 1, 2, 3.

    They are listed for side at most 6; a larger class answers only `size_bound`.
    """

    side: int

    vc_dimension: ClassVar[int] = 3
    """Radon's theorem; three corners of the grid are shattered."""

    _regions = Built(halfplanes)

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)

    @property
    def size_bound(self) -> int:
        """A bound on `size` for any side: m lines cut the plane into at most m (m + 1)/2 + 1 cells, in two copies."""
        lines = (self.side + 1) ** 2
        return int(lines * (lines + 1) + 2)

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is a halfplane whose dual point is in the box of the measure."""
        return isinstance(hypothesis, Halfplane) and _is_in_box(hypothesis, self.side)

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a halfplane across the grid, and points next to its edge."""
        whole = regular_polygon(self.side, 1, radius=0.1, turn=-2.0)
        return edge_targets(whole.halfplanes[0], (whole,), self.side, "a halfplane")


@lru_cache(maxsize=32)
def _joined(members: Callable[[int], Regions], side: int, k: int, united: bool) -> Family:
    """Return the labellings that joining at most k members gives; the regions of each are those of its members."""
    counted = members(side).count
    if counted is not None and k > 1:
        # Refused before the members are listed.
        _check_joins(counted(), counted())
    family = members(side).listing()
    join = or_ if united else and_
    base = masks_of(family.labels)
    found: dict[int, tuple[int, ...]] = {mask: (i,) for i, mask in enumerate(base)}
    newest = found
    for _ in range(k - 1):
        _check_joins(len(newest), len(base))
        # Labellings that one more member makes and fewer do not.
        following: dict[int, tuple[int, ...]] = {}
        for mask, makers in newest.items():
            for i, other in enumerate(base):
                both = join(mask, other)
                if both not in found and both not in following:
                    following[both] = (*makers, i)
        if not following:
            break
        found = found | following
        newest = following
    regions = [(mask, 1, tuple(family.regions[i] for i in makers)) for mask, makers in found.items()]
    return family_of(regions, family.labels.shape[1])


@lru_cache(maxsize=32)
def _joined_count(members: Callable[[int], Regions], side: int, k: int, united: bool) -> int:
    """Return the size of `_joined`, from the labellings as integers alone where these fit."""
    regions = members(side)
    if regions.count is None or regions.masks is None:
        return len(_joined(members, side, k, united))
    # Also where members are too many to be listed.
    size = regions.count()
    if k == 1:
        return size
    _check_joins(size, size)
    base = regions.masks()
    join = np.bitwise_or if united else np.bitwise_and
    # Each two members once, then each new labelling with all of them.
    joined = np.concatenate([join(base[i:], mask) for i, mask in enumerate(base)])
    known = base
    for left in range(k - 2, -1, -1):
        newest = np.setdiff1d(_distinct(joined), known, assume_unique=True)
        if not len(newest):
            break
        known = np.concatenate([known, newest])
        if left:
            _check_joins(len(newest), size)
            joined = join.outer(newest, base).ravel()
    return len(known)


def _distinct(masks: Integers) -> Integers:
    """Return the distinct masks, increasing."""
    most = int(masks.max())
    if most >= TABLE:
        return np.unique(masks)
    # A table of all masks takes less time than sorting millions of them.
    seen = np.zeros(most + 1, dtype=np.bool_)
    seen[masks] = True
    return np.flatnonzero(seen)


def _check_joins(newest: int, members: int) -> None:
    if newest * members > MAX_JOINS:
        raise InputError(
            f"side and k allow too many polygons to list: joining {newest} with {members} labellings, "
            f"more than {MAX_JOINS} pairs"
        )


def joins(members: Callable[[int], Regions], *, united: bool) -> Callable[[int, int], Regions]:
    """Return what makes the regions of a side and k: intersections, or unions, of at most k members."""

    def made(side: int, k: int) -> Regions:
        member = members(side).region
        kind = Union if united else Intersection
        listing = partial(_joined, members, side, k, united)
        count = partial(_joined_count, members, side, k, united)
        return Regions(side, listing, lambda parts: kind(tuple(map(member, parts))), count=count)

    return made


@dataclass(frozen=True)
class Joins(Listed):
    """Labellings of the grid by at most k members, intersected or united; `InputError` if they are too many to list."""

    side: int
    k: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)
        check_integer("k", self.k, 1)


@dataclass(frozen=True)
class ConvexPolygons(Joins):
    """CONVEX-k-GON: the labellings of the grid by intersections of at most k halfplanes."""

    _regions = Built(joins(halfplanes, united=False))

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is an intersection of at most k halfplanes of the box of the measure."""
        return (
            isinstance(hypothesis, Intersection)
            and len(hypothesis.halfplanes) <= self.k
            and all(isinstance(part, Halfplane) and _is_in_box(part, self.side) for part in hypothesis.halfplanes)
        )

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a regular polygon with k edges, and points next to them."""
        polygon = regular_polygon(self.side, self.k)
        return edge_targets(polygon, (polygon,), self.side, f"a regular polygon of {self.k} edges")


@dataclass(frozen=True)
class Triangles(ConvexPolygons):
    """TRIANGLE: the labellings of the grid by intersections of three halfplanes."""

    k: int = 3


def triangles(side: int) -> Regions:
    """Return the intersections of three halfplanes, with the measure of their three dual points."""
    return _with_dual_points(side, triangle_family, LISTED_TRIANGLES, triangle, 3)


def _with_dual_points(
    side: int, family: Callable[[int], Family], most: int, region: Callable[[tuple[Region, ...]], Hypothesis], k: int
) -> Regions:
    """Return regions of k dual points each, of area 32 d^4 in all, cells of at least 1/(2 d^3); listed up to `most`."""
    # 32 d^4 over 1/(2 d^3), for each dual point.
    measures = math.log(64 * side**7)
    labellings = math.log(Halfplanes(side).size_bound)
    listing = partial(family, side)
    return Regions(side, listing, region, lambda: k * measures, lambda: k * labellings, side <= most, halfplanes=k)


@dataclass(frozen=True)
class PolygonUnions(Joins):
    """TRIANGLE^{or k}: the labellings of the grid by unions of at most k triangles."""

    _regions = Built(joins(triangles, united=True))

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is a union of at most k triangles."""
        return (
            isinstance(hypothesis, Union)
            and len(hypothesis.parts) <= self.k
            and all(Triangles(self.side).has(part) for part in hypothesis.parts)
        )

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a union of two small triangles, one if k is 1, and points next to their edges."""
        parts = tuple(regular_polygon(self.side, 3, *place) for place in TWO[: self.k])
        return edge_targets(Union(parts), parts, self.side, f"{len(parts)} triangles")


def _is_in_box(halfplane: Halfplane, side: int) -> bool:
    """Return whether the dual point of a halfplane lies in the box [-2 d^2, 2 d^2]^2."""
    return max(abs(halfplane.a), abs(halfplane.b)) <= 2 * side**2
