"""Adapters, one for each kind of dataset: rows are taken out, new ones added, and put together as they were given.

The cells of all kinds are one table of pandas, which `columns` reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.own_data.columns import DataColumn, column_of, is_missing, unfit

Index = NDArray[np.int64]
"""Numbers of rows, in the order of a dataset; a row may stand in it many times."""
CellValues = Mapping[tuple[int, int], Any]
"""Values by the numbers of the row and the column."""
_PLAIN = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """A dataset of one kind, as rows and columns; `rebuilds` then make it one of a type that a user registered.

    `whole` is whether the columns hold all of a record.
    """

    data: Any
    rebuilds: tuple[Callable[[Any], Any], ...] = field(default=(), kw_only=True)
    whole: bool = field(default=True, kw_only=True)

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.data.shape[0]) if hasattr(self.data, "shape") else len(self.data)

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of a record that are known; for a record that is a single value, one without a name."""
        cells = self.cells()
        return tuple(column_of(name, cells.iloc[:, i]) for i, name in enumerate(cells.columns))

    @abstractmethod
    def cells(self) -> pd.DataFrame:
        """Return the values of all rows, rows numbered from 0, by the name of the column; None names a sole value."""

    def records(self) -> list[Any]:
        """Return the records one by one, to be compared."""
        return list(self.data)

    def take(self, index: Index) -> Any:
        """Return a dataset of the kind given that holds these rows, in this order."""
        return self._rebuilt(self._rows(index))

    def extended(self, rows: Sequence[tuple[int, Mapping[int, Any]]]) -> Self:
        """Return the same records followed by new ones, each like a row but for some cells; types stay as they are."""
        new = self._rows(np.array([template for template, _ in rows], dtype=np.int64))
        cells = {(row, column): value for row, (_, own) in enumerate(rows) for column, value in own.items()}
        return replace(self, data=self._joined(self._changed(new, cells)))

    def with_values(self, column: int, values: Mapping[int, Any]) -> Any:
        """Return a dataset of the kind given in which some rows, by number, have other values in a column."""
        cells = {(row, column): value for row, value in values.items()}
        return self._rebuilt(self._changed(self._rows(np.arange(self.size)), cells))

    def digest(self) -> str:
        """Return the SHA-256 of the kind and the content, in hexadecimal digits; it never leaves without a key."""
        kind = "Registered" if self.rebuilds else type(self).__name__
        found = hashlib.sha256(f"{kind} {self.size}\n".encode())
        for part in self._content():
            found.update(f"{len(part)}\n".encode())
            found.update(part)
        return found.hexdigest()

    def _rebuilt(self, rows: Any) -> Any:
        return reduce(lambda found, rebuild: rebuild(found), self.rebuilds, self._given(rows))

    def _rows(self, index: Index) -> Any:
        """Return a copy of these rows, held as `data` holds them."""
        return self.data[index]

    @abstractmethod
    def _changed(self, rows: Any, cells: CellValues) -> Any:
        """Return a copy that `_rows` made, which may be written to, with other values in some cells."""

    @abstractmethod
    def _joined(self, rows: Any) -> Any: ...

    def _given(self, rows: Any) -> Any:
        return rows

    @abstractmethod
    def _content(self) -> Iterator[bytes]:
        """Yield bytes that determine the dataset."""


@dataclass(frozen=True, eq=False)
class ArrayTable(Table):
    """An array of NumPy whose first axis numbers the records, structured or not."""

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of a structured array, the cells of a row, or the values themselves."""
        kinds = [self.data.dtype[i] for i in range(len(self.data.dtype.names or ()))] or [self.data.dtype]
        found = super().columns
        # A table of pandas does not know that an array's texts have a greatest length.
        kinds = kinds if self.data.dtype.names else kinds * len(found)
        return tuple(
            replace(column, type=kind, nullable=False) if kind.kind == "U" else column
            for column, kind in zip(found, kinds, strict=True)
        )

    def cells(self) -> pd.DataFrame:
        """Return the fields of a structured array, the cells of a row, or the values themselves."""
        names = self.data.dtype.names
        if names:
            return frame_of(names, [flat(self.data[name])[:, 0] for name in names])
        rows = flat(self.data)
        names = [None] if self.data.ndim == 1 else [str(c) for c in range(rows.shape[1])]
        return pd.DataFrame(rows, columns=pd.Index(names, dtype=object))

    def _changed(self, rows: Any, cells: CellValues) -> Any:
        names = rows.dtype.names
        for (row, column), value in cells.items():
            place = (row, *np.unravel_index(column, rows.shape[1:])) if names is None else row
            (rows if names is None else rows[names[column]])[place] = value
        return rows

    def _joined(self, rows: Any) -> Any:
        joined = np.empty((len(self.data) + len(rows), *self.data.shape[1:]), self.data.dtype)
        # `concatenate` would lose the order of the bytes, and the class of records.
        joined[: len(self.data)] = self.data
        joined[len(self.data) :] = rows
        return joined.view(type(self.data))

    def _content(self) -> Iterator[bytes]:
        yield f"{self.data.dtype.descr} {self.data.shape}".encode()
        yield text_of_values(self.data.tolist()) if self.data.dtype.hasobject else self.data.tobytes()


@dataclass(frozen=True, eq=False)
class FrameTable(Table):
    """A table of pandas, or one of its columns.

    An index that merely counts rows does so in every dataset made; labels of another one may be part of a record,
    which is not `whole` then.
    """

    series: bool
    name: Any = None

    def cells(self) -> pd.DataFrame:
        """Return the columns, of which a sole one that was given as such has no name."""
        names = [None if self.series else str(label) for label in self.data.columns]
        return self.data.set_axis(pd.RangeIndex(self.size)).set_axis(pd.Index(names, dtype=object), axis=1)

    def records(self) -> list[Any]:
        """Return the records one by one."""
        return list(self.data.itertuples(index=False, name=None))

    def _rows(self, index: Index) -> Any:
        return self.data.iloc[index]

    def _changed(self, rows: Any, cells: CellValues) -> Any:
        for place, value in cells.items():
            rows.iloc[place] = value
        return rows

    def _joined(self, rows: Any) -> Any:
        labels = fresh_labels(self.data.index, len(rows))
        if labels is not None:
            rows.index = labels
        return pd.concat([self.data, rows])

    def _given(self, rows: Any) -> Any:
        if self.whole:
            rows.index = pd.RangeIndex(len(rows), name=rows.index.name)
        return rows.iloc[:, 0].rename(self.name) if self.series else rows

    def _content(self) -> Iterator[bytes]:
        labels = [] if self.whole else [("index", self.data.index.to_series())]
        for label, values in [*labels, *((str(name), self.data[name]) for name in self.data.columns)]:
            yield f"{label} {values.dtype}".encode()
            held = values.to_numpy()
            yield text_of_values(held.tolist()) if held.dtype.hasobject else held.tobytes()


@dataclass(frozen=True, eq=False)
class SparseTable(Table):
    """A sparse matrix of SciPy, held as CSR; `shown` are the numbers of the columns that are examined."""

    format: str
    shown: Index

    def cells(self) -> pd.DataFrame:
        """Return the columns with most entries."""
        return pd.DataFrame(self.data[:, self.shown].toarray(), columns=pd.Index(map(str, self.shown), dtype=object))

    def records(self) -> list[Any]:
        """Return the records one by one."""
        return list(self.data.toarray())

    def _changed(self, rows: Any, cells: CellValues) -> Any:
        found = rows.tolil()
        for (row, column), value in cells.items():
            found[row, int(self.shown[column])] = value
        return found.tocsr()

    def _joined(self, rows: Any) -> Any:
        return sparse.vstack([self.data, rows], format="csr", dtype=self.data.dtype)

    def _given(self, rows: Any) -> Any:
        return rows.asformat(self.format)

    def _content(self) -> Iterator[bytes]:
        held = self.data.sorted_indices()
        yield f"{held.dtype} {held.shape}".encode()
        for part in (held.indptr.astype(np.int64), held.indices.astype(np.int64), held.data):
            yield part.tobytes()


@dataclass(frozen=True, eq=False)
class RecordTable(Table):
    """A list or tuple, as `kind` says, of records: plain values, tuples, dictionaries, data classes, or anything."""

    kind: type

    @cached_property
    def _keys(self) -> tuple[Hashable, ...]:
        """The fields that all records have, or (None,) where a record is one value.

        `InputError` is raised if dictionaries have different keys, or tuples different lengths.
        """
        same = bool(self.data) and all(type(record) is type(self.data[0]) for record in self.data)
        first = _fields(self.data[0]) if same else None
        if first is None:
            return (None,)
        for row, record in enumerate(self.data):
            if (fields := _fields(record)) != first:
                if isinstance(record, list):  # a record of any number of items
                    return (None,)
                most, fewer = (
                    "1 field" if len(some) == 1 else f"{len(some)} fields, of other names or number"
                    for some in (first, fields or ())
                )
                text = "{data} must hold records of the same fields: row 0 has {most}, row {row} has {fewer}; fill in "
                raise unfit(text + "what is missing, or leave such rows out", most=most, row=row, fewer=fewer)
        return first or (None,)

    def cells(self) -> pd.DataFrame:
        """Return the fields of the records."""

        def field(record: Any, key: Any) -> Any:
            if key is None:
                return record
            return record[key] if isinstance(record, dict) or isinstance(key, int) else getattr(record, key)

        values = [pd.Series([field(record, key) for record in self.data], dtype=object) for key in self._keys]
        return frame_of([None if key is None else str(key) for key in self._keys], values)

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of the records; nothing says that one may be missing but that it is."""
        return tuple(replace(one, nullable=any(map(is_missing, one.values))) for one in super().columns)

    def _rows(self, index: Index) -> Any:
        return [self.data[row] for row in index.tolist()]

    def _changed(self, rows: Any, cells: CellValues) -> Any:
        for (row, column), value in cells.items():
            rows[row] = _with_field(rows[row], self._keys[column], value)
        return rows

    def _joined(self, rows: Any) -> Any:
        return self.data + rows

    def _given(self, rows: Any) -> Any:
        return self.kind(rows)

    def _content(self) -> Iterator[bytes]:
        yield text_of_values(self.data)


def _fields(record: Any) -> tuple[Hashable, ...] | None:
    """Return the fields of a record; None of a value that is not taken apart."""
    if isinstance(record, dict):
        return tuple(record)
    if isinstance(record, tuple | list):
        return tuple(getattr(record, "_fields", range(len(record))))
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return tuple(field.name for field in dataclasses.fields(record) if field.init)
    return None


def _with_field(record: Any, key: Any, value: Any) -> Any:
    if key is None:
        if isinstance(record, np.generic):
            # Records may be of several types, of which this one does not hold the value.
            with np.errstate(over="raise", invalid="raise"), suppress(ArithmeticError, ValueError):
                return record.dtype.type(value)
        return value
    if isinstance(record, dict):
        return {**record, key: value}
    if isinstance(record, tuple | list):
        values = [value if field == key else old for field, old in zip(_fields(record) or (), record, strict=True)]
        # A named tuple takes its fields one by one.
        return type(record)(*values) if hasattr(record, "_fields") else type(record)(values)
    return dataclasses.replace(record, **{key: value})


def text_of_values(values: list[Any]) -> bytes:
    """Return values as text that depends on nothing else; `repr` alone is faster where it does."""
    plain = all(type(value) in _PLAIN for value in values)
    return (repr(values) if plain else stable_repr(values)).encode("utf-8", "surrogatepass")


def flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of any number of axes with two: records and their cells."""
    return array.reshape(len(array), math.prod(array.shape[1:]))


def column_of_array(name: str | None, values: NDArray[Any]) -> DataColumn:
    """Return a column of an array of NumPy, whose type may limit the length of a text."""
    found = column_of(name, pd.Series(values))
    return replace(found, type=values.dtype, nullable=False) if values.dtype.kind == "U" else found


def fresh_labels(known: pd.Index[Any], number: int) -> pd.Index[Any] | None:
    """Return labels that no other row has; None where the type of the index allows none."""
    if known.nlevels == 1 and pd.api.types.is_integer_dtype(known.dtype):
        labels: Any = np.arange(1, number + 1) + int(known.max())
    elif known.nlevels == 1 and pd.api.types.is_string_dtype(known.dtype):
        labels = [f"added {i}" for i in range(number)]
    else:
        return None
    return pd.Index(labels, dtype=known.dtype, name=known.name)


def frame_of(names: Sequence[str | None], values: Sequence[Any]) -> pd.DataFrame:
    """Return a table of these columns; a name may be None."""
    found = pd.DataFrame(dict(enumerate(values)), copy=False)
    found.columns = pd.Index(names, dtype=object)
    return found
