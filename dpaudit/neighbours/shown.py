"""Both inputs of a pair in words: long ones are cut around the elements that differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.bounds.base import Bools
from dpaudit.contract import MadePair, Pair
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.check import shared_ends

LONGEST = 300
"""Characters of an input that are shown as they are."""
BESIDE, MOST = 3, 12
"""Elements that both inputs share which are shown on either side of those that differ, and the most of all."""


def words_of(pair: Pair) -> tuple[str, str]:
    """Return both inputs as findings describe them.

    Of lists, tuples, arrays, and tables of pandas that are long, what is shown begins a few elements before the first
    one that differs.
    """
    if isinstance(pair, MadePair) and not pair.shown:
        return pair.in_words()
    return _around(pair.data, pair.neighbour) or pair.in_words()


def _around(data: Any, neighbour: Any) -> tuple[str, str] | None:
    """Return two long values of one type cut around what differs; None for others."""
    if type(data) is not type(neighbour) or not _is_long(data) or not _is_long(neighbour):
        return None
    start, end = shared_ends(data, neighbour, _alike)
    if len(data) == len(neighbour) == start + 1 + end and not hasattr(data, "iloc"):
        within = _around(data[start], neighbour[start])
        if within is not None:
            return f"row {start} of {len(data)}: {within[0]}", f"row {start} of {len(data)}: {within[1]}"
    return _cut(data, start, end), _cut(neighbour, start, end)


def _is_long(value: Any) -> bool:
    table = hasattr(value, "iloc")
    if not (isinstance(value, list | tuple | np.ndarray) or table) or not getattr(value, "ndim", 1):
        return False
    size = getattr(value, "size", len(value))  # lists of lists may be ragged, which are no array
    return len(value) > MOST and (table or size > 1_000 or len(repr(value)) > LONGEST)


def _alike(one: Any, other: Any) -> Bools:
    """Say of each two elements whether they are written alike."""
    if isinstance(one, np.ndarray) and one.dtype.kind in "iufb" and one.shape == other.shape:
        same = (one == other) | ((one != one) & (other != other))
        return np.asarray(same.reshape(len(one), math.prod(one.shape[1:])).all(axis=1))
    rows = zip(_rows(one), _rows(other), strict=True)
    return np.array([a is b or stable_repr(a) == stable_repr(b) for a, b in rows], dtype=np.bool_)


def _rows(value: Any) -> Any:
    if hasattr(value, "itertuples"):
        return value.itertuples(index=False, name=None)
    return value.tolist() if hasattr(value, "tolist") else value


def _cut(value: Any, start: int, end: int) -> str:
    """Return the elements of a value from a few before the first that differs to a few behind the last."""
    low = max(0, start - BESIDE)
    high = min(len(value) - end + BESIDE, low + MOST, len(value))
    part = value.iloc[low:high] if hasattr(value, "iloc") else value[low:high]
    before, after = f"{low} before, " if low else "", f", {len(value) - high} after" if high < len(value) else ""
    return f"{len(value)} elements: {before}{part!r:.{LONGEST}}{after}"
