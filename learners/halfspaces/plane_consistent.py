"""The halfplanes that are consistent with subsamples of a large grid, counted by floor sums and drawn uniformly.

As in `plane_dichotomies`, a labelling cuts the order of the points by (height across e, place along e) between P and
P + e, for a primitive e. Those with ones after the cut are consistent if P is not before the last zero, and P + e not
after the first one: P lies in a range of the order, whose size is a difference of two ranks. The rank of a place is the
number of lattice points of a rectangle below a line, and of those before it on the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isqrt

import numpy as np

from ..arrays import Integers, Labels
from ..bisection import least
from ..geometry.polygons import Corner, cross
from ..mechanisms import exponential
from .depth.fraction_ranks import floor_sums
from .plane_dichotomies import PlaneDichotomies

_BLOCK = 2**21
_FAR = 2**62


def _ceiling(a: Integers, b: Integers) -> Integers:
    return np.asarray(-(-a // b))


def _below(alpha: Integers, beta: Integers, c: Integers) -> Integers:
    """Return the number of x, y >= 0 with alpha x + beta y < c, for alpha, beta >= 1."""
    found = np.zeros(len(c), dtype=np.int64)
    some = np.flatnonzero(c > 0)
    a = alpha[some]
    b = beta[some]
    c = c[some]
    n = _ceiling(c, a)
    # From the last x on: c - alpha x = c - alpha (n - 1) + alpha i.
    found[some] = floor_sums(n, a, b, c - a * (n - 1) + b - 1)
    return found


class CutOrders:
    """The orders of the points P with P + e in the grid, for all directions e = (a, b), without a list of them.

    `bezout` (k, 2) are integers u with -b u_1 + a u_2 = 1: one step up across e.
    """

    def __init__(self, concepts: PlaneDichotomies) -> None:
        self.side = concepts.side
        self.directions = concepts.directions
        self.step = concepts.steps
        self.unit = concepts.units
        # P fills a box of this extent, from this origin.
        self.extent = self.side - np.abs(self.directions)
        self.origin = np.maximum(0, -self.directions)
        self.sizes = (self.extent + 1).prod(axis=1)

    @cached_property
    def bezout(self) -> Integers:
        """The steps up."""
        # The extended Euclidean algorithm for a s + |b| t = 1, all directions at once.
        a, b = self.directions.T
        r0 = a.copy()
        r1 = np.abs(b)
        s0 = np.ones_like(a)
        s1 = np.zeros_like(a)
        while (going := r1 != 0).any():
            quotient = np.where(going, r0 // np.where(going, r1, 1), 0)
            remainder = np.where(going, r0 - quotient * r1, r1)
            factor = np.where(going, s0 - quotient * s1, s1)
            r0 = np.where(going, r1, r0)
            s0 = np.where(going, s1, s0)
            r1 = remainder
            s1 = factor
        t = np.where(b == 0, 0, (1 - a * s0) // np.where(b == 0, 1, np.abs(b)))
        return np.stack([-np.sign(b) * t, s0], axis=1)

    def ranks(self, index: Integers, keys: Integers) -> Integers:
        """Return how many P of each direction `index` (k,) have a smaller key than `keys` (k,)."""
        unit = self.unit[index]
        height = (keys + self.side * self.origin[index, 1]) // unit
        return self.up_to(index, height) + self.along(index, height, keys - unit * height)[1]

    def up_to(self, index: Integers, height: Integers) -> Integers:
        """Return how many P of each direction lie below a height, -b x + a y."""
        beta, alpha = np.abs(self.directions[index]).T
        x, y = (self.extent[index] + 1).T
        # With x counted from the right where b > 0 and y from its least value, both factors are >= 0.
        c = height + np.where(self.directions[index, 1] > 0, alpha * (x - 1), -beta * self.origin[index, 1])
        straight = np.where(alpha == 0, x * np.clip(c, 0, y), y * np.clip(c, 0, x))
        p = np.maximum(alpha, 1)
        q = np.maximum(beta, 1)
        ends = np.concatenate([c, c - p * x, c - q * y, c - p * x - q * y])
        # The rectangle x < X, y < Y by inclusion-exclusion over quadrants.
        every, right, above, both = _below(np.tile(p, 4), np.tile(q, 4), ends).reshape(4, -1)
        return np.where((alpha == 0) | (beta == 0), straight, every - right - above + both)

    def along(self, index: Integers, height: Integers, place: Integers) -> tuple[Integers, Integers]:
        """Return the first k with P = height u + k e in range, u the step up, and how many are before a place."""
        e = self.directions[index]
        at = height[:, None] * self.bezout[index]
        low = self.origin[index] - at
        high = low + self.extent[index]
        steep = np.where(e == 0, 1, np.abs(e))
        least = np.where(e >= 0, low, -high)
        most = np.where(e >= 0, high, -low)
        first = _ceiling(least, steep)
        last = most // steep
        free = e == 0
        possible = (low <= 0) & (0 <= high)
        # A coordinate that k does not move bounds no k, if it is in range, and all k otherwise.
        first = np.where(free, np.where(possible, -_FAR, _FAR), first).max(axis=1)
        last = np.where(free, np.where(possible, _FAR, -_FAR), last).min(axis=1)
        before = _ceiling(place - (at * e).sum(axis=1), self.step[index]) - 1
        return first, np.maximum(np.minimum(last, before) - first + 1, 0)

    def cut(self, index: int, rank: int) -> Integers:
        """Return the P (2,) of a rank in one direction."""
        j = np.array([index])
        reach = self.side * int(np.abs(self.directions[index]).sum())
        # The height of the cut: ranks rise with it.
        low = least(lambda height: bool(self.up_to(j, np.array([height]))[0] > rank), -reach, reach + 1) - 1
        height = np.array([low])
        k = self.along(j, height, np.array([_FAR]))[0] + rank - self.up_to(j, height)
        return np.asarray(low * self.bezout[index] + k * self.directions[index])

    @cached_property
    def normals(self) -> Integers:
        """For each direction a short w (2,) with <w, e> = 1 such that <w, x> orders points around e as the keys do.

        With n = (-b, a) let <w, n> be the least above s |e| sqrt(2). A point x whose height is by h >= 1 above that of
        P has |<x - P, e>| <= s sqrt(2) |e|, so that <w, x - P> > 0, and < 0 for h <= -1: it is less in absolute value
        than h <w, n>/|e|^2. On the line of P, <w, x - P> counts steps. So the points after the cut at P are those
        with <w, x> >= <w, P> + 1. As <w, n> <= s |e| sqrt(2) + |e|^2, |w| <= s sqrt(2) + |e| + 1 <= 2 sqrt(2) s + 1.
        """
        v = self.bezout[:, ::-1] * [1, -1]
        normal = self.directions[:, ::-1] * [-1, 1]
        least = np.array([isqrt(int(value)) for value in 2 * self.side**2 * self.step]) + 1
        return np.asarray(v + _ceiling(least - (v * normal).sum(axis=1), self.step)[:, None] * normal)


cut_orders = lru_cache(maxsize=2)(CutOrders)
"""From a class on a large grid to the orders of its directions."""


def short_box(side: int) -> tuple[int, int]:
    """Return bounds on |w_1|, |w_2| and on |t| of the halfplanes <w, x> >= t that `Consistent.chosen` returns.

    |t| <= |<w, P>| + 1 <= (2 sqrt(2) s + 1) s sqrt(2) + 1.
    """
    return isqrt(8 * side**2) + 1, 4 * side**2 + 2 * side + 1


def _hull(points: Integers) -> Integers:
    """Return the corners of the convex hull of points (m, 2): every linear order of these has its ends there."""
    rows = list(map(tuple, np.unique(points, axis=0).tolist()))

    def chain(ordered: list[Corner]) -> list[Corner]:
        kept: list[Corner] = []
        for corner in ordered:
            # Corners that turn right or go straight on are no corners of the hull.
            while len(kept) > 1 and cross(kept[-2], kept[-1], corner) <= 0:
                kept.pop()
            kept.append(corner)
        return kept

    return np.array(chain(rows) + chain(rows[::-1]), dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Consistent:
    """The labellings that are consistent with each of m subsamples: points, their labels, their subsamples in order."""

    concepts: PlaneDichotomies
    points: Integers
    labels: Labels
    groups: Integers
    m: int

    @property
    def orders(self) -> CutOrders:
        """The orders of the directions."""
        return cut_orders(self.concepts)

    def _ends(self, group: int, label: int) -> tuple[Integers, Integers]:
        """Return the least and the greatest key of a subsample's points with a label, far away if there is none."""
        normals = self.concepts.normals
        least = np.full(len(normals), _FAR)
        greatest = np.full(len(normals), -_FAR)
        corners = _hull(self.points[(self.groups == group) & (self.labels == label)])
        if len(corners):
            step = max(1, _BLOCK // len(corners))
            for start in range(0, len(normals), step):
                part = slice(start, start + step)
                keys = corners @ normals[part].T
                least[part] = keys.min(axis=0)
                greatest[part] = keys.max(axis=0)
        return least, greatest

    def _ranges(self, group: int) -> tuple[Integers, Integers]:
        """Return the rank of the first P that fits and how many do, of each direction for ones after and before it.

        After all directions come how many of the constants 1 and 0 fit.
        """
        ends = [self._ends(group, label) for label in (1, 0)]
        orders = self.orders
        first, counts = (np.zeros((len(orders.step), 2), dtype=np.int64) for _ in range(2))
        for side in (0, 1):
            after, _ = ends[side]
            _, before = ends[1 - side]
            index = np.flatnonzero(before < after)
            low = before[index]
            high = after[index] - orders.step[index] + 1
            ranks = np.zeros(len(index), dtype=np.int64), orders.sizes[index]
            # Without a point of a label the range is open on that side: all cuts, from the first or to the last.
            for row, keys, bounded in ((ranks[0], low, low > -_FAR), (ranks[1], high, after[index] < _FAR)):
                row[bounded] = orders.ranks(index[bounded], keys[bounded])
            first[index, side] = ranks[0]
            counts[index, side] = np.maximum(ranks[1] - ranks[0], 0)
        seen = self.labels[self.groups == group]
        return first.ravel(), np.append(counts, [int((seen == label).all()) for label in (1, 0)])

    def count(self, group: int) -> int:
        """Return the number of labellings that are consistent with a subsample."""
        return int(self._ranges(group)[1].sum())

    def chosen(self, rng: np.random.Generator) -> Iterator[tuple[int, int, int]]:
        """Yield for each subsample (w_1, w_2, t) of a halfplane <w, x> >= t, uniform among the consistent ones.

        Where none is, the constant 0 is taken.
        """
        for group in range(self.m):
            first, counts = self._ranges(group)
            ends = np.cumsum(counts)
            if not ends[-1]:
                yield 0, 0, 1
                continue
            # Uniform among all that are consistent, of all directions and both sides, and the constants.
            rank = exponential.uniform_below(int(ends[-1]), rng, 1)[0]
            yield self._labelling(first, counts, ends, rank)

    def chosen_of(self, times: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Return the distinct halfplanes (k, 3) that `chosen` would yield, and how often, if groups are repeated.

        `times` (m,) says how many subsamples consist of the examples of each group.
        """
        found: Counter[tuple[int, int, int]] = Counter()
        for group, count in enumerate(times.tolist()):
            first, counts = self._ranges(group)
            ends = np.cumsum(counts)
            if not ends[-1]:
                found[0, 0, 1] += count
                continue
            ranks = Counter(exponential.uniform_below(int(ends[-1]), rng, count))
            for rank, some in sorted(ranks.items()):
                found[self._labelling(first, counts, ends, rank)] += some
        rows = sorted(found)
        return np.array(rows, dtype=np.int64), np.array([found[row] for row in rows], dtype=np.int64)

    def _labelling(self, first: Integers, counts: Integers, ends: Integers, rank: int) -> tuple[int, int, int]:
        """Return (w_1, w_2, t) of the consistent labelling with a rank, given `_ranges` and sums of its counts."""
        place = int(ends.searchsorted(rank, side="right"))
        index, side = divmod(place, 2)
        if index == len(self.concepts.directions):
            return 0, 0, side
        within = rank - int(ends[place]) + int(counts[place])
        w = self.orders.normals[index]
        at = int(w @ self.orders.cut(index, int(first[place]) + within))
        sign = 1 - 2 * side
        return int(sign * w[0]), int(sign * w[1]), at + 1 if side == 0 else -at

    def ones(self, rng: np.random.Generator) -> Integers:
        """Return at each point of the grid how many of the halfplanes `chosen` have 1."""
        found = np.zeros(len(self.concepts.points), dtype=np.int64)
        for w1, w2, t in self.chosen(rng):
            found += self.concepts.points @ np.array([w1, w2]) >= t
        return found
