"""Regions of depth at least r, their pictures, and Q_{x1..x_{i-1}}(x_i) as step functions with exact breakpoints.

T(r) = {x : td(x) >= r} is cut out by halfspaces whose boundaries are spanned by data points (Fact 2.20 of BMNS):
for every normal u of such a boundary, and both its sides,

    low_r(u) <= <u, x> <= high_r(u),

where high_r(u) is the greatest c with weight{y : <u, y> >= c} >= r, and low_r(u) likewise from below. Q(x_i) is the
greatest r for which T(r) meets the flat of the fixed coordinates, so {Q >= r} is a closed interval: the shadow of a
slice of T(r) on axis i.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.contract import InputError, Panel, Shape

from ...arrays import Exact, Integers, as_exact, summed
from ...geometry.pictures import framed
from ...geometry.polygons import Corners, clip, square
from .tukey_depth import cross, primitive, tukey_depths

Interval = tuple[Fraction, Fraction]

# Below this, a product of two normals and a height fits an int64.
_COORDINATE_LIMIT = {1: 2**30, 2: 2**19, 3: 2**11}


@dataclass(frozen=True)
class StepFunction:
    """A quasi-concave step function on the line: level `levels[j]` on the closed interval [lower[j], upper[j]], else 0.

    Levels increase and intervals shrink.
    """

    levels: tuple[int, ...]
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]

    def __call__(self, x: int | Fraction) -> int:
        """Return the greatest level whose interval contains x, 0 if none does."""
        from_left = bisect_right(self.lower, x)
        # The upper ends decrease: count those that are at least x.
        from_right = len(self.upper) - bisect_left(self.upper[::-1], x)
        # The intervals are nested: x lies in the first `from_left` of them by its left end, `from_right` by its right
        # end.
        index = min(from_left, from_right)
        return self.levels[index - 1] if index else 0


def spanned_normals(points: Exact) -> Exact:
    """Return the distinct primitive normals (k, d), up to sign, of the hyperplanes spanned by points (m, d).

    For points in a flat of lower dimension, normals that cut the flat out of the space and out of its own subspaces
    are added, so that T(r) is cut out by them for every multiset of the points.
    """
    dimension = points.shape[1]
    # Every later product fits an int64, or integers are those of Python.
    fits = int(np.abs(points).max(initial=0)) < _COORDINATE_LIMIT[dimension]
    points = as_exact(points, wide=not fits)
    unit = as_exact(np.eye(dimension, dtype=np.int64), wide=not fits)
    if dimension == 1:
        return unit
    i, j = np.triu_indices(len(points), 1)
    edges = primitive(points[i] - points[j])
    if dimension == 2:
        return primitive(np.concatenate([unit, edges[:, ::-1] * np.array([-1, 1])]))
    # Planes through two edges that share a point, or through an edge and a direction of the axes.
    crosses: list[ArrayLike] = [unit, *(cross(edges, axis[None]) for axis in unit)]
    for k in range(len(points)):
        rays = primitive(points - points[k])
        a, b = np.triu_indices(len(rays), 1)
        crosses.append(primitive(cross(rays[a], rays[b])))
    return primitive(np.concatenate(crosses))


@dataclass(frozen=True, eq=False)
class DepthRegions:
    """All regions T(r) of one weighted multiset.

    `points` (m, d), d = 1, 2 or 3, have `weights` (m,) >= 0; `normals` (k, d) are `spanned_normals` of the points or of
    any set that contains them.
    """

    points: Exact
    weights: NDArray[np.int64]
    normals: Exact

    @cached_property
    def levels(self) -> list[int]:
        """The values that a count of one side can take: T(r) only changes after one of them."""
        return sorted({int(c) for table in self._tables for side in table[1:] for c in side} - {0})

    @cached_property
    def _tables(self) -> list[tuple[Exact, Integers, Integers]]:
        """For each normal the distinct heights, and the weights at most and at least as high."""
        found: list[tuple[Exact, Integers, Integers]] = []
        for row in (as_exact(self.points, wide=self.normals.dtype == object) @ self.normals.T).T:
            heights, mass = summed(row, self.weights)
            found.append((heights, np.cumsum(mass), np.cumsum(mass[::-1])[::-1]))
        return found

    @cached_property
    def largest(self) -> tuple[int, int]:
        """The greatest absolute entry of a normal and the greatest absolute height of a point."""
        heights = max((int(np.abs(heights).max(initial=0)) for heights, _, _ in self._tables), default=0)
        return int(np.abs(self.normals).max()), heights

    def bounds(self, levels: int | Integers) -> tuple[Exact, Exact]:
        """Return low_r(u), high_r(u) for every normal u, for a level r or, as rows, for an array of them.

        Levels must be at most the sum of the weights.
        """
        # The least height up to which there is enough weight, and the greatest from which on.
        low: list[ArrayLike] = [heights[below.searchsorted(levels)] for heights, below, _ in self._tables]
        # Weights from above decrease with the height.
        high: list[ArrayLike] = [h[len(h) - 1 - above[::-1].searchsorted(levels)] for h, _, above in self._tables]
        return np.array(low).T, np.array(high).T

    @cached_property
    def ends(self) -> tuple[Exact, Exact]:
        """The tables (levels, k) of low_r(u) and high_r(u) for the levels r that some slice reaches."""
        if self.first_function.levels:
            deepest = self.first_function.levels[-1]
        else:
            deepest = 0
        return self.bounds(np.array([level for level in self.levels if level <= deepest], dtype=np.int64))

    @cached_property
    def first_function(self) -> StepFunction:
        """Q of the first coordinate, in the plane."""
        return self.function()

    def function(self, prefix: Sequence[int | Fraction] = ()) -> StepFunction:
        """Return Q_{prefix}(x_i) = max of td(prefix, x_i, ...) over the coordinates after i = len(prefix) + 1.

        `InputError` if more than one coordinate would be left free: then give candidates to `values`.
        """
        free = self.normals.shape[1] - len(prefix) - 1
        if free not in (0, 1):
            raise InputError(f"prefix must leave at most one coordinate free after the next one, got {prefix!r}")
        found: dict[int, Interval | None] = {}
        self._refine(self._interval(prefix), found, 0, len(self.levels) - 1)
        # Of the levels with the same interval only the greatest matters.
        greatest = {ends: self.levels[i] for i, ends in sorted(found.items()) if ends is not None}
        steps = [(level, *ends) for ends, level in greatest.items()]
        if steps:
            return StepFunction(*zip(*steps, strict=True))
        return StepFunction((), (), ())

    def _refine(
        self, interval: Callable[[int], Interval | None], found: dict[int, Interval | None], first: int, last: int
    ) -> None:
        """Find the intervals of the levels first .. last; equal ends mean equal intervals between."""
        for index in (first, last):
            if 0 <= index < len(self.levels) and index not in found:
                found[index] = interval(self.levels[index])
        # The intervals are nested: between equal ones all are equal.
        if last - first > 1 and found[first] != found[last]:
            middle = (first + last) // 2
            self._refine(interval, found, first, middle)
            self._refine(interval, found, middle, last)

    def values(self, prefix: Sequence[int | Fraction], candidates: Sequence[Fraction]) -> NDArray[np.int64]:
        """Return Q_{prefix}(x) for every candidate x, exactly.

        The last coordinate asks for depths; one free coordinate for the step function; two for a slice at each x.
        """
        free = self.normals.shape[1] - len(prefix) - 1
        if free == 0:
            return tukey_depths(self.points, self.weights, [(*prefix, x) for x in candidates])
        if free == 1:
            step = self.function(prefix)
            return np.array([step(x) for x in candidates], dtype=np.int64)
        return np.array([self._deepest((*prefix, x)) for x in candidates], dtype=np.int64)

    def _deepest(self, prefix: Sequence[int | Fraction]) -> int:
        interval = self._interval(prefix)
        # T(r) shrinks as r grows: the slices are not empty up to some level.
        index = bisect_left(range(len(self.levels)), 1, key=lambda i: interval(self.levels[i]) is None)
        return self.levels[index - 1] if index else 0

    def _interval(self, prefix: Sequence[int | Fraction]) -> Callable[[int], Interval | None]:
        """Return the function that gives the shadow of the slice of T(level) at a prefix."""
        scale = lcm(1, *(Fraction(c).denominator for c in prefix))
        fixed = [int(c * scale) for c in prefix]
        entry, height = self.largest
        # Products of a scaled height and an entry of a normal must fit an int64.
        fits = 2 * (scale * height + entry * sum(map(abs, fixed))) * entry < 2**62
        normals = self.normals if fits else as_exact(self.normals, wide=True)
        rest = normals[:, len(fixed) :]
        shift: int | Exact = 0
        if fixed:
            shift = np.asarray(normals[:, : len(fixed)] @ as_exact(fixed, wide=normals.dtype == object))
        shadow = Shadow(rest[:, 0], rest[:, 1] if rest.shape[1] == 2 else 0 * rest[:, 0])

        def interval(level: int) -> Interval | None:
            low, high = self.bounds(level)
            return shadow.ends(scale * low - shift, scale * high - shift, scale)

        return interval


class Shadow:
    """Shadows {x : for some y, low <= a x + b y <= high in every row}: y is eliminated once for all bounds."""

    def __init__(self, a: Exact, b: Exact) -> None:
        self.negated = b < 0
        # Turned so that b >= 0 in every row, which exchanges its bounds; see `ends`.
        a = a * np.where(self.negated, -1, 1)
        b = np.abs(b)
        self.sloped = np.flatnonzero(b)
        self.straight = np.flatnonzero(b == 0)
        self.b = b[self.sloped]
        # The lower end of row k lies below the upper end of row l: (a_k b_l - a_l b_k) x >= b_l low_k - b_k high_l.
        pairs = a[self.sloped][:, None] * self.b
        # Rows without y bound x alone, from below and from above.
        self.factors = np.concatenate([(pairs - pairs.T).ravel(), a[self.straight], -a[self.straight]])

    def ends(self, low: Exact, high: Exact, scale: int = 1) -> Interval | None:
        """Return the ends, divided by the scale; None if the shadow is empty."""
        least = low.copy()
        most = high.copy()
        least[self.negated] = -high[self.negated]
        most[self.negated] = -low[self.negated]
        crossed = least[self.sloped][:, None] * self.b - self.b[:, None] * most[self.sloped]
        values = np.concatenate([crossed.ravel(), least[self.straight], -most[self.straight]])
        return solved(self.factors, values, scale)


def solved(factors: Exact, values: Exact, scale: int = 1) -> Interval | None:
    """Return the ends of {x : factors * scale * x >= values}, both bounded; None if it is empty."""
    if (values[factors == 0] > 0).any():
        return None
    up = factors > 0
    down = factors < 0
    left = extreme(values[up], factors[up], greatest=True)
    right = extreme(-values[down], -factors[down], greatest=False)
    return None if left > right else (left / scale, right / scale)


def extreme(numerators: Exact, denominators: Exact, *, greatest: bool) -> Fraction:
    """Return the greatest or least of the quotients, denominators > 0, exactly: floats choose whom to compare."""
    if numerators.dtype != object:
        quotients = numerators / denominators
        best = quotients.max() if greatest else quotients.min()
        # Quotients that floats cannot tell from the best are compared as fractions.
        near = np.abs(quotients - best) <= 2.0**-48 * max(1.0, abs(best))
        numerators = numerators[near]
        denominators = denominators[near]
    pick = max if greatest else min
    return pick(Fraction(a, b) for a, b in set(zip(numerators.tolist(), denominators.tolist(), strict=True)))


LEVELS = 5


def region_of_depth(regions: DepthRegions, level: int) -> Corners:
    """Return the corners of T(level) in the plane, in order around it; fewer than three where it has no area.

    Every coordinate direction is among the normals, so the square that is cut can be any that holds the points.
    """
    reach = int(abs(regions.points).max(initial=0)) + 1
    corners = square(-reach, reach)
    for (a, b), low, high in zip(regions.normals.tolist(), *map(list, regions.bounds(level)), strict=True):
        for sign, bound in ((1, -int(low)), (-1, int(high))):
            corners = clip(corners, [sign * (a * x + b * y) + bound for x, y in corners])
    return corners


def contours(regions: DepthRegions) -> list[tuple[int, Corners]]:
    """Return some depths up to the greatest, evenly spread and ascending, each with its region."""
    total = int(regions.weights.sum())
    deepest = next((r for r in range(total, 0, -1) if region_of_depth(regions, r)), 0)
    chosen = sorted({-(-deepest * i // LEVELS) for i in range(1, LEVELS + 1)} - {0})
    return [(level, region_of_depth(regions, level)) for level in chosen]


def depth_panel(
    side: int, regions: DepthRegions, sample: Sequence[Shape], released: Sequence[tuple[Fraction, ...]]
) -> Panel:
    """Return the panel of depth contours over the grid {0 .. side}^2, the sample's markers and the released points."""
    found = contours(regions)
    shapes = [
        Shape("polygon", tuple((float(x), float(y)) for x, y in corners), "blue", 0.12, 0.8, label=f"depth >= {level}")
        for level, corners in found
    ]
    points = tuple((float(p[0]), float(p[1])) for p in released)
    marks = Shape("points", points, "orange", marker="cross", sizes=(10.0,) * len(points), label="released")
    n = int(regions.weights.sum())
    deepest = found[-1][0] if found else 0
    caption = (
        f"Tukey depth of {n} examples: regions of points at least so deep, the deepest {deepest}, where n/3 is "
        f"{n / 3:.0f}; and the points that were released."
    )
    return framed(side, caption, [*shapes, *sample, marks], "x_1", "x_2")
