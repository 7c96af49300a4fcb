"""One field of all records of a dataset: its values, what they are, and what its type can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError

__all__ = ["Column", "ValueKind", "column_of_array", "column_of_objects", "record_family"]


class ValueKind(StrEnum):
    """The kind of the values of a column, which says what others could stand in their place."""

    REAL = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXT = "text"
    OTHER = "other"
    """Values that are only moved about, never made: times, categories, objects."""


@dataclass(frozen=True, eq=False)
class Column:
    """One field of all records.

    Parameters
    ----------
    name : str or None
        The field in messages and recipes; None where a record is a value and no more.
    kind : ValueKind
        The kind of its values.
    values : array, shape (n,)
        The values; numbers as numbers, others as objects or text.
    type : dtype or None
        What a value has to fit into; None for Python's own types, whose integers have no end.
    """

    name: str | None
    kind: ValueKind
    values: NDArray[Any]
    type: np.dtype[Any] | None = None

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers that bounds could be given for."""
        return self.kind in (ValueKind.REAL, ValueKind.INTEGER)

    @property
    def title(self) -> str:
        """The words for the field in a message."""
        return "the values" if self.name is None else f"column {self.name!r}"

    @property
    def precision(self) -> float:
        """The relative distance from one to the next greater number of a column of floats."""
        return float(np.finfo(self.type if self.type is not None else np.float64).eps)

    def fits(self, value: float) -> bool:
        """Say whether a number can be held; integers hold no fractions, floats of every width infinity and NaN."""
        if self.kind is ValueKind.INTEGER:
            if not math.isfinite(value) or value != int(value):
                return False
            limits = np.iinfo(self.type) if self.type is not None else None
            return limits is None or int(limits.min) <= int(value) <= int(limits.max)
        if not math.isfinite(value) or self.type is None:
            return True
        return abs(value) <= float(np.finfo(self.type).max)

    def cast(self, value: Any) -> Any:
        """Return a value as one of the column's type."""
        if self.kind is ValueKind.INTEGER:
            return int(value) if self.type is None else self.type.type(int(value))
        if self.kind is ValueKind.REAL:
            return float(value) if self.type is None else self.type.type(value)
        return value

    def finite(self) -> NDArray[Any]:
        """Return the rows whose numbers are finite."""
        return np.flatnonzero(np.isfinite(self.values.astype(float)))


def column_of_array(name: str | None, values: NDArray[Any]) -> Column:
    """Return the column of a one-dimensional array; one of Python objects is looked at value by value."""
    kinds = {"f": ValueKind.REAL, "i": ValueKind.INTEGER, "u": ValueKind.INTEGER, "b": ValueKind.BOOLEAN}
    if values.dtype.kind == "O":
        return column_of_objects(name, values.tolist())
    if values.dtype.kind in "UT":
        return Column(name, ValueKind.TEXT, values, values.dtype if values.dtype.kind == "U" else None)
    return Column(name, kinds.get(values.dtype.kind, ValueKind.OTHER), values, values.dtype)


def column_of_objects(name: str | None, values: list[Any]) -> Column:
    """Return the column of Python values of one family, of which some may be missing.

    Raises
    ------
    InputError
        If numbers, text and others are mixed.
    """
    families = {family for value in values if (family := record_family(value)) != "missing"}
    if len(families) > 1:
        _refuse_mixed(name, values)
    family = families.pop() if families else "other"
    if family == "number":
        whole = all(isinstance(value, int | np.integer) or record_family(value) == "missing" for value in values)
        return _numbers(name, values, whole)
    kind = {"text": ValueKind.TEXT, "boolean": ValueKind.BOOLEAN}.get(family, ValueKind.OTHER)
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return Column(name, kind, held)


def _numbers(name: str | None, values: list[Any], whole: bool) -> Column:
    """Return the column of numbers; missing ones are NaN, and integers beyond 64 bits are floats, to be compared."""
    numbers = np.array([math.nan if record_family(value) == "missing" else value for value in values], dtype=float)
    return Column(name, ValueKind.INTEGER if whole else ValueKind.REAL, numbers)


def record_family(value: Any) -> str:
    """Return what a value is, as far as values of one column must agree in it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | np.integer | np.floating):
        return "number"
    if isinstance(value, str):
        return "text"
    return type(value).__qualname__


def _refuse_mixed(name: str | None, values: Iterable[Any]) -> None:
    """Raise `InputError` with the first two rows whose values are of different families."""
    firsts: dict[str, int] = {}
    for row, value in enumerate(values):
        firsts.setdefault(record_family(value), row)
    firsts.pop("missing", None)
    (one, row), (other, place), *_ = firsts.items()
    where = "records" if name is None else f"in column {name!r} values"
    raise InputError(
        "{data} must hold {where} of one kind: row {row} is of kind {one}, row {place} of kind {other}; convert one of "
        "them, or leave such rows out",
        names=("data",),
        where=where,
        row=row,
        one=one,
        place=place,
        other=other,
    )
