"""Extents of the regions T(r) of some tens of points of space, by linear programs in exact numbers.

A point that is not in T(r) is parted from a subset of the points, of weight above n - r, by a plane that three of the
points span: one through a facet of the subset's hull, or, where the hull is flat, one that holds a facet of it in its
flat, or the flat itself, and further points. So T(r) is cut out by the spanned planes with less than r of the weight
strictly on one side, and those with r or more on this side and the plane together are enough: the others are implied.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import lcm

import numpy as np

from dpaudit.contract import InputError

from ...arrays import Exact, Floats, Integers
from .depth_extents import Interval
from .tukey_depth import centerpoint_bound, cross

MAX_SPACE_POINTS = 200
"""Up to this many points all planes through three of them are listed, 1.4 10^6."""
_LIMIT = 2**61
_BLOCK = 2**22
_ROUNDING = 2.0**-44
"""More than the relative error of an inner product of four terms in float64."""

Prefix = tuple[Fraction, ...]
Columns = list[list[Fraction]]


class SpaceExtents:
    """The regions T(r) of one weighted multiset of space.

    `points` (m, 3) are distinct integers, `weights` (m,) positive.
    """

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
            normals = cross(rays[j], rays[k])
            normals = normals[(normals != 0).any(axis=1)]
            step = max(1, _BLOCK // len(points))
            for start in range(0, len(normals), step):
                a = normals[start : start + step]
                heights = a @ (points - points[i]).T
                outside, beyond = (heights > 0) @ weights, (heights < 0) @ weights
                found.append((a, a @ points[i], outside, self.total - beyond))
                found.append((-a, -(a @ points[i]), beyond, self.total - outside))
        self.a, self.b, self.above, self.most = (np.concatenate(parts) for parts in zip(*found, strict=True))

    def _level_rows(self, level: int) -> tuple[Integers, Integers]:
        kept = (self.above < level) & (level <= self.most)
        rows = np.unique(np.column_stack([self.a[kept], self.b[kept]]), axis=0)
        return rows[:, :3], rows[:, 3]

    def deepest(self) -> int:
        """Return the greatest depth of a point of space."""
        return self.deepest_on((), centerpoint_bound(self.total, 3), self.total)

    def deepest_on(self, prefix: Prefix, least: int, most: int) -> int:
        """Return the greatest depth of a point that begins with the prefix, known to be in [least, most]."""
        low, high = least, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.interval(middle, prefix) is None else (middle, high)
        return low

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
        mirrored = free * np.array([-1] + [1] * (free.shape[1] - 1), dtype=object)
        least = _greatest(mirrored, right, [-scale * self.low[len(prefix)], *start[1:]])
        assert least is not None, "the region is not empty"
        return -least / scale, greatest / scale


def _greatest(rows: Exact, right: Exact, start: list[int]) -> Fraction | None:
    """Return the greatest first coordinate of {x : rows x <= right, x <= start}; None if this is empty.

    The dual simplex method for the objectives x_1, x_2, .. in this order, which makes every optimum unique, so that no
    basis comes twice. `columns[j]` is column j of the inverse of the basis: the multipliers of its row j, which are
    lexicographically positive.
    """
    size = rows.shape[1]
    floats, bounds = rows.astype(np.float64), right.astype(np.float64)
    lengths = np.abs(floats).sum(axis=1)
    columns: Columns = [[Fraction(i == j) for i in range(size)] for j in range(size)]
    limits = [Fraction(value) for value in start]
    while True:
        x = [sum((columns[j][i] * limits[j] for j in range(size)), Fraction(0)) for i in range(size)]
        entering = _violated(rows, right, (floats, bounds, lengths), x)
        if entering is None:
            return x[0]
        row = rows[entering].tolist()
        shares = [sum((a * c for a, c in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        allowed = [j for j in range(size) if shares[j] > 0]
        if not allowed:
            return None
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
    doubtful = np.flatnonzero(excess > -slack)
    exact = rows[doubtful] @ place - right[doubtful] * scale
    outside = doubtful[exact > 0] if len(doubtful) else doubtful
    if not len(outside):
        return None
    return int(outside[(excess[outside] / np.maximum(lengths[outside], 1)).argmax()])
