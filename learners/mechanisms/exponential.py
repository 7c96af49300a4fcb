"""The exponential mechanism with integer scores: on a finite set, and exactly on huge ones in cells of equal score."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import accumulate

import numpy as np

from dpaudit.contract import Law, count_steps

from ..arrays import Bools, Floats, Integers
from .log_laws import ULP

# Shares of cells of up to so many outputs are no underflows.
MOST_FLOAT = 2**960
# Up to so many binary digits Python writes a number in decimal ones.
WRITTEN = 2**13
# Decimal digits of the first refinement; doubled until every draw is decided.
START_DIGITS = 50
# More than the relative error, at most 1502 * 2^-53, of exponentials of a product that do not underflow.
MARGIN = 2.0**-40


def _log_weights(scores: Integers, rate: float, eligible: Bools | None) -> Floats:
    """Return rate * (score - greatest eligible score), -inf where not eligible; the differences are exact integers."""
    if eligible is None:
        return np.asarray(rate * (scores - scores.max()), dtype=np.float64)
    return np.where(eligible, rate * (scores - scores[eligible].max()), -np.inf)


def log_law(scores: Integers, rate: float, eligible: Bools | None = None) -> tuple[Floats, float]:
    """Return the log-probabilities of the law proportional to exp(rate * score), and a bound on their error.

    With u = 2^-53, x_h = rate * (max score - score_h) and Z = sum exp(-x_h) in [1, K] for K eligible outputs,
    log Pr[h] = -x_h - ln Z. The floating-point -x_h has relative error at most 2u (rounding a gap above 2^53, and the
    product). This moves ln Z by at most 2u sum p_h x_h <= 2u ln K, because sum p_h (x_h + ln Z) is an entropy. An
    exponential good to 4 ulp and a correctly rounded sum add 9u, the logarithm 8u ln K + u, the last subtraction
    u (x_h + ln K). In all at most u (3 x_max + 11 ln K + 10); the bound returned is 2^-52 (2 x_max + 6 ln K + 8).

    `scores` (K,) may have any size: only differences matter, so scores near 1e12 lose nothing. `rate` is the inverse
    temperature: epsilon / 2 makes scores of sensitivity 1 epsilon-differentially private. At least one output is
    `eligible` (K,); all by default.
    """
    logs = _log_weights(scores, rate, eligible)
    total = math.log(math.fsum(np.exp(logs)))
    finite = logs[np.isfinite(logs)]
    error = ULP * (2 * float(-finite.min()) + 6 * math.log(len(finite)) + 8)
    return logs - total, error


def pair_laws(shifts: Mapping[int, Mapping[int, int]], rate: float) -> tuple[Law, Law]:
    """Return the laws of two score functions, merged into cells on which these differ by the same amount.

    `shifts` says for each difference d of the scores (first minus second) how many outputs have each score on the
    first; a cell without an output is left out. The ratio of the laws on a cell is exp(rate d) times one constant.

    Error, with u = 2^-53: within a cell weights are relative to its greatest score, so that none that matters
    underflows; x is the greatest rate * gap, below 746 where it counts. A weight is good to u (2 x + 8), their sum to
    as much and u more for each, the logarithm and the last differences to a few u of their size.
    """
    cells = {d: {score: k for score, k in scores.items() if k} for d, scores in shifts.items()}
    cells = {d: scores for d, scores in cells.items() if scores}
    tops = {d: max(scores) for d, scores in cells.items()}
    logs = {
        d: math.log(math.fsum(k * math.exp(rate * (score - tops[d])) for score, k in scores.items()))
        for d, scores in cells.items()
    }
    laws = []
    for sign in (0, 1):
        best = max(tops[d] - sign * d for d in cells)
        values = np.array([rate * (tops[d] - sign * d - best) + logs[d] for d in cells])
        total = float(np.logaddexp.reduce(values))
        size = max(map(len, cells.values())) + 2 * float(np.abs(values).max()) + 2 * min(rate * (best + 1), 746.0)
        law = Law([f"score {d:+d}" if d else "score equal" for d in cells], values - total, ULP * (2 * size + 64))
        laws.append(law)
    return laws[0], laws[1]


def limit_logs(scores: Integers, direction: Integers, rate: float) -> tuple[Floats, float]:
    """Return the logarithms of the law with scores `scores + t direction` as t grows, up to terms free of `scores`.

    Let M be the codes whose direction is greatest. The normaliser is exp(rate t max direction) times the sum over M of
    exp(rate scores(g)), but for a share that vanishes. Left out is rate t (direction(h) - max direction), the same for
    every base of the ray. The bound on the error is that of `log_law`.

    `scores` and `direction` (K,) are the scores on the base of the ray, and on the examples that are added t times;
    `rate` is the inverse temperature.
    """
    ahead = direction == direction.max()
    best = scores[ahead].max()
    logs = rate * (scores - best)
    total = math.log(math.fsum(np.exp(logs[ahead])))
    return logs - total, ULP * (8 * rate * float(np.abs(scores - best).max()) + 8 * math.log(len(logs)) + 16)


def draw(scores: Integers, rate: float, rng: np.random.Generator, size: int, eligible: Bools | None = None) -> Integers:
    """Return `size` independent draws (size,) from the law proportional to exp(rate * score), by inversion."""
    return draw_weighted(_log_weights(scores, rate, eligible), rng, size)


def draw_weighted(logs: Floats, rng: np.random.Generator, size: int) -> Integers:
    """Return `size` independent draws (size,) from the law proportional to e^logs, greatest 0, by inversion."""
    count_steps("candidates weighed", len(logs))
    # Inversion: the greatest weight is 1, so nothing overflows and the sum is at least 1.
    cumulative = np.cumsum(np.exp(logs))
    # The first index whose cumulative weight reaches the total: a uniform number that rounds up to 1 lands there.
    last = int(np.searchsorted(cumulative, cumulative[-1]))
    drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.asarray(np.minimum(drawn, last), dtype=np.int64)


def uniform_below(bound: int, rng: np.random.Generator, size: int) -> list[int]:
    """Return `size` independent uniform integers in [0, bound), for any bound >= 1, without bias."""
    if bound <= 2**64:
        return [int(v) for v in rng.integers(0, bound - 1, size=size, dtype=np.uint64, endpoint=True)]
    # Rejection: as many random bits as the bound has, drawn until the number is below it.
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


def draw_cells(sizes: Sequence[int], scores: Integers, rate: float, rng: np.random.Generator, size: int) -> Integers:
    """Return `size` independent cells, cell i with probability exactly proportional to sizes[i] exp(rate scores[i]).

    The law is exact, not up to rounding: inversion compares a uniform number with cumulative weights in floating
    point, and a draw that lies closer to a boundary than the proved error decides itself by more random digits and
    more decimal digits of the weights, until it is decided (with probability 1 it will be).

    Error of the floats, with u = 2^-53, m cells and x_i = rate (max score - score_i): size, product and exponential
    give each weight a relative error of at most u (2 x_i + 12) with x_i <= 745 or an underflow below 2^-1073, and the
    running sum adds m u of the total: (m + 1502) u of the total at most, once for the cumulative weight and once for
    the total that the uniform number is multiplied with. The margin taken is (4 m + 6000) u. Where a size is above
    2^960 the total may be an underflow itself, so that digits decide each draw.

    `sizes` says how many outputs each of the m cells has, any positive integers, whose total may exceed 2^64; `scores`
    (m,) is the score of the outputs in each cell; `rate` the inverse temperature, epsilon / 2 for scores of sensitivity
    1.
    """
    count_steps("candidates weighed", len(sizes))
    gaps = scores.max() - scores
    scale = max(sizes)
    if scale > MOST_FLOAT:
        return _decided_cells(sizes, gaps, rate, rng, size)
    weights = np.array([s / scale for s in sizes]) * np.exp(-rate * gaps)
    cumulative = np.cumsum(weights)
    slack = (4 * len(weights) + 6000) * 2.0**-53 * cumulative[-1]
    uniform = rng.random(size)
    target = uniform * cumulative[-1]
    low = np.searchsorted(cumulative, target - slack, side="right")
    # A uniform number stands for the interval of length 2^-53 above it.
    high = np.searchsorted(cumulative, target + slack + 2.0**-52 * cumulative[-1], side="right")
    # Where both ends of the doubt fall into one cell, the floats have decided.
    cells: Integers = np.minimum(low, len(weights) - 1).astype(np.int64)
    for i in np.flatnonzero(low != high):
        digits, bits = _extended(int(uniform[i] * 2**53), 53, START_DIGITS, rng)
        cells[i] = _refined(digits, bits, lambda precision: _bounds(sizes, gaps, rate, precision), rng)
    return cells


def _decided_cells(sizes: Sequence[int], gaps: Integers, rate: float, rng: np.random.Generator, size: int) -> Integers:
    """Return the cells of `draw_cells` without floats."""
    cells = []
    for uniform in rng.random(size).tolist():
        digits, bits = _extended(int(uniform * 2**53), 53, START_DIGITS, rng)
        cells.append(_refined(digits, bits, lambda precision: _bounds(sizes, gaps, rate, precision), rng))
    return np.array(cells, dtype=np.int64)


def _extended(digits: int, bits: int, precision: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return a number with 3.33 binary digits for each decimal one, so that both sides of a comparison are as fine."""
    more = int(3.33 * precision) - bits
    return digits << more | uniform_below(1 << more, rng, 1)[0], bits + more


def _refined(digits: int, bits: int, bounds: Callable[[int], Bounds], rng: np.random.Generator) -> int:
    """Return the cell of a uniform number of which some binary digits are given, drawing as many as it takes."""
    precision = START_DIGITS
    while (cell := _decided(digits, bits, *bounds(precision))) is None:
        precision *= 2
        digits, bits = _extended(digits, bits, precision, rng)
    return cell


def accepted(gaps: Integers, uniform: Floats, rate: float, rng: np.random.Generator) -> Bools:
    """Return which uniform numbers lie below exp(-rate gap), exactly: Bernoulli draws with these probabilities.

    The numbers are multiples of 2^-53 and stand for the intervals of that length above them, whose further digits are
    drawn where they decide.
    """
    powers = np.exp(-rate * gaps)
    found = np.asarray(uniform + 2.0**-53 <= powers * (1 - MARGIN))
    for i in np.flatnonzero(~found & (uniform <= powers * (1 + MARGIN))):

        def bounds(precision: int, gap: Integers = gaps[i : i + 1]) -> Bounds:
            (lower,), (upper,) = _bounds([1], gap, rate, precision)
            return [lower, Decimal(1)], [upper, Decimal(1)]

        found[i] = _refined(int(uniform[i] * 2**53), 53, bounds, rng) == 0
    return found


def _contexts(precision: int) -> list[Context]:
    """Return decimal arithmetic that rounds down, and up."""
    return [Context(precision, way, Emin=-(10**17), Emax=10**17) for way in (ROUND_FLOOR, ROUND_CEILING)]


Bounds = tuple[list[Decimal], list[Decimal]]
"""Lower and upper bounds on the cumulative weights of cells."""


def _bounds(sizes: Sequence[int], gaps: Integers, rate: float, precision: int) -> Bounds:
    down, up = _contexts(precision)
    exact = Decimal(rate)
    floor = Decimal(10) ** -(2 * precision)
    powers: dict[int, tuple[Decimal, Decimal]] = {}
    for gap in {int(g) for g in gaps}:
        # exp is rounded half even whatever the context says: step one unit to either side.
        near = down.exp(down.multiply(-exact, Decimal(gap))), up.exp(up.multiply(-exact, Decimal(gap)))
        # Such a weight decides nothing at this precision; it lies between 0 and the floor.
        small = near[1] < floor
        if small:
            powers[gap] = (Decimal(0), floor)
        else:
            powers[gap] = (near[0].next_minus(down), near[1].next_plus(up))
    pairs = [(Decimal(s), powers[int(g)]) for s, g in zip(sizes, gaps, strict=True)]
    lower = accumulate((down.multiply(s, p[0]) for s, p in pairs), down.add)
    upper = accumulate((up.multiply(s, p[1]) for s, p in pairs), up.add)
    return list(lower), list(upper)


def _decided(digits: int, bits: int, lower: list[Decimal], upper: list[Decimal]) -> int | None:
    """Return the only cell in which [digits, digits + 1) 2^-bits can lie, None if there are several."""
    if digits.bit_length() <= WRITTEN:
        places = len(str(digits))
    else:
        # More than there are, which is as good.
        places = digits.bit_length() // 3
    down, up = _contexts(places + 60)
    least = down.multiply(Decimal(digits), lower[-1])
    most = up.multiply(Decimal(digits + 1), upper[-1])
    unit = Decimal(1 << bits)
    low = next(i for i, c in enumerate(upper) if up.multiply(c, unit) > least)
    high = next((i for i, c in enumerate(lower) if down.multiply(c, unit) >= most), len(lower) - 1)
    return low if low == high else None
