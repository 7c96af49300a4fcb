"""Bounds that are given for the values of columns: read, checked, and written as they are typed on a command line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

from dpaudit.errors import InputError, nearest

if TYPE_CHECKING:
    from dpaudit.neighbours.own_data.data_columns import DataColumn

Ends = tuple[float, float]
"""The least and the greatest value that is allowed."""
ColumnBounds = dict[int, Ends]
"""The bounds by number of the column."""
GivenBounds = Ends | Sequence[Ends] | Mapping[str, Ends]
"""Bounds as users give them: those of all numbers, of each column of numbers, or of columns by name."""
TypedBounds = Ends | dict[str, Ends]
"""Bounds that were typed, as numbers."""

# The most columns that a message names.
_NAMED = 5
_ALLOWED = "a pair (low, high) with low < high, a pair for each column of numbers, or a dictionary of them by column"


def column_number(parameter: str, name: str, columns: Sequence[DataColumn]) -> int:
    """Return the number of the column of a name, or raise `InputError` with the names of all columns."""
    names = [column.name for column in columns]
    if name in names:
        return names.index(name)
    known = [one for one in names if one is not None]
    if known:
        text = "{" + parameter + "} must name a column of {data}, got {given}; there are {known:.200}{hint}"
    else:
        text = "{" + parameter + "} must name no column, for a record of {data} is one value and no more; got {given}"
    hint = nearest(name, known)
    raise InputError(text, names=(parameter, "data"), given=repr(name), known=", ".join(known), hint=hint)


def read_bounds(bounds: GivenBounds | None, columns: Sequence[DataColumn]) -> ColumnBounds:
    """Return the bounds of the columns of numbers that have some, given as `neighbours_of` takes them."""
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        return _by_name(bounds, columns)
    if isinstance(bounds, str) or not hasattr(bounds, "__len__"):
        raise InputError.of("bounds", bounds, _ALLOWED, _line(bounds))
    numeric = [i for i, column in enumerate(columns) if column.numeric]
    if not numeric:
        held = ", ".join(f"{column.title}: {_contents(column)}" for column in columns[:_NAMED])
        text = "{bounds} are for numbers, and {data} has no column of numbers alone ({held}): mend it, or leave them "
        text += "out"
        raise InputError(text, names=("bounds", "data"), value=bounds, held=held)
    if len(bounds) == 2 and not any(hasattr(end, "__len__") for end in bounds):
        return dict.fromkeys(numeric, _ends(bounds, bounds))
    if len(bounds) != len(numeric):
        raise InputError.of("bounds", bounds, f"{_ALLOWED}; there are {len(numeric)} columns of numbers")
    return {i: _ends(given, bounds, f" of {columns[i].title}") for i, given in zip(numeric, bounds, strict=True)}


def _by_name(bounds: Mapping[str, Ends], columns: Sequence[DataColumn]) -> ColumnBounds:
    found = {}
    for name, given in bounds.items():
        number = column_number("bounds", str(name), columns)
        if not columns[number].numeric:
            text = "{bounds} are for numbers, and column {name} holds {kind}: leave it out of them"
            raise InputError(text, names=("bounds",), name=repr(name), kind=_contents(columns[number]))
        found[number] = _ends(given, bounds, f" of column {name!r}")
    return found


def _line(bounds: Any) -> str:
    """Return the argument to write in the place of bounds that are given as a text, as commands take them."""
    example = "write bounds=(0, 100), or bounds={'age': (0, 100)}"
    if not isinstance(bounds, str):
        return example
    try:
        return f"write bounds={bounds_of_text(bounds)!r}"
    except InputError:
        return example


def _contents(column: DataColumn) -> str:
    return {"text": "text", "boolean": "booleans"}.get(column.kind.value, "other values")


def _ends(given: Any, bounds: GivenBounds, of: str = "") -> Ends:
    """Return one pair of bounds, or raise `InputError`; `of` says in the message which of all it is."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 2:
        raise InputError.of("bounds", bounds, _ALLOWED)
    low, high = given
    if not all(isinstance(end, Real) and not isinstance(end, bool) and math.isfinite(end) for end in given):
        raise InputError.of("bounds", bounds, "pairs of finite numbers; leave them out where there are none")
    if low >= high:
        hint = ", which allows a single value" if low == high else ": did you mean ({high}, {low})?"
        text = "{bounds}{of} must be (low, high) with low < high, got {given}" + hint
        raise InputError(text, names=("bounds",), value=bounds, of=of, given=(low, high), low=low, high=high)
    return float(low), float(high)


def text_of_bounds(bounds: TypedBounds | str | None) -> str | None:
    """Return bounds as they are typed."""
    if bounds is None or isinstance(bounds, str):
        return bounds
    if isinstance(bounds, dict):
        return ";".join(f"{name}={_text_of_ends(ends)}" for name, ends in bounds.items())
    return _text_of_ends(bounds)


def _text_of_ends(ends: Ends) -> str:
    return ",".join(repr(float(end)).removesuffix(".0") for end in ends)


@overload
def bounds_of_text(text: str) -> TypedBounds: ...


@overload
def bounds_of_text(text: None) -> None: ...


def bounds_of_text(text: str | None) -> TypedBounds | None:
    """Return bounds that were typed: one pair as "0,1", or one for each of some columns as "age=0,100;share=0,1"."""
    if text is None:
        return None
    parts = [part.rpartition("=") for part in text.split(";") if part.strip()]
    try:
        read = [(name.strip(), _ends_of_text(ends)) for name, _, ends in parts]
    except ValueError:
        read = []
    unnamed = [ends for name, ends in read if not name]
    if not read or (unnamed and len(read) > 1):
        raise InputError.of(
            "bounds", text, "LOW,HIGH, or COLUMN=LOW,HIGH;COLUMN=LOW,HIGH for some columns"
        )
    return unnamed[0] if unnamed else dict(read)


def _ends_of_text(text: str) -> Ends:
    """Return "0,1" as numbers; `ValueError` if it is anything else."""
    low, high = text.split(",")
    return float(low), float(high)
