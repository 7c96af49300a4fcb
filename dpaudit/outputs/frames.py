"""Data frames and labelled arrays: their values a column at a time, and beside these names, types and metadata.

Columns stay apart, so that integers keep all their digits and what is missing stays distinct from NaN. pandas and
xarray are read as they are, for they have an index, attributes or coordinates; frames of other libraries through
`narwhals`, and whatever exports an Arrow stream through the library that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.outputs.attributes import added_attributes
from dpaudit.outputs.beside import KINDS, UNSEEN, converted, named, printed
from dpaudit.withheld import foreign

Reader = Callable[[Any], Any]


@lru_cache(maxsize=KINDS)
def reader_of(kind: type) -> Reader | None:
    """Return the function that takes frames and labelled arrays of a class apart; None for other classes.

    A class derived from one of a library is read as that, and with what it adds.
    """
    for base in kind.__mro__:
        library = base.__module__.partition(".")[0]
        read = _LIBRARIES.get(library, {}).get(base.__name__)
        if read is None and library == "pandas" and _shows_all(base):
            read = _pandas
        if read is not None:
            return read if kind is base else partial(_of_derived, base, read)
    if hasattr(kind, "to_native") and kind.__module__.partition(".")[0] == "narwhals":
        return lambda value: value.to_native()
    if issubclass(kind, Iterator):  # a stream that can be read once shows nothing until it is
        return None
    if hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "__dataframe__"):
        return _frame
    return _arrow_stream if hasattr(kind, "__arrow_c_array__") else None


def _shows_all(kind: type) -> bool:
    """Say whether a class of pandas holds values, or is a scalar, which shows all of itself where it is printed.

    A way to show or to group a frame, as a Styler, a window or a list of groups, is an object like any other.
    """
    values = any(hasattr(kind, name) for name in ("columns", "iloc", "to_numpy")) and hasattr(kind, "__len__")
    return values or kind.__module__.startswith("pandas._libs")


def _of_derived(base: type, read: Reader, value: Any) -> Any:
    """Return what a reader makes of an object, and what classes between its own and a class of a library add."""
    return converted(read(value), value, partial(_added, base), partial(_printed, base))


def _added(base: type, value: Any) -> dict[str, Any]:
    """Return the attributes that are not those by which a library keeps what was read."""
    kept = {name for library in _KEPT.values() for name in library}
    return {name: part for name, part in added_attributes(value, base).items() if name not in kept}


def _printed(base: type, value: Any) -> dict[str, Any]:
    """Return what a derived class prints in its own way."""
    kind = type(value)
    own = any(getattr(kind, name) is not getattr(base, name) for name in ("__repr__", "__str__"))
    return printed(value, _added(base, value)) if own else {}


_KEPT = {
    "pandas": ("_mgr", "_attrs", "_flags", "_name", "_item_cache", "_is_copy", "_cacher", "_cache", "_typ", "_data"),
    "polars": ("_df", "_s", "_ldf"),
    "xarray": ("_cache", "_close", "_coords", "_indexes", "_name", "_variable", "_variables", "_attrs", "_encoding",
               "_coord_names", "_dims", "_data"),
    "awkward": ("_cpp_type", "_layout", "_behavior", "_attrs", "_numbaview", "_generator", "_lookup", "_array", "_at"),
}  # fmt: skip
"""Attributes by which libraries keep what is read in another way, and what they remember."""


def _pandas(value: Any) -> Any:
    """Return the parts of a Series, DataFrame, Index, Categorical or scalar of pandas.

    The type is asked, as a table looks an attribute that it lacks up among its labels.
    """
    kind = type(value)
    if hasattr(kind, "columns"):
        columns = columns_of(value)
        found = {"rows": len(value)} | {f"{i} {name}": _values(column) for i, (name, column) in enumerate(columns)}
        return converted(found, value, _of_frame, _of_table)
    if hasattr(kind, "iloc"):
        return converted({"values": _values(value)}, value, _of_series, _of_table)
    if hasattr(kind, "codes") and hasattr(kind, "categories"):
        return _categories(value)
    if hasattr(kind, "to_numpy") and hasattr(kind, "__len__"):
        return _index(value) if hasattr(kind, "names") else converted(_values(value), value, _dtype, _of_array)
    return repr(value)


def columns_of(frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns of a frame of pandas with their names, as arrays where pandas gives them.

    To make a Series of each takes twenty times as long, and frames of many columns are outputs too.
    """
    array_of = getattr(frame, "_get_column_array", None)
    if array_of is None or type(frame).__module__.partition(".")[0] != "pandas":
        return list(frame.items())
    return [(name, array_of(i)) for i, name in enumerate(frame.columns)]


def _of_table(value: Any) -> dict[str, Any]:
    """Return what a Series or a DataFrame has beside its values: `attrs`, flags, what its index and class add."""
    found: dict[str, Any] = {}
    if value.attrs:
        found["attrs"] = dict(value.attrs)
    if not value.flags.allows_duplicate_labels:
        found["flags"] = "no duplicate labels"
    held = {name: part for name, part in vars(value).items() if name not in _KEPT["pandas"]}
    held |= {name: getattr(value, name, None) for name in type(value)._metadata if name not in _KEPT["pandas"]}
    return {"index": _index(value.index), **found, **held, **_of_index(value.index)}


def _of_frame(value: Any) -> dict[str, Any]:
    labels = value.columns
    return {
        "columns": tuple(labels),
        "name of the columns": tuple(labels.names),
        "dtype of the columns": _dtype_words(labels.dtype),
        "dtypes": {name: _dtype_words(dtype) for name, dtype in value.dtypes.items()},
    }


def _of_series(value: Any) -> dict[str, Any]:
    return {"name": value.name, "dtype": _dtype_words(value.dtype)}


def _of_index(index: Any) -> dict[str, Any]:
    """Return the type of an index, and the frequency of one of times."""
    found: dict[str, Any] = {}
    if type(index).__name__ == "RangeIndex":
        found["class of the index"] = "RangeIndex"
    if index.nlevels > 1:
        found["dtypes of the index"] = tuple(_dtype_words(dtype) for dtype in index.dtypes)
        unused = tuple(
            tuple(np.asarray(level, dtype=object)[np.setdiff1d(np.arange(len(level)), codes)])
            for level, codes in zip(index.levels, index.codes, strict=True)
        )
        if any(unused):  # what rows that were removed had, or a label that no row has
            found["unused labels of the index"] = unused
    else:
        found["dtype of the index"] = _dtype_words(index.dtype)
    if getattr(index, "freq", None) is not None:
        found["frequency of the index"] = str(index.freqstr)
    return found


def _dtype(value: Any) -> dict[str, Any]:
    return {"dtype": _dtype_words(value.dtype)}


def _dtype_words(dtype: Any) -> str:
    """Return a type of pandas in words; the categories of one are read with the values."""
    if dtype.name == "category":
        return "category"
    storage = getattr(dtype, "storage", None)
    return str(dtype) if storage in (None, usual_storage()) else f"{dtype}[{storage}]"


@lru_cache(maxsize=1)
def usual_storage() -> str:
    """Return how pandas keeps texts unless it is told otherwise."""
    import pandas as pd

    return str(pd.StringDtype().storage)


def _of_array(value: Any) -> dict[str, Any]:
    return named(value, ("crs", "freq", "tz", "unit", "closed"))


def _index(value: Any) -> Any:
    return {"names": tuple(value.names), "values": _values(value)}


def _categories(value: Any) -> Any:
    found = {"categories": tuple(value.categories), "ordered": bool(value.ordered), "codes": np.asarray(value.codes)}
    return converted(found, value, lambda held: {"dtype of the categories": str(held.categories.dtype)})


def _values(values: Any) -> Any:
    """Return the values of a column or index of pandas.

    Numbers and times are an array, all else a tuple; numbers of a type that knows what is missing have that apart.
    """
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        array = values if isinstance(values, np.ndarray) else values.to_numpy()
    elif dtype.name == "category":
        return _categories(values.cat if hasattr(type(values), "cat") else values)
    elif getattr(dtype, "_is_numeric", False) or getattr(dtype, "_is_boolean", False):
        found = _with_missing(values.to_numpy(dtype=object))
        return converted(found, values, _under_the_missing) if isinstance(found, dict) else found
    else:
        array = np.asarray(values)
        if dtype.name == "geometry":
            return converted(tuple(array.tolist()), values, lambda held: {"crs": _words(held.crs)})
    return array if array.dtype.kind in "iufbcmM" else tuple(array.tolist())


def _under_the_missing(values: Any) -> dict[str, Any]:
    """Return what a column of pandas keeps where values are missing: `mask` and `where` leave the values there."""
    array = getattr(values, "array", values)
    data, mask = getattr(array, "_data", None), getattr(array, "_mask", None)
    if not isinstance(data, np.ndarray) or not isinstance(mask, np.ndarray):  # of Arrow
        return _hidden(getattr(array, "__arrow_array__", tuple)())
    hidden = data[mask]
    if len(hidden) and (hidden == hidden[0]).all():  # what pandas itself puts there
        return {"under what is missing": hidden[:1].item()}
    return {"under what is missing": np.where(mask, data, np.zeros((), data.dtype))}


def _with_missing(elements: Any) -> Any:
    """Return numbers, of which some may be missing: as an array, and beside it where they are missing if any is."""
    missing = np.fromiter(map(_is_missing, elements), np.bool_, len(elements))
    known = elements[~missing].tolist()
    filled = elements.tolist()
    if missing.any():
        nothing = type(known[0])() if known else 0.0
        filled = [nothing if gone else element for element, gone in zip(filled, missing.tolist(), strict=True)]
    array = np.array(filled) if filled else np.zeros(0)
    # NumPy makes floats of integers that no type of its own holds together.
    exact = array.dtype.kind in "iub" or (
        array.dtype.kind == "f" and isinstance(filled[:1][0] if filled else 0.0, float)
    )
    numbers = array if exact else tuple(filled)
    return {"values": numbers, "missing": missing} if missing.any() else numbers


def _is_missing(element: Any) -> bool:
    return element is None or type(element).__name__ == "NAType"


def _words(value: Any) -> str | None:
    return None if value is None else str(value)


def _lazy_frame(value: Any) -> Any:
    raise InputError(
        f"an output is a {foreign(type(value).__qualname__)}, which shows nothing until it is run: "
        "return what it makes, as frame.collect()"
    )


def _frame(value: Any) -> Any:
    """Return the parts of a frame or a column of a library that narwhals knows."""
    import narwhals.stable.v2 as narwhals

    held = narwhals.from_native(value, allow_series=True, pass_through=True)
    if held is value:
        return _arrow_stream(value)
    if isinstance(held, narwhals.LazyFrame):
        return _lazy_frame(value)
    if isinstance(held, narwhals.Series):
        return converted({"values": _column(held)}, value, _of_column, _metadata, *_own(value))
    columns = zip(held.columns, held.iter_columns(), strict=True)
    found = {"rows": len(held)} | {f"{i} {name}": _column(column) for i, (name, column) in enumerate(columns)}
    return converted(found, value, _of_columns, _metadata, *_own(value))


def _own(value: Any) -> tuple[Reader, ...]:
    """Return the functions that find what a frame has beside what its library keeps there.

    A class that nobody knows may keep anything in its slots.
    """
    kind = type(value)
    exports = {"__arrow_c_stream__", "__arrow_c_array__", "__dataframe__"}
    base: type = object
    if any(one.__module__.partition(".")[0] in _KNOWN for one in kind.__mro__):
        base = next((one for one in kind.__mro__ if vars(one).keys() & exports), kind)
    return partial(_added, base), partial(_printed, base)


_KNOWN = frozenset({"polars", "pyarrow", "narwhals", "modin", "cudf", "dask", "duckdb", "ibis", "nanoarrow", "arro3"})
"""Libraries whose own attributes and slots keep the values that are read from the frame."""


def _column(column: Any) -> Any:
    """Return the values of a column that narwhals has read, an array where NumPy has their type."""
    dtype = column.dtype
    gone = column.null_count() > 0
    wide = str(dtype) in ("Int128", "UInt128")  # NumPy has no such integers
    if (dtype.is_numeric() and not dtype.is_decimal() and not wide) or str(dtype) == "Boolean":
        array = np.asarray(
            column.fill_null(0 if dtype.is_numeric() else False).to_numpy() if gone else column.to_numpy()
        )
        return {"values": array, "missing": np.asarray(column.is_null().to_numpy())} if gone else array
    elements = np.empty(len(column), dtype=object)
    elements[:] = column.to_list() if len(column) else []
    if wide:
        return _with_missing(elements)
    if str(dtype).partition("(")[0] in ("Date", "Datetime", "Duration") and not gone:
        array = np.asarray(column.to_numpy())
        return array if array.dtype.kind in "mM" else tuple(elements.tolist())
    return tuple(elements.tolist())


def _native_type(column: Any) -> str:
    """Return the type of a column in its library's words, which say more than those all libraries share."""
    held = column.to_native()
    found = getattr(held, "type", None) or getattr(held, "dtype", None)
    return str(column.dtype if found is None or callable(found) else found)


def _of_column(value: Any) -> dict[str, Any]:
    import narwhals.stable.v2 as narwhals

    column = narwhals.from_native(value, series_only=True)
    return {"name": column.name, "dtype": _native_type(column), **_kept_by_polars([column.to_native()])}


def _kept_by_polars(columns: list[Any]) -> dict[str, Any]:
    """Return what polars keeps beside the values of columns; nothing of another library's.

    Where values are missing it keeps those that were there, as `when(...).then(None).otherwise(...)` leaves them.
    """
    if not columns or type(columns[0]).__module__.partition(".")[0] != "polars":
        return {}
    found = _sorted_flags(columns)
    gaps = [column for column in columns if column.null_count()]
    try:
        return {**found, **_hidden(*(column.to_arrow() for column in gaps))}
    except Exception:  # without pyarrow, and of types that it lacks
        return {**found, MEMORY: UNSEEN}


def _sorted_flags(columns: Iterable[Any]) -> dict[str, Any]:
    """Return what polars knows of the order of columns, where it knows something: it says so, and keeps it."""
    held = [getattr(column, "flags", None) for column in columns]
    known = tuple(
        " ".join(name for name, holds in flags.items() if holds and name.startswith("SORTED"))
        for flags in held
        if isinstance(flags, dict)
    )
    return {"known order": known} if any(known) else {}


def _of_columns(value: Any) -> dict[str, Any]:
    names, types, columns = _described_columns(value)
    # Names in Arrow need not be distinct.
    keys = [name if names.count(name) == 1 else f"{i} {name}" for i, name in enumerate(names)]
    return {"columns": names, "dtypes": dict(zip(keys, types, strict=True)), **_kept_by_polars(columns)}


def _described_columns(value: Any) -> tuple[tuple[str, ...], list[str], list[Any]]:
    """Return the names of a frame's columns, their types in words, and the columns of polars.

    The two commonest libraries say them at once; of others narwhals makes each column.
    """
    library = type(value).__module__.partition(".")[0]
    if library == "polars":
        return tuple(value.columns), list(map(str, value.dtypes)), value.get_columns()
    if library == "pyarrow":
        return tuple(value.schema.names), list(map(str, value.schema.types)), []
    import narwhals.stable.v2 as narwhals

    frame = narwhals.from_native(value, eager_only=True)
    return tuple(frame.columns), list(map(_native_type, frame.iter_columns())), []


def _metadata(value: Any) -> dict[str, Any]:
    """Return the metadata of an Arrow schema and of its fields; nothing of a frame that has no such schema."""
    schema: Any = getattr(value, "schema", None)
    if not hasattr(schema, "metadata"):
        return {}
    fields = [schema.field(i) for i in range(len(schema))]
    found: dict[str, Any] = {"nullable": tuple(one.nullable for one in fields)}
    if schema.metadata:
        found["metadata"] = dict(schema.metadata)
    described = {f"{i} {one.name}": dict(one.metadata) for i, one in enumerate(fields) if one.metadata}
    if described:
        found["metadata of columns"] = described
    inside = [_metadata_inside(one.type) for one in fields]
    if any(inside):
        found["metadata inside of columns"] = inside
    columns = [value.column(i) for i in range(len(fields))] if hasattr(value, "column") else []
    labels = [list(_dictionaries(column)) for column in columns]
    if any(labels):
        found["dictionaries"] = labels
    return {**found, **_pieces(*columns), **_hidden(*columns)}


def _pieces(*columns: Any) -> dict[str, Any]:
    """Return into how many values each column of Arrow is cut, where some are."""
    sizes = tuple(tuple(map(len, getattr(column, "chunks", (column,)))) for column in columns)
    return {"pieces": sizes} if any(len(one) > 1 for one in sizes) else {}


MEMORY = "what the memory holds beside the rows"
"""The name of a part of a frame."""


def _hidden(*columns: Any) -> dict[str, Any]:
    """Return that the memory of columns of Arrow, which is written with them, holds values that no row shows."""
    pieces = (piece for column in columns for piece in getattr(column, "chunks", (column,)))
    return {MEMORY: UNSEEN} if any(map(_holds_more, pieces)) else {}


def _bytes_of_values(kind: Any) -> int:
    """Return how many bytes a value of an Arrow type takes; 0 where that differs, or where it is less than one."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


def _holds_more(piece: Any) -> bool:
    """Say whether an array of Arrow is cut out of a longer one, or has something in the place of a missing value."""
    buffers = piece.buffers()
    if piece.offset or len(buffers) < 2 or buffers[1] is None:
        return bool(piece.offset)
    gone = piece.is_null().to_numpy(zero_copy_only=False) if piece.null_count else None
    width = _bytes_of_values(piece.type)
    if len(buffers) == 2 and width:
        held = np.frombuffer(buffers[1], np.uint8)
        rows = held[: len(piece) * width].reshape(-1, width)
        return len(held) > rows.size or (gone is not None and bool(rows[gone].any()))
    if len(buffers) == 3 and str(piece.type).removeprefix("large_") in ("string", "binary"):
        places = np.frombuffer(buffers[1], np.int64 if str(piece.type).startswith("large_") else np.int32)
        lengths = np.diff(places[: len(piece) + 1])
        return len(places) > len(piece) + 1 or (gone is not None and bool(lengths[gone].any()))
    return False


def _metadata_inside(dtype: Any) -> list[dict[bytes, bytes]]:
    """Return the metadata of the fields that a type of Arrow is made of, at any depth, where there are any."""
    found: list[dict[bytes, bytes]] = []
    for i in range(dtype.num_fields if hasattr(dtype, "field") else 0):
        part = dtype.field(i)
        found += [dict(part.metadata)] if part.metadata else []
        found += _metadata_inside(part.type)
    return found


def _dictionaries(values: Any) -> Iterator[list[Any]]:
    """Yield the labels that values of Arrow may have, where they are kept as numbers: also those that none has."""
    if hasattr(values, "chunks"):
        for chunk in values.chunks:
            yield from _dictionaries(chunk)
    elif hasattr(values, "dictionary"):
        yield values.dictionary.to_pylist()
    elif hasattr(values.type, "fields") and hasattr(values, "field"):  # a struct
        for i in range(values.type.num_fields):
            yield from _dictionaries(values.field(i))
    elif hasattr(values.type, "value_type") and hasattr(values, "values"):  # a list
        yield from _dictionaries(values.values)


def _record_batch(value: Any) -> Any:
    import pyarrow

    return _frame(pyarrow.Table.from_batches([value]))


def _arrow_array(value: Any) -> Any:
    """Return the values of an array of pyarrow, of one or several pieces."""
    import narwhals.stable.v2 as narwhals
    import pyarrow

    whole = value if isinstance(value, pyarrow.ChunkedArray) else pyarrow.chunked_array([value])
    return converted(_column(narwhals.from_native(whole, series_only=True)), value, _of_arrow_array)


def _of_arrow_array(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": str(value.type)}
    if inside := _metadata_inside(value.type):
        found["metadata inside"] = inside
    if labels := list(_dictionaries(value)):
        found["dictionaries"] = labels
    return {**found, **_pieces(value), **_hidden(value)}


def _arrow_scalar(value: Any) -> Any:
    return converted({"value": value.as_py()}, value, lambda held: {"type": str(held.type)})


def _arrow_schema(value: Any) -> Any:
    return {"schema": value.to_string(show_schema_metadata=False), **_metadata_of_schema(value)}


def _metadata_of_schema(value: Any) -> dict[str, Any]:
    fields = [value.field(i) for i in range(len(value))]
    return {
        "names": tuple(value.names),
        "types": tuple(str(one.type) for one in fields),
        "nullable": tuple(one.nullable for one in fields),
        "metadata": dict(value.metadata or {}),
        "metadata of columns": {f"{i} {one.name}": dict(one.metadata or {}) for i, one in enumerate(fields)},
    }


def _arrow_field(value: Any) -> Any:
    found = {"name": value.name, "type": str(value.type), "nullable": value.nullable}
    return {**found, "metadata": dict(value.metadata or {})}


def _arrow_stream(value: Any) -> Any:
    """Return the parts of what exports an Arrow stream or array, read by pyarrow or polars."""
    name = foreign(type(value).__qualname__)
    try:
        import pyarrow

        try:
            found = pyarrow.table(value) if hasattr(value, "__arrow_c_stream__") else _interchanged(value)
        except (TypeError, ValueError, pyarrow.ArrowInvalid):
            found = pyarrow.chunked_array(value) if hasattr(value, "__arrow_c_stream__") else pyarrow.array(value)
    except ImportError:
        try:
            import polars
        except ImportError:
            raise InputError(
                f"an output of type {name} exports an Arrow stream, which takes pyarrow or polars to read: install one"
            ) from None
        found = polars.DataFrame(value)
        return converted({"frame": found}, value, _metadata_of_schema_unseen, *_own(value))
    return converted({"frame": found}, value, *_own(value))


def _metadata_of_schema_unseen(value: Any) -> dict[str, Any]:
    return {"metadata of the schema": UNSEEN}


def _interchanged(value: Any) -> Any:
    import pyarrow
    import pyarrow.interchange

    return pyarrow.interchange.from_dataframe(value) if hasattr(value, "__dataframe__") else pyarrow.array(value)


def _computed(value: Any) -> Any:
    return value.compute()


def _xarray_variable(value: Any) -> Any:
    """Return the values of an array of xarray, and its name, dimensions, coordinates and attributes beside them."""
    return converted(_elements(value), value, _of_xarray, _coordinates)


def _elements(value: Any) -> Any:
    array = np.asarray(value.values)
    return array if array.dtype.kind in "iufbcmM" else {"shape": array.shape, "values": tuple(array.ravel().tolist())}


def _of_xarray(value: Any) -> dict[str, Any]:
    found = {"dims": tuple(value.dims), "dtype": str(value.dtype)}
    if getattr(value, "name", None) is not None:
        found["name"] = value.name
    return {**found, **_described(value)}


def _described(value: Any) -> dict[str, Any]:
    """Return attributes and encoding where there are any; what a class of a user's adds."""
    both = (("attrs", dict(value.attrs)), ("encoding", dict(value.encoding)))
    return {name: held for name, held in both if held}


def _coordinates(value: Any) -> dict[str, Any]:
    held = getattr(value, "coords", None)
    return {} if not held else {"coords": {name: held[name].variable for name in held}}


def _xarray_dataset(value: Any) -> Any:
    found = {name: value[name].variable for name in value.data_vars}
    return converted(found, value, _coordinates, _described, _sizes)


def _sizes(value: Any) -> dict[str, Any]:
    return {"dims": dict(value.sizes)}


def _xarray_tree(value: Any) -> Any:
    return {"name": value.name, "nodes": {path: held for path, held in value.to_dict().items()}}


def _awkward(value: Any) -> Any:
    """Return a ragged array as lists, and its types, parameters and attributes beside them."""
    return converted(value.to_list(), value, _of_awkward)


def _of_awkward(value: Any) -> dict[str, Any]:
    layout = value.layout
    kind = getattr(layout, "form", None)
    if kind is None:  # a record is an entry of an array of them
        kind = layout.array.form
    found = {"type": str(kind.type)}
    return {**found, **({"attrs": dict(value.attrs)} if value.attrs else {})}


def _geometry(value: Any) -> Any:
    """Return a geometry of shapely by its type, its coordinates and its well-known binary form."""
    import shapely

    return {
        "type": value.geom_type,
        "coordinates": shapely.get_coordinates(value, include_z=True).tolist(),
        "form": shapely.to_wkb(value, include_srid=True),
    }


def _named_readers(names: Iterable[str], reader: Reader) -> Mapping[str, Reader]:
    return dict.fromkeys(names, reader)


_LIBRARIES: dict[str, Mapping[str, Reader]] = {
    "polars": {"LazyFrame": _lazy_frame},
    "pyarrow": {
        "Table": _frame,
        "RecordBatch": _record_batch,
        "Schema": _arrow_schema,
        "Field": _arrow_field,
        "DataType": str,
        **_named_readers(("Array", "ChunkedArray"), _arrow_array),
        "Scalar": _arrow_scalar,
    },
    "xarray": {
        **_named_readers(("DataArray", "Variable"), _xarray_variable),
        "Dataset": _xarray_dataset,
        "DataTree": _xarray_tree,
    },
    "dask": _named_readers(("DataFrame", "Series", "Index"), _computed),
    "awkward": _named_readers(("Array", "Record"), _awkward),
    "shapely": {"BaseGeometry": _geometry},
}
"""Readers, by the names of classes, of tables without a frame's interface, or with more than that has."""
