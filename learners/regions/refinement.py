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
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from dpaudit.contract import count_steps

from ..arrays import Bools, Bytes, Floats, Integers, PackedSums, packed_rows
from ..geometry.polygons import Box, Polygon, UniformPoint, cut, double_triangle, dual_box

Score = Callable[[Integers, Integers], Integers]
"""From weights covered and spoiled to integer scores; grows in the first, falls in the second."""

TIGHT = 2.0
# The mass of the upper envelope may be TIGHT + products / TRADE times that of the lower one.
TRADE = 200
# At most so many products, or a quarter of all, are cut before the gaps are looked at again.
BATCH = 2048
SHARE = 4
# Products whose gap is below e^-DEPTH of the widest one are not cut with it, beyond the FEW widest.
DEPTH = 15.0
FEW = 32
# From so many products on none is cut: about 300 MB. The last cut goes beyond by half at most.
MAX_PRODUCTS = 2**20
# From so many bytes on, over all pieces and points, no piece is cut.
MAX_MASKS = 2**28
# The number of products that are compared with all points together.
BLOCK = 1024
# Relative error of a height in floating point; what stands for one of which only the sign is known.
CERTAIN = 2.0**-49
TINY = 1e-300
# A component is preferred whose parts have a gap less than e^-HELP of the product's.
HELP = 0.3
# A product whose gap falls by e^-ENOUGH as its bounds are tightened is not cut as well.
ENOUGH = 3.0
# So many products have a say in the line that cuts a piece; the weight of a point that only this piece can spare.
VOTERS = 8
FORCED = 3.0


S = TypeVar("S")
B = TypeVar("B")


class PieceTree(ABC, Generic[S, B]):
    """The pieces, numbered in the order in which they were made; number 0 is the whole box of dual points.

    A region (z, dual point) whose dual point lies in piece p is written as the code 2 p if z = 1 and 2 p + 1 if z = -1.

    The points (x, y) of the grid {0 .. side}^2 are distinct; side is below 2^256: more bits would overflow the
    floating-point filter. With so many binary `places` measures are enclosed with relative errors below 2^-100.

    S is the type of a piece, B that of the box that encloses a point drawn from it.
    """

    numbers: ClassVar[int]
    """The number of uniform numbers that a point of a piece takes."""
    spread: ClassVar[int]
    """More than the bits for each bit of the side that ratios of measures span, 7 in the plane and 18 in space."""

    def __init__(self, points: Sequence[tuple[int, int]], side: int, whole: S, places: int) -> None:
        self.points = list(points)
        self.side = side
        self._precision = places
        self._x = np.array([float(x) for x, _ in points])
        self._y = np.array([float(y) for _, y in points])
        self._shapes: list[S] = []
        self.area = cache(lambda piece, level: self._enclosed(self._shapes[piece], self._precision + 256 * level))
        """From a piece and a level to integers that enclose its measure times 2^(precision + 256 level)."""
        self._packed = packed_rows(np.zeros((64, len(points)), dtype=np.bool_))
        self.log_areas = np.zeros(32)
        self.parts: Integers = np.full((32, 2), -1)
        self._heights: dict[int, tuple[Integers, Floats, Floats]] = {}
        self._add(whole, np.zeros(len(points), dtype=np.bool_), np.zeros(len(points), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._shapes)

    @abstractmethod
    def box(self, piece: int, numbers: Sequence[int], bits: int) -> B | None:
        """Return where a uniform point of a piece is, given bits of uniform numbers; None if undecided."""

    @abstractmethod
    def heights(self, box: B, point: tuple[int, int]) -> tuple[int, int]:
        """Return the least and greatest height of a box over the dual of a point, times a positive factor."""

    @abstractmethod
    def _enclosed(self, shape: S, precision: int) -> tuple[int, int]:
        """Return integers that enclose 2^precision times the measure of a piece."""

    @abstractmethod
    def _halves(self, shape: S, point: tuple[int, int]) -> tuple[S, S]:
        """Return the parts of a piece below and above the dual line, or plane, of a point."""

    @abstractmethod
    def _reach(self, shape: S, points: Integers) -> tuple[Floats, Floats]:
        """Return the least and greatest heights of the vertices over the duals of points, with the right signs."""

    def inside(self, codes: Integers | int) -> Bytes:
        """Return which points all regions of a code contain, (..., bytes): eight points a byte, as `packbits`."""
        return np.asarray(self._packed[codes])

    def outside(self, codes: Integers | int) -> Bytes:
        """Return which points no region of a code contains, (..., bytes)."""
        return np.asarray(self._packed[codes ^ 1])

    def cut(self, piece: int, wanted: Floats) -> None:
        """Cut a piece in two, below and above a line that crosses it, once: its `parts` are then known.

        It is the line with the greatest product of what it is `wanted`, (points,), and of the balance of its heights
        over the vertices. At least one line that is wanted must cross.
        """
        if self.parts[piece, 0] >= 0:
            return
        crossing, low, high = self._heights[piece]
        line = int(crossing[(wanted[crossing] * np.minimum(-low, high) / (high - low)).argmax()])
        sides = np.unpackbits(self._packed[2 * piece : 2 * piece + 2], axis=1, count=len(self.points))
        above, below = sides.astype(np.bool_)
        lower = above.copy()
        upper = below.copy()
        lower[line] = upper[line] = True
        under, over = self._halves(self._shapes[piece], self.points[line])
        halves = self._add(under, lower, below), self._add(over, above, upper)
        self.parts[piece] = halves

    def _add(self, shape: S, above: Bools, below: Bools) -> int:
        """Store a piece, given which lines are already known to lie above and below it."""
        piece = len(self._shapes)
        if 2 * piece == len(self._packed):
            self._packed = np.concatenate([self._packed, np.zeros_like(self._packed)])
            self.log_areas = np.concatenate([self.log_areas, np.zeros_like(self.log_areas)])
            self.parts = np.concatenate([self.parts, np.full_like(self.parts, -1)])
        self._shapes.append(shape)
        open_ = np.flatnonzero(~(above | below))
        low, high = self._reach(shape, open_)
        sides = np.stack([above, below])
        sides[:, open_] = high <= 0, low >= 0
        self._packed[2 * piece : 2 * piece + 2] = packed_rows(sides)
        crossing = np.flatnonzero((low < 0) & (high > 0))
        self._heights[piece] = open_[crossing], low[crossing], high[crossing]
        self.log_areas[piece] = math.log(self.area(piece, 0)[1]) - self._precision * math.log(2)
        return piece


class Pieces(PieceTree[Polygon, Box]):
    """The pieces of the dual box [-2 d^2, 2 d^2]^2 of halfplanes (z, a, b), cut by the dual lines of points."""

    numbers: ClassVar[int] = 3
    spread: ClassVar[int] = 8

    def __init__(self, points: Sequence[tuple[int, int]], side: int) -> None:
        # Areas are at least 1/(2 d^3) and rounded by less than one unit a triangle: relative errors below 2^-100.
        places = 3 * side.bit_length() + 104 + (len(points) + 4).bit_length()
        super().__init__(points, side, dual_box(side), places)
        self._uniform = cache(lambda piece: UniformPoint.of(self._shapes[piece]))

    def box(self, piece: int, numbers: Sequence[int], bits: int) -> Box | None:
        """Return where a uniform point of a piece is, given bits of three uniform numbers; None if undecided."""
        pick, s, t = numbers
        return self._uniform(piece).box(pick, s, t, bits)

    def heights(self, box: Box, point: tuple[int, int]) -> tuple[int, int]:
        """Return the least and greatest b + x a - y over a box, times its denominator; x and y are not negative."""
        x, y = point
        a_low, a_high, b_low, b_high, q = box
        return b_low + x * a_low - y * q, b_high + x * a_high - y * q

    def _enclosed(self, shape: Polygon, precision: int) -> tuple[int, int]:
        return _enclosed_area(shape, precision)

    def _halves(self, shape: Polygon, point: tuple[int, int]) -> tuple[Polygon, Polygon]:
        x, y = point
        return cut(shape, x, y, -1), cut(shape, x, y, 1)

    def _reach(self, shape: Polygon, points: Integers) -> tuple[Floats, Floats]:
        """Return the least and greatest heights b - (y - x a) of the vertices over lines, with the right signs."""
        a = np.array([p / q for p, _, q in shape])[:, None]
        b = np.array([r / q for _, r, q in shape])[:, None]
        x = self._x[points]
        y = self._y[points]
        heights = b - (y - a * x)
        # Heights that rounding could turn around are computed again in integers.
        for v, i in np.argwhere(np.abs(heights) <= CERTAIN * (np.abs(b) + y + np.abs(a) * x)).tolist():
            p, r, q = shape[v]
            u, w = self.points[points[i]]
            exact = r + u * p - w * q
            heights[v, i] = TINY * ((exact > 0) - (exact < 0))
        return heights.min(axis=0), heights.max(axis=0)


def _enclosed_area(corners: Polygon, precision: int) -> tuple[int, int]:
    """Return integers that enclose 2^precision times the area: each triangle of a fan is rounded down."""
    total = 0
    for pair in pairwise(corners[1:]):
        doubled, common = double_triangle(corners[0], *pair)
        total += (doubled << (precision - 1)) // common
    return total, total + len(corners) - 2


Codes = tuple[Integers, Integers]
"""The codes (products, t) of products, and their orders."""


class Products:
    """Products of pieces that partition the t-tuples of halfplanes.

    The `pieces` are shared and grown. `weights` (m, 2) of each point, to be covered and to be spared, are integers,
    below 2^53 in all; `score` is f of the module's docstring, `components` t; the density is proportional to exp(rate
    q). Refinement begins from the codes and orders of other products of the same pieces, `start`, if there are any.
    """

    def __init__(
        self,
        pieces: PieceTree[Any, Any],
        weights: Floats,
        score: Score,
        rate: float,
        components: int,
        start: Codes | None = None,
    ) -> None:
        self.pieces = pieces
        self.weights = weights
        self.score = score
        self.rate = rate
        self._total = weights.sum(axis=1)
        # Not a matrix product: the threads of a busy BLAS cost far more than they save.
        self._tables = [PackedSums(column) for column in weights.T]
        self._either = PackedSums(self._total)
        t = components
        # With one halfplane pieces cost more than products, and no point is left for others to spare.
        self._forced = FORCED if t > 1 else 0.0
        self._few = FEW if t > 1 else 1
        if start is None:
            # The whole box in every component, with j of them in the copy z = 1: as many orders as there are ways to
            # choose these.
            start = np.tri(t + 1, t, -1, dtype=np.int64)[:, ::-1], np.array([math.comb(t, j) for j in range(t + 1)])
        self.codes, self.orders = (one.copy() for one in start)
        blocks = [self.codes[first : first + BLOCK] for first in range(0, len(self.codes), BLOCK)]
        ends = zip(*(self._scores(*self.masks(block)) for block in blocks), strict=True)
        self.upper, self.lower = (np.concatenate(one) for one in ends)
        self._log_volumes = self._volumes(self.codes, self.orders)
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
        inside = self.pieces.inside(codes[:, 0])
        outside = self.pieces.outside(codes[:, 0])
        for column in codes.T[1:]:
            inside &= self.pieces.inside(column)
            outside |= self.pieces.outside(column)
        return inside, ~outside

    def _volumes(self, codes: Integers, orders: Integers) -> Floats:
        """Return the logarithms of the volumes of products."""
        return np.asarray(np.log(orders) + self.pieces.log_areas[codes >> 1].sum(axis=1))

    def _scores(self, surely: Bytes, possibly: Bytes) -> tuple[Integers, Integers]:
        """Return the greatest and least scores of products, given which points all and which any tuples cover."""
        wanted, spared = self._tables
        return self.score(wanted.of(possibly), spared.of(surely)), self.score(wanted.of(surely), spared.of(possibly))

    def _gap_factors(self, upper: Integers, lower: Integers) -> Floats:
        """Return the logarithms of the gap between the envelopes as a share of the upper one; -inf where it is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(-np.expm1(self.rate * (lower - upper))))

    def _tight(self) -> bool:
        logs = self.log_weights
        logs -= logs.max()
        high = np.exp(logs).sum()
        gap = np.exp(logs + self._log_gaps).sum()
        return bool(high <= (TIGHT + len(self) / TRADE) * (high - gap) or np.isneginf(self._log_gaps).all())

    def _worst(self) -> Integers:
        """Return the products that hold most of the gap between the envelopes."""
        gaps = self.log_weights + self._log_gaps
        # A selection of the widest gaps, without sorting all of them.
        count = min(len(gaps), max(BATCH, len(gaps) // SHARE))
        widest = np.argpartition(-gaps, count - 1)[:count]
        # Beyond the range of floating point all gaps may vanish but one: that one is taken.
        found = gaps[widest]
        few = min(self._few, count)
        deep = min(found.max() - DEPTH, np.partition(found, -few)[-few])
        return np.asarray(np.sort(widest[(found >= deep) & (found > -np.inf)]), dtype=np.int64)

    def _cut(self, chosen: Integers) -> None:
        """Replace the chosen products by their parts, where looking at the parts is not enough."""
        blocks = [self._parts(chosen[start : start + BLOCK]) for start in range(0, len(chosen), BLOCK)]
        chosen, first, codes, orders, upper, lower = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        if not len(chosen):
            return
        upper = np.minimum(upper, self.upper[first])
        lower = np.maximum(lower, self.lower[first])
        added = (codes, orders, upper, lower, self._volumes(codes, orders), self._gap_factors(upper, lower))
        held = (self.codes, self.orders, self.upper, self.lower, self._log_volumes, self._log_gaps)
        for old, new in zip(held, added, strict=True):
            # The first parts take the places of the products that are cut, the others are appended.
            old[chosen] = new[: len(chosen)]
        self.codes, self.orders, self.upper, self.lower, self._log_volumes, self._log_gaps = (
            np.concatenate([old, new[len(chosen) :]]) for old, new in zip(held, added, strict=True)
        )

    def _parts(self, chosen: Integers) -> tuple[Integers, ...]:
        """Look at the parts of each chosen product; return those still to be cut, and the parts that replace them.

        Each component whose piece is known to have parts is tried: no tuple is better than the best of two parts. A
        product whose gap falls far by this alone is left as it is. The others are cut where the parts have the least
        gap, or if no component helps much, in the one that is crossed by most undecided weight. Returned are the
        products cut, and of each part the product that it comes from, codes, orders, greatest and least scores.
        """
        codes = self.codes[chosen]
        orders = self.orders[chosen]
        inside = self.pieces.inside(codes.T)
        outside = self.pieces.outside(codes.T)
        # What all of the other components hold, and what some of them do not: all and nothing where there are none.
        held = np.stack([np.bitwise_and.reduce(np.delete(inside, j, axis=0)) for j in range(len(inside))])
        missed = np.stack([np.bitwise_or.reduce(np.delete(outside, j, axis=0)) for j in range(len(inside))])
        crossed = ~(inside | outside | missed)
        weights = np.stack([self._either.of(hit) for hit in crossed])
        picked = weights.argmax(axis=0)
        rows = np.arange(len(codes))
        before = self.rate * self.upper[chosen] + self._log_gaps[chosen]
        gaps = np.zeros(weights.shape)
        ends = np.zeros((*weights.shape, 2, 2), dtype=np.int64)

        def look(j: Integers, i: Integers) -> None:
            gaps[j, i], ends[j, i] = self._looked(chosen[i], codes[i, j], held[j, i], missed[j, i])

        def wide() -> Bools:
            return np.asarray(self.rate * self.upper[chosen] + self._log_gaps[chosen] >= before - ENOUGH)

        whole = self.pieces.parts[codes.T >> 1, 0] < 0
        look(*np.nonzero((weights > 0) & ~whole))
        helped = gaps.min(axis=0) < -HELP
        picked[helped] = gaps[:, helped].argmin(axis=0)
        fresh = np.flatnonzero(wide() & whole[picked, rows])
        self._cut_pieces(codes, picked, fresh, crossed, held)
        look(picked[fresh], fresh)
        rows = np.flatnonzero(wide())
        place, *new = self._replaced(codes[rows], orders[rows], picked[rows], ends[picked[rows], rows])
        return chosen[rows], chosen[rows[place]], *new

    def _looked(self, chosen: Integers, codes: Integers, held: Bytes, missed: Bytes) -> tuple[Floats, Integers]:
        """Tighten the bounds of products by those of both parts of a component, given what the others hold and miss.

        Return the logarithm of the gap that the parts have, as a share of the product's, and the greatest and least
        scores of each part, (products, 2, 2).
        """
        # Two parts of each, whose scores sum the weights of all points.
        count_steps("products weighed", 2 * len(codes))
        halves = 2 * self.pieces.parts[codes >> 1].T + (codes & 1)
        surely = np.concatenate([held & one for one in self.pieces.inside(halves)])
        possibly = ~np.concatenate([missed | one for one in self.pieces.outside(halves)])
        upper, lower = (one.reshape(2, -1) for one in self._scores(surely, possibly))
        gaps = self.rate * (upper - self.upper[chosen]) + self._gap_factors(upper, lower)
        gaps += self.pieces.log_areas[halves >> 1] - self.pieces.log_areas[codes >> 1] - self._log_gaps[chosen]
        np.minimum.at(self.upper, chosen, upper.max(axis=0))
        np.maximum.at(self.lower, chosen, lower.min(axis=0))
        self._log_gaps[chosen] = self._gap_factors(self.upper[chosen], self.lower[chosen])
        return np.logaddexp(*gaps), np.stack([upper, lower], axis=-1).swapaxes(0, 1)

    def _cut_pieces(self, codes: Integers, picked: Integers, rows: Integers, crossed: Bytes, held: Bytes) -> None:
        """Cut the picked pieces of some rows, by lines that undecided points of some of their products have.

        A line counts more where all other components hold the point: to spare it, this one must not.
        """
        if not len(rows):
            return
        pieces = codes[rows, picked[rows]] >> 1
        order = np.argsort(pieces, kind="stable")
        found, first = np.unique(pieces[order], return_index=True)
        for piece, some in zip(found.tolist(), np.split(rows[order], first[1:]), strict=True):
            few = some[:VOTERS]
            hit = crossed[picked[few], few]
            sure = held[picked[few], few]
            both = np.unpackbits(np.stack([hit, hit & sure]), axis=2, count=len(self.weights))
            votes, forced = both.sum(axis=1)
            self.pieces.cut(piece, votes * self._total + self._forced * forced * self.weights[:, 1])

    def _replaced(self, codes: Integers, orders: Integers, picked: Integers, ends: Integers) -> tuple[Integers, ...]:
        """Return the products that replace each, cut in the picked component.

        They are given by the rows whose parts they are, codes, orders, greatest and least scores; `ends` are the scores
        where just one component is cut.
        """
        cut = codes[np.arange(len(codes)), picked]
        halved = 2 * self.pieces.parts[cut >> 1] + (cut & 1)[:, None]
        equal = codes == cut[:, None]
        parts: list[tuple[Integers, ...]] = []
        for count in range(1, codes.shape[1] + 1):
            rows = np.flatnonzero(equal.sum(axis=1) == count)
            # `count` equal pieces are cut together: j of them below the line, the others above, in C(count, j) ways.
            if parts and not len(rows):
                continue
            rest = codes[rows][~equal[rows]].reshape(len(rows), codes.shape[1] - count)
            for j in range(count + 1):
                sides = np.repeat(halved[rows], [j, count - j], axis=1)
                found = np.sort(np.concatenate([rest, sides], axis=1), axis=1)
                if count == 1:
                    upper, lower = ends[rows, 1 - j].T
                else:
                    upper, lower = self._scores(*self.masks(found))
                parts.append((rows, found, orders[rows] * math.comb(count, j), upper, lower))
        return tuple(np.concatenate(one) for one in zip(*parts, strict=True))
