"""Tables and series of pandas that can be built again from arrays of NumPy, and the arrays that they are made of."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpaudit.outputs.decoding import DTYPES, PLAIN, TABLES, TEXTS
from dpaudit.outputs.pandas_frames import PandasColumn, columns_of, has_frequency, unusual_storage
from dpaudit.outputs.types import Array, Type

if TYPE_CHECKING:
    import pandas as pd

# Attributes by which pandas keeps what is sent; a table with another attribute is read like any object.
_ALONE = frozenset({"_mgr", "_attrs", "_flags", "_name", "_item_cache", "_is_copy", "_cacher"})


class Head(NamedTuple):
    """Properties that tables of one column of outputs have in common: type, names and types of columns, and the index.

    Of the index it is the name and whether it is a range, or None if rows are numbered from 0.
    """

    kind: str
    names: tuple[Hashable, ...]
    dtypes: tuple[str, ...]
    of_index: tuple[Hashable, bool] | None


def is_table(kind: type) -> bool:
    """Say whether a class is a table or series of pandas, and no stand-in of one."""
    return kind.__name__ in TABLES and kind.__module__.partition(".")[0] == "pandas" and hasattr(kind, "iloc")


def taken(table: pd.Series | pd.DataFrame) -> tuple[Head, list[Array]] | None:
    """Return the head of a table or series of pandas, and the arrays of its columns and its index.

    None is returned if a part has a type that NumPy lacks, a name is no plain value, or the table holds more than can
    be built again.
    """
    kind = type(table).__name__
    index = table.index
    if kind == "Series":
        columns: list[tuple[Hashable, PandasColumn | Array]] = [(table.name, table)]
    else:
        columns = columns_of(table)
    ranged = type(index).__name__ == "RangeIndex"
    numbered = ranged and index.equals(type(index)(len(table))) and index.name is None
    held = [column for _, column in columns]
    if not numbered:
        held.append(index)
    names = tuple(name for name, _ in columns)
    plain = all(map(_has_sent_type, held)) and index.nlevels == 1
    known = len(set(names)) == len(names) and {*map(type, (*names, index.name))} <= PLAIN
    # What is built again has the types that pandas gives labels and texts.
    labelled = kind == "Series" or table.columns.dtype == _type_of_labels(names)
    usual = labelled and all(unusual_storage(one.dtype) is None for one in held)
    if not (columns and plain and known and usual) or _has_more(table):
        return None
    dtypes = tuple(str(one.dtype) for one in held)
    head = Head(kind, names, dtypes, None if numbered else (index.name, ranged))
    return head, [np.asarray(one) for one in held]


def _has_sent_type(column: PandasColumn | Array) -> bool:
    return isinstance(column.dtype, np.dtype) or bool(column.dtype == TEXTS)


@lru_cache(maxsize=256)
def _type_of_labels(names: tuple[Hashable, ...]) -> Type | pd.api.extensions.ExtensionDtype:
    """Return the type that pandas gives an index of these names of columns."""
    import pandas as pd

    return pd.Index(list(names)).dtype


def _has_more(table: pd.Series | pd.DataFrame) -> bool:
    """Return whether a table or series holds more than names, values and an index of numbers, texts or times."""
    if table.attrs or not table.flags.allows_duplicate_labels or not vars(table).keys() <= _ALONE:
        return True
    named = table.ndim > 1 and (table.columns.name is not None or table.columns.nlevels > 1)
    return bool(named) or has_frequency(table.index)


def is_plain_table(table: pd.Series | pd.DataFrame) -> bool:
    """Say whether a table or series is built again as it is, of numbers and plain values."""
    found = taken(table)
    if found is None:
        return False
    _, arrays = found
    return all(one.dtype.kind in DTYPES or set(map(type, one.tolist())) <= PLAIN for one in arrays)
