"""Draws from the density proportional to exp(rate q) on both copies of the dual box, exactly.

The score q is constant on every cell of the sample's arrangement, in each of the two copies (z = 1 and z = -1), so the
draw is a class of equal score, a cell of the class by area, a uniform point of the cell; source: KMMS, algorithm Select
Halfplane, steps 5 and 6.

Every choice compares a uniform real number, of which some leading bits are known, with boundaries enclosed by integers
(rounded areas, rounded exponentials). A choice that the enclosures leave open is repeated with more of the same bits
and tighter enclosures, so the law of the draw is the exponential mechanism's with no error at all: nothing has to be
charged to epsilon or delta, however large the weights. A draw needs more than the first bits with probability below
2^-90, because areas are enclosed to 2^-100. The running time depends on the data: it is no part of the output, and
a caller that shows it must pad it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate
from typing import TypeVar

import numpy as np

from ..arrays import Integers
from ..geometry.arrangement import Arrangement
from ..geometry.polygons import Bits, Box, UniformPoint, polygon

Output = TypeVar("Output")
Enclosures = tuple[list[int], list[int]]


def exponential_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Return integers with low <= 2^bits exp(exponent) <= low + 3, for exponent <= 0.

    The exponent is rounded to a decimal with an absolute error below 10^-(bits/3 + 2) and `Decimal.exp` is correctly
    rounded; both together move 2^bits exp(exponent) by less than 1.
    """
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
    index = min(bisect_right(low, uniform * high[-1] >> bits), len(low) - 1)
    before = high[index - 1] if index else 0
    after = low[index] if index < len(low) - 1 else None
    if uniform * low[-1] < before << bits:
        return None
    return index if after is None or (uniform + 1) * high[-1] <= after << bits else None


def decided(attempt: Callable[[list[int], int, int], Output | None], count: int, bits: Bits, base: int) -> Output:
    """Return what `attempt(uniforms, known, level)` decides from the first `known` bits of `count` uniform numbers.

    Each time that it answers None, `base` more bits (a multiple of 8) of each number are taken.
    """
    uniforms, known, level = [bits.take(base) for _ in range(count)], base, 0
    while (output := attempt(uniforms, known, level)) is None:
        uniforms = [value << base | bits.take(base) for value in uniforms]
        known, level = known + base, level + 1
    return output


class Selector:
    """The exponential mechanism on the cells of an arrangement, in both copies.

    `build` returns the arrangement with some extra binary places of its areas, each computed once, the cells in the
    same order; `scores` (2, cells) are q of every cell in the copies z = 1 and z = -1. The weights are exp(rate q)
    times the area.
    """

    def __init__(self, build: Callable[[int], Arrangement], scores: Integers, rate: Fraction) -> None:
        self._build, self._rate = build, rate
        self._point = cache(lambda cell: UniformPoint.of(polygon(build(0), cell)))
        self._class_bounds, self._level_bounds = cache(self._areas), cache(self._weights)
        order = np.argsort(-scores.ravel(), kind="stable")
        lost, starts = np.unique(-scores.ravel()[order], return_index=True)
        self._exponents = [rate * (int(lost[0]) - score) for score in lost.tolist()]
        self._members: list[list[int]] = [part.tolist() for part in np.split(order, starts[1:])]

    def _areas(self, kind: int, level: int) -> Enclosures:
        """Return enclosures of the cumulative areas of the cells of one score."""
        arrangement = self._build(256 * level)
        areas, slack = [arrangement.areas[i % arrangement.cells] for i in self._members[kind]], arrangement.slack
        low = list(accumulate(max(value - slack, 0) for value in areas))
        return low, list(accumulate(value + slack for value in areas))

    def _weights(self, level: int) -> Enclosures:
        """Return enclosures of the cumulative weights of the scores, the greatest score first."""
        arrangement, lows, highs = self._build(256 * level), [], []
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
        kind = choose(self._level_bounds(level), uniforms[0], known)
        if kind is None:
            return None
        place = choose(self._class_bounds(kind, level), uniforms[1], known)
        if place is None:
            return None
        item, cells = self._members[kind][place], self._build(0).cells
        box = self._point(item % cells).box(uniforms[2], uniforms[3], uniforms[4], known)
        return None if box is None else resolve(1 if item < cells else -1, item % cells, box, known)
