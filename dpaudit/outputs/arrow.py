"""Memory, metadata and types of Arrow: the parts of columns that are no values of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpaudit.outputs.metadata import UNSEEN, WithMetadata, converted
from dpaudit.outputs.types import Parts

if TYPE_CHECKING:
    import pyarrow as pa

ArrowColumn: TypeAlias = "pa.Array | pa.ChunkedArray"
# The name of a part of a frame.
MEMORY = "what the memory holds beside the rows"


def metadata_of_table(schema: pa.Schema, table: pa.Table) -> Parts:
    """Return the metadata of a schema and of its fields, and what its columns hold apart from their rows."""
    fields = [schema.field(i) for i in range(len(schema))]
    found: Parts = {"nullable": tuple(one.nullable for one in fields)}
    if schema.metadata:
        found["metadata"] = dict(schema.metadata)
    described = {f"{i} {one.name}": dict(one.metadata) for i, one in enumerate(fields) if one.metadata}
    if described:
        found["metadata of columns"] = described
    inside = [metadata_inside(one.type) for one in fields]
    if any(inside):
        found["metadata inside of columns"] = inside
    columns = []
    if hasattr(table, "column"):
        columns = [table.column(i) for i in range(len(fields))]
    # Labels that no row has are written with a column too.
    labels = [list(dictionaries(column)) for column in columns]
    if any(labels):
        found["dictionaries"] = labels
    return {**found, **_pieces(*columns), **hidden(*columns)}


def _pieces(*columns: ArrowColumn) -> Parts:
    """Return into how many values each column of Arrow is cut, if one is."""
    sizes = tuple(tuple(map(len, _chunks(column))) for column in columns)
    if any(len(one) > 1 for one in sizes):
        return {"pieces": sizes}
    return {}


def _chunks(column: ArrowColumn) -> Sequence[pa.Array]:
    """Return the pieces of a column; an array is one piece."""
    return column.chunks if hasattr(column, "chunks") else (column,)


def hidden(*columns: ArrowColumn) -> Parts:
    """Return that the memory of columns of Arrow, which is written with them, holds values that no row shows."""
    if any(_holds_more(piece) for column in columns for piece in _chunks(column)):
        return {MEMORY: UNSEEN}
    return {}


def _bytes_of_values(kind: pa.DataType) -> int:
    """Return how many bytes a value of an Arrow type takes; 0 if values differ in that, or take less than one."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


def _holds_more(piece: pa.Array) -> bool:
    """Say whether an array of Arrow is cut out of a longer one, or has something in the place of a missing value."""
    # The buffers of Arrow: which values are there, the values or the ends of texts, the letters of texts.
    buffers = piece.buffers()
    if piece.offset or len(buffers) < 2 or buffers[1] is None:
        return bool(piece.offset)
    gone = None
    if piece.null_count:
        gone = piece.is_null().to_numpy(zero_copy_only=False)
    width = _bytes_of_values(piece.type)
    if len(buffers) == 2 and width:
        held = np.frombuffer(buffers[1], np.uint8)
        rows = held[: len(piece) * width].reshape(-1, width)
        return len(held) > rows.size or (gone is not None and bool(rows[gone].any()))
    if len(buffers) == 3 and str(piece.type).removeprefix("large_") in ("string", "binary"):
        large = str(piece.type).startswith("large_")
        places = np.frombuffer(buffers[1], np.int64 if large else np.int32)
        lengths = np.diff(places[: len(piece) + 1])
        return len(places) > len(piece) + 1 or (gone is not None and bool(lengths[gone].any()))
    return False


def metadata_inside(dtype: pa.DataType) -> list[dict[bytes, bytes]]:
    """Return the metadata of the fields that a type of Arrow is made of, at any depth."""
    found: list[dict[bytes, bytes]] = []
    if not hasattr(dtype, "field"):
        return found
    for i in range(dtype.num_fields):
        part = dtype.field(i)
        if part.metadata:
            found.append(dict(part.metadata))
        found += metadata_inside(part.type)
    return found


def dictionaries(values: ArrowColumn) -> Iterator[list[Any]]:
    """Yield the labels that values of Arrow may have, if they are kept as numbers: also those that none has."""
    if hasattr(values, "chunks"):
        for chunk in values.chunks:
            yield from dictionaries(chunk)
    elif hasattr(values, "dictionary"):
        yield values.dictionary.to_pylist()
    # A struct.
    elif hasattr(values.type, "fields") and hasattr(values, "field"):
        for i in range(values.type.num_fields):
            yield from dictionaries(values.field(i))
    # A list.
    elif hasattr(values.type, "value_type") and hasattr(values, "values"):
        yield from dictionaries(values.values)


def of_arrow_array(value: ArrowColumn) -> Parts:
    """Return the metadata of an array of Arrow."""
    found: Parts = {"type": str(value.type)}
    inside = metadata_inside(value.type)
    if inside:
        found["metadata inside"] = inside
    labels = list(dictionaries(value))
    if labels:
        found["dictionaries"] = labels
    return {**found, **_pieces(value), **hidden(value)}


def scalar(value: pa.Scalar) -> WithMetadata:
    """Return a scalar of Arrow by its value, with its type as metadata."""
    return converted({"value": value.as_py()}, value, lambda held: {"type": str(held.type)})


def schema(value: pa.Schema) -> Parts:
    """Return a schema of Arrow as it is printed, and field by field."""
    fields = [value.field(i) for i in range(len(value))]
    return {
        "schema": value.to_string(show_schema_metadata=False),
        "names": tuple(value.names),
        "types": tuple(str(one.type) for one in fields),
        "nullable": tuple(one.nullable for one in fields),
        "metadata": dict(value.metadata or {}),
        "metadata of columns": {f"{i} {one.name}": dict(one.metadata or {}) for i, one in enumerate(fields)},
    }


def field(value: pa.Field) -> Parts:
    """Return a field of a schema of Arrow."""
    return {
        "name": value.name,
        "type": str(value.type),
        "nullable": value.nullable,
        "metadata": dict(value.metadata or {}),
    }
