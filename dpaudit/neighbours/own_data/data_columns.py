"""Columns of a dataset: one field of all records, with its values and what its type can hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.bounds.base import Array
from dpaudit.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Cell = str | int | float | Decimal | np.generic | None
"""A value that may be put into a cell; None is a missing one."""
Digits = tuple[int, int]
"""The digits of decimals: those in all, and those after the point."""

# Bytes of a character of a text in an array.
_CHARACTER = np.dtype("U1").itemsize
MISSING = "missing"
NUMBER = "number"
DECIMAL = "decimal"
TEXT = "text"
BOOLEAN = "boolean"


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

    Its name stands in messages and recipes, and is None if a record is a single value. The values, shape (n,), are
    numbers or objects. A value has to fit into the type; None stands for Python's own, whose integers have no end. Of
    decimals there are `digits` in all and after the point, and numbers are floats here. A `nullable` column may have
    missing values, whether there are any or not.
    """

    name: str | None
    kind: ValueKind
    values: np.ndarray
    type: np.dtype | None = None
    digits: Digits | None = None
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
    def limits(self) -> np.iinfo | np.finfo:
        """The ends of the type of numbers, for those of Python that of 64 bits."""
        if self.kind is ValueKind.INTEGER:
            return np.iinfo(np.int64 if self.type is None else self.type)
        return np.finfo(self._floats)

    @property
    def _floats(self) -> np.dtype:
        """The type of floats, which may be Python's own."""
        return np.dtype(np.float64) if self.type is None else self.type

    @property
    def precision(self) -> float:
        """The distance from 1 to the next number of a type of floats."""
        return float(np.finfo(self._floats).eps)

    @property
    def finite(self) -> np.ndarray:
        """The values of a column of numbers that are finite."""
        return np.asarray(self.values[np.isfinite(self.values.astype(float))])

    @property
    def missing(self) -> float | None:
        """The stand-in for a missing value: NaN if the type is a float of NumPy, else None."""
        if self.type is not None and self.type.kind == "f":
            return math.nan
        return None

    def fits(self, text: str) -> bool:
        """Return whether the column's type, which may limit the length, holds a text."""
        return self.type is None or self.type.kind != "U" or len(text) <= self.type.itemsize // _CHARACTER

    def rounded(self, number: float, towards: Callable[[Fraction], int]) -> float:
        """Return a number with the digits of the column's decimals, rounded up or down."""
        after_point = 0
        if self.digits is not None:
            after_point = self.digits[1]
        # Of a type of thousands there are -3 digits.
        unit = Fraction(10) ** after_point
        # By its shortest decimals: the binary 0.1 is a little more than 0.1, and would be rounded up.
        return float(towards(Fraction(repr(float(number))) * unit) / unit)

    def held(self, number: float) -> Cell:
        """Return a number as the column's type has it, or None.

        Integers hold no fractions; floats of every width hold infinity and NaN, and decimals neither.
        """
        if self.digits is not None:
            return decimal_of(number, self.digits)
        if self.kind is ValueKind.INTEGER:
            if not math.isfinite(number) or number != int(number):
                return None
            exact: float = int(number)
        else:
            exact = float(number)
        if self.type is None:
            return exact
        # Infinity and NaN lie in no range, and floats of every width hold them.
        if math.isfinite(exact) and not self._in_range(exact):
            return None
        made: np.generic = self.type.type(exact)
        return made

    def _in_range(self, number: float) -> bool:
        """Return whether a number lies between the ends of the type."""
        limits = self.limits
        # As integers: floats would round the ends of 64 bits.
        if self.kind is ValueKind.INTEGER:
            return int(limits.min) <= number <= int(limits.max)
        return float(limits.min) <= number <= float(limits.max)


# The digits of decimals of Python, whose type sets no limit.
MOST_DIGITS = 28


def decimal_of(number: float, digits: Digits) -> Decimal | None:
    """Return a number as a decimal of so many digits in all and after the point; None if it has more or no end."""
    if not math.isfinite(number):
        return None
    # The shortest decimals of the float are taken, not the binary fraction that it is.
    precision, scale = digits
    try:
        found = Decimal(repr(float(number))).quantize(Decimal(1).scaleb(-scale))
    except InvalidOperation:
        return None
    if len(found.as_tuple().digits) > precision:
        return None
    return found


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, or what pandas has in their place."""
    if value_type(value) == MISSING:
        return True
    return isinstance(value, float | np.floating | Decimal) and value != value


def value_type(value: Any) -> str:
    """Return the type of a value as far as the values of one column must agree in it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return MISSING
    # Before numbers: Booleans of Python are integers too.
    if isinstance(value, bool | np.bool_):
        return BOOLEAN
    # A span of time of NumPy is derived from its integers.
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, np.timedelta64):
        return NUMBER
    if isinstance(value, Decimal):
        return DECIMAL
    if isinstance(value, str):
        return TEXT
    return type(value).__qualname__


def column_of(name: str | None, values: pd.Series) -> DataColumn:
    """Return a column of a table of pandas; `InputError` if numbers, text and others are mixed."""
    # Takes a while to load, and commands without a dataset do not need it.
    import pandas as pd

    kind = values.dtype
    # An arrow-backed type says by its class of Python what it holds; a dictionary of texts says nothing.
    held = None
    if isinstance(kind, pd.ArrowDtype):
        held = kind.type
    if isinstance(kind, pd.StringDtype | pd.BooleanDtype) or held in (str, bool):
        return replace(_of_objects(name, _with_none(values).to_numpy()), nullable=True)
    if held is Decimal:
        arrow = kind.pyarrow_dtype
        digits = (arrow.precision, arrow.scale)
        return DataColumn(name, ValueKind.REAL, floats_of(_with_none(values)), digits=digits, nullable=True)
    if isinstance(kind, np.dtype):
        if kind.kind == "O":
            return _of_objects(name, values.to_numpy())
        found = _KINDS.get(kind.kind, ValueKind.OTHER)
        # Of the types of NumPy, floats alone have a stand-in for a missing value: NaN.
        return DataColumn(name, found, values.to_numpy(), kind, nullable=kind.kind == "f")
    if hasattr(kind, "numpy_dtype"):
        inner = kind.numpy_dtype
        if isinstance(inner, np.dtype) and inner.kind in "iuf":
            numbers = values.to_numpy(dtype=float, na_value=np.nan)
            return DataColumn(name, _KINDS[inner.kind], numbers, inner, nullable=True)
    return DataColumn(name, ValueKind.OTHER, values.astype(object).to_numpy())


def _with_none(values: pd.Series) -> pd.Series:
    """Return a column as objects of Python, with None for missing ones."""
    return values.astype(object).where(values.notna(), None)


def floats_of(values: Iterable[Decimal | float | None]) -> Array:
    """Return numbers as floats; a missing one is NaN."""
    return np.array([math.nan if value is None else float(value) for value in values], dtype=float)


def _of_objects(name: str | None, values: np.ndarray) -> DataColumn:
    """Return the column of Python values; missing numbers are NaN, and integers beyond 64 bits become floats."""
    types = [value_type(value) for value in values]
    found = _present(types)
    if len(found) > 1:
        # NaN among texts, dates and others is what pandas reads from an empty cell.
        types = [MISSING if is_missing(value) else kind for kind, value in zip(types, values, strict=True)]
        found = _present(types)
    if set(found) == {NUMBER, DECIMAL}:
        types = [NUMBER if kind == DECIMAL else kind for kind in types]
        found = [NUMBER]
    if len(found) > 1:
        one, other = found[:2]
        where = "records" if name is None else f"in column {name!r} values"
        text = "{data} must hold {where} of one kind: row {row} is of kind {one}, row {place} of kind {other}; convert "
        text += "one of them, or leave such rows out"
        raise unfit(text, where=where, row=types.index(one), one=one, place=types.index(other), other=other)
    if found in ([NUMBER], [DECIMAL]):
        return _of_numbers(name, values, types, found[0])
    if found in ([TEXT], [BOOLEAN]):
        objects = np.array([None if is_missing(value) else value for value in values], dtype=object)
        return DataColumn(name, ValueKind(found[0]), objects, nullable=True)
    return DataColumn(name, ValueKind.OTHER, values, nullable=True)


def _present(types: list[str]) -> list[str]:
    """Return the types that values have, the first one first."""
    return [kind for kind in dict.fromkeys(types) if kind != MISSING]


def _of_numbers(name: str | None, values: np.ndarray, types: list[str], found: str) -> DataColumn:
    """Return the column of numbers or of decimals of Python."""
    pairs = list(zip(types, values, strict=True))
    try:
        numbers = np.array([math.nan if type_ == MISSING else value for type_, value in pairs], dtype=float)
    # ValueError of a signalling NaN.
    except (OverflowError, ValueError):
        where = "numbers" if name is None else f"in column {name!r} numbers"
        text = "{data} must hold {where} that are at most 1.8e308, and has a larger integer"
        raise unfit(text, where=where) from None
    if found == DECIMAL:
        return DataColumn(name, ValueKind.REAL, numbers, digits=_digits_of(values), nullable=True)
    whole = all(type_ == MISSING or isinstance(value, int | np.integer) for type_, value in pairs)
    dtypes = {value.dtype if isinstance(value, np.generic) else None for value in values}
    # Scalars of one type of NumPy have its limits; any mixture has those of Python.
    inner = None
    if len(dtypes) == 1:
        inner = dtypes.pop()
    kind = ValueKind.INTEGER if whole else ValueKind.REAL
    return DataColumn(name, kind, numbers, inner, nullable=True)


def _digits_of(values: np.ndarray) -> Digits:
    """Return the most digits of decimals of Python, and the most after the point that some have."""
    parts = [value.as_tuple() for value in values if isinstance(value, Decimal) and value.is_finite()]
    return MOST_DIGITS, max((-int(part.exponent) for part in parts), default=0)


def unfit(text: str, **given: Any) -> InputError:
    """Return the error that the data are not what they must be; `given` is what the text shows."""
    return InputError(text, names=("data",), **given)
