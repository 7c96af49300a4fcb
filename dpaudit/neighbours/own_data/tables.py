"""Datasets as tables: which adapter each kind has, datasets of several parts, and kinds that users register."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.adapters import (
    ArrayTable,
    CellValues,
    FrameTable,
    Index,
    Rebuild,
    RecordTable,
    SparseTable,
    Table,
    counts_rows,
)
from dpaudit.neighbours.own_data.data_columns import DataColumn, unfit
from dpaudit.neighbours.own_data.frames import LIBRARIES, library_of

_NO_ROWS = np.zeros(0, dtype=np.int64)
# The columns of a sparse matrix in which new records differ: those that most records have an entry in.
SPARSE_COLUMNS = 8
ALLOWED = (
    "a list or tuple of records, an array, a table of pandas, polars or pyarrow, a dataset of xarray, a dictionary of "
    "columns, a tuple of arrays of one length, or a sparse matrix"
)


@dataclass(frozen=True, eq=False)
class PartsTable(Table):
    """Datasets of one length by name, whose rows of one number are one record; `kind` is `dict` or `tuple`."""

    data: Mapping[Hashable, Table]
    kind: type

    @property
    def size(self) -> int:
        """The number of records."""
        return next(iter(self.data.values())).size

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The columns of all parts, with their names."""
        return tuple(
            replace(column, name=_joined_name(name, column.name))
            for name, part in self.data.items()
            for column in part.columns
        )

    def cells(self) -> pd.DataFrame:
        """Return the columns of all parts; that of a part with just one has the part's name."""
        parts = {name: part.cells() for name, part in self.data.items()}
        names = [_joined_name(part, name) for part, held in parts.items() for name in held]
        return pd.concat(list(parts.values()), axis=1).set_axis(pd.Index(names, dtype=object), axis=1)

    def records(self) -> list[tuple[Any, ...]]:
        """Return the records one by one."""
        return list(zip(*(part.records() for part in self.data.values()), strict=True))

    def rows(self, index: Index) -> Self:
        """Return a table of copies of these rows."""
        return replace(self, data={name: part.rows(index) for name, part in self.data.items()})

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        found = {}
        start = 0
        for name, part in self.data.items():
            stop = start + len(part.columns)
            own = {(row, column - start): value for (row, column), value in cells.items() if start <= column < stop}
            found[name] = part.changed(rows.data[name], own)
            start = stop
        return replace(self, data=found)

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        return replace(self, data={name: part.joined(rows.data[name]) for name, part in self.data.items()})

    def _plain_dataset(self) -> Mapping[Hashable, Any] | tuple[Any, ...]:
        found = {name: part.dataset() for name, part in self.data.items()}
        if self.kind is tuple:
            return tuple(found.values())
        return found


def _joined_name(part: Hashable, column: str | None) -> str:
    """Return the name of a column of a part; the part's own if it has no other column."""
    return str(part) if column is None else f"{part}.{column}"


@singledispatch
def table_of(data: Any) -> Table:
    """Return a dataset as a table, without a look at its records.

    `InputError` is raised if it is of a kind that is not known, or its parts are not of one length.
    """
    library = library_of(type(data))
    if library is not None:
        table = LIBRARIES[library](data, library[1])
        made = type(table.take(_NO_ROWS))
        # Arrays of pyarrow have a class for each type.
        if made is type(data) or library[1] == "Array":
            return table
        return _of_subclass(table, data, made)
    text = "{data} must be {allowed_}, got a {kind}"
    if isinstance(data, str | bytes):
        text += "; it is one value and no dataset: pass a list of records, or what read_dataset(path) returns"
    elif isinstance(data, Iterator):
        text += "; it would be used up by one run: pass list(data)"
    elif data is None or isinstance(data, int | float | complex | np.generic):
        text += "; it is one value and no dataset: pass a list of records"
    else:
        text += "; to use it, say how its records become one of these and back: "
        text += "dpaudit.register_dataset({kind}, lambda data: ..., lambda records: {kind}(...))"
    raise unfit(text, allowed=ALLOWED, allowed_=ALLOWED, kind=type(data).__qualname__)


def _of_subclass(table: Table, data: Any, plain: type) -> Table:
    """Return a table whose datasets are of the class of `data`, a subclass of a plain one that its own rows are of.

    `InputError` is raised if the class cannot be made of such rows.
    """
    kind = type(data)
    try:
        same = type(kind(table.take(_NO_ROWS))) is kind
    # The constructor is third-party code, and may raise anything.
    except Exception:
        same = False
    if not same:
        text = "{data} must be a plain {plain}, got a {kind}, whose rows are none any more: pass the plain one, or say "
        text += "how it is put together again: dpaudit.register_dataset({kind}, lambda data: ..., lambda records: "
        raise unfit(text + "{kind}(...))", plain=plain.__name__, kind=kind.__qualname__)
    return replace(table, rebuilds=(*table.rebuilds, kind))


@table_of.register(np.ndarray)
def _of_array(data: np.ndarray) -> Table:
    if type(data) not in (np.ndarray, np.recarray):
        text = "{data} must be a plain array, got a {kind}: pass np.asarray(data), or say how it is put together "
        text += "again: dpaudit.register_dataset({kind}, np.asarray, lambda records: ...)"
        raise unfit(text, kind=type(data).__qualname__)
    if data.ndim == 0:
        raise unfit("{data} must be an array of records, got one value: an array of no axes")
    return ArrayTable(data)


@table_of.register(pd.DataFrame)
def _of_frame(data: pd.DataFrame) -> Table:
    if not data.columns.is_unique:
        twice = repr(data.columns[data.columns.duplicated()][0])
        raise unfit("{data} must have columns of different names; {twice} stands twice", twice=twice)
    if not len(data.columns):
        raise unfit("{data} must hold at least one column, got a table of none")
    table = FrameTable(data, False, counts=counts_rows(data.index))
    plain = type(data.iloc[:0])
    if plain is type(data):
        return table
    return _of_subclass(table, data, plain)


@table_of.register(pd.Series)
def _of_series(data: pd.Series) -> Table:
    return FrameTable(data.to_frame(name=0), True, data.name, counts=counts_rows(data.index))


# A dok_array is a dictionary too, which comes first among its bases.
@table_of.register(sparse.dok_array)
@table_of.register(sparse.sparray)
@table_of.register(sparse.spmatrix)
def _of_sparse(data: sparse.sparray | sparse.spmatrix) -> Table:
    if data.ndim != 2:
        raise unfit("{data} must be a sparse matrix of two axes, records and columns")
    matrix = data.tocsr()
    entries = np.asarray(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    shown = np.sort(np.argsort(-entries, kind="stable")[:SPARSE_COLUMNS]).astype(np.int64)
    return SparseTable(matrix, data.format, shown)


@table_of.register(list)
@table_of.register(tuple)
def _of_records(data: Sequence[Any]) -> Table:
    """Return the table of a list or tuple; a tuple of arrays of one length holds the parts of records."""
    if isinstance(data, list):
        return _as_given(RecordTable(list(data), list), data, list)
    if data and all(map(_is_part, data)):
        return _as_given(_of_parts({str(i): part for i, part in enumerate(data)}, tuple), data, tuple)
    return _as_given(RecordTable(list(data), tuple), data, tuple)


def _as_given(table: Table, data: Any, plain: type) -> Table:
    """Return a table whose datasets have the class of `data`, which is derived from a plain one.

    They are plain where that class is not made of its elements alone.
    """
    kind = type(data)
    if kind is plain:
        return table
    make: Rebuild = kind
    # A named tuple takes its fields one by one.
    if hasattr(kind, "_make"):
        make = kind._make
    try:
        for one in (plain(data), table.take(_NO_ROWS)):
            made = make(one)
            if type(made) is not kind or plain(made) != one:
                return table
    # The constructor is third-party code, and may raise anything.
    except Exception:
        return table
    return replace(table, rebuilds=(*table.rebuilds, make))


@table_of.register(dict)
def _of_dictionary(data: dict[Hashable, Any]) -> Table:
    return _as_given(_of_parts(data, dict), data, dict)


def _of_parts(parts: Mapping[Hashable, Any], kind: type) -> Table:
    if not parts:
        raise unfit("{data} must hold at least one column, got an empty dictionary")
    for name, part in parts.items():
        if not isinstance(part, list | tuple) and not _is_part(part):
            text = "{data} must be a dictionary of columns: {name} has a value of type {kind}; pass a list or an array "
            raise unfit(text + "of one value a record", name=repr(name), kind=type(part).__qualname__)
    tables = {name: table_of(part) for name, part in parts.items()}
    if len({table.size for table in tables.values()}) > 1:
        sizes = ", ".join(f"{str(name)!r} has {table.size}" for name, table in tables.items())
        raise unfit("{data} must hold columns of one length: {sizes:.300}", sizes=sizes)
    return PartsTable(tables, kind)


def _is_part(value: Any) -> bool:
    """Return whether a value is an array or a table of a library: what tuples of parts consist of."""
    if isinstance(value, pd.DataFrame | pd.Series) or library_of(type(value)) is not None:
        return True
    return bool((isinstance(value, np.ndarray) or sparse.issparse(value)) and value.ndim > 0)


def register_dataset(kind: type, records: Rebuild, rebuild: Rebuild) -> None:
    """Say how datasets of a type become records and back, so that neighbours of them can be made.

    Parameters
    ----------
    kind : type
        The type; its subclasses are taken in the same way.
    records : callable
        Maps a dataset to one of a kind that is known: a list of records, an array, a table of pandas.
    rebuild : callable
        Maps such records, of any number and order, to a dataset of the type. With several jobs it travels to the
        workers, so it must pickle.

    Raises
    ------
    InputError
        If `kind` is no class, or a function cannot be called.

    Examples
    --------
    >>> class Ages:
    ...     def __init__(self, years):
    ...         self.years = years
    >>> register_dataset(Ages, lambda ages: ages.years, Ages)
    >>> table_of(Ages([31, 47])).size
    2
    """
    if not isinstance(kind, type) or kind is object:
        raise InputError.of("kind", kind, "a class of datasets")
    for name, function in (("records", records), ("rebuild", rebuild)):
        if not callable(function):
            raise InputError.of(name, function, "a callable that takes a dataset")

    @table_of.register(kind)
    def _of_registered(data: Any) -> Table:
        table = table_of(records(data))
        return replace(table, rebuilds=(*table.rebuilds, rebuild))
