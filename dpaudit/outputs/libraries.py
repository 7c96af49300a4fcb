"""The parts of values of libraries that need not be installed: pandas, and arrays of any other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.errors import InputError

__all__ = ["parts"]


def parts(value: Any) -> Any:
    """Return the parts of a value of pandas or scipy.sparse, or the array that another object holds; None of others."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(value)
    if library == "scipy" and hasattr(kind, "tocoo"):
        return _sparse(value)
    if hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
        return _as_array(value)
    return None


def _pandas(value: Any) -> Any:
    """Return the parts of a Series, DataFrame, Index, Categorical or scalar of pandas.

    The type is asked, as a table looks an attribute that it lacks up among its labels.
    """
    kind = type(value)
    if hasattr(kind, "columns"):
        columns = list(value.items())
        whole = {"columns": tuple(name for name, _ in columns), "index": _index(value.index), "rows": len(value)}
        return whole | {f"{i} {name}": _values(column) for i, (name, column) in enumerate(columns)}
    if hasattr(kind, "iloc"):
        return {"name": value.name, "index": _index(value.index), "values": _values(value)}
    if hasattr(kind, "codes") and hasattr(kind, "categories"):
        return _categories(value)
    if hasattr(kind, "to_numpy") and hasattr(kind, "__len__"):
        return _index(value) if hasattr(kind, "names") else _values(value)
    return repr(value)


def _index(value: Any) -> Any:
    return {"names": tuple(value.names), "values": _values(value)}


def _categories(value: Any) -> Any:
    return {
        "categories": tuple(value.categories),
        "ordered": bool(value.ordered),
        "codes": np.asarray(value.codes),
    }


def _values(values: Any) -> Any:
    """Return the values of a column or index: numbers and times as an array, all else as a tuple."""
    if isinstance(values.dtype, np.dtype):
        array = values.to_numpy()
    elif values.dtype.name == "category":
        return _categories(values.cat if hasattr(type(values), "cat") else values)
    else:
        array = np.asarray(values)
    return array if array.dtype.kind in "iufbcmM" else tuple(array.tolist())


def _sparse(value: Any) -> Any:
    """Return the shape, the places of the stored entries in ascending order, and their values, zeros among them."""
    entries = value.tocoo(copy=True)
    entries.sum_duplicates()
    places = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    pattern = np.stack([np.asarray(place) for place in places])
    return {"shape": tuple(value.shape), "pattern": pattern, "values": np.asarray(entries.data)}


def _as_array(value: Any) -> Any:
    """Return what an array of another library holds; a sparse tensor is taken apart as a sparse matrix is."""
    name = type(value).__qualname__
    try:
        array = _converted(value)
    except Exception as error:  # each library refuses in its own way
        told = "gives NumPy no array; return numbers, text, arrays or containers of these"
        raise InputError(f"an output of type {name} {told} ({error!s:.200})") from None
    if isinstance(array, np.ndarray) and array.dtype == object and array.ndim == 0:
        raise InputError(
            f"an output of type {name} has an __array__ of objects: {value!r:.100}; say how to take it apart, by "
            f"dpaudit.register_flattener({name}, lambda output: ...)"
        )
    return array


def _converted(held: Any) -> Any:
    """Return an array by the protocols; numbers of a type that NumPy lacks, as bfloat16, become doubles."""
    for plain in ("detach", "cpu", "resolve_conj", "resolve_neg"):  # a tensor gives its values only when all is done
        held = getattr(held, plain)() if hasattr(held, plain) else held
    if hasattr(held, "to_sparse") and "sparse" in str(held.layout):
        entries = held.to_sparse().coalesce()
        pattern = np.asarray(entries.indices())
        return {"shape": tuple(held.shape), "pattern": pattern, "values": _converted(entries.values())}
    if not hasattr(held, "__array__"):
        return np.from_dlpack(held)
    try:
        return np.asarray(held)
    except TypeError:
        if not hasattr(held, "double"):
            raise
        return np.asarray(held.double())
