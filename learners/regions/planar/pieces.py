"""A tree of convex pieces of the dual box, each cut in two by the dual line of a point, grown on demand.

A piece lies on one side of some lines and is crossed by the others. Which of the two holds is decided exactly: heights
of vertices over a line are computed in floating point, and again in integers where rounding could change their sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dpaudit.contract import InputError
from learners.arrays import Bools, Floats, Integers
from learners.geometry.arrangement import half_width
from learners.geometry.cells import Polygon, UniformPoint, cut

__all__ = ["MAX_SIDE_BITS", "Pieces"]

MAX_SIDE_BITS = 256
"""Sides of more bits would overflow the floating-point filter."""
CERTAIN = 2.0**-49


class Pieces:
    """The pieces, numbered in the order in which they were made; number 0 is the whole box [-2 d^2, 2 d^2]^2.

    A halfplane (z, a, b) whose dual point lies in piece p is written as the code 2 p if z = 1 and 2 p + 1 if z = -1.

    Parameters
    ----------
    points : sequence of (x, y)
        Distinct points of the grid.
    side : int
        d of the grid {0 .. d}^2, below 2^256.
    """

    def __init__(self, points: Sequence[tuple[int, int]], side: int) -> None:
        if side.bit_length() > MAX_SIDE_BITS:
            raise InputError(f"side must be below 2^{MAX_SIDE_BITS}, got {side}")
        self.points = list(points)
        self.side = side
        # Areas are at least 1/(2 d^3) and rounded by less than one unit a triangle: relative errors below 2^-100.
        self._precision = 3 * side.bit_length() + 104 + (len(points) + 4).bit_length()
        self._x = np.array([float(x) for x, _ in points])
        self._y = np.array([float(y) for _, y in points])
        width = half_width(side)
        box = [(-width, -width, 1), (width, -width, 1), (width, width, 1), (-width, width, 1)]
        self._corners: list[Polygon] = []
        self._halves: list[tuple[int, int] | None] = []
        self._areas: list[dict[int, tuple[int, int]]] = []
        self._uniform: dict[int, UniformPoint] = {}
        self._inside = np.zeros((64, len(points)), dtype=np.bool_)
        self._log_areas = np.zeros(32)
        self._heights: dict[int, tuple[Integers, Floats, Floats]] = {}
        self._add(box, np.zeros(len(points), dtype=np.bool_), np.zeros(len(points), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._corners)

    def inside(self, codes: Integers) -> Bools:
        """Return which points all halfplanes of a code contain, (..., m)."""
        return np.asarray(self._inside[codes])

    def outside(self, codes: Integers) -> Bools:
        """Return which points no halfplane of a code contains, (..., m)."""
        return np.asarray(self._inside[codes ^ 1])

    def log_areas(self, codes: Integers) -> Floats:
        """Return logarithms of areas, in floating point: for steering alone."""
        return np.asarray(self._log_areas[codes >> 1])

    def area(self, piece: int, level: int) -> tuple[int, int]:
        """Return integers that enclose the area times 2^(precision + 256 level)."""
        known = self._areas[piece]
        if level not in known:
            known[level] = _enclosed_area(self._corners[piece], self._precision + 256 * level)
        return known[level]

    def uniform(self, piece: int) -> UniformPoint:
        """Return the uniform law on a piece."""
        if piece not in self._uniform:
            self._uniform[piece] = UniformPoint.of(self._corners[piece])
        return self._uniform[piece]

    def halves(self, piece: int, wanted: Floats) -> tuple[int, int]:
        """Return the two parts of a piece, below and above a line that crosses it.

        A piece is cut once, when this is first asked: by the line with the greatest product of `wanted` (m,) and the
        balance of its heights over the vertices. At least one line that crosses must be wanted.
        """
        found = self._halves[piece]
        if found is None:
            crossing, low, high = self._heights[piece]
            line = int(crossing[(wanted[crossing] * np.minimum(-low, high) / (high - low)).argmax()])
            x, y = self.points[line]
            lower, upper = self._inside[2 * piece].copy(), self._inside[2 * piece + 1].copy()
            lower[line] = upper[line] = True
            parts = (cut(self._corners[piece], x, y, -1), cut(self._corners[piece], x, y, 1))
            found = (
                self._add(parts[0], lower, self._inside[2 * piece + 1]),
                self._add(parts[1], self._inside[2 * piece], upper),
            )
            self._halves[piece] = found
        return found

    def _add(self, corners: Polygon, above: Bools, below: Bools) -> int:
        """Store a piece, given which lines are already known to lie above and below it."""
        piece = len(self._corners)
        if 2 * piece == len(self._inside):
            self._inside = np.concatenate([self._inside, np.zeros_like(self._inside)])
            self._log_areas = np.concatenate([self._log_areas, np.zeros_like(self._log_areas)])
        self._corners.append(corners)
        self._halves.append(None)
        self._areas.append({})
        open_ = np.flatnonzero(~(above | below))
        signs, heights = self._signs(corners, open_)
        self._inside[2 * piece], self._inside[2 * piece + 1] = above, below
        self._inside[2 * piece, open_] = (signs <= 0).all(axis=0)
        self._inside[2 * piece + 1, open_] = (signs >= 0).all(axis=0)
        crossing = (signs < 0).any(axis=0) & (signs > 0).any(axis=0)
        low, high = heights[:, crossing].min(axis=0, initial=-1e-300), heights[:, crossing].max(axis=0, initial=1e-300)
        self._heights[piece] = open_[crossing], low, high
        self._log_areas[piece] = math.log(self.area(piece, 0)[1]) - self._precision * math.log(2)
        return piece

    def _signs(self, corners: Polygon, lines: Integers) -> tuple[Floats, Floats]:
        """Return the signs (vertices, lines) of the heights b - (y - x a) of the vertices over the lines."""
        a = np.array([p / q for p, _, q in corners])[:, None]
        b = np.array([r / q for _, r, q in corners])[:, None]
        x, y = self._x[lines], self._y[lines]
        heights = b - (y - a * x)
        signs = np.sign(heights)
        for v, i in np.argwhere(np.abs(heights) <= CERTAIN * (np.abs(b) + y + np.abs(a) * x)).tolist():
            (p, r, q), (u, w) = corners[v], self.points[lines[i]]
            exact = r + u * p - w * q
            signs[v, i] = (exact > 0) - (exact < 0)
        return signs, heights


def _enclosed_area(corners: Polygon, precision: int) -> tuple[int, int]:
    """Return integers that enclose 2^precision times the area: each triangle of a fan is rounded down."""
    p0, r0, q0 = corners[0]
    total = 0
    for (p1, r1, q1), (p2, r2, q2) in pairwise(corners[1:]):
        det = p0 * (r1 * q2 - r2 * q1) - r0 * (p1 * q2 - p2 * q1) + q0 * (p1 * r2 - p2 * r1)
        total += (abs(det) << (precision - 1)) // (q0 * q1 * q2)
    return total, total + len(corners) - 2
