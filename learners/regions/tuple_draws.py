"""Exact draws of halfplanes and of triangles, or of any number t of halfplanes, with density exp(rate q), normalised.

For one halfplane the score q is constant on every cell of the sample's arrangement, in each of the two copies of the
dual box (z = 1 and z = -1), so the draw is a class of equal score, a cell of the class by area, a uniform point of the
cell; source: KMMS, algorithm Select Halfplane, steps 5 and 6.

For t the dual points are drawn by rejection from the envelope of `regions.refinement.Products`: a product of pieces
with probability proportional to volume times exp(rate u), u its greatest score; a uniform point in each piece; and the
tuple is accepted with probability exp(rate (q - u)). The law of the accepted tuples does not depend on how far the
envelope was refined. There is no cap on the number of tries and no way to fail: where the refinement runs out of the
memory that it may take, draws go on from the envelope that it has reached.

Every choice compares a uniform real number, of which some leading bits are known, with boundaries enclosed by integers
(rounded areas, rounded exponentials). A choice that the enclosures leave open is repeated with more of the same bits
and tighter enclosures, so the law of the draw is the exponential mechanism's with no error at all: nothing has to be
charged to epsilon or delta, however large the weights. A draw of a cell needs more than the first bits with probability
below 2^-90, because areas are enclosed to 2^-100.

The running time depends on the data: it is no part of the output, and a caller that shows it must pad it. Samples that
a tuple labels well are fast; where labels are noise, finding the best triple is a hard search, which the refinement
cannot avoid.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate
from math import prod
from typing import Any, TypeVar

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Integers
from ..geometry.arrangement import Arrangement
from ..geometry.polygons import Bits, Box, UniformPoint, polygon
from .families import Region
from .refinement import Pieces, PieceTree, Products, Score

Output = TypeVar("Output")
Enclosures = tuple[list[int], list[int]]


def exponential_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Return integers with low <= 2^bits exp(exponent) <= low + 3, for exponent <= 0.

    The exponent is rounded to a decimal with an absolute error below 10^-(bits/3 + 2) and `Decimal.exp` is correctly
    rounded; both together move 2^bits exp(exponent) by less than 1.
    """
    # Then 2^bits exp(exponent) is below 1.
    if exponent < -bits:
        return 0, 1
    digits = bits // 3 + 2 * len(str(bits)) + 8
    context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
    ratio = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    low = int(context.multiply(context.exp(ratio), Decimal(1 << bits))) - 1
    return max(low, 0), low + 3


def choose(bounds: Enclosures, uniform: int, bits: int) -> int | None:
    """Return the index whose share of the cumulative weights holds the uniform number; None if not decided.

    `bounds` encloses the cumulative weights c_0 <= c_1 <= ...; the number lies in [uniform, uniform + 1]/2^bits, and
    index i is right if c_(i-1) <= number * total <= c_i whatever the weights are within their bounds.
    """
    low, high = bounds
    # A candidate from the bounds; both of its boundaries must then hold for all weights within the bounds.
    index = min(bisect_right(low, uniform * high[-1] >> bits), len(low) - 1)
    before = high[index - 1] if index else 0
    after = low[index] if index < len(low) - 1 else None
    # The least that the number can be, against the most that the boundary can be.
    if uniform * low[-1] < before << bits:
        return None
    if after is None or (uniform + 1) * high[-1] <= after << bits:
        return index
    return None


def decided(attempt: Callable[[list[int], int, int], Output | None], count: int, bits: Bits, base: int) -> Output:
    """Return what `attempt(uniforms, known, level)` decides from the first `known` bits of `count` uniform numbers.

    Each time that it answers None, `base` more bits (a multiple of 8) of each number are taken.
    """
    uniforms = [bits.take(base) for _ in range(count)]
    known = base
    level = 0
    while (output := attempt(uniforms, known, level)) is None:
        uniforms = [value << base | bits.take(base) for value in uniforms]
        known += base
        level += 1
    return output


class Selector:
    """The exponential mechanism on the cells of an arrangement, in both copies.

    `build` returns the arrangement with some extra binary places of its areas, each computed once, the cells in the
    same order; `scores` (2, cells) are q of every cell in the copies z = 1 and z = -1. The weights are exp(rate q)
    times the area.
    """

    def __init__(self, build: Callable[[int], Arrangement], scores: Integers, rate: Fraction) -> None:
        self._build = build
        self._rate = rate
        self._point = cache(lambda cell: UniformPoint.of(polygon(build(0), cell)))
        self._class_bounds = cache(self._areas)
        self._level_bounds = cache(self._weights)
        # The greatest score first, of weight 1: exponents of the others are below 0.
        order = np.argsort(-scores.ravel(), kind="stable")
        # Cells by falling score; those of one score form a class.
        lost, starts = np.unique(-scores.ravel()[order], return_index=True)
        # Exact rationals, which are enclosed in as many bits as a draw takes.
        self._exponents = [rate * (int(lost[0]) - score) for score in lost.tolist()]
        self._members: list[list[int]] = [part.tolist() for part in np.split(order, starts[1:])]

    def _areas(self, kind: int, level: int) -> Enclosures:
        """Return enclosures of the cumulative areas of the cells of one score."""
        arrangement = self._build(256 * level)
        # A cell has the same area in both copies.
        areas = [arrangement.areas[i % arrangement.cells] for i in self._members[kind]]
        slack = arrangement.slack
        low = list(accumulate(max(value - slack, 0) for value in areas))
        return low, list(accumulate(value + slack for value in areas))

    def _weights(self, level: int) -> Enclosures:
        """Return enclosures of the cumulative weights of the scores, the greatest score first."""
        arrangement = self._build(256 * level)
        lows = []
        highs = []
        for members, exponent in zip(self._members, self._exponents, strict=True):
            total = sum(arrangement.areas[i % arrangement.cells] for i in members)
            error = arrangement.slack * len(members)
            low, high = exponential_bounds(exponent, 256 * (level + 1))
            lows.append(max(total - error, 0) * low)
            highs.append((total + error) * high)
        return list(accumulate(lows)), list(accumulate(highs))

    def draw(self, bits: Bits, resolve: Callable[[int, int, Box, int], Output | None], base: int) -> Output:
        """Return one draw, as `resolve` reports it.

        `resolve` takes (z, cell, box, bits) and returns the output for the exact point, which lies in the box, or None
        if the box is too large to say. `base` bits of each uniform number are drawn first, a multiple of 8.
        """
        return decided(partial(self._attempt, resolve), 5, bits, base)

    def _attempt(
        self, resolve: Callable[[int, int, Box, int], Output | None], uniforms: list[int], known: int, level: int
    ) -> Output | None:
        # Step 5 of the paper's algorithm: a class of equal score, then a cell of the class by area.
        kind = choose(self._level_bounds(level), uniforms[0], known)
        if kind is None:
            return None
        place = choose(self._class_bounds(kind, level), uniforms[1], known)
        if place is None:
            return None
        item = self._members[kind][place]
        cells = self._build(0).cells
        # Step 6: a uniform point of the cell, as far as it is known.
        box = self._point(item % cells).box(uniforms[2], uniforms[3], uniforms[4], known)
        if box is None:
            return None
        return resolve(1 if item < cells else -1, item % cells, box, known)


MAX_WEIGHT = 2**53
# Share of all weight by which cumulative weights in floats may be off, at most: see `TupleSampler._rounded`.
SLACK = 2.0**-29
FLOAT_BITS = 40
_REJECTED: tuple[Region, ...] = ()

Weights = list[tuple[int, int]]
Resolver = Callable[[int, Any, int], Region | None]
"""From z, a box around an exact dual point and the bits known of it to its region; None if the box is too large."""


def grouped(points: Weights, weights: Weights) -> tuple[Weights, Weights]:
    """Return points and weights with those to be covered first, which makes sums over either kind short."""
    order = sorted(range(len(points)), key=lambda i: (not weights[i][0], not weights[i][1]))
    return [points[i] for i in order], [weights[i] for i in order]


class TupleSampler:
    """The exponential mechanism on unordered t-tuples of halfplanes, with Lebesgue measure on their dual points.

    The points of the grid {0 .. side}^2, side below 2^256, are distinct; each of `weights` is that of a point that
    should be covered, and that should not; below 2^53 in all. `score` gives integers, growing in the weight covered and
    falling in the weight spoiled; the density is proportional to exp(rate q). A tuple covers what all its t =
    `components` halfplanes contain. The refinement starts from that of a sampler `before`, of the same points. Other
    regions than halfplanes are drawn from other `pieces`, of the same points; these may be shared and are grown.
    """

    def __init__(
        self,
        points: Weights,
        weights: Weights,
        side: int,
        score: Score,
        rate: Fraction,
        components: int = 3,
        before: TupleSampler | None = None,
        pieces: PieceTree[Any, Any] | None = None,
    ) -> None:
        # Weights are summed as floats, which hold such integers exactly.
        if sum(map(sum, weights)) >= MAX_WEIGHT:
            raise InputError(f"the sample must have fewer than 2^53 examples, got {sum(map(sum, weights))}")
        self._points = points
        self._weights = weights
        self._rate = rate
        self._side = side
        self._score = score
        table = np.array(weights, dtype=np.float64).reshape(-1, 2)
        self._pieces: PieceTree[Any, Any]
        if before is None:
            self._pieces = Pieces(points, side) if pieces is None else pieces
            start = None
        else:
            self._pieces = before._pieces
            start = (before.products.codes, before.products.orders)
        self.products: Products = Products(self._pieces, table, score, float(rate), components, start)
        # The volumes of products span up to d^(7 t) in the plane: exponentials must not vanish beside them.
        self._reach = 256 + self._pieces.spread * (components * side.bit_length())
        logs = self.products.log_weights
        self._order: Integers = np.argsort(-logs, kind="stable")
        self._greatest = int(self.products.upper.max())
        self._cumulative = cache(self._enclosed)
        self._undecided = cache(self._split)
        self.tries = 0

    def draw(self, bits: Bits, resolve: Resolver, base: int = 0) -> tuple[Region, ...]:
        """Return the regions of one draw, sorted.

        `resolve` takes (z, box, bits) and returns the region of the dual point in the box, None if the box is too
        large. `base` bits of each uniform number are drawn first, a multiple of 8; by default enough for most draws.
        """
        base = base or 256 + 8 * self._side.bit_length()
        count = 2 + self._pieces.numbers * self.products.codes.shape[1]
        found = _REJECTED
        while found == _REJECTED:
            self.tries += 1
            found = decided(partial(self._attempt, resolve), count, bits, base)
        return found

    def _attempt(self, resolve: Resolver, uniforms: list[int], known: int, level: int) -> tuple[Region, ...] | None:
        """Return the regions of one proposal, or `_REJECTED`; None if its choices take more bits of the numbers."""
        place = choose(self._cumulative(level), uniforms[0], known)
        if place is None:
            return None
        chosen = int(self._order[place])
        codes = self.products.codes[chosen].tolist()
        # Of each component z and a box, whose type is that of the pieces.
        boxes: list[tuple[int, Any]] = []
        width = self._pieces.numbers
        for j, code in enumerate(codes):
            box = self._pieces.box(code >> 1, uniforms[2 + width * j : 2 + width * (j + 1)], known)
            if box is None:
                return None
            boxes.append((1 - 2 * (code & 1), box))
        # The tuple is accepted with probability exp(rate (q - u)), u the greatest score of the product.
        kept = self._accepted(chosen, boxes, uniforms[1], known)
        if not kept:
            return None if kept is None else _REJECTED
        regions = [resolve(z, box, known) for z, box in boxes]
        if None in regions:
            return None
        return tuple(sorted(region for region in regions if region is not None))

    def _accepted(self, chosen: int, boxes: list[tuple[int, Any]], uniform: int, known: int) -> bool | None:
        """Return whether the proposal in a product is accepted; None if that is still open."""
        covered, spoiled, undecided = self._undecided(chosen)
        for i in undecided:
            held = self._contains(boxes, self._points[i])
            if held is None:
                return None
            if held:
                covered += self._weights[i][0]
                spoiled += self._weights[i][1]
        score = int(self._score(np.array([covered]), np.array([spoiled]))[0])
        gap = score - int(self.products.upper[chosen])
        # The product's greatest score itself: no number is needed.
        if gap == 0:
            return True
        low, high = exponential_bounds(self._rate * gap, known)
        # The number lies in [uniform, uniform + 1]/2^known: surely below the acceptance probability, above it, or open.
        if uniform + 1 <= low:
            return True
        return False if uniform >= high else None

    def _contains(self, boxes: list[tuple[int, Any]], point: tuple[int, int]) -> bool | None:
        """Return whether all regions contain the point, each known up to a box around its dual point; None if open."""
        decided = True
        for z, box in boxes:
            # Heights of the box over the point's dual; a region with z = 1 contains what is not below its boundary.
            low, high = self._pieces.heights(box, point)
            # One region that surely leaves the point out decides for the tuple.
            surely_out = low > 0 if z == 1 else high < 0
            surely_in = high < 0 if z == 1 else low > 0
            if surely_out:
                return False
            decided &= surely_in
        return True if decided else None

    def _split(self, chosen: int) -> tuple[int, int, list[int]]:
        """Return the weights surely covered and spoiled in a product, and the points that may be either."""
        masks = self.products.masks(self.products.codes[chosen : chosen + 1])
        surely, possibly = (np.unpackbits(mask[0], count=len(self._points)).astype(np.bool_) for mask in masks)
        least = [self._weights[i] for i in np.flatnonzero(surely)]
        undecided = [i for i in np.flatnonzero(possibly & ~surely).tolist() if any(self._weights[i])]
        return sum(c for c, _ in least), sum(e for _, e in least), undecided

    def _enclosed(self, level: int) -> Enclosures:
        """Return enclosures of the cumulative weights of the products, the greatest first: at level 0 from floats."""
        if level == 0:
            return self._rounded()
        bits = self._reach * (level + 1)
        scores = {int(q) for q in self.products.upper}
        exponentials = {q: exponential_bounds(self._rate * (q - self._greatest), bits) for q in scores}
        lows = []
        highs = []
        for chosen in self._order.tolist():
            low, high = exponentials[int(self.products.upper[chosen])]
            areas = [self._pieces.area(code >> 1, level) for code in self.products.codes[chosen].tolist()]
            # A product stands for all orders of its tuple.
            orders = int(self.products.orders[chosen])
            lows.append(orders * low * prod(a for a, _ in areas))
            highs.append(orders * high * prod(b for _, b in areas))
        return list(accumulate(lows)), list(accumulate(highs))

    def _rounded(self) -> Enclosures:
        """Return enclosures from floats, which leave a draw open with a probability below 2^-27.

        A logarithm of a weight sums t <= 3 logarithms of areas, each below 1500 in absolute value and rounded twice, a
        logarithm of orders, and an exponent with a relative error of 2^-51; where that is below -10^4, the weight is
        less than the others are off. So logarithms are off by less than 2^-36, and running sums of less than 2^22
        weights by 2^-30 more.
        """
        logs = self.products.log_weights[self._order]
        sums = np.cumsum(np.exp(logs - logs[0]))
        # The bound of the docstring: of logarithms and of running sums together.
        error = SLACK * sums[-1]
        low, high = (np.floor((sums + shift) * 2.0**FLOAT_BITS) for shift in (-error, error))
        return np.maximum(low, 0).astype(np.int64).tolist(), (high.astype(np.int64) + 1).tolist()
