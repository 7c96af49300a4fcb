"""Find out which elements two sequences share: cells of arrays, and the elements at the start and at the end."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dpaudit.bounds.base import Bools
from dpaudit.jsonable import stable_repr

if TYPE_CHECKING:
    from scipy import sparse

# Elements of a list that are compared at once: a slice of equal elements is skipped without a look at each.
CHUNK = 4096
Text = str | bytes | bytearray
_Value = TypeVar("_Value")


def surely_equal(one: _Value, other: _Value) -> bool:
    """Return whether two slices are equal, as far as a quick look tells; 1 and True are."""
    try:
        return bool(one == other)
    # Lists with arrays in them have no one truth value.
    except Exception:
        return False


def same_plain(one: _Value, other: _Value) -> bool:
    """Return whether two values are one object, or equal plain ones of one type."""
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, int | float | str | bytes) and one == other


def text_ends(one: Text, other: Text) -> tuple[int, int]:
    """Return how many characters two texts share at the start and at the end."""
    start = _text_lead(one, other)
    left = min(len(one), len(other)) - start
    end = _text_lead(one[len(one) - left :][::-1], other[len(other) - left :][::-1])
    return start, end


def _text_lead(one: Text, other: Text) -> int:
    low = 0
    high = min(len(one), len(other))
    # Equal up to the middle or not.
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def equal_cells(one: np.ndarray, other: np.ndarray) -> Bools:
    """Say of each cell of two arrays of one shape whether they are alike: NaN is like NaN."""
    # Some types cannot be compared as a whole, and raise.
    with suppress(Exception):
        if one.dtype != object and other.dtype != object and one.dtype.names is None:
            same: np.ndarray = np.asarray(one == other)
            if same.shape == one.shape:
                if one.dtype.kind in "fcmM" and other.dtype.kind in "fcmM":
                    same = np.logical_or(same, (one != one) & (other != other))
                return same.astype(np.bool_)
    first = np.asarray(one).reshape(-1).tolist()
    second = np.asarray(other).reshape(-1).tolist()
    alike = np.ones(len(first), dtype=np.bool_)
    for at in range(0, len(first), CHUNK):
        some = first[at : at + CHUNK]
        twins = second[at : at + CHUNK]
        if not surely_equal(some, twins):
            one_by_one = [a is b or _same_value(a, b) for a, b in zip(some, twins, strict=True)]
            alike[at : at + CHUNK] = np.array(one_by_one, dtype=np.bool_)
    return alike.reshape(one.shape)


def _same_value(one: _Value, other: _Value) -> bool:
    """Return whether two objects in arrays are alike; their texts decide if they cannot be compared."""
    if type(one) is not type(other):
        return False
    return surely_equal(one, other) or stable_repr(one) == stable_repr(other)


def array_lead(one: np.ndarray, other: np.ndarray) -> int:
    """Return how many elements, or rows, two arrays share at the start."""
    most = min(len(one), len(other))
    step = CHUNK
    if one.dtype != object and other.dtype != object:
        step = max(1, most)
    for at in range(0, most, step):
        stop = min(at + step, most)
        same = equal_cells(one[at:stop], other[at:stop])
        if same.ndim > 1:
            same = np.asarray(same.reshape(stop - at, -1).all(axis=1))
        if not same.all():
            return at + int(np.argmin(same))
    return most


def array_ends(one: np.ndarray, other: np.ndarray) -> tuple[int, int]:
    """Return how many elements, or rows, two arrays share at the start and at the end."""
    start = array_lead(one, other)
    left = min(len(one), len(other)) - start
    return start, min(array_lead(one[::-1], other[::-1]), left)


def sparse_ends(one: sparse.csr_array, other: sparse.csr_array) -> tuple[int, int]:
    """Return how many rows two matrices share at the start and at the end."""
    start = _sparse_lead(one, other)
    left = min(one.shape[0], other.shape[0]) - start
    return start, min(left, _sparse_lead(one[::-1], other[::-1]))


def _sparse_lead(one: sparse.csr_array, other: sparse.csr_array) -> int:
    one.sort_indices()
    other.sort_indices()
    rows = min(one.shape[0], other.shape[0])
    starts = one.indptr[: rows + 1] == other.indptr[: rows + 1]
    row = rows if starts.all() else int(np.argmin(starts)) - 1
    entries = min(len(one.indices), len(other.indices))
    same = (one.indices[:entries] == other.indices[:entries]) & (one.data[:entries] == other.data[:entries])
    if same.all():
        return row
    first = int(np.argmin(same))
    return min(row, int(np.searchsorted(one.indptr, first, side="right")) - 1)
