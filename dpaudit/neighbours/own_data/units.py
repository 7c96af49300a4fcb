"""Units of data, the rows that come and go together: every row alone, or all rows of one user."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.bounds import column_number
from dpaudit.neighbours.own_data.columns import Column, ValueKind, record_family
from dpaudit.neighbours.own_data.tables import Index, Table

__all__ = ["Units", "fresh_names", "read_units"]


@dataclass(frozen=True, eq=False)
class Units:
    """The units of privacy of a dataset.

    Parameters
    ----------
    codes : array of int, shape (n,)
        The number of the unit of each row.
    column : int or None
        The number of the column that holds the units' names, if it is one of the dataset.
    alone : bool
        Whether every row is a unit of its own.
    """

    codes: Index
    column: int | None = None
    alone: bool = True

    @property
    def size(self) -> int:
        """The number of units."""
        return len(self.codes) if self.alone else int(self.codes.max()) + 1

    def rows(self, units: Iterable[int]) -> tuple[int, ...]:
        """Return the rows of some units."""
        chosen = list(units)
        return tuple(sorted(chosen) if self.alone else np.flatnonzero(np.isin(self.codes, chosen)).tolist())

    def sizes(self) -> Index:
        """Return the number of rows of each unit."""
        return np.ones(self.size, dtype=np.int64) if self.alone else np.bincount(self.codes)


def read_units(unit: Any, data: Any, table: Table) -> Units:
    """Return the units that a column or an array names.

    Parameters
    ----------
    unit : None, str, or sequence of n names
        As the user gives it.
    data : any
        The dataset, as given.
    table : Table
        The same as a table.

    Raises
    ------
    InputError
        If there is no such column, there are more or fewer names than rows, a row is of no unit, or a unit has no row.
    """
    if unit is None:
        return Units(np.arange(table.size))
    number = None
    if isinstance(unit, str):
        columns = table.columns
        number = column_number("unit", unit, columns)
        names = columns[number].values.tolist()
        _check_categories(unit, data)
    elif hasattr(unit, "__len__"):
        names = list(unit)
    else:
        raise InputError.of("unit", unit, "the name of a column of the data, or a list of one name a row")
    if len(names) != table.size:
        told = "{unit} must name the unit of every row of {data}: {given} names were given for {size} rows"
        raise InputError(told, names=("unit", "data"), given=len(names), size=table.size)
    known: dict[Hashable, int] = {}
    codes = np.array([known.setdefault(_name(row, name), len(known)) for row, name in enumerate(names)], dtype=np.int64)
    return Units(codes, number, False)


def _name(row: int, name: Any) -> Hashable:
    """Return what names a unit, or raise `InputError` for what is missing or cannot name one."""
    if record_family(name) == "missing" or name != name:
        told = "{unit} must name the unit of every row: row {row} has none; fill it in, or leave such rows out"
        raise InputError(told, names=("unit",), row=row)
    if not isinstance(name, Hashable):
        told = "{unit} must hold texts or numbers; row {row} has a {kind}"
        raise InputError(told, names=("unit",), row=row, kind=type(name).__qualname__)
    return name


def _check_categories(unit: str, data: Any) -> None:
    """Raise `InputError` if a column of categories knows units that have no row."""
    kind = getattr(data.dtypes[unit], "categories", None) if hasattr(data, "dtypes") else None
    if kind is None:
        return
    absent = len(kind) - data[unit].nunique()
    if absent:
        raise InputError(
            "{unit} names a column that knows {absent} unit(s) in no row, which the mechanism could count: take them "
            "out with data[{given}].cat.remove_unused_categories()",
            names=("unit",),
            absent=absent,
            given=repr(unit),
        )


def fresh_names(column: Column, number: int) -> list[Any]:
    """Return names of units that no row has; none where the type of the column allows no other."""
    if column.kind is ValueKind.TEXT:
        held = set(column.values.tolist())
        texts = (f"added {i}" for i in range(len(held) + number))
        return [text for text in texts if text not in held][:number]
    if column.numeric:
        most = int(column.values[column.finite()].max())
        return [column.cast(name) for name in range(most + 1, most + 1 + number) if column.fits(name)]
    return []
