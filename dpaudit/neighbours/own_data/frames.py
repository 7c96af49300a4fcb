"""Datasets that are tables and columns of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.columns import Column, ValueKind, column_of_array, column_of_objects
from dpaudit.neighbours.own_data.tables import Index, NewRow, Table, rows_in, table_of, text_of

__all__ = ["FrameTable"]


@dataclass(frozen=True, eq=False)
class FrameTable(Table):
    """A table or a column of pandas.

    Parameters
    ----------
    frame : DataFrame
        The table; that of a column has just this one.
    series : bool
        Whether it was a column that was given.
    numbered : bool
        Whether the index merely counts rows, as it then does in every dataset that is made.
    name : label, optional
        The name of the column that was given.
    """

    frame: Any
    series: bool
    numbered: bool
    name: Any = None

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.frame)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, of which a sole one that was given as such has no name."""
        return tuple(
            _column(None if self.series else str(label), self.frame.iloc[:, c])
            for c, label in enumerate(self.frame.columns)
        )

    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones."""
        new = self.frame.iloc[rows_in(rows)].copy()
        new.index = _fresh_labels(self.frame.index, new.index)
        for i, row in enumerate(rows):
            for column, value in row.cells.items():
                new.iloc[i, column] = value
        return replace(self, frame=pd.concat([self.frame, new]))

    def take(self, index: Index) -> Any:
        """Return a table or column of these rows."""
        found = self.frame.iloc[index]
        if self.numbered:
            found.index = pd.RangeIndex(len(found), name=found.index.name)
        return found.iloc[:, 0].rename(self.name) if self.series else found

    def content(self) -> Iterator[bytes]:
        """Yield labels, types and values of the index and of every column."""
        labelled = [] if self.numbered else [("index", self.frame.index.to_series())]
        for label, values in [*labelled, *((str(name), self.frame[name]) for name in self.frame.columns)]:
            yield f"{label} {values.dtype}".encode()
            held = values.to_numpy()
            yield text_of(held.tolist()) if held.dtype.hasobject else held.tobytes()


def _column(name: str | None, values: Any) -> Column:
    """Return a column; numbers of pandas' own types, which may be missing, are those of NumPy."""
    kind = values.dtype
    if isinstance(kind, np.dtype):
        return column_of_array(name, values.to_numpy())
    inner = getattr(kind, "numpy_dtype", None)
    if isinstance(inner, np.dtype) and inner.kind in "iuf":
        number = ValueKind.REAL if inner.kind == "f" else ValueKind.INTEGER
        return Column(name, number, values.to_numpy(dtype=float, na_value=np.nan), inner)
    if isinstance(kind, pd.StringDtype | pd.BooleanDtype):
        return column_of_objects(name, [None if pd.isna(value) else value for value in values.tolist()])
    held = np.empty(len(values), dtype=object)
    held[:] = values.tolist()
    return Column(name, ValueKind.OTHER, held)


def _fresh_labels(known: Any, copied: Any) -> Any:
    """Return labels for new rows that no other row has, where the type of the index allows some."""
    if known.nlevels == 1 and pd.api.types.is_integer_dtype(known.dtype):
        return pd.Index(np.arange(1, len(copied) + 1) + int(known.max()), dtype=known.dtype, name=known.name)
    if known.nlevels == 1 and pd.api.types.is_string_dtype(known.dtype):
        return pd.Index([f"added {i}" for i in range(len(copied))], dtype=known.dtype, name=known.name)
    return copied


def _numbered(index: Any) -> bool:
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


@table_of.register(pd.DataFrame)
def _of_frame(data: Any) -> Table:
    """Return the table of a data frame."""
    if not data.columns.is_unique:
        twice = repr(data.columns[data.columns.duplicated()][0])
        told = "{data} must have columns of different names; {twice} stands twice"
        raise InputError(told, names=("data",), twice=twice)
    if not len(data.columns):
        raise InputError("{data} must hold at least one column, got a table of none", names=("data",))
    return FrameTable(data, False, _numbered(data.index))


@table_of.register(pd.Series)
def _of_series(data: Any) -> Table:
    """Return the table of a column."""
    return FrameTable(data.to_frame(name=0), True, _numbered(data.index), data.name)
