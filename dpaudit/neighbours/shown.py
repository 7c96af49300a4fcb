"""Both inputs of a pair in words: long ones are cut around what differs, or described by their kind and size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.bounds.base import Bools
from dpaudit.contract import MadePair, Pair, Sample
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.check import shared_ends
from dpaudit.neighbours.difference import Difference, described, difference_of, holds_frame

LONGEST = 300
"""Characters of an input that are shown as they are."""
BRIEF, SEVERAL = 40, 120
"""Characters up to which both inputs are read at a glance, so that nobody needs to be told what differs; and those up
to which they say more than a phrase does, where they differ in several places."""
BESIDE, MOST = 3, 12
"""Elements that both inputs share which are shown on either side of those that differ, and the most of all."""
SAME = "the same, but "
"""The beginning of the words for a neighbour that is described by what differs."""


def words_of(pair: Pair) -> tuple[str, str]:
    """Return both inputs as findings describe them."""
    return words_and_difference(pair)[:2]


def words_and_difference(pair: Pair) -> tuple[str, str, str]:
    """Return both inputs as findings describe them, and what differs in a phrase; empty where the words say it.

    Of lists, tuples and arrays that are long, what is shown begins a few elements before the first one that differs.
    Inputs whose beginnings are equal and too long to be shown, and those that hold a data frame, are described by their
    kinds, their sizes and what differs: no row of a data frame that was given is shown unless the pair may be `shown`.
    """
    if isinstance(pair, MadePair) and not pair.shown:
        return (*pair.in_words(), "")
    data, neighbour = pair.data, pair.neighbour
    if isinstance(data, Sample) and isinstance(neighbour, Sample):  # has short words of its own
        return (*pair.in_words(), "")
    framed = holds_frame(data) or holds_frame(neighbour)
    words = None if framed else _around(data, neighbour) or _whole(pair)
    if words is not None and max(map(len, words)) <= BRIEF:
        return (*words, "")
    found = difference_of(data, neighbour, shown=pair.shown)
    if words is None:
        words = _described(data, neighbour, found, pair, framed)
    return (*words, _phrase(found, words))


def _whole(pair: Pair) -> tuple[str, str] | None:
    """Return both inputs as they are; None where they are cut off before what differs."""
    data, neighbour = pair.in_words()
    cut = max(len(data), len(neighbour)) >= LONGEST
    return None if cut or data == neighbour else (data, neighbour)


def _described(data: Any, neighbour: Any, found: Difference | None, pair: Pair, framed: bool) -> tuple[str, str]:
    """Return the kind and size of an input, and what differs in the other, or its kind and size."""
    kinds = described(data), described(neighbour)
    if found is not None and (found.place or kinds[0] == kinds[1]):
        return kinds[0], f"{SAME}{found}"
    if kinds[0] != kinds[1]:
        return kinds
    if framed:
        return kinds[0], f"another {kinds[1].partition(' ')[2]}"
    return pair.in_words()


def _phrase(found: Difference | None, words: tuple[str, str]) -> str:
    if found is None or (not found.single and max(map(len, words)) <= SEVERAL and not words[1].startswith(SAME)):
        return ""
    return str(found)


def _around(data: Any, neighbour: Any) -> tuple[str, str] | None:
    """Return two long values of one type cut around what differs; None for others."""
    if type(data) is not type(neighbour) or not _is_long(data) or not _is_long(neighbour):
        return None
    start, end = shared_ends(data, neighbour, _alike)
    if len(data) == len(neighbour) == start + 1 + end:
        within = _around(data[start], neighbour[start])
        if within is not None:
            return f"row {start} of {len(data)}: {within[0]}", f"row {start} of {len(data)}: {within[1]}"
    return _cut(data, start, end), _cut(neighbour, start, end)


def _is_long(value: Any) -> bool:
    if not isinstance(value, list | tuple | np.ndarray) or not getattr(value, "ndim", 1):
        return False
    size = getattr(value, "size", len(value))  # lists of lists may be ragged, which are no array
    return len(value) > MOST and (len(value) > LONGEST or size > 1_000 or len(repr(value)) > LONGEST)


def _alike(one: Any, other: Any) -> Bools:
    """Say of each two elements whether they are written alike."""
    if isinstance(one, np.ndarray) and one.dtype.kind in "iufb" and one.shape == other.shape:
        same = (one == other) | ((one != one) & (other != other))
        return np.asarray(same.reshape(len(one), math.prod(one.shape[1:])).all(axis=1))
    rows = zip(_rows(one), _rows(other), strict=True)
    return np.array([a is b or stable_repr(a) == stable_repr(b) for a, b in rows], dtype=np.bool_)


def _rows(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _cut(value: Any, start: int, end: int) -> str:
    """Return the elements of a value from a few before the first that differs to a few behind the last."""
    low = max(0, start - BESIDE)
    high = min(len(value) - end + BESIDE, low + MOST, len(value))
    part = value[low:high]
    before, after = f"{low} before, " if low else "", f", {len(value) - high} after" if high < len(value) else ""
    return f"{len(value)} elements: {before}{part!r:.{LONGEST}}{after}"
