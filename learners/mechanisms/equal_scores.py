"""The exponential mechanism on huge ranges that fall into few cells of equal score, sampled exactly."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import accumulate

import numpy as np

from learners.arrays import Integers

__all__ = ["draw", "uniform_below", "uniform_within"]

START_DIGITS = 50
"""Decimal digits of the first refinement; doubled until every draw is decided."""


def uniform_below(bound: int, rng: np.random.Generator, size: int) -> list[int]:
    """Return `size` independent uniform integers in [0, bound), for any bound >= 1, without bias."""
    if bound <= 2**64:
        return [int(v) for v in rng.integers(0, bound - 1, size=size, dtype=np.uint64, endpoint=True)]
    words = -(-bound.bit_length() // 64)
    drawn: list[int] = []
    while len(drawn) < size:
        rows = rng.integers(0, 2**64 - 1, size=(size - len(drawn), words), dtype=np.uint64, endpoint=True)
        values = (sum(int(w) << 64 * i for i, w in enumerate(row)) >> 64 * words - bound.bit_length() for row in rows)
        drawn += [v for v in values if v < bound]
    return drawn


def uniform_within(bounds: Sequence[int], rng: np.random.Generator) -> list[int]:
    """Return for each bound an independent uniform integer in [0, bound)."""
    if max(bounds) <= 2**64:
        tops = np.array([b - 1 for b in bounds], dtype=np.uint64)
        return [int(v) for v in rng.integers(0, tops, dtype=np.uint64, endpoint=True)]
    return [uniform_below(bound, rng, 1)[0] for bound in bounds]


def draw(sizes: Sequence[int], scores: Integers, rate: float, rng: np.random.Generator, size: int) -> Integers:
    """Return `size` independent cells, cell i with probability exactly proportional to sizes[i] exp(rate scores[i]).

    The law is exact, not up to rounding: inversion compares a uniform number with cumulative weights in floating
    point, and a draw that lies closer to a boundary than the proved error decides itself by more random digits and
    more decimal digits of the weights, until it is decided (with probability 1 it will be).

    Error of the floats, with u = 2^-53, m cells and x_i = rate (max score - score_i): size, product and exponential
    give each weight a relative error of at most u (2 x_i + 12) with x_i <= 745 or an underflow below 2^-1073, and the
    running sum adds m u of the total: (m + 1502) u of the total at most, once for the cumulative weight and once for
    the total that the uniform number is multiplied with. The margin taken is (4 m + 6000) u.

    Parameters
    ----------
    sizes : sequence of int, length m
        How many outputs each cell has; any positive integers, the total may exceed 2^64.
    scores : array of int64, shape (m,)
        The score of the outputs in each cell.
    rate : float
        The inverse temperature; epsilon / 2 for scores of sensitivity 1.
    """
    gaps = scores.max() - scores
    scale = max(sizes)
    weights = np.array([s / scale for s in sizes]) * np.exp(-rate * gaps)
    cumulative = np.cumsum(weights)
    slack = (4 * len(weights) + 6000) * 2.0**-53 * cumulative[-1]
    uniform = rng.random(size)
    target = uniform * cumulative[-1]
    low = np.searchsorted(cumulative, target - slack, side="right")
    # A uniform number stands for the interval of length 2^-53 above it.
    high = np.searchsorted(cumulative, target + slack + 2.0**-52 * cumulative[-1], side="right")
    cells: Integers = np.minimum(low, len(weights) - 1).astype(np.int64)
    for i in np.flatnonzero(low != high):
        cells[i] = _refined(int(uniform[i] * 2**53), sizes, gaps, rate, rng)
    return cells


def _refined(digits: int, sizes: Sequence[int], gaps: Integers, rate: float, rng: np.random.Generator) -> int:
    """Return the cell of the uniform number whose first 53 binary digits are given, drawing as many as it takes."""
    bits, precision = 53, START_DIGITS
    while True:
        # 3.33 binary digits for each decimal one, so that both ends of the comparison get equally fine.
        more = int(3.33 * precision) - bits
        digits = digits << more | uniform_below(1 << more, rng, 1)[0]
        bits += more
        lower, upper = _bounds(sizes, gaps, rate, precision)
        cell = _decided(digits, bits, lower, upper)
        if cell is not None:
            return cell
        precision *= 2


def _bounds(sizes: Sequence[int], gaps: Integers, rate: float, precision: int) -> tuple[list[Decimal], list[Decimal]]:
    """Return lower and upper bounds on the cumulative weights."""
    down = Context(prec=precision, rounding=ROUND_FLOOR, Emin=-(10**17), Emax=10**17)
    up = Context(prec=precision, rounding=ROUND_CEILING, Emin=-(10**17), Emax=10**17)
    exact, floor = Decimal(rate), Decimal(10) ** -(2 * precision)
    powers: dict[int, tuple[Decimal, Decimal]] = {}
    for gap in {int(g) for g in gaps}:
        # exp is rounded half even whatever the context says: step one unit to either side.
        near = down.exp(down.multiply(-exact, Decimal(gap))), up.exp(up.multiply(-exact, Decimal(gap)))
        small = near[1] < floor
        powers[gap] = (Decimal(0), floor) if small else (near[0].next_minus(down), near[1].next_plus(up))
    pairs = [(Decimal(s), powers[int(g)]) for s, g in zip(sizes, gaps, strict=True)]
    lower = accumulate((down.multiply(s, p[0]) for s, p in pairs), down.add)
    upper = accumulate((up.multiply(s, p[1]) for s, p in pairs), up.add)
    return list(lower), list(upper)


def _decided(digits: int, bits: int, lower: list[Decimal], upper: list[Decimal]) -> int | None:
    """Return the only cell in which [digits, digits + 1) 2^-bits can lie, None if there are several."""
    down = Context(prec=len(str(digits)) + 60, rounding=ROUND_FLOOR, Emin=-(10**17), Emax=10**17)
    up = Context(prec=len(str(digits)) + 60, rounding=ROUND_CEILING, Emin=-(10**17), Emax=10**17)
    least = down.multiply(Decimal(digits), lower[-1])
    most = up.multiply(Decimal(digits + 1), upper[-1])
    unit = Decimal(1 << bits)
    low = next(i for i, c in enumerate(upper) if up.multiply(c, unit) > least)
    high = next((i for i, c in enumerate(lower) if down.multiply(c, unit) >= most), len(lower) - 1)
    return low if low == high else None
