"""The parts of NumPy's arrays and scalars that are not plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs.objects import attributes

__all__ = ["TABLE"]


def _time(value: np.datetime64 | np.timedelta64) -> Any:
    return {"time": int(value.astype(np.int64)), "unit": str(np.datetime_data(value.dtype))}


def _void(value: np.void) -> Any:
    names = value.dtype.names
    return {name: value[name] for name in names} if names else value.tobytes()


def _masked(value: np.ma.MaskedArray[Any, Any]) -> Any:
    """Return the values with what is masked as 0, and the mask; of records each field."""
    if value.dtype.names:
        return {name: value[name] for name in value.dtype.names}
    mask = np.ma.getmaskarray(value)
    return {"values": np.where(mask, np.zeros((), value.dtype), np.asarray(value.data)), "mask": np.array(mask)}


def _array(value: NDArray[Any]) -> Any:
    """Return arrays of records, times, complex numbers and objects by their parts; what a subclass adds beside them."""
    plain = np.asarray(value)
    if plain.dtype.names:
        found: Any = {name: plain[name] for name in plain.dtype.names}
    elif plain.dtype.kind in "mM":
        found = {"times": plain.astype(np.int64), "unit": str(np.datetime_data(plain.dtype))}
    elif plain.dtype.kind == "c":
        found = {"real": np.ascontiguousarray(plain.real), "imaginary": np.ascontiguousarray(plain.imag)}
    elif plain.dtype.kind in "OSUV":
        found = {"shape": plain.shape, "values": tuple(plain.ravel().tolist())}
    else:
        found = plain
    more = attributes(value) if type(value) is not np.ndarray else None
    return {"array": found, **more} if more else found


TABLE: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (np.datetime64, _time),
    (np.timedelta64, _time),
    (np.void, _void),
    (np.ma.MaskedArray, _masked),
    (np.ndarray, _array),
)
"""The steps by which values of each type are taken apart."""
