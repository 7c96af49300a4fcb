"""Points of large grids of the plane with a common denominator: how many lie in a region of depth, and uniform ones.

Two lines a x + b y = c with |a|, |b| <= s cross in a point (m/q, k/q) with q <= 2 s^2, by Cramer's rule. The candidates
are all such points of [0, s]^2: they hold the corners of every T(r) and depend on no sample. Those of denominator q in
a polygon are the integer points of its q-fold without a divisor in common with q; integer points are counted by floor
sums along the edges, for all q at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise, zip_longest
from math import gcd
from typing import TypeVar

import numpy as np

from dpaudit.contract import InputError

from ...arrays import Integers
from ...mechanisms.exponential import uniform_below
from .depth_extents import DepthExtents, shadow
from .fraction_ranks import floor_sums
from .level_rings import Ring, draw, rings

Edge = tuple[int, int, int, Fraction, Fraction]
"""(a, b, c, left, right): the line b y = c - a x, b > 0, from x = left to x = right."""
Point = tuple[Fraction, Fraction]
Q = TypeVar("Q", int, Integers)


def _chain(lines: list[tuple[int, int, int]], left: Fraction, right: Fraction, sign: int) -> list[Edge]:
    """Return the edges of the least (sign 1) or greatest (sign -1) of some lines over [left, right], from the left."""
    edges: list[Edge] = []
    x = left
    slopes = [Fraction(-sign * a, b) for a, b, _ in lines]
    heights = [sign * (c - a * x) / b for a, b, c in lines]
    best = min(range(len(lines)), key=lambda i: (heights[i], slopes[i]))
    while True:
        # A steeper descent crosses the present line at x + gap / (difference of slopes).
        steeper = [i for i in range(len(lines)) if slopes[i] < slopes[best]]
        gaps = {i: (heights[i] - heights[best]) / (slopes[best] - slopes[i]) for i in steeper}
        following = min(gaps, key=lambda i: (gaps[i], slopes[i]), default=best)
        end = left + gaps[following] if steeper else right
        edges.append((*lines[best], x, min(end, right)))
        if end >= right:
            return edges
        x = end
        best = following


@dataclass(frozen=True)
class Polygon:
    """A closed convex set of the plane between two chains of edges, `upper` and `lower`, over the same x."""

    upper: tuple[Edge, ...]
    lower: tuple[Edge, ...]

    @classmethod
    def of_rows(cls, rows: Integers, left: Fraction, right: Fraction) -> Polygon:
        """Return {low <= a x + b y <= high in every row (a, b, low, high)}, whose x fill [left, right]."""
        above = []
        below = []
        for a, b, low, high in rows.tolist():
            if b < 0:
                a = -a
                b = -b
                low, high = -high, -low
            if b:
                above.append((a, b, high))
                below.append((a, b, low))
        return cls(tuple(_chain(above, left, right, 1)), tuple(_chain(below, left, right, -1)))

    @property
    def corners(self) -> list[Point]:
        """The ends of all edges."""
        ends = [(x, (c - a * x) / b) for a, b, c, *xs in (*self.upper, *self.lower) for x in xs]
        return list(dict.fromkeys(ends))

    def contains(self, point: Point) -> bool:
        """Say whether a point lies in it."""
        x, y = point
        inside = self.upper[0][3] <= x <= self.upper[-1][4]
        # Upper edges lie on lines above all of the polygon, lower ones on lines below.
        above, below = ([b * y - c + a * x for a, b, c, *_ in edges] for edges in (self.upper, self.lower))
        return inside and max(above) <= 0 <= min(below)

    def integer_points(self, most: int) -> Integers:
        """Return how many integer points the q-fold has, for q = 1 .. most."""
        q = np.arange(1, most + 1, dtype=np.int64)
        found = np.zeros(most, dtype=np.int64)
        for edges, sign in ((self.upper, 1), (self.lower, -1)):
            for a, b, c, start, stop in _ranges(edges, q):
                count = stop - start
                seen = np.flatnonzero(count > 0)
                n = count[seen]
                # floor((c q - a X)/b) under the upper edge, and ceil(..) - 1 = floor((c q - a X - 1)/b) at the lower.
                first = c * q[seen] - a * start[seen] - (sign < 0)
                # Remainders keep the arguments of the floor sum in [0, b); the whole parts are summed in closed form.
                found[seen] += sign * floor_sums(n, -a % b, b, first % b)
                found[seen] += sign * (n * (first // b) + n * (n - 1) // 2 * ((-a - -a % b) // b))
        return found

    def columns(self, q: int) -> tuple[int, Integers, Integers]:
        """Return the first X of the q-fold, and for each X from there on the least and the greatest Y (or less)."""
        ends = []
        for edges, sign in ((self.lower, -1), (self.upper, 1)):
            parts = []
            for a, b, c, start, stop in _ranges(edges, q):
                x = np.arange(start, stop, dtype=np.int64)
                parts.append((c * q - a * x) // b if sign > 0 else -((a * x - c * q) // b))
            ends.append(np.concatenate(parts))
        return -int(-self.upper[0][3] * q // 1), ends[0], ends[1]


def _ranges(edges: tuple[Edge, ...], q: Q) -> Iterator[tuple[int, int, int, Q, Q]]:
    """Yield a, b and c of each edge, with the first X of its q-fold and the one after the last, for numbers or arrays.

    The end of an edge belongs to the next one.
    """
    for a, b, c, left, right in edges:
        start, stop = (-(-q * x.numerator // x.denominator) for x in (left, right))
        if right == edges[-1][4]:
            stop = q * right.numerator // right.denominator + 1
        yield a, b, c, start, stop


def _moebius(most: int) -> Integers:
    """Return mu(1) .. mu(most)."""
    mu = np.zeros(most + 1, dtype=np.int64)
    mu[1] = 1
    for d in range(1, most // 2 + 1):
        if mu[d]:
            mu[2 * d :: d] -= mu[d]
    return mu[1:]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates in a polygon: of each denominator 1, 2, .. how many are reduced to it (`counts`)."""

    polygon: Polygon
    counts: Integers

    @cached_property
    def size(self) -> int:
        """The number of candidates."""
        return sum(self.counts.tolist())

    @cached_property
    def _cumulative(self) -> Integers:
        return np.cumsum(self.counts)

    def uniform(self, rng: np.random.Generator) -> Point:
        """Return one of the candidates, all equally likely."""
        rank = uniform_below(self.size, rng, 1)[0]
        q = int(np.searchsorted(self._cumulative, rank, side="right")) + 1
        first, low, high = self.polygon.columns(q)
        heights = np.cumsum(np.maximum(high - low + 1, 0))
        while True:
            index = uniform_below(int(heights[-1]), rng, 1)[0]
            column = int(np.searchsorted(heights, index, side="right"))
            x = first + column
            y = int(high[column]) - (int(heights[column]) - 1 - index)
            # Rejection: a uniform integer point of the q-fold that is reduced is a uniform candidate of denominator q.
            if gcd(x, y, q) == 1:
                return Fraction(x, q), Fraction(y, q)


class PlaneLattice:
    """The candidates on the grid {0 .. side}^2."""

    def __init__(self, side: int) -> None:
        self.side = side
        self.most = 2 * side * side
        if side > MAX_LATTICE_SIDE:
            raise InputError(
                f"side must be at most {MAX_LATTICE_SIDE} for one selection among points of the plane, got {side}: "
                "each region of depth is counted for all 2 side^2 denominators"
            )
        self._mu = _moebius(self.most)
        self.within = lru_cache(2**8)(self._counted)
        """Returns the candidates in a polygon inside of the square; neighbours share most of theirs."""

    @cached_property
    def square(self) -> Candidates:
        """All candidates."""
        whole = Fraction(0), Fraction(self.side)
        return self.within(Polygon(((0, 1, self.side, *whole),), ((0, 1, 0, *whole),)))

    def _counted(self, polygon: Polygon) -> Candidates:
        points = polygon.integer_points(self.most)
        # Of denominator q, reduced: Moebius inversion over the divisors that a point has in common with q.
        counts = points.copy()
        for d in np.flatnonzero(self._mu[1:]) + 2:
            # A point with a divisor d in common with q is one of denominator q/d.
            counts[d - 1 :: d] += self._mu[d - 1] * points[: self.most // d]
        return Candidates(polygon, counts)


# Up to this side the integer points of all q-folds are counted, in seconds.
MAX_LATTICE_SIDE = 100


def region_polygon(extents: DepthExtents, level: int) -> Polygon:
    """Return T(level), level >= 1, which must not be empty."""
    while True:
        ends = extents.interval(level)
        if ends is None:
            raise InputError(f"level must be at most the greatest depth, got {level}")
        polygon = Polygon.of_rows(extents.bounds(level), *ends)
        # A corner that is too shallow adds a cut; when none is, the polygon is T(level).
        cut = [extents.cut(corner, level) for corner in polygon.corners]
        if not any(cut):
            return polygon


class LatticeSelection:
    """One exponential mechanism on all candidates of a large grid, score the Tukey depth."""

    def __init__(self, lattice: PlaneLattice, points: Integers, weights: Integers, rate: float) -> None:
        self.lattice = lattice
        self.rate = rate
        self.extents = DepthExtents(points, weights, lattice.side)
        self._region = lru_cache(2**9)(self._found)

    def _found(self, level: int) -> Candidates:
        if level == 0:
            return self.lattice.square
        return self.lattice.within(region_polygon(self.extents, level))

    @cached_property
    def _rings(self) -> list[Ring[Candidates]]:
        return rings(self._region, self.extents.deepest(), self.rate)

    def draw(self, rng: np.random.Generator, size: int) -> list[Point]:
        """Return the points of independent runs."""

        def pick(ring: Ring[Candidates]) -> Point:
            # The rings are weighted, so that a thin one is seldom chosen: in all a draw takes few tries.
            while True:
                point = ring.outer.uniform(rng)
                if ring.inner is None or not ring.inner.polygon.contains(point):
                    return point

        return draw(self._rings, pick, lambda point, least, most: self.extents.depth(point), self.rate, rng, size)

    @cached_property
    def counts(self) -> list[int]:
        """The number of candidates of depth at least r, for r = 0 .. the greatest depth."""
        return [self._region(level).size for level in range(self.extents.deepest() + 1)]

    def _both(self, other: LatticeSelection, level: int) -> int:
        """Return the number of candidates of depth at least `level` in both multisets."""
        here = self._region(level)
        there = other._region(level)
        for one, two in ((here, there), (there, here)):
            # One region inside of the other: no new polygon is needed.
            if all(two.polygon.contains(corner) for corner in one.polygon.corners):
                return one.size
        rows = np.concatenate([one.extents.bounds(level) for one in (self, other)])
        ends = shadow(rows)
        if ends is None:
            return 0
        return self.lattice.within(Polygon.of_rows(rows, *ends)).size

    def shifts(self, other: LatticeSelection) -> dict[int, dict[int, int]]:
        """Return how many candidates are d deeper here than there, d = -1, 0 and 1, by their depths here.

        The multisets are neighbours, whose depths differ by at most 1.
        """
        pairs = [*zip_longest(self.counts, other.counts, fillvalue=0), (0, 0)]
        both = [self._both(other, level) if all(pair) else 0 for level, pair in enumerate(pairs)]
        found: dict[int, dict[int, int]] = {-1: {}, 0: {}, 1: {}}
        for r, ((here, _), (deeper_here, deeper_there)) in enumerate(pairwise(pairs)):
            # Of depth r here and less there; of depth r + 1 there and less here.
            found[1][r] = here - both[r]
            found[-1][r] = deeper_there - both[r + 1]
            found[0][r] = here - deeper_here - found[1][r] - found[-1][r]
        return found
