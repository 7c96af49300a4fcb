"""Polygons in exact arithmetic: cells of an arrangement and random points in them, clipping, and triangulation.

Vertices of cells are homogeneous integers (p, r, q), q > 0, for the point (a, b) = (p/q, r/q) of the dual plane.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import gcd, lcm
from typing import TypeVar

import numpy as np

from dpaudit.contract import InputError

from .arrangement import LEFT, Arrangement, half_width

C = TypeVar("C")
H = TypeVar("H", int, int | Fraction)
Homogeneous = tuple[int, int, int]
Polygon = list[Homogeneous]


def polygon(arrangement: Arrangement, cell: int) -> Polygon:
    """Return the vertices of a cell, in order around it.

    The box is cut by every line, on the side where the cell lies. A line lies below the cell if just right of the
    abscissa where the cell opens it is not above the cell's lower line.
    """
    lines = arrangement.lines
    width = half_width(arrangement.side)
    i, j = (int(v) for v in arrangement.opening[cell])
    if i == LEFT:
        p = -width
        q = 1
    else:
        x, y = lines[i]
        u, v = lines[j]
        p, q = (y - v, x - u) if x > u else (v - y, u - x)
    x, y = lines[int(arrangement.lower[cell])]
    limit = (y * q - x * p, -x)
    # All lines but the two of the box, which is where the cutting starts.
    corners = dual_box(arrangement.side)
    for x, y in lines[:-2]:
        corners = cut(corners, x, y, 1 if (y * q - x * p, -x) <= limit else -1)
    return corners


def dual_box(side: int) -> Polygon:
    """Return the corners of the box [-2 side^2, 2 side^2]^2."""
    width = half_width(side)
    return [(-width, -width, 1), (width, -width, 1), (width, width, 1), (-width, width, 1)]


def cut(corners: Polygon, x: int, y: int, side: int) -> Polygon:
    """Return the part of a convex polygon above (side 1) or below (side -1) the line b = y - x a."""
    heights = [side * (r + x * p - y * q) for p, r, q in corners]
    if min(heights) >= 0:
        return corners
    return _kept(corners, heights, _crossing)


def _kept(corners: list[C], heights: Sequence[H], crossing: Callable[[C, H, C, H], C]) -> list[C]:
    """Return the corners that are not below 0, and the crossings of the edges between those above and below."""
    kept = []
    for i, (corner, height) in enumerate(zip(corners, heights, strict=True)):
        before = corners[i - 1]
        level = heights[i - 1]
        # The edge from the corner before to this one crosses the line.
        if (height > 0 > level) or (height < 0 < level):
            kept.append(crossing(before, level, corner, height))
        if height >= 0:
            kept.append(corner)
    return kept


def _crossing(u: Homogeneous, f: int, v: Homogeneous, g: int) -> Homogeneous:
    """Return the point of the segment uv where the height, proportional to f at u and g at v, is 0."""
    p = f * v[0] - g * u[0]
    r = f * v[1] - g * u[1]
    q = f * v[2] - g * u[2]
    common = gcd(p, r, q) * (1 if q > 0 else -1)
    return p // common, r // common, q // common


def double_triangle(u: Homogeneous, v: Homogeneous, w: Homogeneous) -> tuple[int, int]:
    """Return numerator and denominator of twice the area of a triangle."""
    det = u[0] * (v[1] * w[2] - w[1] * v[2]) - u[1] * (v[0] * w[2] - w[0] * v[2]) + u[2] * (v[0] * w[1] - w[0] * v[1])
    return abs(det), u[2] * v[2] * w[2]


def area(corners: Polygon) -> Fraction:
    """Return the area of a convex polygon."""
    return sum((Fraction(*double_triangle(corners[0], *pair)) for pair in pairwise(corners[1:])), Fraction(0)) / 2


def vertex_mean(corners: Polygon) -> tuple[Fraction, Fraction]:
    """Return the mean of the vertices: a point inside a convex polygon."""
    a, b = (sum((Fraction(corner[i], corner[2]) for corner in corners), Fraction(0)) for i in (0, 1))
    return a / len(corners), b / len(corners)


class Bits:
    """Random bits from a generator, fetched in blocks."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._block = b""
        self._at = 0

    def take(self, count: int) -> int:
        """Return an integer uniform on {0 .. 2^count - 1}; `count` a multiple of 8."""
        # Blocks of bytes: a call of the generator for each number would cost more than the number.
        size = count // 8
        if self._at + size > len(self._block):
            self._block = self._rng.bytes(max(size, 1 << 14))
            self._at = 0
        self._at += size
        return int.from_bytes(self._block[self._at - size : self._at], "little")


Box = tuple[int, int, int, int, int]
"""(a_low, a_high, b_low, b_high, q): the point lies in [a_low, a_high]/q x [b_low, b_high]/q."""


@dataclass(frozen=True)
class UniformPoint:
    """Uniformly random points of a polygon as far as `bits` random bits decide them.

    The polygon is cut into a fan of triangles; one is chosen with probability proportional to its area, by comparing a
    uniform real number whose leading bits are known with exact fractions of integers; the point is
    v0 + s (v1 - v0) + t (v2 - v0), (s, t) uniform on s + t <= 1 by folding the unit square.
    """

    cumulative: tuple[int, ...]
    fans: tuple[tuple[int, int, int, int, int, int, int], ...]

    @classmethod
    def of(cls, corners: Polygon) -> UniformPoint:
        """Prepare the polygon."""
        pairs = list(pairwise(corners[1:]))
        areas = [Fraction(*double_triangle(corners[0], *pair)) for pair in pairs]
        common = lcm(*(part.denominator for part in areas))
        cumulative = tuple(accumulate(part.numerator * (common // part.denominator) for part in areas))
        return cls(cumulative, tuple(_fan(corners[0], *pair) for pair in pairs))

    def box(self, pick: int, s: int, t: int, bits: int) -> Box | None:
        """Return where the point is, given the first `bits` bits of three uniform numbers; None if undecided."""
        total = self.cumulative[-1]
        # The known bits leave the real number in an interval; both of its ends must choose the same triangle.
        index = bisect_right(self.cumulative, pick * total >> bits)
        if index != bisect_right(self.cumulative, ((pick + 1) * total - 1) >> bits):
            return None
        one = 1 << bits
        if s + t >= one:
            # The point with coordinates in [s, s + 1] is folded to [one - s - 1, one - s].
            s = one - s - 1
            t = one - t - 1
        # The diagonal passes through the square of what s and t may still be.
        elif s + t + 2 > one:
            return None
        a, b, a1, b1, a2, b2, q = self.fans[index]
        low_a = (a << bits) + s * a1 + t * a2
        low_b = (b << bits) + s * b1 + t * b2
        return (
            low_a + min(a1, 0) + min(a2, 0),
            low_a + max(a1, 0) + max(a2, 0),
            low_b + min(b1, 0) + min(b2, 0),
            low_b + max(b1, 0) + max(b2, 0),
            q << bits,
        )


def _fan(u: Homogeneous, v: Homogeneous, w: Homogeneous) -> tuple[int, int, int, int, int, int, int]:
    """Return the corner u and the edges to v and w over one denominator."""
    q = lcm(u[2], v[2], w[2])
    (a, b), (a1, b1), (a2, b2) = ((p * (q // d), r * (q // d)) for p, r, d in (u, v, w))
    return a, b, a1 - a, b1 - b, a2 - a, b2 - b, q


Point = tuple[Fraction, Fraction]
Corners = list[Point]


def square(low: Fraction | int, high: Fraction | int) -> Corners:
    """Return the corners of [low, high]^2, in order around it."""
    a = Fraction(low)
    b = Fraction(high)
    return [(a, a), (b, a), (b, b), (a, b)]


def clip(corners: Corners, heights: Sequence[Fraction | int]) -> Corners:
    """Return the part of a convex polygon where an affine function is >= 0, given its values at the corners.

    What touches the line alone remains, as one corner or two.
    """
    return _kept(corners, heights, _between)


def _between(u: Point, f: Fraction | int, v: Point, g: Fraction | int) -> Point:
    share = Fraction(f) / (f - g)
    return u[0] + share * (v[0] - u[0]), u[1] + share * (v[1] - u[1])


Corner = tuple[int, int]


def cross(o: Corner, p: Corner, q: Corner) -> int:
    """Return twice the signed area of the triangle o, p, q: positive if it turns left."""
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def contains(corners: list[Corner], point: Corner) -> bool:
    """Return whether the closed region of a simple polygon contains a point, by crossings of a ray and the boundary."""
    inside = False
    for p, q in pairwise([*corners, corners[0]]):
        side = cross(p, q, point)
        if side == 0 and all(min(u, v) <= w <= max(u, v) for u, v, w in zip(p, q, point, strict=True)):
            return True
        # The edge crosses the height of the point, its lower end included: a ray through a corner counts one of two
        # edges.
        if (p[1] <= point[1]) != (q[1] <= point[1]):
            inside ^= (side > 0) == (q[1] > p[1])
    return inside


def triangulate(corners: list[Corner]) -> list[tuple[Corner, Corner, Corner]]:
    """Return at most k - 2 triangles whose union is the polygon with k corners, counter-clockwise and simple.

    An ear is a corner that turns left and whose triangle holds no other corner; every simple polygon has one. Corners
    on a straight edge are dropped.
    """
    rest = list(corners)
    found = []
    while len(rest) > 2:
        for i, corner in enumerate(rest):
            before = rest[i - 1]
            after = rest[(i + 1) % len(rest)]
            turn = cross(before, corner, after)
            ear = (before, corner, after)
            if turn > 0 and any(contains(list(ear), other) for other in rest if other not in ear):
                continue
            if turn >= 0:
                found += [ear] if turn else []
                del rest[i]
                break
        else:
            raise InputError(f"corners must be those of a simple polygon, counter-clockwise; got {corners!r}")
    return found
