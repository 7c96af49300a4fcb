"""Adapters, one for each kind of dataset: rows are taken out, new ones added, and put together as they were given.

The cells of all kinds are one table of pandas, which `columns` reads.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.own_data.columns import Column, NewRow, column_of, field_of, keys_of, with_field

__all__ = ["ArrayTable", "FrameTable", "Index", "RecordTable", "SparseTable", "Table", "counts_rows"]

Index = NDArray[np.int64]
"""Numbers of rows, in the order of a dataset; a row may stand in it many times."""
_PLAIN = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """A dataset of one kind, as rows and columns; `rebuilds` then make it one of a type that a user registered."""

    data: Any
    rebuilds: tuple[Callable[[Any], Any], ...] = field(default=(), kw_only=True)

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.data)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The fields of a record that are known; for a record that is a single value, one without a name."""
        cells = self.cells()
        return tuple(column_of(name, cells.iloc[:, i]) for i, name in enumerate(cells.columns))

    @abstractmethod
    def cells(self) -> pd.DataFrame:
        """Return the values of all rows, rows numbered from 0, by the name of the column; None names a sole value."""

    @abstractmethod
    def extended(self, rows: Sequence[NewRow]) -> Self:
        """Return the same records followed by new ones; the types of all values stay as they are."""

    def records(self) -> list[Any]:
        """Return the records one by one, to be compared."""
        return list(self.data)

    @abstractmethod
    def _taken(self, index: Index) -> Any:
        """Return a dataset of the kind that holds these rows, in this order."""

    @abstractmethod
    def _content(self) -> Iterator[bytes]:
        """Yield bytes that determine the dataset."""

    def take(self, index: Index) -> Any:
        """Return a dataset of the kind given that holds these rows, in this order."""
        return self._rebuilt(self._taken(index))

    def _rebuilt(self, found: Any) -> Any:
        for rebuild in self.rebuilds:
            found = rebuild(found)
        return found

    def with_values(self, column: int, values: Mapping[int, Any]) -> Any:
        """Return a dataset of the kind given in which some rows, by number, have other values in a column."""
        index = np.arange(self.size)
        index[list(values)] = self.size + np.arange(len(values))
        new = [NewRow(row, {column: value}) for row, value in values.items()]
        return (self.extended(new) if new else self).take(index)

    def digest(self) -> str:
        """Return the SHA-256 of the kind and the content, in hexadecimal digits."""
        kind = "Registered" if self.rebuilds else type(self).__name__
        found = hashlib.sha256(f"{kind} {self.size}\n".encode())
        for part in self._content():
            found.update(f"{len(part)}\n".encode())
            found.update(part)
        return found.hexdigest()


@dataclass(frozen=True, eq=False)
class ArrayTable(Table):
    """An array of NumPy whose first axis numbers the records, structured or not."""

    def cells(self) -> pd.DataFrame:
        """Return the fields of a structured array, the cells of a row, or the values themselves."""
        names = self.data.dtype.names
        if names:
            return _frame(names, [_flat(self.data[name])[:, 0] for name in names])
        flat = _flat(self.data)
        names = [None] if self.data.ndim == 1 else [str(c) for c in range(flat.shape[1])]
        return pd.DataFrame(flat, columns=pd.Index(names, dtype=object))

    def extended(self, rows: Sequence[NewRow]) -> Self:
        """Return the same records followed by new ones."""
        found = np.concatenate([self.data, self.data[_templates(rows)]])
        names = found.dtype.names
        flat = found if names else _flat(found)
        for i, row in enumerate(rows, len(self.data)):
            for column, value in row.cells.items():
                if names:
                    found[names[column]][i] = value
                else:
                    flat[i, column] = value
        return replace(self, data=found)

    def _taken(self, index: Index) -> Any:
        return self.data[index]

    def _content(self) -> Iterator[bytes]:
        yield f"{self.data.dtype.descr} {self.data.shape}".encode()
        yield _text(self.data.tolist()) if self.data.dtype.hasobject else self.data.tobytes()


@dataclass(frozen=True, eq=False)
class FrameTable(Table):
    """A table of pandas, or one of its columns; an index that merely counts rows does so in every dataset made."""

    series: bool
    numbered: bool
    name: Any = None

    def cells(self) -> pd.DataFrame:
        """Return the columns, of which a sole one that was given as such has no name."""
        found = self.data.copy(deep=False)
        found.index = pd.RangeIndex(len(found))
        found.columns = pd.Index([None if self.series else str(label) for label in found.columns], dtype=object)
        return found

    def extended(self, rows: Sequence[NewRow]) -> Self:
        """Return the same records followed by new ones."""
        new = self.data.iloc[_templates(rows)].copy()
        new.index = _fresh_labels(self.data.index, new.index)
        for i, row in enumerate(rows):
            for column, value in row.cells.items():
                new.iloc[i, column] = value
        return replace(self, data=pd.concat([self.data, new]))

    def with_values(self, column: int, values: Mapping[int, Any]) -> Any:
        """Return a table or column in which some rows have other values, and all rows their labels."""
        changed = self.data.copy()
        for row, value in values.items():
            changed.iloc[row, column] = value
        return replace(self, data=changed).take(np.arange(self.size))

    def _taken(self, index: Index) -> Any:
        found = self.data.iloc[index]
        if self.numbered:
            found.index = pd.RangeIndex(len(found), name=found.index.name)
        return found.iloc[:, 0].rename(self.name) if self.series else found

    def records(self) -> list[Any]:
        """Return the records one by one."""
        return list(self.data.itertuples(index=False, name=None))

    def _content(self) -> Iterator[bytes]:
        labels = [] if self.numbered else [("index", self.data.index.to_series())]
        for label, values in [*labels, *((str(name), self.data[name]) for name in self.data.columns)]:
            yield f"{label} {values.dtype}".encode()
            held = values.to_numpy()
            yield _text(held.tolist()) if held.dtype.hasobject else held.tobytes()


@dataclass(frozen=True, eq=False)
class SparseTable(Table):
    """A sparse matrix of SciPy, held as CSR; `shown` are the numbers of the columns that are examined."""

    format: str
    shown: Index

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.data.shape[0])

    def cells(self) -> pd.DataFrame:
        """Return the columns with most entries."""
        return pd.DataFrame(self.data[:, self.shown].toarray(), columns=pd.Index(map(str, self.shown), dtype=object))

    def extended(self, rows: Sequence[NewRow]) -> Self:
        """Return the same records followed by new ones."""
        new = self.data[_templates(rows)].tolil()
        for i, row in enumerate(rows):
            for column, value in row.cells.items():
                new[i, int(self.shown[column])] = value
        return replace(self, data=sparse.vstack([self.data, new], format="csr", dtype=self.data.dtype))

    def _taken(self, index: Index) -> Any:
        return self.data[index].asformat(self.format)

    def records(self) -> list[Any]:
        """Return the records one by one."""
        return list(self.data.toarray())

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
    def keys(self) -> tuple[Hashable, ...]:
        """The fields of a record, or (None,) where it is one value."""
        return keys_of(self.data)

    def cells(self) -> pd.DataFrame:
        """Return the fields of the records."""
        values = [pd.Series([field_of(record, key) for record in self.data], dtype=object) for key in self.keys]
        return _frame([None if key is None else str(key) for key in self.keys], values)

    def extended(self, rows: Sequence[NewRow]) -> Self:
        """Return the same records followed by new ones."""
        made = []
        for row in rows:
            record = self.data[row.template]
            for column, value in row.cells.items():
                record = with_field(record, self.keys[column], value)
            made.append(record)
        return replace(self, data=[*self.data, *made])

    def _taken(self, index: Index) -> Any:
        return self.kind([self.data[row] for row in index.tolist()])

    def _content(self) -> Iterator[bytes]:
        yield _text(self.data)


def _templates(rows: Sequence[NewRow]) -> Index:
    return np.array([row.template for row in rows], dtype=np.int64)


def _text(values: list[Any]) -> bytes:
    """Return values as text that depends on nothing else; `repr` alone is faster where it does."""
    plain = all(type(value) in _PLAIN for value in values)
    return (repr(values) if plain else stable_repr(values)).encode("utf-8", "surrogatepass")


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of a contiguous array with one row a record."""
    return array.reshape(len(array), math.prod(array.shape[1:]))


def _frame(names: Sequence[str | None], values: Sequence[Any]) -> pd.DataFrame:
    found = pd.DataFrame(dict(enumerate(values)), copy=False)
    found.columns = pd.Index(names, dtype=object)
    return found


def counts_rows(index: Any) -> bool:
    """Return whether an index of pandas merely counts rows."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def _fresh_labels(known: Any, copied: Any) -> Any:
    """Return labels for new rows that no other row has, where the type of the index allows some."""
    if known.nlevels == 1 and pd.api.types.is_integer_dtype(known.dtype):
        return pd.Index(np.arange(1, len(copied) + 1) + int(known.max()), dtype=known.dtype, name=known.name)
    if known.nlevels == 1 and pd.api.types.is_string_dtype(known.dtype):
        return pd.Index([f"added {i}" for i in range(len(copied))], dtype=known.dtype, name=known.name)
    return copied
