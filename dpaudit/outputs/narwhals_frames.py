"""Frames and columns of libraries that narwhals knows, and of whatever exports an Arrow stream or array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpaudit.errors import InputError
from dpaudit.outputs.arrow import MEMORY, ArrowColumn, hidden, metadata_of_table, of_arrow_array
from dpaudit.outputs.derived import additions
from dpaudit.outputs.metadata import UNSEEN, Dropped, Flat, WithMetadata, converted
from dpaudit.outputs.missing import with_missing
from dpaudit.outputs.types import Parts
from dpaudit.withheld import foreign

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from narwhals.stable.v2 import Series

# Libraries whose own attributes and slots keep the values that are read from the frame.
_KNOWN = frozenset({"polars", "pyarrow", "narwhals", "modin", "cudf", "dask", "duckdb", "ibis", "nanoarrow", "arro3"})
_EXPORTS = frozenset({"__arrow_c_stream__", "__arrow_c_array__", "__dataframe__"})


def refuse_lazy(value: Any) -> NoReturn:
    """Raise `InputError` for a frame that is a plan of a computation."""
    raise InputError(
        f"an output is a {foreign(type(value).__qualname__)}, which shows nothing until it is run: "
        "return what it makes, as frame.collect()"
    )


def of_frame(value: Any) -> WithMetadata:
    """Return the parts of a frame or a column of a library that narwhals knows."""
    import narwhals.stable.v2 as narwhals

    held = narwhals.from_native(value, allow_series=True, pass_through=True)
    if held is value:
        return of_stream(value)
    if isinstance(held, narwhals.LazyFrame):
        refuse_lazy(value)
    if isinstance(held, narwhals.Series):
        return converted({"values": _column(held)}, value, _of_column, _metadata, *_own(type(value)))
    found: Parts = {"rows": len(held)}
    for i, (name, column) in enumerate(zip(held.columns, held.iter_columns(), strict=True)):
        found[f"{i} {name}"] = _column(column)
    return converted(found, value, _of_columns, _metadata, *_own(type(value)))


def _own(kind: type) -> tuple[Dropped, ...]:
    """Return the functions that find what a class of frames adds to what its library keeps there."""
    # A class that nobody knows may keep anything in its slots.
    base: type = object
    if any(one.__module__.partition(".")[0] in _KNOWN for one in kind.__mro__):
        base = next((one for one in kind.__mro__ if vars(one).keys() & _EXPORTS), kind)
    return additions(base)


def _column(column: Series[Any]) -> Flat:
    """Return the values of a column that narwhals has read, an array if NumPy has their type."""
    dtype = column.dtype
    gone = column.null_count() > 0
    # NumPy has no such integers.
    wide = str(dtype) in ("Int128", "UInt128")
    if (dtype.is_numeric() and not dtype.is_decimal() and not wide) or str(dtype) == "Boolean":
        if not gone:
            return np.asarray(column.to_numpy())
        filled = column.fill_null(0 if dtype.is_numeric() else False)
        return {"values": np.asarray(filled.to_numpy()), "missing": np.asarray(column.is_null().to_numpy())}
    elements = np.empty(len(column), dtype=object)
    elements[:] = column.to_list() if len(column) else []
    if wide:
        return with_missing(elements)
    if str(dtype).partition("(")[0] in ("Date", "Datetime", "Duration") and not gone:
        array = np.asarray(column.to_numpy())
        if array.dtype.kind in "mM":
            return array
    return tuple(elements.tolist())


def _native_type(column: Series[Any]) -> str:
    """Return the type of a column in its library's words, which say more than those that all libraries share."""
    held = column.to_native()
    found = getattr(held, "type", None) or getattr(held, "dtype", None)
    return str(column.dtype if found is None or callable(found) else found)


def _of_column(value: Any) -> Parts:
    import narwhals.stable.v2 as narwhals

    column = narwhals.from_native(value, series_only=True)
    return {"name": column.name, "dtype": _native_type(column), **_kept_by_polars([column.to_native()])}


def _kept_by_polars(columns: Sequence[pl.Series]) -> Parts:
    """Return the metadata that polars keeps with columns; those of other libraries have none of it."""
    if not columns or type(columns[0]).__module__.partition(".")[0] != "polars":
        return {}
    found = _sorted_flags(columns)
    # Under missing values polars keeps the former ones, as `when(...).then(None).otherwise(...)` leaves them, and
    # writes them into every file of the frame: a count that is held back in this way is released.
    gaps = [column for column in columns if column.null_count()]
    # Without pyarrow there is no way to them, and some types it lacks.
    try:
        return {**found, **hidden(*(column.to_arrow() for column in gaps))}
    except Exception:
        return {**found, MEMORY: UNSEEN}


def _sorted_flags(columns: Iterable[pl.Series]) -> Parts:
    """Return what polars knows of the order of columns, if it knows something: it says so, and keeps it."""
    held = [column.flags if hasattr(column, "flags") else None for column in columns]
    known = tuple(
        " ".join(name for name, holds in flags.items() if holds and name.startswith("SORTED"))
        for flags in held
        if isinstance(flags, dict)
    )
    return {"known order": known} if any(known) else {}


def _of_columns(value: Any) -> Parts:
    names, types, columns = _described_columns(value)
    # Names in Arrow need not be distinct.
    keys = [name if names.count(name) == 1 else f"{i} {name}" for i, name in enumerate(names)]
    return {"columns": names, "dtypes": dict(zip(keys, types, strict=True)), **_kept_by_polars(columns)}


def _described_columns(value: Any) -> tuple[tuple[str, ...], list[str], list[pl.Series]]:
    """Return the names of a frame's columns, their types in words, and the columns of polars."""
    # The two commonest libraries say types at once; of others narwhals makes each column, which takes long.
    library = type(value).__module__.partition(".")[0]
    if library == "polars":
        return tuple(value.columns), list(map(str, value.dtypes)), value.get_columns()
    if library == "pyarrow":
        return tuple(value.schema.names), list(map(str, value.schema.types)), []
    import narwhals.stable.v2 as narwhals

    frame = narwhals.from_native(value, eager_only=True)
    return tuple(frame.columns), list(map(_native_type, frame.iter_columns())), []


def _metadata(value: Any) -> Parts:
    """Return the metadata of an Arrow schema and of its fields; a frame of polars has a schema without any."""
    schema: pa.Schema | None = getattr(value, "schema", None)
    if not hasattr(schema, "metadata"):
        return {}
    return metadata_of_table(schema, value)


def of_record_batch(value: pa.RecordBatch) -> WithMetadata:
    """Return the parts of a batch of records of pyarrow."""
    import pyarrow

    return of_frame(pyarrow.Table.from_batches([value]))


def of_array(value: ArrowColumn) -> WithMetadata:
    """Return the values of an array of pyarrow, of one or several pieces."""
    import narwhals.stable.v2 as narwhals
    import pyarrow

    whole = value if isinstance(value, pyarrow.ChunkedArray) else pyarrow.chunked_array([value])
    return converted(_column(narwhals.from_native(whole, series_only=True)), value, of_arrow_array)


def of_stream(value: Any) -> WithMetadata:
    """Return the parts of what exports an Arrow stream or array, read by pyarrow or polars."""
    name = foreign(type(value).__qualname__)
    try:
        return converted({"frame": _read_by_pyarrow(value)}, value, *_own(type(value)))
    except ImportError:
        pass
    try:
        import polars
    except ImportError:
        raise InputError(
            f"an output of type {name} exports an Arrow stream, which takes pyarrow or polars to read: install one"
        ) from None
    return converted({"frame": polars.DataFrame(value)}, value, _metadata_of_schema_unseen, *_own(type(value)))


def _read_by_pyarrow(value: Any) -> pa.Table | ArrowColumn:
    """Return a table of pyarrow, or an array if the exporter has no columns."""
    import pyarrow

    stream = hasattr(value, "__arrow_c_stream__")
    try:
        if stream:
            return pyarrow.table(value)
        return _interchanged(value)
    except (TypeError, ValueError, pyarrow.ArrowInvalid):
        if stream:
            return pyarrow.chunked_array(value)
        return pyarrow.array(value)


def _metadata_of_schema_unseen(value: Any) -> Parts:
    return {"metadata of the schema": UNSEEN}


def _interchanged(value: Any) -> pa.Table | pa.Array:
    import pyarrow
    import pyarrow.interchange

    if hasattr(value, "__dataframe__"):
        return pyarrow.interchange.from_dataframe(value)
    return pyarrow.array(value)
