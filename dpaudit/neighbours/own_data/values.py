"""The values that an attacker would put into a column: at its bounds, outside of them, and the ends of its type."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.neighbours.own_data.columns import Column, ValueKind

__all__ = ["ALLOWED", "OUTSIDE", "Value", "values_of"]

FAR = 1000
"""Widths of the bounds by which the farther of the values outside lie outside."""
LONG = 1000
"""Words of the long text."""


class Value(Enum):
    """A value by its place among the others, in the words of a recipe; columns that have such a value have it together.

    The least and the greatest value are the bounds, or those of the data where no bounds are given.
    """

    HIGH = "the greatest value"
    LOW = "the least value"
    MIDDLE = "the middle value"
    TINY = "a value that floating-point sums lose"
    FAR_ABOVE = "a value far above the greatest"
    NAN = "NaN"
    UNSEEN = "a text that the data do not hold"
    FAR_BELOW = "a value far below the least"
    EMPTY = "an empty text"
    INFINITY = "infinity"
    MOST = "the greatest number of its type"
    LONG = "a long text"
    BELOW = "a value below the least"
    ABOVE = "a value above the greatest"
    MINUS_INFINITY = "minus infinity"
    LEAST = "the least number of its type"


ALLOWED = (Value.HIGH, Value.LOW)
"""Those that bounds allow, and that come to a background; of the other two backgrounds are made."""
OUTSIDE = tuple(value for value in Value if value not in (*ALLOWED, Value.MIDDLE, Value.TINY))
"""Those that bounds do not allow: what comes of them is part of the mechanism, which may have to clip."""


def values_of(column: Column, bounds: tuple[float, float] | None) -> dict[Value, Any]:
    """Return the values to put into a column, as its type has them."""
    if column.kind is ValueKind.BOOLEAN:
        return {Value.HIGH: True, Value.LOW: False}
    if column.kind is ValueKind.TEXT:
        return {Value.UNSEEN: _unseen(column), Value.EMPTY: "", Value.LONG: " ".join(["long"] * LONG)}
    if not column.numeric:
        return {}
    low, high = bounds or _range(column)
    made = _integers(column, low, high) if column.kind is ValueKind.INTEGER else _reals(column, low, high)
    return {value: column.cast(number) for value, number in made if column.fits(number)}


def _unseen(column: Column) -> str:
    held = set(column.values.tolist())
    return next(text for text in ("unseen" + "!" * i for i in range(len(held) + 1)) if text not in held)


def _range(column: Column) -> tuple[float, float]:
    """Return the least and the greatest value that is finite."""
    held = column.values[column.finite()]
    return (float(held.min()), float(held.max())) if len(held) else (0.0, 1.0)


def _integers(column: Column, low: float, high: float) -> Iterator[tuple[Value, int]]:
    least, most = math.ceil(low), math.floor(high)
    width = max(1, most - least)
    limits = np.iinfo(column.type if column.type is not None else np.int64)
    yield Value.HIGH, most
    yield Value.LOW, least
    yield Value.MIDDLE, (least + most) // 2
    yield Value.ABOVE, most + width
    yield Value.BELOW, least - width
    yield Value.FAR_ABOVE, most + FAR * width
    yield Value.FAR_BELOW, least - FAR * width
    yield Value.MOST, int(limits.max)
    yield Value.LEAST, int(limits.min)


def _reals(column: Column, low: float, high: float) -> Iterator[tuple[Value, float]]:
    width = (high - low) or 1.0
    limits = np.finfo(column.type if column.type is not None else np.float64)
    # Added to the greatest value it is rounded up to a unit in the last place: sums of many gain a third.
    tiny = 0.75 * column.precision * high
    yield Value.HIGH, high
    yield Value.LOW, low
    yield Value.MIDDLE, low / 2 + high / 2
    if low <= tiny <= high:
        yield Value.TINY, tiny
    yield Value.ABOVE, high + width
    yield Value.BELOW, low - width
    yield Value.NAN, math.nan
    yield Value.FAR_ABOVE, high + FAR * width
    yield Value.FAR_BELOW, low - FAR * width
    yield Value.INFINITY, math.inf
    yield Value.MINUS_INFINITY, -math.inf
    yield Value.MOST, float(limits.max)
    yield Value.LEAST, float(limits.min)
