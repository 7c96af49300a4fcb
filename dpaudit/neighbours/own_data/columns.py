"""One field of all records of a dataset: its values, what its type can hold, and the bounds given for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

ColumnBounds = dict[int, tuple[float, float]]
"""The bounds by number of the column."""

_CHARACTER = np.dtype("U1").itemsize
"""Bytes of a character of a text in an array."""
_NAMED = 5
"""The most columns that a message names."""
_ALLOWED = "a pair (low, high) with low < high, a pair for each column of numbers, or a dictionary of them by column"


class ValueKind(StrEnum):
    """The kind of the values of a column, which decides what other values could stand in their place."""

    REAL = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXT = "text"
    OTHER = "other"
    """Values that are only moved about, never made: times, categories, objects."""


_KINDS = {"f": ValueKind.REAL, "i": ValueKind.INTEGER, "u": ValueKind.INTEGER, "b": ValueKind.BOOLEAN}


@dataclass(frozen=True, eq=False)
class DataColumn:
    """One field of all records.

    Its name stands in messages and recipes, and is None where a record is a single value. The values, shape (n,), are
    numbers or objects. A value has to fit into the type; None stands for Python's own, whose integers have no end. Of
    decimals there are `digits` in all and after the point, and numbers are floats here. A `nullable` column may have
    missing values, whether there are any or not.
    """

    name: str | None
    kind: ValueKind
    values: NDArray[Any]
    type: np.dtype[Any] | None = None
    digits: tuple[int, int] | None = None
    nullable: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers that bounds could be given for."""
        return self.kind in (ValueKind.REAL, ValueKind.INTEGER)

    @property
    def title(self) -> str:
        """The words for the field in a message."""
        return "the values" if self.name is None else f"column {self.name!r}"

    @property
    def limits(self) -> np.iinfo[Any] | np.finfo[Any]:
        """The ends and the precision of the type of numbers, for those of Python that of 64 bits."""
        if self.kind is ValueKind.INTEGER:
            return np.iinfo(self.type if self.type is not None else np.int64)
        return np.finfo(self.type if self.type is not None else np.float64)

    @property
    def finite(self) -> NDArray[Any]:
        """The values of a column of numbers that are finite."""
        return np.asarray(self.values[np.isfinite(self.values.astype(float))])

    @property
    def missing(self) -> Any:
        """The stand-in for a missing value: NaN where the type is a float of NumPy."""
        return math.nan if self.type is not None and self.type.kind == "f" else None

    def fits(self, text: str) -> bool:
        """Return whether the column's type, which may limit the length, holds a text."""
        return self.type is None or self.type.kind != "U" or len(text) <= self.type.itemsize // _CHARACTER

    def rounded(self, number: float, towards: Callable[[Fraction], int]) -> float:
        """Return a number with the digits of the column's decimals, rounded up or down."""
        unit = Fraction(10) ** (self.digits or (0, 0))[1]  # of a type of thousands there are -3 digits
        return float(towards(Fraction(repr(float(number))) * unit) / unit)

    def held(self, number: float) -> Any:
        """Return a number as the column's type has it, or None.

        Integers hold no fractions; floats of every width hold infinity and NaN, and decimals neither.
        """
        if self.digits is not None:
            return decimal_of(number, self.digits)
        whole, finite = self.kind is ValueKind.INTEGER, math.isfinite(number)
        if whole and (not finite or number != int(number)):
            return None
        exact: Any = int if whole else float
        if self.type is None:
            return exact(number)
        fits = not finite or exact(self.limits.min) <= exact(number) <= exact(self.limits.max)
        return self.type.type(exact(number)) if fits else None


MOST_DIGITS = 28
"""The digits of decimals of Python, of which no type says how many they may have."""


def decimal_of(number: float, digits: tuple[int, int]) -> Decimal | None:
    """Return a number as a decimal of so many digits in all and after the point; None where it has more or no end."""
    if not math.isfinite(number):
        return None
    precision, scale = digits
    try:
        found = Decimal(repr(float(number))).quantize(Decimal(1).scaleb(-scale))
    except InvalidOperation:
        return None
    return found if len(found.as_tuple().digits) <= precision else None


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, or what pandas has in their place."""
    if value_type(value) == "missing":
        return True
    return isinstance(value, float | np.floating | Decimal) and value != value


def value_type(value: Any) -> str:
    """Return the type of a value as far as the values of one column must agree in it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    # A span of time of NumPy is derived from its integers.
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, np.timedelta64):
        return "number"
    if isinstance(value, Decimal):
        return "decimal"
    return "text" if isinstance(value, str) else type(value).__qualname__


def column_of(name: str | None, values: pd.Series[Any]) -> DataColumn:
    """Return a column of a table of pandas; `InputError` if numbers, text and others are mixed."""
    import pandas as pd

    kind = values.dtype
    arrow = getattr(kind, "pyarrow_dtype", None)
    # An arrow-backed type says by its class of Python what it holds; a dictionary of texts says nothing.
    held = kind.type if arrow is not None else None
    if isinstance(kind, pd.StringDtype | pd.BooleanDtype) or held in (str, bool):
        objects = values.astype(object).where(values.notna(), None).to_numpy()
        return replace(_of_objects(name, objects), nullable=True)
    if held is Decimal and arrow is not None:
        objects = values.astype(object).where(values.notna(), None)
        numbers = np.array([math.nan if value is None else float(value) for value in objects], dtype=float)
        digits = (arrow.precision, arrow.scale)
        return DataColumn(name, ValueKind.REAL, numbers, digits=digits, nullable=True)
    if isinstance(kind, np.dtype):
        if kind.kind == "O":
            return _of_objects(name, values.to_numpy())
        return DataColumn(
            name, _KINDS.get(kind.kind, ValueKind.OTHER), values.to_numpy(), kind, nullable=kind.kind == "f"
        )
    inner = getattr(kind, "numpy_dtype", None)
    if isinstance(inner, np.dtype) and inner.kind in "iuf":
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        return DataColumn(name, _KINDS[inner.kind], numbers, inner, nullable=True)
    return DataColumn(name, ValueKind.OTHER, values.astype(object).to_numpy())


def _of_objects(name: str | None, values: NDArray[Any]) -> DataColumn:
    """Return the column of Python values; missing numbers are NaN, and integers beyond 64 bits become floats."""
    types = [value_type(value) for value in values]
    found = [kind for kind in dict.fromkeys(types) if kind != "missing"]
    if len(found) > 1:
        # NaN among texts, dates and others is what pandas reads from an empty cell.
        types = ["missing" if is_missing(value) else kind for kind, value in zip(types, values, strict=True)]
        found = [kind for kind in dict.fromkeys(types) if kind != "missing"]
    if found == ["number", "decimal"] or found == ["decimal", "number"]:
        types = ["number" if kind == "decimal" else kind for kind in types]
        found = ["number"]
    if len(found) > 1:
        one, other = found[:2]
        where = "records" if name is None else f"in column {name!r} values"
        text = "{data} must hold {where} of one kind: row {row} is of kind {one}, row {place} of kind {other}; convert "
        text += "one of them, or leave such rows out"
        raise unfit(text, where=where, row=types.index(one), one=one, place=types.index(other), other=other)
    if found in (["number"], ["decimal"]):
        pairs = list(zip(types, values, strict=True))
        whole = all(kind == "missing" or isinstance(value, int | np.integer) for kind, value in pairs)
        try:
            numbers = np.array([math.nan if kind == "missing" else value for kind, value in pairs], dtype=float)
        except (OverflowError, ValueError):  # ValueError of a signalling NaN
            where = "numbers" if name is None else f"in column {name!r} numbers"
            text = "{data} must hold {where} that are at most 1.8e308, and has a larger integer"
            raise unfit(text, where=where) from None
        if found == ["decimal"]:
            return DataColumn(name, ValueKind.REAL, numbers, digits=_digits_of(values), nullable=True)
        kinds = {value.dtype if isinstance(value, np.generic) else None for value in values}
        inner = next(iter(kinds)) if len(kinds) == 1 else None
        return DataColumn(name, ValueKind.INTEGER if whole else ValueKind.REAL, numbers, inner, nullable=True)
    plain = ["missing" if is_missing(value) else "" for value in values]
    objects = np.array([None if kind else value for kind, value in zip(plain, values, strict=True)] + [None], object)
    kind = ValueKind(found[0]) if found in (["text"], ["boolean"]) else ValueKind.OTHER
    return DataColumn(name, kind, objects[:-1] if kind is not ValueKind.OTHER else values, nullable=True)


def _digits_of(values: NDArray[Any]) -> tuple[int, int]:
    """Return the most digits of decimals of Python, and the most after the point that some have."""
    parts = [value.as_tuple() for value in values if isinstance(value, Decimal) and value.is_finite()]
    return MOST_DIGITS, max((-int(part.exponent) for part in parts), default=0)


def unfit(text: str, **given: Any) -> InputError:
    """Return the error that the data are not what they must be."""
    return InputError(text, names=("data",), **given)


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


def read_bounds(bounds: Any, columns: Sequence[DataColumn]) -> ColumnBounds:
    """Return the bounds of the columns of numbers that have some, given as `neighbours_of` takes them."""
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        found = {}
        for name, given in bounds.items():
            number = column_number("bounds", str(name), columns)
            if not columns[number].numeric:
                text = "{bounds} are for numbers, and column {name} holds {kind}: leave it out of them"
                raise InputError(text, names=("bounds",), name=repr(name), kind=_contents(columns[number]))
            found[number] = _pair(given, bounds, f" of column {name!r}")
        return found
    if isinstance(bounds, str) or not hasattr(bounds, "__len__"):
        raise InputError.of("bounds", bounds, _ALLOWED, _line(bounds))
    numeric = [i for i, column in enumerate(columns) if column.numeric]
    if not numeric:
        held = ", ".join(f"{column.title}: {_contents(column)}" for column in columns[:_NAMED])
        text = "{bounds} are for numbers, and {data} has no column of numbers alone ({held}): mend it, or leave them "
        text += "out"
        raise InputError(text, names=("bounds", "data"), value=bounds, held=held)
    if len(bounds) == 2 and not any(hasattr(end, "__len__") for end in bounds):
        return dict.fromkeys(numeric, _pair(bounds, bounds))
    if len(bounds) != len(numeric):
        raise InputError.of("bounds", bounds, f"{_ALLOWED}; there are {len(numeric)} columns of numbers")
    return {i: _pair(given, bounds, f" of {columns[i].title}") for i, given in zip(numeric, bounds, strict=True)}


def _line(bounds: Any) -> str:
    """Return the argument to write in the place of bounds that are given as a text, as commands take them."""
    try:
        found = bounds_of_text(bounds) if isinstance(bounds, str) else None
    except InputError:
        found = None
    return "write bounds=(0, 100), or bounds={'age': (0, 100)}" if found is None else f"write bounds={found!r}"


def _contents(column: DataColumn) -> str:
    return {"text": "text", "boolean": "booleans"}.get(column.kind.value, "other values")


def _pair(given: Any, bounds: Any, of: str = "") -> tuple[float, float]:
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


def text_of_bounds(bounds: Any) -> str | None:
    """Return bounds as they are typed."""
    if bounds is None or isinstance(bounds, str):
        return bounds
    named = bounds.items() if isinstance(bounds, dict) else [("", bounds)]
    ends = ((name, ",".join(repr(float(end)).removesuffix(".0") for end in pair)) for name, pair in named)
    return ";".join(f"{name}={pair}" if name else pair for name, pair in ends)


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
