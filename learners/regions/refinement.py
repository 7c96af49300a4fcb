"""Best-first refinement of the tuples of halfplanes: an envelope of exp(rate q), as tight as rejection needs it.

A tuple of t halfplanes (t = 3 for a triangle) covers a point if all of them contain it. Its score q = f(covered,
spoiled) grows with the weight to be covered and falls with the weight to be spared, so over a product of pieces it lies
between f(surely covered, possibly spoiled) and f(possibly covered, surely spoiled). The products that contribute most
to the gap between the two envelopes are cut, until the upper one has at most a few times the mass of the lower one.

Refinement stops as well where the memory that it may take is used up (`MAX_PRODUCTS`, `MAX_MASKS`): where labels are
noise, a tight envelope can need as many products as there are tuples of cells. The state reached then is used as it is.
It is an envelope like any other, so that the law of the draws stays exact; they only take more tries, which may be more
than is practical. An error instead would be an output that depends on the sample, outside the privacy guarantee.

Tuples are unordered: products stand once for all orders of their pieces, with a multiplicity, and equal pieces are cut
together. Everything here steers and is in floating point; what is drawn from the products is exact at any state.

Pieces are convex parts of the dual box, each cut in two by the dual line of a point, grown on demand: a piece lies on
one side of some lines and is crossed by the others. Which of the two holds is decided exactly: heights of vertices over
a line are computed in floating point, and again in integers where rounding could change their sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from learners.arrays import Bools, Bytes, Floats, Integers, byte_sums, weighed
from learners.geometry.polygons import Polygon, UniformPoint, cut, double_triangle, dual_box

Score = Callable[[Integers, Integers], Integers]
"""From weights covered and spoiled to integer scores; grows in the first, falls in the second."""

TIGHT = 2.0
TRADE = 200
"""The mass of the upper envelope may be TIGHT + products / TRADE times that of the lower one."""
BATCH, SHARE = 2048, 4
"""At most so many products, or a quarter of all, are cut before the gaps are looked at again."""
DEPTH = 15.0
"""Products whose gap is below e^-DEPTH of the widest one are not cut with it."""
MAX_PRODUCTS = 2**20
"""From so many products on none is cut: about 300 MB. The last cut goes beyond by half at most."""
MAX_MASKS = 2**28
"""From so many bytes on, over all pieces and points, no piece is cut."""
BLOCK = 1024
"""The number of products that are compared with all points together."""
CERTAIN = 2.0**-49


class Pieces:
    """The pieces, numbered in the order in which they were made; number 0 is the whole box [-2 d^2, 2 d^2]^2.

    A halfplane (z, a, b) whose dual point lies in piece p is written as the code 2 p if z = 1 and 2 p + 1 if z = -1.

    The points (x, y) of the grid {0 .. side}^2 are distinct; side is below 2^256: more bits would overflow the
    floating-point filter.
    """

    def __init__(self, points: Sequence[tuple[int, int]], side: int) -> None:
        self.points = list(points)
        self.side = side
        # Areas are at least 1/(2 d^3) and rounded by less than one unit a triangle: relative errors below 2^-100.
        self._precision = 3 * side.bit_length() + 104 + (len(points) + 4).bit_length()
        self._x = np.array([float(x) for x, _ in points])
        self._y = np.array([float(y) for _, y in points])
        self._corners: list[Polygon] = []
        self._halves: list[tuple[int, int] | None] = []
        self._areas: list[dict[int, tuple[int, int]]] = []
        self.uniform = cache(lambda piece: UniformPoint.of(self._corners[piece]))
        self._inside = np.zeros((64, len(points)), dtype=np.bool_)
        self._packed = np.packbits(self._inside, axis=1)
        self.log_areas = np.zeros(32)
        self._heights: dict[int, tuple[Integers, Floats, Floats]] = {}
        self._add(dual_box(side), np.zeros(len(points), dtype=np.bool_), np.zeros(len(points), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._corners)

    def inside(self, codes: Integers | int) -> Bytes:
        """Return which points all halfplanes of a code contain, (..., bytes): eight points a byte, as `packbits`."""
        return np.asarray(self._packed[codes])

    def outside(self, codes: Integers | int) -> Bytes:
        """Return which points no halfplane of a code contains, (..., bytes)."""
        return np.asarray(self._packed[codes ^ 1])

    def area(self, piece: int, level: int) -> tuple[int, int]:
        """Return integers that enclose the area times 2^(precision + 256 level)."""
        known = self._areas[piece]
        if level not in known:
            known[level] = _enclosed_area(self._corners[piece], self._precision + 256 * level)
        return known[level]

    def halves(self, piece: int, undecided: Bytes, weights: Floats) -> tuple[int, int]:
        """Return the two parts of a piece, below and above a line that crosses it.

        A piece is cut once, when this is first asked: by the line with the greatest product of the weight, if it is
        undecided, and the balance of its heights over the vertices. At least one undecided line must cross.
        """
        found = self._halves[piece]
        if found is None:
            wanted = np.unpackbits(undecided, count=len(weights)) * weights
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
            self._packed = np.concatenate([self._packed, np.zeros_like(self._packed)])
            self.log_areas = np.concatenate([self.log_areas, np.zeros_like(self.log_areas)])
        self._corners.append(corners)
        self._halves.append(None)
        self._areas.append({})
        open_ = np.flatnonzero(~(above | below))
        signs, heights = self._signs(corners, open_)
        self._inside[2 * piece], self._inside[2 * piece + 1] = above, below
        self._inside[2 * piece, open_] = (signs <= 0).all(axis=0)
        self._inside[2 * piece + 1, open_] = (signs >= 0).all(axis=0)
        self._packed[2 * piece : 2 * piece + 2] = np.packbits(self._inside[2 * piece : 2 * piece + 2], axis=1)
        crossing = (signs < 0).any(axis=0) & (signs > 0).any(axis=0)
        low, high = heights[:, crossing].min(axis=0, initial=-1e-300), heights[:, crossing].max(axis=0, initial=1e-300)
        self._heights[piece] = open_[crossing], low, high
        self.log_areas[piece] = math.log(self.area(piece, 0)[1]) - self._precision * math.log(2)
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
    total = 0
    for pair in pairwise(corners[1:]):
        doubled, common = double_triangle(corners[0], *pair)
        total += (doubled << (precision - 1)) // common
    return total, total + len(corners) - 2


class Products:
    """Products of pieces that partition the t-tuples of halfplanes.

    The `pieces` are shared and grown. `weights` (m, 2) of each point, to be covered and to be spared, are integers,
    below 2^53 in all; `score` is f of the module's docstring, `components` t; the density is proportional to exp(rate
    q).
    """

    def __init__(self, pieces: Pieces, weights: Floats, score: Score, rate: float, components: int) -> None:
        self.pieces, self.weights, self.score, self.rate = pieces, weights, score, rate
        self._total = weights.sum(axis=1)
        # Not a matrix product: the threads of a busy BLAS cost far more than they save.
        self._tables = [byte_sums(column) for column in weights.T]
        t = components
        self.codes = np.array([[0] * (t - j) + [1] * j for j in range(t + 1)], dtype=np.int64)
        self.orders = np.array([math.comb(t, j) for j in range(t + 1)], dtype=np.int64)
        self.upper, self.lower, self._log_volumes = self._bounds(self.codes, self.orders)
        # As long as there is memory for more products and pieces.
        self._log_gaps = self._gap_factors(self.upper, self.lower)
        # As long as there is memory for more products and pieces.
        while len(self) < MAX_PRODUCTS and 2 * len(self.pieces) * len(weights) < MAX_MASKS and not self._tight():
            self._cut(self._worst())

    def __len__(self) -> int:
        return len(self.orders)

    @property
    def log_weights(self) -> Floats:
        """Logarithms of volume times exp(rate (upper bound - the greatest upper bound)), in floating point."""
        return np.asarray(self._log_volumes + self.rate * (self.upper - self.upper.max()))

    def masks(self, codes: Integers) -> tuple[Bytes, Bytes]:
        """Return which points (products, bytes) every tuple covers, and which at least one may, eight a byte."""
        inside, outside = self.pieces.inside(codes[:, 0]), self.pieces.outside(codes[:, 0])
        for column in codes.T[1:]:
            inside &= self.pieces.inside(column)
            outside |= self.pieces.outside(column)
        return inside, ~outside

    def _bounds(self, codes: Integers, orders: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the greatest and least scores of products, and the logarithms of their volumes."""
        least = np.empty((len(codes), 2), dtype=np.int64)
        most = np.empty((len(codes), 2), dtype=np.int64)
        for start in range(0, len(codes), BLOCK):
            part = slice(start, start + BLOCK)
            surely, possibly = self.masks(codes[part])
            least[part], most[part] = (
                np.stack([weighed(held, table) for table in self._tables], axis=1) for held in (surely, possibly)
            )
        logs = np.log(orders) + self.pieces.log_areas[codes >> 1].sum(axis=1)
        return self.score(most[:, 0], least[:, 1]), self.score(least[:, 0], most[:, 1]), logs

    def _gap_factors(self, upper: Integers, lower: Integers) -> Floats:
        """Return the logarithms of the gap between the envelopes as a share of the upper one; -inf where it is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(-np.expm1(self.rate * (lower - upper))))

    def _tight(self) -> bool:
        logs = self.log_weights
        logs -= logs.max()
        high, gap = np.exp(logs).sum(), np.exp(logs + self._log_gaps).sum()
        return bool(high <= (TIGHT + len(self) / TRADE) * (high - gap) or np.isneginf(self._log_gaps).all())

    def _worst(self) -> Integers:
        """Return the products that hold most of the gap between the envelopes."""
        gaps = self.log_weights + self._log_gaps
        count = min(len(gaps), max(BATCH, len(gaps) // SHARE))
        widest = np.argpartition(-gaps, count - 1)[:count]
        # Beyond the range of floating point all gaps may vanish but one: that one is taken.
        return np.asarray(np.sort(widest[gaps[widest] >= gaps[widest].max() - DEPTH]), dtype=np.int64)

    def _cut(self, chosen: Integers) -> None:
        """Replace the chosen products by their parts."""
        found = [self._parts(chosen[start : start + BLOCK]) for start in range(0, len(chosen), BLOCK)]
        codes, orders = np.concatenate([part for part, _ in found]), np.concatenate([order for _, order in found])
        upper, lower, volumes = self._bounds(codes, orders)
        added = (codes, orders, upper, lower, volumes, self._gap_factors(upper, lower))
        held = (self.codes, self.orders, self.upper, self.lower, self._log_volumes, self._log_gaps)
        for old, new in zip(held, added, strict=True):
            old[chosen] = new[: len(chosen)]
        self.codes, self.orders, self.upper, self.lower, self._log_volumes, self._log_gaps = (
            np.concatenate([old, new[len(chosen) :]]) for old, new in zip(held, added, strict=True)
        )

    def _parts(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Cut each chosen product in the component that is crossed by most of its undecided weight."""
        codes, orders = self.codes[chosen], self.orders[chosen]
        surely, possibly = self.masks(codes)
        undecided, either = possibly & ~surely, self._tables[0] + self._tables[1]
        crossed = [undecided & ~(self.pieces.inside(column) | self.pieces.outside(column)) for column in codes.T]
        picked = np.stack([weighed(hit, either) for hit in crossed], axis=1).argmax(axis=1)
        cut = codes[np.arange(len(codes)), picked]
        # A piece is cut by what the first product wants that cuts it.
        pieces, first, place = np.unique(cut >> 1, return_index=True, return_inverse=True)
        halves = [self.pieces.halves(piece, undecided[i], self._total)
                  for piece, i in zip(pieces.tolist(), first.tolist(), strict=True)]  # fmt: skip
        halved = 2 * np.array(halves, dtype=np.int64)[place] + (cut & 1)[:, None]
        equal = codes == cut[:, None]
        found, multiplicities = [], []
        for count in range(1, codes.shape[1] + 1):
            rows = np.flatnonzero(equal.sum(axis=1) == count)
            rest = codes[rows][~equal[rows]].reshape(len(rows), codes.shape[1] - count)
            for j in range(count + 1):
                sides = np.repeat(halved[rows], [j, count - j], axis=1)
                found.append(np.sort(np.concatenate([rest, sides], axis=1), axis=1))
                multiplicities.append(orders[rows] * math.comb(count, j))
        return np.concatenate(found), np.concatenate(multiplicities)
