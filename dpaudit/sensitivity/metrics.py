"""Distances between outputs in the metrics of sensitivities, exactly: every float is a fraction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeVar

import numpy as np

from dpaudit.arguments import read_choice
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import canonical
from dpaudit.withheld import foreign

# The part of the claim by which a distance between floats may exceed it as rounding: epsilon grows by as much.
ROUNDING = Fraction(1, 10**9)

Key = tuple[Hashable, ...]
# A finite number as a fraction; a NaN or an infinity as a float.
Number = Fraction | float
# A sensitivity as users give it; a text such as "1/3" is exact.
GivenSensitivity = float | Rational | Decimal | str
_Output = TypeVar("_Output")


@dataclass(frozen=True)
class Distance:
    """A distance between two outputs, the `power`, or its root if `squared`; ``math.inf`` if it is not finite.

    It is `rounded` if floats that are no integers were compared, so that the last digits may be rounding. `why` says
    why it is infinite.
    """

    power: Fraction | float
    squared: bool = False
    rounded: bool = False
    why: str = ""

    def exceeds(self, claim: Fraction) -> bool:
        """Return whether it is larger than a claim, by more than `ROUNDING` of it if floats were compared."""
        most = claim
        # Powers are compared, and no roots, so that nothing is rounded.
        if self.rounded:
            most *= 1 + ROUNDING
        if self.squared:
            most *= most
        return self.power > most

    @property
    def lower(self) -> float:
        """The distance as a float, rounded down."""
        if isinstance(self.power, float):
            return self.power
        # The root of n / d is that of n d over d. An integer root of it times 2^128 is exact to 2^-64, from below.
        if self.squared:
            root = Fraction(math.isqrt(self.power.numerator * self.power.denominator << 128), 1 << 64)
            return _down(root / self.power.denominator)
        return _down(self.power)


def _down(value: Fraction) -> float:
    """Return the greatest float that is at most a fraction >= 0."""
    try:
        nearest = float(value)
    # Beyond all floats: the greatest of them is a lower bound.
    except OverflowError:
        return float(np.finfo(float).max)
    if Fraction(nearest) > value:
        return math.nextafter(nearest, 0.0)
    return nearest


def exact_number(value: Any) -> Number | None:
    """Return a number exactly, as a fraction, or as the float that it is if it is not finite; None for no number."""
    if hasattr(value, "ndim") and value.ndim == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool | int | Rational):
        return Fraction(value)
    if isinstance(value, float | np.floating | Decimal):
        if not math.isfinite(value):
            return float(value)
        return Fraction(*value.as_integer_ratio())
    return None


def _numbers(output: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Yield the numbers of an output with their keys, in no form that is exact yet."""
    if hasattr(output, "to_dict") and hasattr(output, "index"):  # of pandas: by label
        output = output.to_dict()
    if isinstance(output, Mapping):
        for name, item in output.items():
            yield from _numbers(item, (*key, name))
    elif isinstance(output, np.ndarray) and output.ndim:
        for place, item in zip(np.ndindex(output.shape), output.ravel().tolist(), strict=True):
            if output.dtype == object:
                yield from _numbers(item, key + place)
            else:
                yield key + place, item
    elif isinstance(output, Sequence) and not isinstance(output, str | bytes):
        for i, item in enumerate(output):
            yield from _numbers(item, (*key, i))
    else:
        yield key, output


def _has_keys(output: Any) -> bool:
    return isinstance(output, Mapping) or hasattr(output, "to_dict")


def _differences(first: _Output, second: _Output, metric: str) -> tuple[list[Fraction], bool, str]:
    """Return the differences of numbers under equal keys, whether fractions of floats are among them, and a reason.

    A key that a dictionary lacks counts as 0. The reason says why the distance is infinite if shapes differ.
    """
    one = dict(_numbers(first))
    other = dict(_numbers(second))
    if one.keys() != other.keys() and not (_has_keys(first) and _has_keys(second)):
        return [], False, f"the outputs hold {len(one)} and {len(other)} numbers"
    found: list[Fraction] = []
    rounded = False
    for key in dict.fromkeys((*one, *other)):
        was = one.get(key, 0)
        now = other.get(key, 0)
        if was is now:
            continue
        left = exact_number(was)
        right = exact_number(now)
        if left is None or right is None:
            if type(was) is type(now) and was == now:
                continue  # what both share, such as a label
            text = "{metric} {metric_} compares numbers, got {value_:.100}; for other outputs use hamming or symmetric"
            wrong = was if left is None else now
            raise InputError(text, names=("metric",), metric_=metric, value=wrong, value_=foreign(repr(wrong)))
        # One of them is no finite number. Two equal infinities, or two NaNs, are no distance apart.
        if isinstance(left, float) or isinstance(right, float):
            if left != right and not (left != left and right != right):
                kinds = sorted({_kind(left), _kind(right)})
                return [], False, f"a number is {kinds[-1]} on one input and {kinds[0]} on the other"
            continue
        if left != right:
            found.append(abs(left - right))
            rounded |= any(isinstance(x, float | np.floating) and x != int(x) for x in (was, now))
    return found, rounded, ""


def _kind(number: Number) -> str:
    """Return what a number is, without its value."""
    if isinstance(number, Fraction):
        return "finite"
    if number != number:
        return "NaN"
    return "infinite" if number > 0 else "minus infinite"


def _number_distance(metric: str, total: Callable[[list[Fraction]], Fraction], squared: bool = False) -> Measure:
    """Return the distance whose power is a total of the differences of numbers."""

    def measure(first: _Output, second: _Output) -> Distance:
        found, rounded, why = _differences(first, second, metric)
        if why:
            return Distance(math.inf, squared, why=why)
        return Distance(total(found), squared, rounded)

    return measure


def _absolute(first: _Output, second: _Output) -> Distance:
    for output in (first, second):
        if list(dict(_numbers(output))) != [()]:
            text = "{metric} absolute is for an output that is one number, got {value_:.100}: use l1, l2 or linf"
            raise InputError(text, names=("metric",), value=output, value_=foreign(repr(output)))
    return _number_distance("absolute", _sum)(first, second)


def _sum(found: list[Fraction]) -> Fraction:
    return sum(found, Fraction(0))


def _sum_of_squares(found: list[Fraction]) -> Fraction:
    return sum((number * number for number in found), Fraction(0))


def _greatest(found: list[Fraction]) -> Fraction:
    return max(found, default=Fraction(0))


def _elements(output: Any, metric: str) -> list[Hashable]:
    if isinstance(output, Mapping):
        return [canonical(item) for item in output.items()]
    try:
        return [canonical(item) for item in output]
    except TypeError:
        text = "{metric} {metric_} compares lists of elements, got {value_:.100}: use absolute for a number"
        raise InputError(text, names=("metric",), metric_=metric, value=output, value_=foreign(repr(output))) from None


def _hamming(first: _Output, second: _Output) -> Distance:
    one = _elements(first, "hamming")
    other = _elements(second, "hamming")
    if len(one) != len(other):
        return Distance(math.inf, why=f"the outputs have {len(one)} and {len(other)} elements")
    return Distance(Fraction(sum(a != b for a, b in zip(one, other, strict=True))))


def _symmetric(first: _Output, second: _Output) -> Distance:
    one = Counter(_elements(first, "symmetric"))
    other = Counter(_elements(second, "symmetric"))
    return Distance(Fraction((one - other).total() + (other - one).total()))


# Measures how far apart two outputs are.
Measure = Callable[[Any, Any], Distance]
# Metric -> the distance of two outputs. The first four take dictionaries by key, where a missing key counts as 0.
METRICS: dict[str, Measure] = {
    "absolute": _absolute,
    "l1": _number_distance("l1", _sum),
    "l2": _number_distance("l2", _sum_of_squares, squared=True),
    "linf": _number_distance("linf", _greatest),
    "hamming": _hamming,
    "symmetric": _symmetric,
}


def read_metric(metric: str) -> str:
    """Return the name of a metric."""
    return str(read_choice("metric", metric, tuple(METRICS)))


def read_sensitivity(claim: GivenSensitivity) -> Fraction:
    """Return a claimed sensitivity exactly; `InputError` if it is no finite number >= 0."""
    number = None
    if not isinstance(claim, bool):
        number = exact_number(claim)
    # `Fraction` reads "1/3", "0.1" and "1e-3" exactly.
    if isinstance(claim, str):
        with suppress(ValueError, ZeroDivisionError):
            number = Fraction(claim)
    if not isinstance(number, Fraction) or number < 0:
        raise InputError.of("claim", claim, "a finite number >= 0, the sensitivity that is claimed")
    return number
