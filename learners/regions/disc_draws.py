"""Discs over grids that are too large to list them: drawn exactly from Lebesgue measure on three dual coordinates.

f(x, y) = 1 iff z (x^2 + y^2) >= z (a x + b y + c): a disc for z = -1, and what is outside of one for z = 1. The dual
point (a, b, c) lies in [-8 d^3, 8 d^3]^2 x [-16 d^4, 16 d^4], in two copies. A point (x, y) of the grid is there the
plane c = x^2 + y^2 - a x - b y, which is above the dual points of the functions with z = 1 that contain (x, y).

Every labelling of the grid by a disc, the outside of one, or a halfplane has a cell of all these planes that meets the
box. Three planes with one common point have, as linear equations, a determinant D with 1 <= |D| <= d^2, twice the area
of a triangle. By Cramer's rule |a|, |b| <= 4 d^3, since differences of x^2 + y^2 are at most 2 d^2, and |c| <= 2 d^2 +
8 d^4. Every cell has such a vertex, as the planes of (0, 0), (1, 0) and (0, 1) have just one common point; and the
vertex is inside the box.

A cell of a sample's planes in the box has a volume of at least 1/(6 d^8): its vertices, on three planes or faces of the
box, have denominators of at most d^2, and four that are not in a plane make a tetrahedron, whose volume is a sixth of
an integer over the four denominators. So V = ln(2 (16 d^3)^2 32 d^4 6 d^8) = ln(98304 d^18). The m = (d + 1)^2 planes
cut space into at most 1 + m + C(m, 2) + C(m, 3) cells, in two copies, which bounds the number of labellings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np

from ..arrays import Floats, Integers
from ..domains import Grid
from ..geometry.solids import Cuboid, Solid, UniformSolidPoint, cuboid, cut, six_volumes, tetrahedra, vertices
from .refinement import CERTAIN, TINY, PieceTree

DualDisc = tuple[int, Fraction, Fraction, Fraction]
"""(z, a, b, c): the copy z of the dual space, and a point that stands for a region of it."""


def log_measures(side: int) -> float:
    """Return V, a bound on ln(whole measure / least measure of the discs that agree on a sample)."""
    return math.log(98304) + 18 * math.log(side)


def log_labellings(side: int) -> float:
    """Return a bound on the logarithm of the number of labellings of the grid."""
    points = (side + 1) ** 2
    return math.log(2 * sum(math.comb(points, i) for i in range(4)))


class SolidPieces(PieceTree[Solid, Cuboid]):
    """The pieces of the dual box of discs, cut by the dual planes of points."""

    numbers: ClassVar[int] = 4
    spread: ClassVar[int] = 24

    def __init__(self, points: Sequence[tuple[int, int]], side: int) -> None:
        # Volumes are at least 1/(6 d^8). Each tetrahedron is rounded by less than one unit, and a piece with F faces
        # has fewer than 4 F.
        places = 8 * side.bit_length() + 112 + 2 * (len(points) + 6).bit_length()
        super().__init__(points, side, cuboid(8 * side**3, 8 * side**3, 16 * side**4), places)
        self._uniform = cache(lambda piece: UniformSolidPoint.of(self._shapes[piece]))

    def box(self, piece: int, numbers: Sequence[int], bits: int) -> Cuboid | None:
        """Return where a uniform point of a piece is, given bits of four uniform numbers; None if undecided."""
        pick, first, second, third = numbers
        return self._uniform(piece).box(pick, first, second, third, bits)

    def heights(self, box: Cuboid, point: tuple[int, int]) -> tuple[int, int]:
        """Return the least and greatest c + x a + y b - x^2 - y^2 over a box, times its denominator."""
        x, y = point
        a_low, a_high, b_low, b_high, c_low, c_high, q = box
        lift = (x * x + y * y) * q
        return c_low + x * a_low + y * b_low - lift, c_high + x * a_high + y * b_high - lift

    def _enclosed(self, shape: Solid, precision: int) -> tuple[int, int]:
        """Return integers that enclose 2^precision times the volume: each tetrahedron is rounded down."""
        total = 0
        count = 0
        for corners in tetrahedra(shape):
            volume, common = six_volumes(corners)
            total += (volume << precision) // (6 * common)
            count += 1
        return total, total + count

    def _halves(self, shape: Solid, point: tuple[int, int]) -> tuple[Solid, Solid]:
        x, y = point
        plane = (x, y, x * x + y * y)
        return cut(shape, plane, -1), cut(shape, plane, 1)

    def _reach(self, shape: Solid, points: Integers) -> tuple[Floats, Floats]:
        """Return the least and greatest heights c + x a + y b - x^2 - y^2 of the vertices, with the right signs."""
        corners = vertices(shape)
        a, b, c = (np.array([corner[axis] / corner[3] for corner in corners])[:, None] for axis in range(3))
        x = self._x[points]
        y = self._y[points]
        lift = x * x + y * y
        found = c + a * x + b * y - lift
        # Heights that rounding could turn around are computed again in integers.
        size = np.abs(c) + np.abs(a) * x + np.abs(b) * y + lift
        for v, i in np.argwhere(np.abs(found) <= CERTAIN * size).tolist():
            p, r, t, q = corners[v]
            u, w = self.points[points[i]]
            exact = t + u * p + w * r - (u * u + w * w) * q
            found[v, i] = TINY * ((exact > 0) - (exact < 0))
        return found.min(axis=0), found.max(axis=0)


class DualCubes:
    """From an exact dual point to the largest dyadic cube around it that is met by no plane of the grid's points.

    All points of the cube label the whole grid alike. Its centre is a function of the real point alone, and so shows
    nothing of the sample.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        points = Grid(side, 2).points()
        self._points = points.tolist()
        self._x, self._y = points.T.astype(np.float64)
        self._lift = self._x**2 + self._y**2

    def resolve(self, z: int, box: Cuboid, bits: int) -> DualDisc | None:
        """Return z and the centre of the cube around the box's point; None if the box is too large to say."""
        # Cubes with sides 2^-l; one with a side above the width of the box of dual points has a face on c = 0, the
        # plane of (0, 0), and meets it. The finest is so much larger than the box that it rarely meets several cubes.
        low = -4 * self.side.bit_length() - 5
        high = bits - 4 * self.side.bit_length() - 20
        reach = self._reach(box)
        if not self._is_free(box, high, reach):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            free = self._is_free(box, middle, reach)
            if free is None:
                return None
            low, high = (low, middle) if free else (middle, high)
        corner = _cube(box, high)
        assert corner is not None
        unit = Fraction(1, 2) ** high
        a, b, c = ((2 * end + 1) * unit / 2 for end in corner)
        return z, a, b, c

    def _reach(self, box: Cuboid) -> Floats:
        """Return for each point of the grid a lower bound on the side of a cube around the box that meets its plane.

        The height of the plane changes by at most (1 + x + y) times the side within a cube.
        """
        a_low, a_high, b_low, b_high, c_low, c_high, q = box
        a = a_low / q
        b = b_low / q
        c = c_low / q
        heights = np.abs(c + a * self._x + b * self._y - self._lift)
        # What a height in floats may be off, and how far the point may be from the corner of the box.
        error = CERTAIN * (abs(c) + abs(a) * self._x + abs(b) * self._y + self._lift)
        width = max(a_high - a_low, b_high - b_low, c_high - c_low) / q
        return np.asarray((heights - error) / (1 + self._x + self._y) - width)

    def _is_free(self, box: Cuboid, level: int, reach: Floats) -> bool | None:
        """Return whether the closed cube of that level around the box is met by no plane; None if undecided."""
        corner = _cube(box, level)
        if corner is None:
            return None
        i, j, k = corner
        # Times 2^level, so that the cube has side `step` and integer corners.
        scale = 1 << max(level, 0)
        step = 1 << max(-level, 0)
        for place in np.flatnonzero(reach <= 2.0**-level).tolist():
            x, y = self._points[place]
            least = (k + i * x + j * y) * step - (x * x + y * y) * scale
            if least <= 0 <= least + (1 + x + y) * step:
                return False
        return True


def _cube(box: Cuboid, level: int) -> tuple[int, int, int] | None:
    """Return the corner, in units of 2^-level, of the cube that contains the box; None if it meets several."""
    *ends, q = box
    a_low, a_high, b_low, b_high, c_low, c_high = (
        (end << level) // q if level >= 0 else end // (q << -level) for end in ends
    )
    if a_low == a_high and b_low == b_high and c_low == c_high:
        return a_low, b_low, c_low
    return None
