"""Adapters, one for each kind of dataset: rows are taken out, new ones added, and put together as they were given.

The cells of all kinds are one table of pandas, which `columns` reads.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from dpaudit.bounds.base import Integers
from dpaudit.neighbours.own_data.data_columns import Cell, DataColumn, column_of, is_missing, unfit

Index = Integers
"""Numbers of rows, in the order of a dataset; a row may stand in it many times."""
CellValues = Mapping[tuple[int, int], Cell]
"""Values by the numbers of the row and the column."""
Rebuild = Callable[[Any], Any]
"""Makes a dataset of a user's type of one of a kind that is known."""


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """A dataset of one kind, as rows and columns; `rebuilds` then make it one of a type that a user registered."""

    rebuilds: tuple[Rebuild, ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of records."""

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of a record that are known; for a record that is a single value, one without a name."""
        cells = self.cells()
        return tuple(column_of(name, cells.iloc[:, i]) for i, name in enumerate(cells.columns))

    @abstractmethod
    def cells(self) -> pd.DataFrame:
        """Return the values of all rows, rows numbered from 0, by the name of the column; None names a sole value."""

    @abstractmethod
    def records(self) -> list[Any]:
        """Return the records one by one, to be compared."""

    def take(self, index: Index) -> Any:
        """Return a dataset of the kind given that holds these rows, in this order."""
        return self.rows(index).dataset()

    def extended(self, rows: Sequence[tuple[int, Mapping[int, Cell]]]) -> Self:
        """Return the same records followed by new ones, each like a row except for some cells; types stay the same."""
        new = self.rows(np.array([template for template, _ in rows], dtype=np.int64))
        cells = {(row, column): value for row, (_, own) in enumerate(rows) for column, value in own.items()}
        return self.joined(self.changed(new, cells))

    def with_values(self, column: int, values: Mapping[int, Cell]) -> Any:
        """Return a dataset of the kind given in which some rows, by number, have other values in a column."""
        cells = {(row, column): value for row, value in values.items()}
        return self.changed(self.rows(np.arange(self.size)), cells).dataset()

    def dataset(self) -> Any:
        """Return the rows as a dataset of the kind given; the table must be one that `rows` made."""
        found = self._plain_dataset()
        for rebuild in self.rebuilds:
            found = rebuild(found)
        return found

    @abstractmethod
    def rows(self, index: Index) -> Self:
        """Return a table of copies of these rows."""

    @abstractmethod
    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return a table that `rows` made, which may be written to, with other values in some cells."""

    @abstractmethod
    def joined(self, rows: Self) -> Self:
        """Return the records followed by those of a table that `rows` made."""

    @abstractmethod
    def _plain_dataset(self) -> Any:
        """Return the dataset before `rebuilds` make one of a registered type."""


@dataclass(frozen=True, eq=False)
class ArrayTable(Table):
    """An array of NumPy whose first axis numbers the records, structured or not."""

    data: np.ndarray

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.data)

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of a structured array, the cells of a row, or the values themselves."""
        found = super().columns
        dtype = self.data.dtype
        if dtype.names:
            kinds = [dtype[i] for i in range(len(dtype.names))]
        else:
            kinds = [dtype] * len(found)
        # A table of pandas does not know that an array's texts have a greatest length.
        return tuple(
            replace(column, type=kind, nullable=False) if kind.kind == "U" else column
            for column, kind in zip(found, kinds, strict=True)
        )

    def cells(self) -> pd.DataFrame:
        """Return the fields of a structured array, the cells of a row, or the values themselves."""
        fields = self.data.dtype.names
        if fields:
            return frame_of(fields, [flat(self.data[name])[:, 0] for name in fields])
        rows = flat(self.data)
        names = [None] if self.data.ndim == 1 else [str(c) for c in range(rows.shape[1])]
        return pd.DataFrame(rows, columns=pd.Index(names, dtype=object))

    def records(self) -> list[np.ndarray | np.generic]:
        """Return the records one by one."""
        return list(self.data)

    def rows(self, index: Index) -> Self:
        """Return a table of copies of these rows."""
        return replace(self, data=self.data[index])

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        held = rows.data
        fields = held.dtype.names
        for (row, column), value in cells.items():
            if fields is None:
                held[(row, *map(int, np.unravel_index(column, held.shape[1:])))] = value
            else:
                held[fields[column]][row] = value
        return rows

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        joined = np.empty((len(self.data) + len(rows.data), *self.data.shape[1:]), self.data.dtype)
        # `concatenate` would lose the order of the bytes, and the class of records.
        joined[: len(self.data)] = self.data
        joined[len(self.data) :] = rows.data
        return replace(self, data=joined.view(type(self.data)))

    def _plain_dataset(self) -> np.ndarray:
        return self.data


@dataclass(frozen=True, eq=False)
class FrameTable(Table):
    """A table of pandas, or one of its columns.

    An index that merely counts rows (`counts`) does so in every dataset made; labels of another one may be part of a
    record.
    """

    data: pd.DataFrame
    series: bool
    name: Hashable = None
    counts: bool = field(default=True, kw_only=True)

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.data)

    def cells(self) -> pd.DataFrame:
        """Return the columns; one that was given alone has no name."""
        names = [None if self.series else str(label) for label in self.data.columns]
        return self.data.set_axis(pd.RangeIndex(self.size)).set_axis(pd.Index(names, dtype=object), axis=1)

    def records(self) -> list[tuple[Any, ...]]:
        """Return the records one by one."""
        return list(self.data.itertuples(index=False, name=None))

    def rows(self, index: Index) -> Self:
        """Return a table of copies of these rows."""
        return replace(self, data=self.data.iloc[index])

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        for place, value in cells.items():
            rows.data.iloc[place] = value
        return rows

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        labels = fresh_labels(self.data.index, len(rows.data))
        if labels is not None:
            rows.data.index = labels
        return replace(self, data=pd.concat([self.data, rows.data]))

    def _plain_dataset(self) -> pd.DataFrame | pd.Series:
        if self.counts:
            self.data.index = pd.RangeIndex(len(self.data), name=self.data.index.name)
        if self.series:
            return self.data.iloc[:, 0].rename(self.name)
        return self.data


@dataclass(frozen=True, eq=False)
class SparseTable(Table):
    """A sparse matrix of SciPy, held as CSR; `shown` are the numbers of the columns that are examined."""

    data: sparse.csr_array
    format: str
    shown: Index

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.data.shape[0])

    def cells(self) -> pd.DataFrame:
        """Return the columns with most entries."""
        return pd.DataFrame(self.data[:, self.shown].toarray(), columns=pd.Index(map(str, self.shown), dtype=object))

    def records(self) -> list[np.ndarray]:
        """Return the records one by one."""
        return list(self.data.toarray())

    def rows(self, index: Index) -> Self:
        """Return a table of copies of these rows."""
        return replace(self, data=self.data[index])

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        found = rows.data.tolil()
        for (row, column), value in cells.items():
            found[row, int(self.shown[column])] = value
        return replace(rows, data=found.tocsr())

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        return replace(self, data=sparse.vstack([self.data, rows.data], format="csr", dtype=self.data.dtype))

    def _plain_dataset(self) -> sparse.sparray | sparse.spmatrix:
        return self.data.asformat(self.format)


@dataclass(frozen=True, eq=False)
class RecordTable(Table):
    """A list or tuple, as `kind` says, of records: plain values, tuples, dictionaries, data classes, or anything."""

    data: list[Any]
    kind: type

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.data)

    @cached_property
    def _keys(self) -> tuple[Hashable, ...]:
        """The fields that all records have, or (None,) for records that are one value each.

        `InputError` is raised if dictionaries have different keys, or tuples different lengths.
        """
        same = bool(self.data) and all(type(record) is type(self.data[0]) for record in self.data)
        if not same:
            return (None,)
        first = _fields(self.data[0])
        if first is None:
            return (None,)
        for row, record in enumerate(self.data):
            fields = _fields(record)
            if fields != first:
                # Lists may be records of any number of items, each one value.
                if isinstance(record, list):
                    return (None,)
                text = "{data} must hold records of the same fields: row 0 has {most}, row {row} has {fewer}; fill in "
                text += "what is missing, or leave such rows out"
                raise unfit(text, most=_number_of(first), row=row, fewer=_number_of(fields or ()))
        return first or (None,)

    def cells(self) -> pd.DataFrame:
        """Return the fields of the records."""
        values = [pd.Series([_field(record, key) for record in self.data], dtype=object) for key in self._keys]
        return frame_of([None if key is None else str(key) for key in self._keys], values)

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of the records; one may be missing only if it is in some record."""
        return tuple(replace(one, nullable=any(map(is_missing, one.values))) for one in super().columns)

    def records(self) -> list[Any]:
        """Return the records one by one."""
        return list(self.data)

    def rows(self, index: Index) -> Self:
        """Return a table of these rows."""
        return replace(self, data=[self.data[row] for row in index.tolist()])

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        # By the fields of the whole dataset: a few of its records may look as if they had others.
        for (row, column), value in cells.items():
            rows.data[row] = _with_field(rows.data[row], self._keys[column], value)
        return rows

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        return replace(self, data=self.data + rows.data)

    def _plain_dataset(self) -> Sequence[Any]:
        made: Sequence[Any] = self.kind(self.data)
        return made


def _number_of(fields: Sequence[Hashable]) -> str:
    """Return how many fields a record has, which may also differ from others by their names."""
    return "1 field" if len(fields) == 1 else f"{len(fields)} fields, of other names or number"


def _fields(record: Any) -> tuple[Hashable, ...] | None:
    """Return the fields of a record; None for a value that is not taken apart."""
    if isinstance(record, dict):
        return tuple(record)
    if isinstance(record, tuple) and hasattr(record, "_fields"):
        return tuple(record._fields)
    if isinstance(record, tuple | list):
        return tuple(range(len(record)))
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return tuple(field.name for field in dataclasses.fields(record) if field.init)
    return None


def _field(record: Any, key: Hashable) -> Any:
    """Return the value of a field of a record; the record itself if it is one value."""
    if key is None:
        return record
    if isinstance(record, dict) or isinstance(key, int):
        return record[key]
    return getattr(record, str(key))


def _with_field(record: Any, key: Hashable, value: Cell) -> Any:
    """Return a record with another value in a field; the value itself if the record is one."""
    if key is None:
        if isinstance(record, np.generic):
            # Records may be of several types, and this one may not hold the value.
            with np.errstate(over="raise", invalid="raise"), suppress(ArithmeticError, ValueError):
                return record.dtype.type(value)
        return value
    if isinstance(record, dict):
        return {**record, key: value}
    # A named tuple takes its fields one by one.
    if hasattr(record, "_fields"):
        return type(record)(*_items_with(record, key, value))
    if isinstance(record, tuple | list):
        return type(record)(_items_with(record, key, value))
    return dataclasses.replace(record, **{str(key): value})


def _items_with(record: Sequence[Any], key: Hashable, value: Cell) -> list[Any]:
    """Return the items of a tuple or a list, with another one in the place of one field."""
    return [value if field == key else old for field, old in zip(_fields(record) or (), record, strict=True)]


def flat(array: np.ndarray) -> np.ndarray:
    """Return an array of any number of axes with two: records and their cells."""
    return array.reshape(len(array), math.prod(array.shape[1:]))


def column_of_array(name: str | None, values: np.ndarray) -> DataColumn:
    """Return a column of an array of NumPy, whose type may limit the length of a text."""
    found = column_of(name, pd.Series(values))
    if values.dtype.kind == "U":
        return replace(found, type=values.dtype, nullable=False)
    return found


def fresh_labels(known: pd.Index, number: int) -> pd.Index | None:
    """Return labels that no other row has; None if the type of the index allows none."""
    if known.nlevels == 1 and pd.api.types.is_integer_dtype(known.dtype):
        return pd.Index(np.arange(1, number + 1) + int(known.max()), dtype=known.dtype, name=known.name)
    if known.nlevels == 1 and pd.api.types.is_string_dtype(known.dtype):
        return pd.Index([f"added {i}" for i in range(number)], dtype=known.dtype, name=known.name)
    return None


def frame_of(names: Sequence[str | None], values: Sequence[np.ndarray | pd.Series]) -> pd.DataFrame:
    """Return a table of these columns; a name may be None."""
    found = pd.DataFrame(dict(enumerate(values)), copy=False)
    found.columns = pd.Index(names, dtype=object)
    return found


def counts_rows(index: pd.Index) -> bool:
    """Return whether an index merely numbers the rows from 0."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
