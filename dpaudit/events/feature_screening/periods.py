"""Features of single numbers that the sides choose: decimal digits, and remainders by periods that need not be whole.

Digits are compared place by place. Periods are found by Fourier transforms: a number x leaks through x modulo q where
the mean of exp(2 pi i x / q) differs between the sides. One transform of a fine histogram gives all periods down to
some hundred-thousandth of the range at once; finer ones are tried if they are likely: powers of ten, fractions of 1,
multiples of pi and of the smallest step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array
from dpaudit.events.cells import to_grid
from dpaudit.events.feature_screening.feature import (
    DIGIT,
    PERIOD,
    CellNumbers,
    Feature,
    LeafFeature,
    best_events,
    best_half_lines,
    quantile_edges,
)
from dpaudit.events.feature_screening.products import Sides
from dpaudit.naming import Mention, Mentioned, Name, cut, position
from dpaudit.outputs import readers
from dpaudit.outputs.readers import is_usual

V = TypeVar("V")
# Numbers of an output whose digits and periods are looked at.
MOST_PERIODIC = 16
# Digits, and periods, of one number that are returned.
CHOSEN = 2
# Values a side that digits are compared on, where an output has at most `FEW_NUMBERS`. Transforms take all values.
COMPARED = 2_000
# The same where it has more, and the values a side that single periods are compared on.
FEWER = 1_000
FEW_NUMBERS = 4
# Values a side below which nothing is compared.
LEAST_VALUES = 50
# By how much half-lines of a digit may promise less than other sets, which have more ways to be lucky.
ORDERED = 0.1
# Significant digits, and decimal places from the first of the largest numbers, that are looked at.
SIGNIFICANT = 9
# Standard deviations by which the chi-squared statistic of a digit must exceed its mean: 7e-5 by chance.
LEAST_EXCESS = 6.0
# By how much the power at a frequency must exceed the logarithm of the number of frequencies: 0.0025 by chance.
LEAST_POWER = 6.0
# Cells of the histograms of all numbers together.
TRANSFORMED = 2**18
# The bounds of the cells of the histogram of one number.
MOST_CELLS = 2**17
FEWEST_CELLS = 2**14
# Periods in the range below which the values themselves show as much.
LEAST_CYCLES = 4
# The share of values beyond either end of the range.
CENTRAL = 0.02
# The share of values of either sign from which magnitudes have periods of their own.
BOTH_SIGNS = 0.05
# Units of a place, or periods, in a number up to which its digit, or its phase, is no matter of rounding.
PRECISE = 2.0**46
# Cells of a period in which its best arc is sought.
PHASES = 40
# The part of the greatest power that a period with fewer digits must have.
NICE = 0.97
# The relative error by which numbers as 0.29 * 100 fall short of whole ones.
SNAP = 2.0**-44
# Values whose smallest step is taken for that of all.
STEPS = 10_000
# Steps that are told as a period.
MOST_STEPS = 512
# Powers of ten that are tried as periods, where they are too short for the transform.
DECADES = 8
# Half of the periods from 0.8 to 14 that are tried.
HALF_PERIODS = np.arange(4, 71) / 10
# Periods that are tried are these fractions of 1, and these multiples of the step between values.
MULTIPLES = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 50, 60, 64, 100])
# The names of multiples of pi.
NAMED_PERIODS = {1: "pi", 2: "2 pi", 0.5: "pi / 2", 4: "4 pi"}


def digits_and_periods(columns: Sequence[tuple[Feature, Array]], neighbour: Sides, fit: Sides) -> Iterator[Feature]:
    """Yield digits of numbers, and remainders by periods, that differ between the sides, given the numbers of all runs.

    `fit` are the runs that choose.
    """
    columns = columns[:MOST_PERIODIC]
    most = TRANSFORMED // max(1, len(columns))
    cells = min(MOST_CELLS, max(FEWEST_CELLS, 2 ** (most.bit_length() - 1)))
    compared = COMPARED if len(columns) <= FEW_NUMBERS else FEWER
    for feature, column in columns:
        taken = fit & is_usual(column)
        values = column[taken]
        side = neighbour[taken]
        if min(side.sum(), (~side).sum()) < LEAST_VALUES or values.min() == values.max():
            continue
        # Integers have digits of their own.
        if feature.leaf.reader is not readers.whole:
            yield from _digits(feature, *_some(values, side, compared))
        yield from _periods(feature, values, side, cells)


def _told(feature: Feature) -> Name:
    """Return which number of an output a feature is."""
    if feature.kind == "value":
        return feature.leaf.name
    return feature.name


def _some(values: Array, side: Sides, most: int) -> tuple[Array, Sides]:
    places = np.concatenate([np.flatnonzero(side == one)[:most] for one in (False, True)])
    return values[places], side[places]


# Digits


def _digits(feature: Feature, values: Array, side: Sides) -> list[Feature]:
    """Return the digits that differ most between the sides."""
    found: list[tuple[float, Name, Callable[[Array], CellNumbers]]] = []
    for name, read in _all_digits(float(np.abs(values).max())):
        cells = read(values)
        counts = _counts(cells, side, 10)
        excess = _excess(counts)
        if excess > LEAST_EXCESS:
            found.append((excess, name, read))
    found.sort(key=itemgetter(0), reverse=True)
    return [_digit_feature(feature, name, read, values, side) for _, name, read in found[:CHOSEN]]


def _all_digits(greatest: float) -> Iterator[tuple[Name, Callable[[Array], CellNumbers]]]:
    for place in range(1, SIGNIFICANT + 1):
        yield Name.of("{} significant digit", ordinal(place)), partial(_significant, place)
    if not 1e-290 < greatest < 1e290:
        return
    first = -math.floor(math.log10(greatest))
    for place in range(first, first + SIGNIFICANT):
        if greatest * 10.0**place < PRECISE:
            yield _name_of_place(place), partial(_decimal, place)


def ordinal(number: int) -> Name:
    """Return a number as "1st", "2nd", ..."""
    ending = "th"
    if number % 100 not in (11, 12, 13):
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return Name.of(f"{{}}{ending}", position(number))


def _name_of_place(place: int) -> Name:
    if place > 0:
        return Name.of("{} decimal digit", ordinal(place))
    return Name.of("{} digit before the point", ordinal(1 - place))


def _decimal(place: int, values: Array) -> CellNumbers:
    """Return the decimal digit of each magnitude that counts 10^-place."""
    with np.errstate(over="ignore"):
        units = np.abs(np.where(is_usual(values), values, 0.0)) * 10.0**place
    return _last_digit(np.where(units < PRECISE, units, 0.0))


def _significant(place: int, values: Array) -> CellNumbers:
    """Return a significant digit of each number; 0 of 0."""
    magnitude = np.abs(np.where(is_usual(values), values, 0.0))
    magnitude = np.where(magnitude > 1e-290, magnitude, 0.0)
    with np.errstate(divide="ignore"):
        exponent = np.where(magnitude > 0, np.floor(np.log10(magnitude) * (1 + SNAP) + SNAP), 0.0)
    units = magnitude * 10.0 ** (place - 1 - exponent)
    # The logarithm may be off by one near powers of ten.
    units = np.where(units >= 10.0**place * (1 - SNAP), units / 10, units)
    units = np.where((units < 10.0 ** (place - 1) * (1 - SNAP)) & (units > 0), units * 10, units)
    return _last_digit(units)


def _last_digit(units: Array) -> CellNumbers:
    nearest = np.rint(units)
    whole = np.where(np.abs(units - nearest) <= SNAP * nearest, nearest, np.floor(units))
    digit: CellNumbers = (whole % 10).astype(np.int64)
    return digit


def _digit_feature(
    feature: Feature, name: Name, read: Callable[[Array], CellNumbers], values: Array, side: Sides
) -> Feature:
    """Return a digit as a number, where half-lines of it show as much as other sets of digits; else as a category."""
    data, neighbour = _counts(read(values), side, 10)[:, None]
    line = float(best_half_lines(data, neighbour, len(values))[0])
    ordered = line >= float(best_events(data, neighbour, len(values))[0]) - ORDERED
    read_output = partial(_of_number, feature.column.read, read)
    edges = np.arange(1.0, 10.0) if ordered else None
    column = LeafFeature(Name.of("{} of {}", name, _told(feature)), read_output, edges=edges)
    return Feature(feature.leaf, column, DIGIT)


def _of_number(
    number: Callable[[V], NDArray[np.generic]], read: Callable[[Array], NDArray[np.generic]], values: V
) -> Array:
    return np.asarray(read(np.asarray(number(values), dtype=np.float64)), dtype=np.float64)


def _counts(cells: CellNumbers, side: Sides, width: int) -> Array:
    """Return how often each side has each cell, shape (2, width)."""
    return np.bincount(cells + width * side, minlength=2 * width).reshape(2, width).astype(np.float64)


def _excess(counts: Array) -> float:
    """Return by how many standard deviations the chi-squared statistic of two sides' cells exceeds its mean."""
    counts = counts[:, counts.any(axis=0)]
    free = counts.shape[1] - 1
    if not free:
        return -math.inf
    mean = counts.sum(axis=0) * counts.sum(axis=1, keepdims=True) / counts.sum()
    return float((np.square(counts - mean) / mean).sum() - free) / math.sqrt(2 * free)


# Periods


def _periods(feature: Feature, values: Array, side: Sides, cells: int) -> Iterator[Feature]:
    """Yield remainders of a number, or of its magnitude, by the periods in which the sides differ most."""
    positive = float((values > 0).mean())
    both = BOTH_SIGNS < positive < 1 - BOTH_SIGNS
    # Periods of numbers and those of magnitudes are the same among the numbers of one sign.
    if both:
        taken = (values > 0) == (positive >= 0.5)
        periods = _periods_of(np.abs(values[taken]), side[taken], cells)
    else:
        periods = _periods_of(values, side, cells)
    for period in periods:
        powers = [_power(one, _weights(side), np.array([1 / period]))[0] for one in (values, np.abs(values))]
        if both and powers[1] > powers[0]:
            yield _period_feature(feature, True, period, np.abs(values), side)
        else:
            yield _period_feature(feature, False, period, values, side)


def _weights(side: Sides) -> Array:
    """Return weights of either side whose squares add up to 1, as much on one side as on the other."""
    sizes = (~side).sum(), side.sum()
    weights: Array = np.where(side, -1 / sizes[1], 1 / sizes[0]) * math.sqrt(sizes[0] * sizes[1] / len(side))
    return weights


def _periods_of(values: Array, side: Sides, cells: int) -> list[float]:
    low, high = np.quantile(values, [CENTRAL, 1 - CENTRAL], method="lower").tolist()
    span = high - low
    if not 1e-290 < span < 1e290:
        return []
    inside = (values >= low) & (values <= high)
    values = values[inside]
    side = side[inside]
    if min((~side).sum(), side.sum()) < LEAST_VALUES:
        return []
    weights = _weights(side)
    step = _step(values)
    found = [*_scanned(values - low, weights, span, step, cells), *_tried(values, weights, span, step, cells)]
    found.sort(key=itemgetter(0), reverse=True)
    chosen: list[float] = []
    for _, period in found:
        if len(chosen) < CHOSEN and not any(math.isclose(period, other, rel_tol=1e-3) for other in chosen):
            chosen.append(period)
    return chosen


def _power(values: Array, weights: Array, frequencies: Array) -> Array:
    """Return |sum of w exp(2 pi i f x)|^2 for each frequency, about exponential with mean 1 without a signal."""
    powers = []
    for frequency in frequencies.tolist():
        turns = values * frequency
        turns -= np.rint(turns)
        turns *= 2 * np.pi
        powers.append((weights @ np.cos(turns)) ** 2 + (weights @ np.sin(turns)) ** 2)
    return to_grid(np.array(powers))


def _step(values: Array) -> float:
    """Return the smallest step between values if all steps are multiples of it, else 0."""
    different = np.unique(values[:STEPS])
    if len(different) < 3:
        return 0.0
    step = float(np.diff(different).min())
    if not step > 1e-12 * max(abs(float(different[0])), abs(float(different[-1]))):
        return 0.0
    rounded = float(f"{step:.6g}")
    for one in (rounded, step):
        steps = (different - different[0]) / one
        if (np.abs(steps - np.rint(steps)) < 0.01).all():
            return one
    return 0.0


def _scanned(values: Array, weights: Array, span: float, step: float, cells: int) -> Iterator[tuple[float, float]]:
    """Yield powers and periods at which the transform of the histogram peaks."""
    # The values fill half of the cells, so that frequencies lie twice as close as periods in the range tell apart.
    cell = np.minimum((values * (cells / 2 / span)).astype(np.int64), cells // 2)
    transform = np.fft.rfft(np.bincount(cell, weights=weights, minlength=cells))
    power = np.square(transform.real) + np.square(transform.imag)
    power[: 2 * LEAST_CYCLES] = 0.0
    # A period of less than two steps is another one's alias.
    if step:
        power[math.floor(span / step * (1 + 1e-6)) + 2 :] = 0.0
    level = math.log(len(power)) + LEAST_POWER
    for _ in range(CHOSEN + 1):
        above = np.flatnonzero(power > level)
        if not len(above):
            return
        peak = int(above[to_grid(power[above]).argmax()])
        power[max(0, peak - 8) : peak + 9] = 0.0
        yield _refined(values, weights, peak / (2 * span), 0.5 / span, step)


def _refined(values: Array, weights: Array, frequency: float, reach: float, step: float) -> tuple[float, float]:
    """Return the greatest power near a frequency, and its period, with few digits where it has as much power so."""
    for _ in range(2):
        near = frequency + np.linspace(-reach, reach, 17)
        power = _power(values, weights, near)
        frequency = float(near[power.argmax()])
        reach /= 8
    best = float(power.max())
    nice = list(_nice(frequency, 4 * reach, step))
    powers = _power(values, weights, 1 / np.array(nice)) if nice else np.zeros(0)
    for period, one in zip(nice, powers.tolist(), strict=True):
        if one >= NICE * best:
            return best, period
    return best, 1 / frequency


def _nice(frequency: float, reach: float, step: float) -> Iterator[float]:
    """Yield periods about as long as one, those first that are told in the fewest words."""
    period = 1 / frequency
    error = period * period * 2 * reach
    short = [float(f"{period:.{digits}g}") for digits in range(1, 7)]
    candidates = short[:2]
    if period < 2:
        candidates.append(math.pi / 2)
    else:
        candidates.append(math.pi * round(period / math.pi))
    if round(frequency):
        candidates.append(1 / round(frequency))
    if step and period < MOST_STEPS * step:
        candidates.append(step * round(period / step))
    yield from (one for one in candidates + short[2:] if one > 0 and abs(one - period) <= error)


def _tried(values: Array, weights: Array, span: float, step: float, cells: int) -> Iterator[tuple[float, float]]:
    """Yield powers and periods of likely periods that are too short for the transform."""
    greatest = float(np.abs(values).max())
    longest = 4 * span / cells
    shortest = greatest / PRECISE
    tens = 10.0 ** (math.floor(math.log10(longest)) - np.arange(DECADES))
    likely = np.concatenate([tens, 1.0 / MULTIPLES, 2 * HALF_PERIODS, math.pi * MULTIPLES[:4], [math.pi / 2]])
    if step:
        likely = np.concatenate([likely, step * MULTIPLES[1:]])
    likely = np.unique(likely[(likely > shortest) & (likely < longest) & (likely >= 2 * step * (1 - 1e-9))])
    # If all values are multiples of a period, so is their step.
    some = np.concatenate([np.flatnonzero(one)[:FEWER] for one in (weights > 0, weights < 0)])
    scale = math.sqrt(len(values) / len(some))
    power = _power(values[some], weights[some] * scale, 1 / likely)
    for at in np.flatnonzero(power > math.log(len(likely) + 1) + LEAST_POWER).tolist():
        yield float(power[at]), float(likely[at])


def _period_feature(feature: Feature, magnitude: bool, period: float, values: Array, side: Sides) -> Feature:
    """Return the remainder of a number by a period, from where an arc begins that holds most of what differs."""
    phase = np.minimum((_remainder(period, 0.0, False, values) / period * PHASES).astype(np.int64), PHASES - 1)
    shares = _counts(phase, side, PHASES)
    gap = np.cumsum(shares[0] / shares[0].sum() - shares[1] / shares[1].sum())
    ends = [(int(gap.argmin()) + 1) % PHASES, (int(gap.argmax()) + 1) % PHASES]
    near = [end for end in ends if end in (0, 1, PHASES - 1)]
    offset = 0.0 if near else float(f"{ends[0] / PHASES * period:.3g}")
    of = _told(feature)
    if magnitude:
        of = Name.of("|{}|", of)
    if offset:
        of = Name.of("({} - {})", of, cut(offset))
    read = partial(_of_number, feature.column.read, partial(_remainder, period, offset, magnitude))
    edges = quantile_edges(_remainder(period, offset, False, values))
    name = Name.of("{} modulo {}", of, _shown(period))
    return Feature(feature.leaf, LeafFeature(name, read, edges=edges), PERIOD)


def _shown(period: float) -> Name | Mention:
    for times, name in NAMED_PERIODS.items():
        if math.isclose(period, times * math.pi, rel_tol=1e-12):
            return Name(name)
    return Mention(f"{period:.6g}", Mentioned.PERIOD)


def _remainder(period: float, offset: float, magnitude: bool, values: Array) -> Array:
    """Return numbers, or their magnitudes, less an offset, modulo a period; those just below it by rounding are 0."""
    usual = np.where(is_usual(values), values, 0.0)
    if magnitude:
        usual = np.abs(usual)
    moved = usual - offset
    rest = np.mod(moved, period)
    error = np.abs(moved) * SNAP
    return np.where(period - rest <= error, 0.0, rest)
