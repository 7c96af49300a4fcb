"""Adapters of the tables of other libraries: polars, pyarrow and xarray, which are loaded when one is given.

Nothing goes through another library's table on its way: a column that is not changed is moved about by its own library,
so that types, nulls, schema, metadata and attributes are those of the dataset that was given.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from dpaudit.neighbours.own_data.adapters import (
    CellValues,
    Index,
    Table,
    column_of_array,
    flat,
    frame_of,
    fresh_labels,
)
from dpaudit.neighbours.own_data.data_columns import DataColumn, Digits, ValueKind, floats_of, unfit

if TYPE_CHECKING:
    import polars
    import pyarrow
    import xarray

_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_FLOATS = {"float16", "float32", "float64"}


@dataclass(frozen=True)
class _Held:
    """The kind of the values of a column: the type of NumPy that holds its numbers, or digits if it has decimals."""

    kind: ValueKind
    type: np.dtype | None = None
    digits: Digits | None = None

    @classmethod
    def of_name(cls, name: str) -> _Held:
        """Return the kind of the type of numbers of a name, as NumPy has it, and of any other."""
        if name in _INTEGERS:
            return cls(ValueKind.INTEGER, np.dtype(name))
        if name in _FLOATS:
            return cls(ValueKind.REAL, np.dtype(name))
        return cls(ValueKind.OTHER)


@dataclass(frozen=True, eq=False)
class ColumnarTable(Table):
    """A table whose columns have one type each, and missing values in any of them; `series` if it is one column."""

    series: bool = field(default=False, kw_only=True)

    @abstractmethod
    def _names(self) -> Sequence[str]: ...

    @abstractmethod
    def _held(self, column: int) -> _Held: ...

    @abstractmethod
    def _listed(self, column: int) -> list[Any]:
        """Return the values of a column as Python has them; a missing one is None."""

    @abstractmethod
    def _numbers(self, column: int) -> np.ndarray | None:
        """Return a column of numbers without missing ones; None if some are missing."""

    @abstractmethod
    def _with_column(self, column: int, values: list[Any]) -> Self:
        """Return the rows with other values in a column, of the same type."""

    @cached_property
    def _columns(self) -> tuple[DataColumn, ...]:
        return tuple(self._column(i, None if self.series else name) for i, name in enumerate(self._names()))

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The fields of a record; for one column, one without a name."""
        return self._columns

    def _column(self, number: int, name: str | None) -> DataColumn:
        held = self._held(number)
        if held.kind not in (ValueKind.REAL, ValueKind.INTEGER):
            return DataColumn(name, held.kind, _objects(self._listed(number)), held.type, nullable=True)
        values = None
        if held.digits is None:
            values = self._numbers(number)
        if values is None:
            values = floats_of(self._listed(number))
        return DataColumn(name, held.kind, values, held.type, digits=held.digits, nullable=True)

    def cells(self) -> pd.DataFrame:
        """Return the columns as objects of Python; a column of numbers without a missing one stays an array."""
        series = []
        for i, column in enumerate(self.columns):
            numbers = None
            if column.numeric and column.digits is None:
                numbers = self._numbers(i)
            if numbers is None:
                series.append(pd.Series(_objects(self._listed(i)), dtype=object))
            else:
                series.append(pd.Series(numbers))
        return frame_of([column.name for column in self.columns], series)

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        for column in sorted({column for _, column in cells}):
            values = rows._listed(column)
            for (row, other), value in cells.items():
                if other == column:
                    values[row] = value.item() if isinstance(value, np.generic) else value
            rows = rows._with_column(column, values)
        return rows


@dataclass(frozen=True, eq=False)
class PolarsTable(ColumnarTable):
    """A table of polars, or one of its columns, held as a table of one; `lazy` if it was given as a query."""

    data: polars.DataFrame
    name: str = ""
    lazy: bool = False

    @property
    def size(self) -> int:
        """The number of records."""
        return self.data.height

    def _names(self) -> Sequence[str]:
        return self.data.columns

    def _held(self, column: int) -> _Held:
        import polars

        kind = self.data.dtypes[column]
        if kind == polars.String:
            return _Held(ValueKind.TEXT)
        if kind == polars.Boolean:
            return _Held(ValueKind.BOOLEAN)
        if isinstance(kind, polars.Decimal):
            return _Held(ValueKind.REAL, digits=(kind.precision or 38, kind.scale))
        return _Held.of_name(str(kind).lower())

    def records(self) -> list[tuple[Any, ...]]:
        """Return the records one by one."""
        return self.data.rows()

    def _listed(self, column: int) -> list[Any]:
        return self.data.to_series(column).to_list()

    def _numbers(self, column: int) -> np.ndarray | None:
        series = self.data.to_series(column)
        if series.null_count():
            return None
        return np.asarray(series.to_numpy())

    def _with_column(self, column: int, values: list[Any]) -> Self:
        import polars

        series = polars.Series(self._names()[column], values, dtype=self.data.dtypes[column])
        return replace(self, data=self.data.with_columns(series))

    def rows(self, index: Index) -> Self:
        """Return a table of these rows."""
        if not len(index):
            return replace(self, data=self.data.clear())
        return replace(self, data=self.data[index])

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        import polars

        return replace(self, data=polars.concat([self.data, rows.data]))

    def _plain_dataset(self) -> polars.DataFrame | polars.Series | polars.LazyFrame:
        # The number of chunks tells how a table was put together.
        rows = self.data.rechunk()
        if self.series:
            return rows.to_series(0).rename(self.name)
        if self.lazy:
            return rows.lazy()
        return rows


@dataclass(frozen=True, eq=False)
class ArrowTable(ColumnarTable):
    """A table of pyarrow, a batch, or an array, held as a table; `form` is the kind that was given."""

    data: pyarrow.Table
    form: str = "Table"

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.data.num_rows)

    def _names(self) -> Sequence[str]:
        names: list[str] = self.data.column_names
        return names

    def _held(self, column: int) -> _Held:
        import pyarrow

        kind = self.data.schema.field(column).type
        if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or str(kind) == "string_view":
            return _Held(ValueKind.TEXT)
        if pyarrow.types.is_boolean(kind):
            return _Held(ValueKind.BOOLEAN)
        if pyarrow.types.is_decimal(kind):
            return _Held(ValueKind.REAL, digits=(kind.precision, kind.scale))
        return _Held.of_name(
            {"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind))
        )

    def _column(self, number: int, name: str | None) -> DataColumn:
        return replace(super()._column(number, name), nullable=self.data.schema.field(number).nullable)

    def records(self) -> list[tuple[Any, ...]]:
        """Return the records one by one."""
        columns = [self._listed(i) for i in range(self.data.num_columns)]
        return list(zip(*columns, strict=True))

    def _listed(self, column: int) -> list[Any]:
        values: list[Any] = self.data.column(column).to_pylist()
        return values

    def _numbers(self, column: int) -> np.ndarray | None:
        values = self.data.column(column)
        if values.null_count:
            return None
        return np.asarray(values.to_numpy())

    def _with_column(self, column: int, values: list[Any]) -> Self:
        import pyarrow

        named = self.data.schema.field(column)
        return replace(self, data=self.data.set_column(column, named, pyarrow.array(values, type=named.type)))

    def rows(self, index: Index) -> Self:
        """Return a table of these rows."""
        import pyarrow

        if not len(index):
            return replace(self, data=self.data.slice(0, 0))
        try:
            return replace(self, data=self.data.take(pyarrow.array(index)))
        # Of types such as string_view, or runs of equal values.
        except pyarrow.ArrowNotImplementedError:
            columns = [_taken(column, index) for column in self.data.columns]
            return replace(self, data=pyarrow.Table.from_arrays(columns, schema=self.data.schema))

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        import pyarrow

        return replace(self, data=pyarrow.concat_tables([self.data, rows.data]))

    def _plain_dataset(self) -> pyarrow.Table | pyarrow.RecordBatch | pyarrow.ChunkedArray | pyarrow.Array:
        import pyarrow

        # The number of chunks tells how a table was put together.
        rows = self.data.combine_chunks()
        if self.form == "Table":
            return rows
        if self.form == "ChunkedArray":
            return rows.column(0)
        parts = [column.chunk(0) if column.num_chunks else _empty(column.type) for column in rows.columns]
        if self.form == "RecordBatch":
            return pyarrow.RecordBatch.from_arrays(parts, schema=rows.schema)
        return parts[0]


def _taken(column: pyarrow.ChunkedArray, index: Index) -> pyarrow.ChunkedArray:
    """Return the rows of a column in a given order, put together of pieces of neighbouring ones."""
    import pyarrow

    rows = np.asarray(index, dtype=np.int64)
    pieces = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
    chunks = [chunk for piece in pieces for chunk in column.slice(int(piece[0]), len(piece)).chunks]
    return pyarrow.chunked_array([pyarrow.concat_arrays(chunks)])


def _empty(kind: pyarrow.DataType) -> pyarrow.Array:
    import pyarrow

    return pyarrow.array([], type=kind)


@dataclass(frozen=True, eq=False)
class XarrayTable(Table):
    """A dataset of xarray, or one array, held as a dataset; the records are numbered along one dimension.

    What lacks this dimension is the same in every dataset made. An index that merely counts records does so in all of
    them; other labels may be part of a record. `array` is whether one array was given.
    """

    data: xarray.Dataset
    dimension: Hashable
    counts: bool
    array: bool = False
    name: Hashable = None

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.data.sizes[self.dimension])

    @cached_property
    def _variables(self) -> tuple[Hashable, ...]:
        """The names of the variables that differ from record to record, those of labels apart."""
        return tuple(
            name
            for name, held in self.data.variables.items()
            if self.dimension in held.dims and name not in self.data.xindexes
        )

    def _cells_of(self, name: Hashable) -> np.ndarray:
        """Return the cells of a variable by record and place, of a shape (n, k)."""
        held = self.data.variables[name]
        return flat(np.moveaxis(np.asarray(held.values), held.dims.index(self.dimension), 0))

    @cached_property
    def _places(self) -> tuple[tuple[Hashable, int], ...]:
        """The variable and the place in it of each column."""
        return tuple((name, i) for name in self._variables for i in range(self._cells_of(name).shape[1]))

    def _title(self, name: Hashable, place: int) -> str | None:
        if self.data.variables[name].ndim > 1:
            if self.array and name == _ARRAY:
                return f"{place}"
            return f"{name}.{place}"
        if self.array and len(self._variables) == 1:
            return None
        return str(name)

    @cached_property
    def _columns(self) -> tuple[DataColumn, ...]:
        held = {name: self._cells_of(name) for name in self._variables}
        return tuple(column_of_array(self._title(name, i), held[name][:, i]) for name, i in self._places)

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The cells of a record."""
        return self._columns

    def cells(self) -> pd.DataFrame:
        """Return the cells of the records."""
        held = {name: self._cells_of(name) for name in self._variables}
        values = [pd.Series(list(held[name][:, i])) for name, i in self._places]
        return frame_of([self._title(name, i) for name, i in self._places], values)

    def records(self) -> list[tuple[Any, ...]]:
        """Return the records one by one."""
        parts = [list(self._cells_of(name)) for name in self._variables]
        return list(zip(*parts, strict=True))

    def rows(self, index: Index) -> Self:
        """Return a table of copies of these rows."""
        return replace(self, data=self.data.isel({self.dimension: index}).copy(deep=True))

    def changed(self, rows: Self, cells: CellValues) -> Self:
        """Return rows with other values in some cells."""
        found = rows.data
        changed: dict[Hashable, np.ndarray] = {}
        for (row, column), value in cells.items():
            name, place = self._places[column]
            held = found.variables[name]
            axis = held.dims.index(self.dimension)
            if name not in changed:
                changed[name] = np.array(held.values)
            # A view: what is written to it stands in the array.
            records = np.moveaxis(changed[name], axis, 0)
            records[(row, *map(int, np.unravel_index(place, records.shape[1:])))] = value
        for name, values in changed.items():
            found = found.assign({name: found.variables[name].copy(data=values)})
        return replace(self, data=found)

    def joined(self, rows: Self) -> Self:
        """Return the records followed by others."""
        import xarray

        others = rows.data
        if not self.counts and self.dimension in self.data.indexes:
            labels = fresh_labels(self.data.indexes[self.dimension], len(others[self.dimension]))
            if labels is not None:
                others = others.assign_coords({self.dimension: others[self.dimension].copy(data=labels)})
        joined = xarray.concat(
            [self.data, others],
            dim=self.dimension,
            data_vars="minimal",
            coords="minimal",
            compat="override",
            join="override",
            combine_attrs="override",
        )
        return replace(self, data=joined)

    def _plain_dataset(self) -> xarray.Dataset | xarray.DataArray:
        rows = self.data
        if self.counts and self.dimension in rows.indexes:
            held = rows.variables[self.dimension]
            labels = np.arange(rows.sizes[self.dimension]).astype(held.dtype)
            rows = rows.assign_coords({self.dimension: (self.dimension, labels, held.attrs)})
        if self.array:
            return rows[_ARRAY].rename(self.name)
        return rows


# The name that the values of one array have in the dataset that holds them.
_ARRAY = "the values of the array"


def polars_table(data: polars.DataFrame | polars.LazyFrame | polars.Series, kind: str) -> Table:
    """Return a frame, a query or a column of polars as a table."""
    import polars

    if isinstance(data, polars.Series):
        return PolarsTable(data.rename("0").to_frame(), series=True, name=data.name)
    if isinstance(data, polars.LazyFrame):
        found = PolarsTable(data.collect(), lazy=True)
    else:
        found = PolarsTable(data)
    if not found.data.width:
        raise unfit("{data} must hold at least one column, got a table of none")
    return found


def arrow_table(data: pyarrow.Table | pyarrow.RecordBatch | pyarrow.ChunkedArray | pyarrow.Array, kind: str) -> Table:
    """Return a table, a batch or an array of pyarrow as a table."""
    import pyarrow

    if kind == "Table":
        table = data
    elif kind == "RecordBatch":
        table = pyarrow.Table.from_batches([data])
    else:
        table = pyarrow.table({"0": data})
    if not table.num_columns:
        raise unfit("{data} must hold at least one column, got a table of none")
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise unfit("{data} must have columns of different names; {twice} stands twice", twice=repr(twice))
    return ArrowTable(table, form=kind, series=kind in ("Array", "ChunkedArray"))


def xarray_table(data: xarray.Dataset | xarray.DataArray, kind: str) -> Table:
    """Return a dataset or an array of xarray as a table: the first dimension that all variables share has the records.

    If they share none, it is the first dimension of the first variable.
    """
    import xarray

    name = None
    if isinstance(data, xarray.DataArray):
        name = data.name
        held = data.to_dataset(name=_ARRAY, promote_attrs=False)
    else:
        held = data
    variables = list(held.data_vars.values())
    if not variables or not variables[0].ndim:
        raise unfit("{data} must hold variables with a dimension that numbers the records, got none")
    first = variables[0].dims
    dimension = next((one for one in first if all(one in other.dims for other in variables)), first[0])
    index = held.indexes.get(dimension)
    counts = index is None or (index.nlevels == 1 and np.array_equal(index.to_numpy(), np.arange(len(index))))
    array = isinstance(data, xarray.DataArray)
    return XarrayTable(held, dimension, counts, array, name)


def _objects(values: Sequence[Any]) -> np.ndarray:
    """Return values as an array of one axis, also if they are lists."""
    found = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        found[i] = value
    return found


# The function that makes a table of an object, by the library and the name of its class or of a base of it.
LIBRARIES: Mapping[tuple[str, str], Callable[[Any, str], Table]] = {
    ("polars", "DataFrame"): polars_table,
    ("polars", "LazyFrame"): polars_table,
    ("polars", "Series"): polars_table,
    ("pyarrow", "Table"): arrow_table,
    ("pyarrow", "RecordBatch"): arrow_table,
    ("pyarrow", "ChunkedArray"): arrow_table,
    ("pyarrow", "Array"): arrow_table,
    ("xarray", "Dataset"): xarray_table,
    ("xarray", "DataArray"): xarray_table,
}


def library_of(kind: type) -> tuple[str, str] | None:
    """Return the library and the class by which objects of a type are taken as tables; None if there is none."""
    named = ((base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__)
    return next((one for one in named if one in LIBRARIES), None)
