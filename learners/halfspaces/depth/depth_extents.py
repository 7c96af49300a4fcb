"""Extents of the regions T(r) of many points of the plane, by a linear program with the depth as its separation.

`depth_regions` cuts T(r) out by all lines that points span; of 10^4 points these are 5 10^7. Here an extent is found
over the cuts known so far, the depth of the corner that attains it is asked for, and where it is below r a spanned line
that has the corner on its wrong side is added, until the corner lies in T(r). Each cut is one of finitely many, so that
this ends, and the extent is that of T(r), exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError

from ...arrays import Integers
from .depth_regions import Interval, Shadow, solved
from .level_rings import Extents, Prefix

Normal = tuple[int, int]

# Slopes a/b of vectors D (y - x), y integer and D the denominator of x, differ by 1/(D s^2) of themselves or more, s
# the greatest entry of y - x: float64 orders them, ties included, while D s^2 is below this.
_EXACT = 2**52
# Spanned lines through a point that are tried as cuts, nearest first; all are if none of these cuts.
_TRIED = 16


@dataclass(eq=False)
class DepthExtents(Extents):
    """The regions T(r) of one weighted multiset of the plane, with the cuts that were needed so far.

    `points` (m, 2) are distinct integers from 0 to `side`, `weights` (m,) positive.
    """

    points: Integers
    weights: Integers
    side: int
    dimension: ClassVar[int] = 2
    _normals: list[Normal] = field(default_factory=list)
    _tables: list[tuple[Integers, Integers]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.total = int(self.weights.sum())
        # The axes bound every region from the start.
        for normal in ((1, 0), (0, 1)):
            self._add(normal)
        if len(self.points) > 1:
            # Of points on one line this is its normal, and with the axes cuts out every region.
            self._add(_across(self.points[-1] - self.points[0]))

    def _add(self, normal: Normal) -> None:
        """Add a direction of cuts, with the heights of the points along it in order and the weight up to each."""
        if normal in self._normals:
            return
        heights = self.points @ np.array(normal, dtype=np.int64)
        order = np.argsort(heights)
        self._normals.append(normal)
        self._tables.append((heights[order], np.cumsum(self.weights[order])))

    def bounds(self, level: int, start: int = 0) -> Integers:
        """Return rows (a, b, low, high): a x + b y in [low, high] on T(level), for the cuts from `start` on."""
        rows = []
        for (a, b), (heights, below) in zip(self._normals[start:], self._tables[start:], strict=True):
            low = heights[np.searchsorted(below, level)]
            high = heights[np.searchsorted(below, self.total - level, side="right")]
            rows.append((a, b, int(low), int(high)))
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    def deepest_on(self, prefix: Prefix, known: int, most: int) -> int:
        """Return the greatest depth of a point that begins with the prefix, known to be in [known, most]."""
        if len(prefix) == 2:
            return self.depth(prefix)
        return super().deepest_on(prefix, known, most)

    def interval(self, level: int, prefix: Prefix = ()) -> Interval | None:
        """Return the ends of the coordinate after the prefix over T(level), level >= 1; None if there is none."""
        if level > self.total:
            return None
        rows = self.bounds(level)
        while (ends := _slice(rows, prefix[0]) if prefix else shadow(rows)) is not None:
            known = len(rows)
            for end in dict.fromkeys(ends):
                corner: Prefix | None = (*prefix, end)
                if not prefix:
                    # At an end of the shadow the slice is a point or an edge; either end of it may be the corner.
                    edge = _slice(rows, end)
                    corner = edge and (end, edge[0])
                if corner is not None and self.cut(corner, level):
                    rows = np.concatenate([rows, self.bounds(level, len(rows))])
            if len(rows) == known:
                return ends
        return None

    def depth(self, point: Prefix) -> int:
        """Return the depth of a point."""
        return self._halfplane(point)[0]

    def _halfplane(self, point: Prefix) -> tuple[int, Integers]:
        """Return the depth of a point and a normal u: so much weight has <u, y> >= <u, point>.

        As in `tukey_depths`, but the line stops between two slopes, where its normal points to the lighter side.
        """
        scale = lcm(*(c.denominator for c in point))
        if scale * self.side**2 >= _EXACT or not all(0 <= c <= self.side for c in point):
            raise InputError(f"side must be smaller: {point} has too large a denominator beside {self.side}")
        v = scale * self.points - np.array([int(c * scale) for c in point], dtype=np.int64)
        here = (v == 0).all(axis=1)
        at = int(self.weights[here].sum())
        v = v[~here]
        w = self.weights[~here]
        if not len(v):
            return at, np.array([1, 0], dtype=np.int64)
        sign = np.where((v[:, 0] > 0) | ((v[:, 0] == 0) & (v[:, 1] > 0)), 1, -1)
        rays = v * sign[:, None]
        with np.errstate(divide="ignore"):
            # As in `tukey_depths`: rays by slope, and the weight that changes sides as a line through the point turns.
            slopes = np.where(rays[:, 0] == 0, np.inf, rays[:, 1] / rays[:, 0])
        order = np.argsort(slopes, kind="stable")
        slopes = slopes[order]
        moving = (sign * w)[order]
        last = np.flatnonzero(np.append(slopes[1:] != slopes[:-1], True))
        above = int(w[sign > 0].sum()) - np.cumsum(moving)[last]
        light = np.minimum(above, int(w.sum()) - above)
        best = int(light.argmin())
        first = rays[order[0]]
        end = rays[order[last[best]]]
        if len(last) == 1:
            # All on one line through the point, which is turned a little: or, as well, by a right angle.
            along = np.array([-end[1], end[0]])
        else:
            # Between two neighbouring slopes; after the last one the first follows, turned by half a turn.
            if best + 1 < len(last):
                along = end + rays[order[last[best] + 1]]
            else:
                along = end - first
        u = np.array([-along[1], along[0]])
        return at + int(light[best]), u if 2 * int(above[best]) <= int(w.sum()) else -u

    def cut(self, point: Prefix, level: int) -> bool:
        """Add spanned lines that cut a point of a depth below `level` off from T(level); say whether there were any.

        Let y be the point of rank `level` from above along a normal u with weight{<u, .> >= <u, point>} < level. Until
        u, as it turns, is orthogonal to y' - y for another y', y keeps this rank and <u, y> bounds T(level). Of the two
        spanned lines where it stops one has the point on its wrong side: on the turn <u, point - y> is a cosine, which
        is positive on half a turn, and all y' that the half turn does not meet are on the line of y and the point,
        which the normals that are known from the start bound. Cuts are tested by their own bounds, so that rounding in
        the choice of y' cannot make a wrong one.
        """
        depth, u = self._halfplane(point)
        if depth >= level:
            return False
        heights = self.points @ u
        order = np.argsort(-heights)
        rank = order[int(np.searchsorted(np.cumsum(self.weights[order]), level))]
        level_with = self.points[(heights == heights[rank]) & (self.points != self.points[rank]).any(axis=1)]
        if len(level_with) and self._added(_across(level_with[0] - self.points[rank]), point, level):
            return True
        w = np.delete(self.points, rank, axis=0) - self.points[rank]
        turned = np.array([-u[1], u[0]])
        under = w @ u
        with np.errstate(divide="ignore"):
            # The angle at which the turning line meets each other point; those met first in either sense bound the
            # turn.
            cotangents = np.where(under == 0, np.inf, -(w @ turned) / under)
        tried = np.argsort(cotangents)
        for some in (np.concatenate([tried[:_TRIED], tried[-_TRIED:]]) if len(tried) > 2 * _TRIED else tried, tried):
            normals = dict.fromkeys(_across(w[i]) for i in (some[0], some[-1], *some))
            for normal in normals:
                if self._added(normal, point, level):
                    return True
        raise AssertionError(f"no spanned line cuts {point} off from depth {level}")

    def _added(self, normal: Normal, point: Prefix, level: int) -> bool:
        """Say whether a cut has the point on its wrong side; then it is among the cuts."""
        known = normal in self._normals
        self._add(normal)
        _, _, low, high = self.bounds(level, self._normals.index(normal))[0].tolist()
        if low <= normal[0] * point[0] + normal[1] * point[1] <= high:
            if not known:
                self._normals.pop()
                self._tables.pop()
            return False
        return True


def _across(edge: Integers) -> Normal:
    """Return the primitive normal of the line along an edge; the first entry that is not 0 is positive."""
    a = -int(edge[1])
    b = int(edge[0])
    divisor = gcd(a, b) * (1 if (a, b) > (0, 0) else -1)
    return a // divisor, b // divisor


def shadow(rows: Integers) -> Interval | None:
    """Return the ends of {x : for some y, low <= a x + b y <= high in every row}; None if it is empty."""
    a, b, low, high = rows.T
    return Shadow(a, b).ends(low, high)


def _slice(rows: Integers, x: Fraction) -> Interval | None:
    """Return the ends of {y : low <= a x + b y <= high in every row}; None if it is empty."""
    a, b, low, high = rows.T
    across = a * x.numerator
    q = x.denominator
    return solved(np.concatenate([b, -b]), np.concatenate([low * q - across, across - high * q]), q)
