"""Reads the bounds of the values of a dataset: one pair for all numbers, one pair a column, or none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.columns import Column

__all__ = ["Bounds", "bounds_of_text", "column_number", "read_bounds"]

Bounds = dict[int, tuple[float, float]]
"""The bounds by number of the column."""

_NAMED = 5
"""The most columns that a message names."""
ALLOWED = "a pair (low, high) with low < high, a pair for each column of numbers, or a dictionary of them by column"


def read_bounds(bounds: Any, columns: Sequence[Column]) -> Bounds:
    """Return the bounds of the columns of numbers that have some.

    Parameters
    ----------
    bounds : None, (low, high), sequence of (low, high), or mapping of column to (low, high)
        As the user gives them.
    columns : sequence of Column
        The columns of the dataset.

    Raises
    ------
    InputError
        If they are reversed, no numbers, for a column that is not there or holds no numbers, or too few or too many.
    """
    numeric = [i for i, column in enumerate(columns) if column.numeric]
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        return {_numeric(name, columns): _pair(given, bounds, f" of column {name!r}") for name, given in bounds.items()}
    if isinstance(bounds, str) or not hasattr(bounds, "__len__"):
        raise InputError.of("bounds", bounds, ALLOWED)
    if not numeric:
        held = ", ".join(f"{column.title}: {_held(column)}" for column in columns[:_NAMED])
        told = (
            "{bounds} are for numbers, and {data} has no column of numbers alone ({held}): mend it, or leave them out"
        )
        raise InputError(told, names=("bounds", "data"), value=bounds, held=held)
    if len(bounds) == 2 and not any(hasattr(end, "__len__") for end in bounds):
        return dict.fromkeys(numeric, _pair(bounds, bounds))
    if len(bounds) != len(numeric):
        raise InputError.of("bounds", bounds, f"{ALLOWED}; there are {len(numeric)} columns of numbers")
    return {i: _pair(given, bounds, f" of {columns[i].title}") for i, given in zip(numeric, bounds, strict=True)}


def bounds_of_text(text: str | None) -> Any:
    """Return bounds that were typed: one pair as "0,1", or one for each of some columns as "age=0,100;share=0,1"."""
    if text is None:
        return None
    parts = [part.rpartition("=") for part in text.split(";") if part.strip()]
    try:
        read = [(name.strip(), tuple(float(end) for end in ends.split(","))) for name, _, ends in parts]
    except ValueError:
        read = []
    named = [name for name, _ in read if name]
    if not read or any(len(ends) != 2 for _, ends in read) or (len(read) > 1 and len(named) < len(read)):
        raise InputError.of(
            "bounds", text, "LOW,HIGH, or COLUMN=LOW,HIGH for some columns, between which stand semicolons"
        )
    return dict(read) if named else read[0][1]


def _numeric(name: Any, columns: Sequence[Column]) -> int:
    """Return the number of a column, which must hold numbers."""
    number = column_number("bounds", str(name), columns)
    if not columns[number].numeric:
        told = "{bounds} are for numbers, and column {name} holds {kind}: leave it out of them"
        raise InputError(told, names=("bounds",), name=repr(name), kind=_held(columns[number]))
    return number


def _held(column: Column) -> str:
    return {"text": "text", "boolean": "booleans"}.get(column.kind.value, "other values")


def _pair(given: Any, bounds: Any, of: str = "") -> tuple[float, float]:
    """Return a pair of finite numbers, the lower one first."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 2:
        raise InputError.of("bounds", bounds, ALLOWED)
    low, high = given
    if not all(isinstance(end, Real) and not isinstance(end, bool) and math.isfinite(end) for end in given):
        raise InputError.of("bounds", bounds, "pairs of finite numbers; leave them out where there are none")
    if low >= high:
        told = "{bounds}{of} must be (low, high) with low < high, got {given}: did you mean ({high}, {low})?"
        if low == high:
            told = "{bounds}{of} must be (low, high) with low < high, got {given}, which allows a single value"
        raise InputError(told, names=("bounds",), value=bounds, of=of, given=(low, high), low=low, high=high)
    return float(low), float(high)


def column_number(parameter: str, name: str, columns: Sequence[Column]) -> int:
    """Return the number of the column of a name, or raise `InputError` with the names that there are."""
    names = [column.name for column in columns if column.name is not None]
    if name in names:
        return [column.name for column in columns].index(name)
    if not names:
        told = "{parameter_} must name no column, for a record of {{data}} is one value and no more; got {name}"
        raise InputError(
            told.format(parameter_=f"{{{parameter}}}", name="{given}"), names=(parameter, "data"), given=repr(name)
        )
    near = get_close_matches(name, names)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    told = "{" + parameter + "} must name a column of {data}, got {given}; there are {names_:.200}{hint}"
    raise InputError(told, names=(parameter, "data"), given=repr(name), names_=", ".join(names), hint=hint)
