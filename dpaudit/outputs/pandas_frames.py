"""Frames, columns, indexes and scalars of pandas: values a column at a time; index, types and `attrs` as metadata.

Columns stay apart, so that integers keep all their digits and what is missing stays distinct from NaN.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpaudit.outputs.arrow import hidden
from dpaudit.outputs.derived import KEPT
from dpaudit.outputs.metadata import Flat, WithMetadata, converted, named
from dpaudit.outputs.missing import array_of, with_missing
from dpaudit.outputs.types import Array, Parts, Type

if TYPE_CHECKING:
    import pandas as pd

PandasColumn: TypeAlias = "pd.Series | pd.Index | pd.api.extensions.ExtensionArray"
Table: TypeAlias = "pd.Series | pd.DataFrame"


def shows_all(kind: type) -> bool:
    """Say whether a class of pandas holds values, or is a scalar, which shows all of itself where it is printed.

    An object that shows or groups a frame, as a Styler, a window or a list of groups, is an object like any other.
    """
    values = any(hasattr(kind, name) for name in ("columns", "iloc", "to_numpy")) and hasattr(kind, "__len__")
    return values or kind.__module__.startswith("pandas._libs")


def of_pandas(value: pd.DataFrame | PandasColumn | pd.Timestamp | pd.Timedelta | pd.Period | pd.Interval) -> Flat:
    """Return the parts of a Series, DataFrame, Index, Categorical or scalar of pandas."""
    # The type is asked, since a table looks up an attribute that it lacks among its labels.
    kind = type(value)
    if hasattr(kind, "columns"):
        return _frame(value)
    if hasattr(kind, "iloc"):
        return converted({"values": _values(value)}, value, _of_series, _of_table)
    if hasattr(kind, "codes") and hasattr(kind, "categories"):
        return _categories(value)
    if hasattr(kind, "to_numpy") and hasattr(kind, "__len__"):
        if hasattr(kind, "names"):
            return _index(value)
        return converted(_values(value), value, _dtype, _of_array)
    return repr(value)


def _frame(value: pd.DataFrame) -> WithMetadata:
    found: Parts = {"rows": len(value)}
    for i, (name, column) in enumerate(columns_of(value)):
        found[f"{i} {name}"] = _values(column)
    return converted(found, value, _of_frame, _of_table)


def columns_of(frame: pd.DataFrame) -> list[tuple[Hashable, PandasColumn | Array]]:
    """Return the columns of a frame of pandas with their names, as arrays if pandas gives them."""
    # Making a Series of each column takes twenty times as long: an audit of frames of thirty columns spent most of its
    # time on that.
    kind = type(frame)
    if not hasattr(kind, "_get_column_array") or kind.__module__.partition(".")[0] != "pandas":
        return list(frame.items())
    return [(name, frame._get_column_array(i)) for i, name in enumerate(frame.columns)]


def _of_table(value: Table) -> Parts:
    """Return the metadata of a Series or a DataFrame: `attrs`, flags, additions of its index and class."""
    found: Parts = {"index": _index(value.index)}
    if value.attrs:
        found["attrs"] = dict(value.attrs)
    if not value.flags.allows_duplicate_labels:
        found["flags"] = "no duplicate labels"
    found |= {name: part for name, part in vars(value).items() if name not in KEPT["pandas"]}
    # The attributes that a derived class tells pandas to carry over to what is computed from a table.
    found |= {name: getattr(value, name, None) for name in type(value)._metadata if name not in KEPT["pandas"]}
    return found | _of_index(value.index)


def _of_frame(value: pd.DataFrame) -> Parts:
    labels = value.columns
    return {
        "columns": tuple(labels),
        "name of the columns": tuple(labels.names),
        "dtype of the columns": _dtype_words(labels.dtype),
        "dtypes": {name: _dtype_words(dtype) for name, dtype in value.dtypes.items()},
    }


def _of_series(value: pd.Series) -> Parts:
    return {"name": value.name, "dtype": _dtype_words(value.dtype)}


def _of_index(index: pd.Index) -> Parts:
    """Return the type of an index, and the frequency of one of times."""
    found: Parts = {}
    if type(index).__name__ == "RangeIndex":
        found["class of the index"] = "RangeIndex"
    if index.nlevels > 1:
        found["dtypes of the index"] = tuple(_dtype_words(dtype) for dtype in index.dtypes)
        # Labels of rows that were removed, or that no row ever had, stay in the levels.
        unused = tuple(
            tuple(np.asarray(level, dtype=object)[np.setdiff1d(np.arange(len(level)), codes)])
            for level, codes in zip(index.levels, index.codes, strict=True)
        )
        if any(unused):
            found["unused labels of the index"] = unused
    else:
        found["dtype of the index"] = _dtype_words(index.dtype)
    if has_frequency(index):
        found["frequency of the index"] = str(index.freqstr)
    return found


def has_frequency(index: pd.Index) -> bool:
    """Say whether an index is one of times at equal distances that pandas knows."""
    return hasattr(index, "freq") and index.freq is not None


def _dtype(value: PandasColumn) -> Parts:
    return {"dtype": _dtype_words(value.dtype)}


def _dtype_words(dtype: Type | pd.api.extensions.ExtensionDtype) -> str:
    """Return a type of pandas in words; the categories of one are read with the values."""
    if dtype.name == "category":
        return "category"
    storage = unusual_storage(dtype)
    if storage is None:
        return str(dtype)
    return f"{dtype}[{storage}]"


def unusual_storage(dtype: Type | pd.api.extensions.ExtensionDtype) -> str | None:
    """Return how a type keeps texts, or None if it has none or keeps them as pandas does unless told otherwise."""
    storage: str | None = getattr(dtype, "storage", None)
    if storage is None or storage == _usual_storage():
        return None
    return storage


@lru_cache(maxsize=1)
def _usual_storage() -> str:
    """Return how pandas keeps texts unless it is told otherwise."""
    import pandas as pd

    return str(pd.StringDtype().storage)


def _of_array(value: PandasColumn) -> Parts:
    return named(value, ("crs", "freq", "tz", "unit", "closed"))


def _index(value: pd.Index) -> Parts:
    return {"names": tuple(value.names), "values": _values(value)}


def _categories(value: pd.Categorical) -> WithMetadata:
    found = {"categories": tuple(value.categories), "ordered": bool(value.ordered), "codes": np.asarray(value.codes)}
    return converted(found, value, lambda held: {"dtype of the categories": str(held.categories.dtype)})


def _values(values: PandasColumn | Array) -> Flat:
    """Return the values of a column or index of pandas.

    Numbers and times are an array, all else a tuple; numbers of a type that knows what is missing have that apart.
    """
    if isinstance(values, np.ndarray):
        return array_of(values)
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return array_of(values.to_numpy())
    if dtype.name == "category":
        return _categories(_categorical(values))
    if dtype._is_numeric or dtype._is_boolean:
        found = with_missing(values.to_numpy(dtype=object))
        if isinstance(found, dict):
            return converted(found, values, _under_the_missing)
        return found
    array = np.asarray(values)
    if dtype.name == "geometry":
        return converted(tuple(array.tolist()), values, lambda held: {"crs": _words(held.crs)})
    return array_of(array)


def _categorical(values: PandasColumn) -> pd.Categorical:
    """Return the categories and codes of a column; a Categorical and its index have them themselves."""
    found: pd.Categorical = values
    if hasattr(type(values), "cat"):
        found = values.cat
    return found


def _under_the_missing(values: PandasColumn) -> Parts:
    """Return what a column of pandas keeps under its missing values: `mask` and `where` leave the values there."""
    array = values.array if hasattr(values, "array") else values
    if not _is_masked(array):
        return hidden(array.__arrow_array__())
    below = array._data[array._mask]
    # pandas itself puts the same number into each of these places.
    if len(below) and (below == below[0]).all():
        return {"under what is missing": below[:1].item()}
    return {"under what is missing": np.where(array._mask, array._data, np.zeros((), array._data.dtype))}


def _is_masked(array: pd.api.extensions.ExtensionArray) -> bool:
    """Say whether a column is an array of numbers and a mask, both of NumPy; others are of Arrow."""
    both = hasattr(array, "_data") and hasattr(array, "_mask")
    return both and isinstance(array._data, np.ndarray) and isinstance(array._mask, np.ndarray)


def _words(value: Hashable) -> str | None:
    return None if value is None else str(value)
