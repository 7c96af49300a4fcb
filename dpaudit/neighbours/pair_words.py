"""Describe both inputs of a pair: long ones are cut around what differs, others named by their kind and size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.bounds.base import Bools
from dpaudit.contract import MadePair, Pair, Sample
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.check import Sliceable, shared_ends
from dpaudit.neighbours.difference import Difference, difference_of
from dpaudit.neighbours.input_kinds import described, holds_frame

# Characters of an input that are shown as they are.
LONGEST = 300
# Characters up to which both inputs are read at a glance, so that no phrase says what differs.
BRIEF = 40
# Characters up to which inputs that differ in several places say more than a phrase would.
SEVERAL = 120
# Elements that both inputs share which are shown on either side of those that differ.
CONTEXT = 3
# The most elements that are shown of a long input.
MOST = 12
# The beginning of the words for a neighbour that is described by what differs.
SAME = "the same, but "


def words_of(pair: Pair) -> tuple[str, str]:
    """Return both inputs as findings describe them."""
    return words_and_difference(pair)[:2]


def words_and_difference(pair: Pair) -> tuple[str, str, str]:
    """Return both inputs as findings describe them, and what differs as a phrase; empty if the words already say it.

    Of lists, tuples and arrays that are long, what is shown begins a few elements before the first one that differs.
    Inputs whose beginnings are equal and too long to be shown, and those that hold a data frame, are described by their
    kinds, their sizes and what differs: no row of a data frame that was given is shown unless the pair may be `shown`.
    """
    if isinstance(pair, MadePair) and not pair.shown:
        return (*pair.in_words(), "")
    data = pair.data
    neighbour = pair.neighbour
    # Samples have short words of their own.
    if isinstance(data, Sample) and isinstance(neighbour, Sample):
        return (*pair.in_words(), "")
    framed = holds_frame(data) or holds_frame(neighbour)
    words = None
    if not framed:
        words = _around(data, neighbour) or _whole(pair)
    if words is not None and max(map(len, words)) <= BRIEF:
        return (*words, "")
    found = difference_of(data, neighbour, shown=pair.shown)
    if words is None:
        words = _by_kind(described(data), described(neighbour), found, framed) or pair.in_words()
    return (*words, _phrase(found, words))


def _whole(pair: Pair) -> tuple[str, str] | None:
    """Return both inputs as they are; None if they are cut off before what differs."""
    data, neighbour = pair.in_words()
    if data == neighbour or max(len(data), len(neighbour)) >= LONGEST:
        return None
    return data, neighbour


def _by_kind(kind: str, other: str, found: Difference | None, framed: bool) -> tuple[str, str] | None:
    """Return the kind and size of an input, and what differs in the other, or its kind and size."""
    if found is not None and (found.place or kind == other):
        return kind, f"{SAME}{found}"
    if kind != other:
        return kind, other
    if framed:
        return kind, f"another {other.partition(' ')[2]}"
    return None


def _phrase(found: Difference | None, words: tuple[str, str]) -> str:
    """Return what differs as a phrase; empty if the words of both inputs already say it."""
    if found is None:
        return ""
    short = max(map(len, words)) <= SEVERAL and not words[1].startswith(SAME)
    if short and not found.single:
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
    if isinstance(value, np.ndarray):
        several = value.ndim > 0
    else:
        several = isinstance(value, list | tuple)
    if not several or len(value) <= MOST:
        return False
    if len(value) > LONGEST or (isinstance(value, np.ndarray) and value.size > 1_000):
        return True
    # Lists of lists may be ragged: they have no size but their length and that of their text.
    return len(repr(value)) > LONGEST


def _alike(one: Sliceable, other: Sliceable) -> Bools:
    """Say of each two elements whether they are written alike."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype.kind in "iufb" and one.shape == other.shape:
            same = (one == other) | ((one != one) & (other != other))
            return np.asarray(same.reshape(len(one), math.prod(one.shape[1:])).all(axis=1))
        one = one.tolist()
        other = other.tolist()
    rows = zip(one, other, strict=True)
    return np.array([a is b or stable_repr(a) == stable_repr(b) for a, b in rows], dtype=np.bool_)


def _cut(value: Sliceable, start: int, end: int) -> str:
    """Return the elements of a value from a few before the first that differs to a few behind the last."""
    low = max(0, start - CONTEXT)
    high = min(len(value) - end + CONTEXT, low + MOST, len(value))
    before = f"{low} before, " if low else ""
    after = f", {len(value) - high} after" if high < len(value) else ""
    return f"{len(value)} elements: {before}{value[low:high]!r:.{LONGEST}}{after}"
