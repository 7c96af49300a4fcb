"""Columns of frames as arrays of NumPy, if it has their type, with the places of missing values."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs.types import Array, Parts

# The kinds of NumPy's types of numbers, Booleans and times: a column of any other kind is read as a tuple.
KINDS_OF_ARRAYS = "iufbcmM"
ColumnValues: TypeAlias = Array | tuple[Any, ...]
"""The values of a column: an array if NumPy has their type, else a tuple of any objects."""


def array_of(array: Array) -> ColumnValues:
    """Return numbers and times as an array, all else as a tuple."""
    if array.dtype.kind in KINDS_OF_ARRAYS:
        return array
    return tuple(array.tolist())


def with_missing(elements: NDArray[np.object_]) -> ColumnValues | Parts:
    """Return numbers as an array, or if some are missing as its `values` and which of them are `missing`."""
    missing = np.fromiter(map(_is_missing, elements), np.bool_, len(elements))
    filled = elements.tolist()
    if not missing.any():
        return _exactly(filled)
    known = elements[~missing].tolist()
    nothing = type(known[0])() if known else 0.0
    filled = [nothing if gone else element for element, gone in zip(filled, missing.tolist(), strict=True)]
    return {"values": _exactly(filled), "missing": missing}


def _exactly(filled: list[Any]) -> ColumnValues:
    """Return numbers as an array if NumPy holds them exactly, else as a tuple."""
    if not filled:
        return np.zeros(0)
    array: Array = np.array(filled)
    # NumPy makes floats of integers that no type of its own holds together.
    if array.dtype.kind in "iub" or (array.dtype.kind == "f" and isinstance(filled[0], float)):
        return array
    return tuple(filled)


def _is_missing(element: Any) -> bool:
    return element is None or type(element).__name__ == "NAType"
