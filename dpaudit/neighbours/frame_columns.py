"""Columns of data frames of other libraries, read without loading one: pandas, polars, pyarrow and similar ones."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr


Frame: TypeAlias = "pd.DataFrame | pd.Series | pl.DataFrame | pl.Series | pa.Table | pa.RecordBatch | xr.DataArray"
"""A frame or a column of one of the libraries that are read, or of one with the same interface."""


class Columns(NamedTuple):
    """The columns of a data frame: names, values and dtypes as text; `alone` if it is one column without a name."""

    names: list[Hashable]
    values: list[np.ndarray]
    kinds: list[str]
    size: int
    alone: bool = False

    @property
    def noun(self) -> str:
        """The name of one record: a row, or an element of one column alone."""
        return "element" if self.alone else "row"


def columns_of(frame: Any) -> Columns | None:
    """Return the columns of a data frame, or of a labelled array as one; None if they cannot be read."""
    library = type(frame).__module__.partition(".")[0]
    if library == "narwhals" and hasattr(frame, "to_native"):
        return columns_of(frame.to_native())
    if hasattr(frame, "iloc"):
        if hasattr(frame, "ndim") and frame.ndim == 1:
            return _one(frame.name, _of_pandas(frame), frame.dtype)
        return _of_pandas_frame(frame)
    if library == "polars" and hasattr(frame, "get_columns"):
        return _of_polars_frame(frame)
    if library == "polars" and hasattr(frame, "to_list"):
        return _one(frame.name, _objects(frame.to_list()), frame.dtype)
    if hasattr(frame, "column_names") and hasattr(frame, "num_rows"):
        return _of_arrow_table(frame)
    if hasattr(frame, "to_pylist"):
        return _one(None, _of_arrow(frame), frame.type)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(frame, "__arrow_c_stream__"):
        return columns_of(arrow.table(frame))
    if hasattr(frame, "to_numpy"):
        values = np.asarray(frame.to_numpy())
        return _one(None, values, values.dtype)
    return None


def _one(name: Hashable, values: np.ndarray, kind: Hashable) -> Columns:
    """Return one column that is not in a frame."""
    return Columns([name], [values], [str(kind)], len(values), alone=True)


def _of_pandas_frame(frame: pd.DataFrame) -> Columns:
    held = [frame.iloc[:, i] for i in range(len(frame.columns))]
    values = [_of_pandas(column) for column in held]
    return Columns(list(frame.columns), values, [str(column.dtype) for column in held], len(frame))


def _of_pandas(column: pd.Series) -> np.ndarray:
    if column.dtype.kind in "iufbcmM" and isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(dtype=object), dtype=object)


def _of_polars_frame(frame: pl.DataFrame) -> Columns:
    held = list(frame.get_columns())
    values = [_objects(column.to_list()) for column in held]
    return Columns(list(frame.columns), values, [str(column.dtype) for column in held], len(frame))


def _of_arrow_table(frame: pa.Table | pa.RecordBatch) -> Columns:
    held = [frame.column(i) for i in range(frame.num_columns)]
    values = [_of_arrow(column) for column in held]
    return Columns(list(frame.column_names), values, [str(column.type) for column in held], frame.num_rows)


def _of_arrow(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    if column.null_count == 0:
        # NumPy lacks some types of Arrow.
        with suppress(Exception):
            if hasattr(column, "chunks"):
                found = np.asarray(column.to_numpy())
            else:
                found = np.asarray(column.to_numpy(zero_copy_only=False))
            if found.dtype.kind in "iufb":
                return found
    return _objects(column.to_pylist())


def _objects(values: Sequence[Any]) -> np.ndarray:
    """Return values as an array that holds each as it is."""
    found = np.empty(len(values), dtype=object)
    # One by one: as a whole, values that are lists of one length would be taken for a table.
    for i, value in enumerate(values):
        found[i] = value
    return found
