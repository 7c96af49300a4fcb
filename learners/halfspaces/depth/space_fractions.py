"""Points of space selected by coordinates from candidates that are numbered and never listed.

Let X lie in a box of integers with edges S_1, S_2, S_3, V = S_1 S_2 S_3. A plane through three points of X has a normal
with |N_i| <= V/S_i: twice the area of a triangle in a rectangle is at most that of the rectangle. Three planes meet in
a point with x_1 = p/q, q a determinant of three normals, at most 4 V^2: of a matrix with entries in [-1, 1] it is at
most 4. On x_1 = p/q two of them meet where x_2 q has a denominator of at most 2 S_1 V, and on a line x_1, x_2 with
common denominator L one meets it where x_3 L has one of at most S_1 S_2. The candidates are all pairs (p, q) with such
denominators in the box. A number is among them once for each of its multiples (p k, q k): the exponential mechanism has
a weight on its candidates, which depends on no sample. It is at least 1 where a corner of some T(r) is, which is what
the bounds on the depth use; the number of pairs stands for that of the candidates.

Extents of the regions T(r) of some tens of points of space are found by linear programs in exact numbers. A point that
is not in T(r) is parted from a subset of the points, of weight above n - r, by a plane that three of the points span:
one through a facet of the subset's hull, or, where the hull is flat, one that holds a facet of it in its flat, or the
flat itself, and further points. So T(r) is cut out by the spanned planes with less than r of the weight strictly on one
side, and those with r or more on this side and the plane together are enough: the others are implied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import ceil, floor, lcm
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError

from ...arrays import Exact, Floats, Integers
from ...bisection import least
from ...mechanisms.exponential import uniform_below
from ...mechanisms.steps import Steps
from .depth_regions import Interval
from .fraction_ranks import floor_sum, greatest_below
from .level_rings import Extents, Prefix, Ring
from .tukey_depth import cross

# Up to this many points all planes through three of them are listed, 1.4 10^6.
MAX_SPACE_POINTS = 200
_LIMIT = 2**61
_BLOCK = 2**22
# More than the relative error of an inner product of four terms in float64.
_ROUNDING = 2.0**-44

Columns = list[list[Fraction]]


class SpaceExtents(Extents):
    """The regions T(r) of one weighted multiset of space.

    `points` (m, 3) are distinct integers, `weights` (m,) positive.
    """

    dimension: ClassVar[int] = 3

    def __init__(self, points: Integers, weights: Integers) -> None:
        if len(points) > MAX_SPACE_POINTS:
            raise InputError(
                f"points of space must be at most {MAX_SPACE_POINTS} distinct ones, got {len(points)}: the planes "
                "through any three of them are listed; more would need planes that are found one by one, and the depth "
                "of a point of space in n log n steps in the place of n^2"
            )
        self.total = int(weights.sum())
        points = points if len(points) else np.zeros((1, 3), dtype=np.int64)
        self.high = points.max(axis=0).tolist()
        self.low = points.min(axis=0).tolist()
        # Points without weight change no depth, and with them the points span the space.
        spanning = np.concatenate([points, points[0] + np.eye(3, dtype=np.int64)])
        reach = int(np.abs(spanning).max())
        extent = (np.array(self.high) - self.low + 1).tolist()
        if 6 * reach * max(extent[i - 1] * extent[i - 2] for i in range(3)) >= _LIMIT:
            raise InputError(f"points must have smaller coordinates than {reach}: heights above planes pass int64")
        self._planes(spanning, np.append(weights, np.zeros(len(spanning) - len(weights), dtype=np.int64)))
        self._rows = lru_cache(2**4)(self._level_rows)

    def _planes(self, points: Integers, weights: Integers) -> None:
        """List the halfspaces a x <= b with spanned boundaries: the weight `above`, and `most` with the boundary."""
        found: list[tuple[Integers, ...]] = []
        for i in range(len(points) - 2):
            rays = points[i + 1 :] - points[i]
            j, k = np.triu_indices(len(rays), 1)
            # Each plane through three points, found at the first of them; points on one line span none.
            normals = cross(rays[j], rays[k])
            normals = normals[(normals != 0).any(axis=1)]
            step = max(1, _BLOCK // len(points))
            for start in range(0, len(normals), step):
                a = normals[start : start + step]
                heights = a @ (points - points[i]).T
                outside = (heights > 0) @ weights
                beyond = (heights < 0) @ weights
                found.append((a, a @ points[i], outside, self.total - beyond))
                found.append((-a, -(a @ points[i]), beyond, self.total - outside))
        self.a, self.b, self.above, self.most = (np.concatenate(parts) for parts in zip(*found, strict=True))
        # The levels from which on a halfspace bounds T(level), or no longer does.
        self.changes: list[int] = np.unique(np.concatenate([self.above, self.most]) + 1).tolist()

    def _level_rows(self, level: int) -> tuple[Integers, Integers]:
        kept = (self.above < level) & (level <= self.most)
        rows = np.unique(np.column_stack([self.a[kept], self.b[kept]]), axis=0)
        return rows[:, :3], rows[:, 3]

    def interval(self, level: int, prefix: Prefix) -> Interval | None:
        """Return the ends of the coordinate after the prefix over T(level), level >= 1; None if there is none.

        After all three coordinates, whether the point is in T(level), as (0, 0) or None.
        """
        if level > self.total:
            return None
        a, b = self._rows(level)
        scale = lcm(1, *(x.denominator for x in prefix))
        fixed = np.array([int(x * scale) for x in prefix], dtype=object)
        right = scale * b.astype(object) - a[:, : len(prefix)].astype(object) @ fixed
        free = a[:, len(prefix) :].astype(object)
        if not free.shape[1]:
            return None if (right < 0).any() else (Fraction(0), Fraction(0))
        start = [scale * high for high in self.high[len(prefix) :]]
        greatest = _greatest(free, right, start)
        if greatest is None:
            return None
        # The least first coordinate is the greatest one of the mirror image.
        mirrored = free * np.array([-1] + [1] * (free.shape[1] - 1), dtype=object)
        lowest = _greatest(mirrored, right, [-scale * self.low[len(prefix)], *start[1:]])
        assert lowest is not None, "the region is not empty"
        return -lowest / scale, greatest / scale


def _greatest(rows: Exact, right: Exact, start: list[int]) -> Fraction | None:
    """Return the greatest first coordinate of {x : rows x <= right, x <= start}; None if this is empty.

    The dual simplex method for the objectives x_1, x_2, .. in this order, which makes every optimum unique, so that no
    basis comes twice. `columns[j]` is column j of the inverse of the basis: the multipliers of its row j, which are
    lexicographically positive.
    """
    size = rows.shape[1]
    floats = rows.astype(np.float64)
    bounds = right.astype(np.float64)
    lengths = np.abs(floats).sum(axis=1)
    columns: Columns = [[Fraction(i == j) for i in range(size)] for j in range(size)]
    limits = [Fraction(value) for value in start]
    while True:
        x = [sum((columns[j][i] * limits[j] for j in range(size)), Fraction(0)) for i in range(size)]
        # The basis is optimal for its own rows; a violated row enters it, until none is.
        entering = _violated(rows, right, (floats, bounds, lengths), x)
        if entering is None:
            return x[0]
        row = rows[entering].tolist()
        shares = [sum((a * c for a, c in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        allowed = [j for j in range(size) if shares[j] > 0]
        if not allowed:
            return None
        # The lexicographic rule: the multipliers stay positive, and no basis comes twice.
        leaving = min(allowed, key=lambda j: [c / shares[j] for c in columns[j]])
        columns[leaving] = [c / shares[leaving] for c in columns[leaving]]
        for j in range(size):
            if j != leaving:
                columns[j] = [c - shares[j] * d for c, d in zip(columns[j], columns[leaving], strict=True)]
        limits[leaving] = Fraction(int(right[entering]))


def _violated(rows: Exact, right: Exact, near: tuple[Floats, Floats, Floats], x: list[Fraction]) -> int | None:
    """Return a row that a point violates, by much if one does: floats choose which are looked at exactly."""
    floats, bounds, lengths = near
    scale = lcm(*(c.denominator for c in x))
    place = np.array([int(c * scale) for c in x], dtype=object)
    floating = np.array([float(c) for c in x])
    excess = floats @ floating - bounds
    slack = _ROUNDING * (lengths * float(np.abs(floating).max(initial=1.0)) + np.abs(bounds))
    # All rows that floats do not clear are looked at in exact numbers.
    doubtful = np.flatnonzero(excess > -slack)
    exact = rows[doubtful] @ place - right[doubtful] * scale
    outside = doubtful[exact > 0] if len(doubtful) else doubtful
    if not len(outside):
        return None
    return int(outside[(excess[outside] / np.maximum(lengths[outside], 1)).argmax()])


@dataclass(frozen=True)
class Pairs:
    """The pairs (p, q) with 1 <= q <= `most` and p/q in [`start`, `stop`]."""

    most: int
    start: Fraction
    stop: Fraction

    def up_to(self, q: int) -> int:
        """Return the number of those with a denominator of at most q."""
        # floor(x i) and floor(-start i), summed over the denominators i = 1 .. q.
        return q + sum(floor_sum(q, x.numerator, x.numerator, x.denominator) for x in (self.stop, -self.start))

    @cached_property
    def size(self) -> int:
        """Their number."""
        return self.up_to(self.most)

    def at_most(self, x: Fraction) -> int:
        """Return the number of those with p/q <= x."""
        if x >= self.start:
            return Pairs(self.most, self.start, min(x, self.stop)).size
        return 0

    def below(self, x: Fraction) -> int:
        """Return the number of those with p/q < x, for x in the range."""
        # The number x occurs once for each multiple of its denominator.
        return self.at_most(x) - self.most // x.denominator

    def at(self, rank: int) -> Fraction:
        """Return p/q of a rank in the order of the numbers p/q; those below and at it are more than the rank."""
        unit = self.most**2
        top = int((self.stop - self.start) * unit) + 1
        first = least(lambda k: self.at_most(self.start + Fraction(k, unit)) > rank, -1, top)
        # Two of the numbers differ by 1/unit or more, so that one alone is new from the multiple before to this one.
        found = self.start + Fraction(first, unit)
        return floor(found) + greatest_below(found - floor(found), self.most)

    def of(self, q: int) -> tuple[int, int]:
        """Return the least and the greatest p with denominator q, or less if there is none."""
        return ceil(self.start * q), floor(self.stop * q)

    def between(self, ends: Interval | None) -> Pairs:
        """Return those in an interval, or all."""
        return self if ends is None else Pairs(self.most, *ends)

    def uniform(self, ring: Ring[Pairs], rng: np.random.Generator) -> Fraction:
        """Return p/q for a pair of a ring, all pairs equally likely."""
        outer = ring.outer
        inner = ring.inner

        def up_to(q: int) -> int:
            return outer.up_to(q) - (inner.up_to(q) if inner is not None else 0)

        rank = uniform_below(ring.size, rng, 1)[0]
        q = least(lambda k: up_to(k) > rank, 0, self.most)
        p = outer.of(q)[0] + rank - up_to(q - 1)
        if inner is not None:
            first, last = inner.of(q)
            # The pairs of the inner region are skipped.
            p += max(0, last - first + 1) if p >= first else 0
        return Fraction(p, q)


@dataclass(frozen=True)
class SpaceFractions:
    """The candidates for points X in a box of integers from `low` to `high`, by coordinates."""

    low: tuple[int, int, int]
    high: tuple[int, int, int]

    @cached_property
    def denominators(self) -> tuple[int, int, int]:
        """The greatest q on each axis."""
        first, second, third = (b - a for a, b in zip(self.low, self.high, strict=True))
        volume = first * second * third
        return 4 * volume**2, 2 * first * volume, first * second

    def after(self, prefix: Prefix) -> tuple[int, Pairs]:
        """Return the common denominator L of a prefix, and the pairs (p, q) of the candidates p/(q L) after it."""
        scale = lcm(1, *(x.denominator for x in prefix))
        axis = len(prefix)
        low = Fraction(scale * self.low[axis])
        high = Fraction(scale * self.high[axis])
        return scale, Pairs(self.denominators[axis], low, high)

    @cached_property
    def most(self) -> tuple[int, ...]:
        """The greatest number of pairs on each axis."""
        q = self.denominators
        common = (1, q[0], q[0] * q[1])
        edges = (b - a for a, b in zip(self.low, self.high, strict=True))
        return tuple(Pairs(n, Fraction(0), Fraction(e * c)).size for n, e, c in zip(q, edges, common, strict=True))


def _regions(extents: SpaceExtents, prefix: Prefix) -> Iterator[tuple[int, int, Interval]]:
    """Yield the first and the last of the levels with the same interval after a prefix, and the interval."""
    deepest = extents.deepest_on(prefix, 0, extents.total)
    # T(r) changes at these levels alone, however large the weights are.
    starts = [1, *(level for level in extents.changes if 1 < level <= deepest)]
    def passes(ends: Interval, place: int) -> bool:
        """Return whether a level is beyond those with these ends."""
        return place >= len(starts) or extents.interval(starts[place], prefix) != ends

    place = 0
    while place < len(starts) and deepest:
        ends = extents.interval(starts[place], prefix)
        assert ends is not None, "the level is not above the greatest"
        # Regions are nested: those with the same ends stand in a row, which is passed in growing steps.
        step = 1
        while not passes(ends, place + step):
            step *= 2
        after = least(partial(passes, ends), place + step // 2, min(place + step, len(starts)))
        yield starts[place], starts[after] - 1 if after < len(starts) else deepest, ends
        place = after


def steps_after(extents: SpaceExtents, pairs: Pairs, scale: int, prefix: Prefix) -> Steps:
    """Return the greatest depth of a point that begins with (prefix, p/(q scale)), by the rank of the pair (p, q)."""
    rising = {0: 0}
    falling = dict[int, int]()
    for first, last, ends in _regions(extents, prefix):
        rising[pairs.below(ends[0] * scale)] = last
        falling.setdefault(pairs.at_most(ends[1] * scale), first - 1)
    falling.pop(pairs.size, None)
    pieces = sorted({**rising, **falling}.items())
    return Steps.of([start for start, _ in pieces], [value for _, value in pieces], pairs.size)
