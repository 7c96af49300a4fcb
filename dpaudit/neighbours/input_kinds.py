"""Kinds of inputs: whether one is a frame, an array or a sequence, its parts, and a description without values.

Inputs are opaque data of any type. What a library calls its frames is known without loading the library.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from dpaudit.contract import Sample
from dpaudit.neighbours.frame_columns import Frame, columns_of

# The most parts of a tuple that are named as "the second array", and whose parts are looked into.
FEW_PARTS = 10
# The most parts of an input that are asked whether they are data frames.
MOST_LOOKED_AT = 1_000
# The deepest nesting of a data frame that is found.
DEEPEST_FRAME = 4
_FRAME_LIBRARIES = frozenset(
    {"pandas", "polars", "pyarrow", "xarray", "geopandas", "narwhals", "modin", "cudf", "dask"}
)
# Attributes by which a type of such a library is told from its scalars.
_LABELLED = ("columns", "num_rows", "column_names", "dims", "shape", "schema", "collect_schema")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def is_frame(value: Any) -> bool:
    """Return whether a value is a table or a labelled array of a library, whose text would show its records."""
    kind = type(value)
    # Every job of an audit asks this of its input, which is mostly plain.
    if kind.__module__ == "builtins":
        return False
    if any(hasattr(kind, name) for name in ("__dataframe__", "__arrow_c_stream__", "__arrow_c_array__")):
        return True
    tops = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return bool(tops & _FRAME_LIBRARIES) and any(hasattr(kind, name) for name in _LABELLED)


def holds_frame(value: Any) -> bool:
    """Return whether a value is a data frame or holds one, as far as its first elements and attributes show."""
    level = [value]
    left = MOST_LOOKED_AT
    for _ in range(DEEPEST_FRAME):
        if any(map(is_frame, level)):
            return True
        inner = [part for one in level for part in _first_parts(one, left)][:left]
        left -= len(inner)
        if not inner:
            return False
        level = inner
    return any(map(is_frame, level))


def _first_parts(value: Any, most: int) -> list[Any]:
    if isinstance(value, str | bytes | np.ndarray | np.generic | int | float | Sample | None):
        return []
    if isinstance(value, Mapping):
        return list(islice(value.values(), most))
    if isinstance(value, list | tuple | set | frozenset | deque):
        return list(islice(value, most))
    return list(islice(attributes_of(value).values(), most))


def described(value: Any) -> str:
    """Return the kind and the size of an input, without any of its values."""
    kind = with_article(type(value).__name__)
    # The size of a foreign type may be anything, or raise.
    with suppress(Exception):
        size = _size_of_frame(value) if is_frame(value) else _size(value)
        if isinstance(value, bytes | bytearray):
            return size
        if isinstance(value, str):
            return f"a text of {size}"
        if isinstance(value, np.ndarray) and value.ndim:
            return f"an array of {size}"
        if size:
            return f"{kind} of {size}"
    return kind


def _size(value: Any) -> str:
    """Return how much a value holds; empty if it has no size."""
    if isinstance(value, list | tuple) and 0 < len(value) <= FEW_PARTS:
        noun = _noun_of_parts(value)
        if noun and len(value) == 1:
            return f"one {noun}"
        if noun:
            return f"{len(value)} {noun}s"
    if isinstance(value, str):
        return f"{len(value):,} characters"
    if isinstance(value, bytes | bytearray):
        return f"{len(value):,} bytes"
    if isinstance(value, Mapping):
        return counted(len(value), "key")
    if hasattr(value, "shape") and isinstance(value.shape, tuple) and value.shape:
        return f"shape {tuple(map(int, value.shape))}"
    if hasattr(value, "__len__"):
        return counted(len(value), "element")
    return ""


def _size_of_frame(frame: Frame) -> str:
    """Return how much a frame holds; empty if it cannot be read."""
    if hasattr(frame, "data_vars"):
        return counted(len(frame.data_vars), "variable")
    if hasattr(frame, "dims") and hasattr(frame, "values"):
        return f"shape {tuple(frame.shape)}"
    columns = columns_of(frame)
    if columns is None:
        return ""
    if columns.alone:
        return counted(columns.size, "element")
    return f"{counted(columns.size, 'row')} and {counted(len(columns.names), 'column')}"


def with_article(noun: str) -> str:
    """Return a noun with its article."""
    article = "an" if noun[:1].upper() in ("A", "E", "I", "O", "U") else "a"
    return f"{article} {noun}"


def kind_of(value: Any) -> str:
    """Return the kind of a value with its article."""
    return "None" if value is None else with_article(type(value).__name__)


def counted(number: int, noun: str) -> str:
    """Return "1 row" or "2,000 rows"."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _kind_of_part(part: Any) -> str:
    """Return what a part of an input is, as "array"; empty for a plain value."""
    if is_frame(part):
        return "frame"
    if is_sparse(part):
        return "array"
    if isinstance(part, np.ndarray):
        is_array = part.ndim > 0
    else:
        is_array = as_array(part) is not None
    if is_array:
        return "array"
    if type(part) in (list, tuple, dict):
        return str(type(part).__name__)
    return ""


def has_parts(parts: Sequence[Any]) -> bool:
    """Return whether a short sequence consists of datasets, as features and labels; a list of records does not."""
    kinds = {_kind_of_part(part) for part in parts}
    if isinstance(parts, tuple):
        return bool(kinds - {""})
    return bool(kinds & {"array", "frame"})


def part_name(parts: Sequence[Any], index: int) -> str:
    """Return "the array" or "the second array" for a part, "element 1" for a plain value."""
    kinds = [_kind_of_part(part) for part in parts]
    kind = kinds[index]
    if not kind:
        return f"element {index}"
    if kinds.count(kind) == 1:
        return f"the {kind}"
    return f"the {_ORDINALS[kinds[:index].count(kind)]} {kind}"


def _noun_of_parts(parts: Sequence[Any]) -> str:
    """Return what all parts of a short sequence are, as "array"; "part" if they are of several kinds, else empty."""
    if not has_parts(parts):
        return ""
    kinds = {_kind_of_part(part) for part in parts}
    return kinds.pop() if len(kinds) == 1 else "part"


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object by name; none of a class, a module or a function."""
    if isinstance(value, type) or (callable(value) and hasattr(value, "__code__")) or hasattr(value, "__path__"):
        return {}
    names: list[str] = []
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    # Structs of msgspec list their fields apart.
    if hasattr(type(value), "__struct_fields__"):
        names += type(value).__struct_fields__
    found: dict[str, Any] = {}
    for name in names:
        with suppress(AttributeError):
            found[name] = getattr(value, name)
    if hasattr(value, "__dict__") and isinstance(value.__dict__, dict):
        found |= {str(name): one for name, one in value.__dict__.items()}
    return {name: one for name, one in found.items() if name not in ("__dict__", "__weakref__")}


def is_sequence(value: Any) -> bool:
    """Return whether a value of another library is a sequence of elements, as a deque or an awkward array."""
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and hasattr(value, "__getitem__")


def is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse matrix of SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or not sparse.issparse(value):
        return False
    return not hasattr(value, "ndim") or bool(value.ndim == 2)


def as_array(value: Any) -> np.ndarray | None:
    """Return an array of any library as numpy's; None for other values, and for data frames."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic | str | bytes | list | tuple | int | float) or is_frame(value) or is_sparse(value):
        return None
    if not hasattr(value, "shape") or not isinstance(value.shape, tuple) or not hasattr(value, "dtype"):
        return None
    with suppress(Exception):
        # A tensor of torch, whose numbers may be of a type that numpy has not.
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            with suppress(TypeError):
                return np.asarray(value.numpy())
            return np.asarray(value.float().numpy())
        return np.asarray(value)
    return None
