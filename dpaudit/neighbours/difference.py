"""The difference between the two inputs of a pair in a phrase: "row 7 of 15 removed", "element 9: 0.0, not 1.0".

The inputs are opaque data of any type. Arrays, data frames and the slices of long lists are compared as a whole, so
that a million of rows takes a second or less; where the comparison would take too long, or a foreign type cannot be
compared, there is no phrase. What is in a data frame is said by its place alone, unless values may be shown.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from enum import Enum
from functools import partial
from itertools import islice
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample
from dpaudit.jsonable import stable_repr

LONGEST_VALUE = 40
"""Characters of a value that are shown."""
CHUNK = 4096
"""Elements of a list that are compared at once: a slice of equal elements is skipped without a look at each."""
MOST_STEPS = 100_000
"""Comparisons of single elements, after which there is no phrase; they take about a second."""
MOST_TYPED = 100_000
"""The most elements of a list that are asked for their types too: 1, 1.0 and True are equal."""
DEEPEST = 20
"""The deepest nesting that is looked into."""
FEW_PARTS = 10
"""The most parts of a tuple that are named as "the second array", and of which each is looked into."""
MOST_REORDERED = 20_000
"""The most elements of which it is asked whether only their order changed."""
MOST_LOOKED_AT, DEEPEST_FRAME = 1_000, 4
"""The number of parts of an input, and their depth, that are asked whether they are data frames."""
_FRAME_LIBRARIES = frozenset(
    {"pandas", "polars", "pyarrow", "xarray", "geopandas", "narwhals", "modin", "cudf", "dask"}
)
_LABELLED = ("columns", "num_rows", "column_names", "dims", "shape", "schema", "collect_schema")
"""Attributes by which a type of such a library is told from its scalars."""
_SCALARS = (Number, Enum, date, time, timedelta, np.generic)
"""Types whose values are shown as a whole, and not by their attributes; dates and times are among them."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class _TooLong(Exception):
    """The comparison would take too long."""


@dataclass(frozen=True)
class Difference:
    """The difference between two values.

    Parameters
    ----------
    what : str
        What happened there, as " removed" or ": 1, not 0".
    place : tuple of str
        Where, from the inside to the outside, as ("element 0", "the second array").
    total : int
        How many elements there are of the kind of the first place; 0 if that is not said.
    single : bool
        Whether one place differs.
    """

    what: str
    place: tuple[str, ...] = ()
    total: int = 0
    single: bool = True

    def within(self, outer: str) -> Difference:
        """Return the difference as that of a part."""
        return replace(self, place=(*self.place, outer))

    def __str__(self) -> str:
        where = " of ".join(self.place)
        if self.total and len(self.place) == 1:
            where += f" of {self.total:,}"
        return f"{where}{self.what}".removeprefix(": ").strip()


def difference_of(data: Any, neighbour: Any, *, shown: bool = False) -> Difference | None:
    """Return what differs between two inputs; None where nothing is known to, or it cannot be said in short.

    Values in data frames are only named if they may be `shown`; those of lists, arrays and other inputs always are.
    """
    try:
        return _Comparison(shown).compare(data, neighbour)
    except (Exception, RecursionError):  # a foreign type may raise anything where it is compared
        return None


def is_frame(value: Any) -> bool:
    """Return whether a value is a table or a labelled array of a library, whose text would show its records."""
    kind = type(value)
    if kind.__module__ == "builtins":  # every job of an audit asks this of its input, which is mostly plain
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
    return list(islice(_attributes(value).values(), most))


def described(value: Any) -> str:
    """Return the kind and the size of an input, without any of its values."""
    if is_frame(value):
        return _described_frame(value)
    kind = type(value).__name__
    with suppress(Exception):
        if isinstance(value, list | tuple) and 0 < len(value) <= FEW_PARTS and (noun := _noun_of_parts(value)):
            return f"a {kind} of {len(value)} {noun}s" if len(value) > 1 else f"a {kind} of one {noun}"
        if isinstance(value, str | bytes | bytearray):
            return f"a text of {len(value):,} characters" if isinstance(value, str) else f"{len(value):,} bytes"
        if isinstance(value, Mapping):
            return f"{_article(kind)} of {_count(len(value), 'key')}"
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape:
            noun = "an array" if isinstance(value, np.ndarray) else _article(kind)
            return f"{noun} of shape {tuple(map(int, shape))}"
        if isinstance(value, list | tuple | Set) or hasattr(value, "__len__"):
            return f"{_article(kind)} of {_count(len(value), 'element')}"
    return _article(kind)


def _described_frame(frame: Any) -> str:
    kind = _article(type(frame).__name__)
    with suppress(Exception):
        if hasattr(frame, "data_vars"):
            return f"{kind} of {_count(len(frame.data_vars), 'variable')}"
        if hasattr(frame, "dims") and hasattr(frame, "values"):
            return f"{kind} of shape {tuple(frame.shape)}"
        columns = _columns(frame)
        if columns is None:
            return kind
        if columns.alone:
            return f"{kind} of {_count(columns.size, 'element')}"
        return f"{kind} of {_count(columns.size, 'row')} and {_count(len(columns.names), 'column')}"
    return kind


def _article(kind: str) -> str:
    return f"{'an' if kind[:1].upper() in ('A', 'E', 'I', 'O', 'U') else 'a'} {kind}"


def _kind(value: Any) -> str:
    return "None" if value is None else _article(type(value).__name__)


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


class _Columns(NamedTuple):
    """The columns of a data frame: names, values, dtypes in words; `alone` if it is one column without a name."""

    names: list[Any]
    values: list[Any]
    kinds: list[str]
    size: int
    alone: bool = False


class _Ends(NamedTuple):
    """The number of elements that two sequences share at the start, and at the end beside those."""

    start: int
    end: int


@dataclass
class _Comparison:
    """One comparison: how much it has done, and what it is in."""

    shown: bool
    steps: int = 0
    depth: int = 0
    under: set[tuple[int, int]] = field(default_factory=set)
    """The pairs of objects that are being compared: an object may hold itself."""
    hidden: bool = False
    """Whether it is in a data frame whose values are not shown."""

    def compare(self, one: Any, other: Any) -> Difference | None:
        """Return what differs between two values; None where nothing does."""
        if one is other:
            return None
        self.steps += 1
        if self.steps > MOST_STEPS or self.depth > DEEPEST:
            raise _TooLong
        key = (id(one), id(other))
        if key in self.under:
            return None
        self.under.add(key)
        self.depth += 1
        try:
            return self._compared(one, other)
        finally:
            self.depth -= 1
            self.under.discard(key)

    def _compared(self, one: Any, other: Any) -> Difference | None:
        if is_frame(one) and is_frame(other):
            return self._in_frame(lambda: self._frames(one, other))
        if is_frame(one) or is_frame(other):
            return Difference(f": {_kind(other)}, not {_kind(one)}")
        first, second = _as_array(one), _as_array(other)
        if first is not None and second is not None:
            return self._arrays(first, second)
        if _is_sparse(one) and _is_sparse(other):
            return self._sparse(one, other)
        if isinstance(one, str | bytes | bytearray) and type(one) is type(other):
            return self._texts(one, other)
        if isinstance(one, _SCALARS) or one is None:
            return self._scalars(one, other)
        if type(one) is not type(other):
            if _kind(one) == _kind(other):  # classes of one name
                return None
            return Difference(f": {_kind(other)}, not {_kind(one)}")
        if isinstance(one, Mapping):
            return self._mappings(one, other)
        if isinstance(one, tuple) and hasattr(one, "_fields"):
            return self._parts(
                lambda name: f"field {name}",
                dict(zip(one._fields, one, strict=True)),
                dict(zip(other._fields, other, strict=True)),
            )
        if isinstance(one, list | tuple):
            return self._sequences(one, other)
        if isinstance(one, Set):
            return self._sets(one, other)
        if _is_sequence(one):
            return self._sequences(list(one), list(other))
        return self._objects(one, other)

    # Single values.

    def _value(self, value: Any) -> str:
        """Return a value in short, in one line; empty where it may not be shown."""
        if self.hidden or holds_frame(value):
            return ""
        dated = isinstance(value, np.datetime64 | np.timedelta64)
        text = str(value) if dated else " ".join(stable_repr(_plain(value)).split())
        return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."

    def _change(self, one: Any, other: Any) -> str:
        """Return " differs", or both values where they may be shown and differ in what is shown of them."""
        was, now = self._value(one), self._value(other)
        return f": {now}, not {was}" if was and now and was != now else " differs"

    def _scalars(self, one: Any, other: Any) -> Difference | None:
        plain = [_plain(value) for value in (one, other)]
        if type(plain[0]) is type(plain[1]) and stable_repr(plain[0]) == stable_repr(plain[1]):
            return None
        return Difference(self._change(one, other))

    # Sequences.

    def _alike(self, one: Any, other: Any) -> bool:
        return self.compare(one, other) is None

    def _lead(self, one: Sequence[Any], other: Sequence[Any]) -> int:
        """Return how many elements two sequences share at the start."""
        most = min(len(one), len(other))
        for at in range(0, most, CHUNK):
            first, second = one[at : min(at + CHUNK, most)], other[at : min(at + CHUNK, most)]
            if _surely_equal(first, second):
                continue
            for place, (a, b) in enumerate(zip(first, second, strict=True)):
                if not self._alike(a, b):
                    return at + place
        return most

    def _ends(self, one: Sequence[Any], other: Sequence[Any]) -> _Ends:
        start = self._lead(one, other)
        left = min(len(one), len(other)) - start
        # The elements at the end that are not shared at the start.
        end = self._lead(one[len(one) - left :][::-1], other[len(other) - left :][::-1])
        return _Ends(start, end)

    def _sequences(self, one: Sequence[Any], other: Sequence[Any]) -> Difference | None:
        if len(one) == len(other) <= FEW_PARTS and _has_parts(one):
            names = {i: _part_name(one, i) for i in range(len(one))}
            return self._parts(names.__getitem__, dict(enumerate(one)), dict(enumerate(other)))
        ends = self._ends(one, other)
        gone, come = one[ends.start : len(one) - ends.end], other[ends.start : len(other) - ends.end]
        if not gone and not come:
            return self._of_types(one, other)
        if len(gone) == len(come) == 1:
            found = self.compare(gone[0], come[0])
            place = f"element {ends.start}"
            if found is None:
                return None
            nested = bool(found.place)
            return replace(found.within(place), total=found.total if nested else len(one))
        if len(gone) == len(come):
            places = [ends.start + i for i, pair in enumerate(zip(gone, come, strict=True)) if not self._alike(*pair)]
            return self._several("element", places, len(one), one, other)
        return self._moved("element", ends.start, gone, come, len(one), len(other))

    def _of_types(self, one: Sequence[Any], other: Sequence[Any]) -> Difference | None:
        """Return the difference of equal elements of unlike types, as 1 and True."""
        if len(one) > MOST_TYPED:
            return None
        for place, (first, second) in enumerate(zip(one, other, strict=True)):
            if first is not second and (found := self.compare(first, second)) is not None:
                return found.within(f"element {place}")
        return None

    def _several(self, noun: str, places: Sequence[int], size: int, one: Any, other: Any) -> Difference | None:
        """Return the difference of two sequences of one length that differ at several places."""
        if not places:
            return None
        first, last = places[0], places[-1]
        if len(places) == 2 and self._alike(one[first], other[last]) and self._alike(one[last], other[first]):
            return Difference(" exchanged", (f"{noun}s {first} and {last}",))
        if size <= MOST_REORDERED and _reordered(one, other):
            return Difference(" in another order", (f"the same {size:,} {noun}s",))
        found = self.compare(one[first], other[first])
        what = f"{noun} {first}" if found is None else str(found.within(f"{noun} {first}"))
        return _of_many(f"{len(places):,} of {size:,} {noun}s", f" differ, the first is {what}")

    def _moved(self, noun: str, start: int, gone: Any, come: Any, before: int, after: int) -> Difference:
        """Return the difference of two sequences, one of which has elements in the place of others."""

        def named(count: int) -> str:
            return f"{noun} {start}" if count == 1 else f"{noun}s {start} to {start + count - 1}"

        def values(some: Any) -> str:
            text = self._value(some[0]) if len(some) == 1 else ""
            if not text or text.endswith("..."):
                return ""
            return f" {text}" if text.startswith("(") else f" ({text})"

        if not len(come):
            return Difference(f" removed{values(gone)}", (named(len(gone)),), before)
        if not len(gone):
            return Difference(f" added{values(come)}", (named(len(come)),), after)
        others = "another" if len(come) == 1 else f"{len(come):,} others"
        return Difference(f" replaced by {others}", (named(len(gone)),), before, single=False)

    def _texts(self, one: Any, other: Any) -> Difference | None:
        ends = _text_ends(one, other)
        gone, come = one[ends.start : len(one) - ends.end], other[ends.start : len(other) - ends.end]
        if not gone and not come:
            return None
        if max(len(one), len(other)) <= LONGEST_VALUE:
            return Difference(self._change(one, other))
        noun = "character" if isinstance(one, str) else "byte"
        place = f"{noun} {ends.start}"
        if max(len(gone), len(come)) > 1:
            place = f"{noun}s {ends.start} to {ends.start + max(len(gone), len(come)) - 1}"
        if gone and come:
            return Difference(self._change(gone, come), (place,), len(one))
        value = self._value(gone or come)
        total = len(one) if gone else len(other)
        return Difference(f" {'removed' if gone else 'added'}{f' ({value})' if value else ''}", (place,), total)

    def _sets(self, one: Any, other: Any) -> Difference | None:
        gone, come = one - other, other - one
        if not gone and not come:
            return None
        if len(gone) == len(come) == 1:
            was, now = self._value(next(iter(gone))), self._value(next(iter(come)))
            return Difference(f": {now} in the place of {was}" if was and now else ": one element replaced by another")
        if len(gone) + len(come) == 1:
            value = self._value(next(iter(gone or come))) or "one element"
            return Difference(f": {value} {'removed' if gone else 'added'}")
        parts = [f"{len(gone):,} removed"] if gone else []
        parts += [f"{len(come):,} added"] if come else []
        return Difference(f": of the elements {' and '.join(parts)}", single=False)

    # Named parts.

    def _mappings(self, one: Mapping[Any, Any], other: Mapping[Any, Any]) -> Difference | None:
        found = self._parts(lambda key: f"key {self._value(key) or '(not shown)'}", one, other)
        if found is None and list(one) != list(other):
            return Difference(" in another order", ("the keys",))
        return found

    def _parts(
        self, named: Callable[[Any], str], one: Mapping[Any, Any], other: Mapping[Any, Any]
    ) -> Difference | None:
        """Return the difference of values of named parts."""
        found: list[Difference] = []
        for key, value in one.items():
            if key not in other:
                found.append(Difference(" removed", (named(key),)))
            elif not _same_plain(value, other[key]) and (inner := self.compare(value, other[key])) is not None:
                found.append(inner.within(named(key)))
        found += [Difference(" added", (named(key),)) for key in other if key not in one]
        if len(found) < 2:
            return found[0] if found else None
        if len(found) == 2:
            return Difference(" and ".join(map(str, found)), single=all(one.single for one in found))
        return _of_many(f"{len(found):,} of {len({*one, *other}):,} parts", f" differ, the first is {found[0]}")

    def _objects(self, one: Any, other: Any) -> Difference | None:
        first, second = _attributes(one), _attributes(other)
        if first or second:
            noun = "field" if dataclasses.is_dataclass(one) else "attribute"
            return self._parts(lambda name: f"{noun} {name}", first, second)
        if self._value(one) == self._value(other):
            return None
        return Difference(self._change(one, other))

    # Arrays.

    def _arrays(self, one: NDArray[Any], other: NDArray[Any]) -> Difference | None:
        masks = [getattr(array, "mask", None) for array in (one, other)]
        if any(isinstance(mask, np.ndarray) and mask.ndim for mask in masks):
            found = self._arrays(np.ma.getmaskarray(one), np.ma.getmaskarray(other))
            if found is not None and one.shape == other.shape:
                return found.within("the mask")
            one, other = np.ma.getdata(one), np.ma.getdata(other)
        if one.ndim != other.ndim or one.ndim == 0:
            if one.shape != other.shape:
                return Difference(f": shape {other.shape}, not {one.shape}")
            return self._scalars(one[()], other[()])
        unlike = [axis for axis in range(one.ndim) if one.shape[axis] != other.shape[axis]]
        if len(unlike) > 1:
            return Difference(f": shape {other.shape}, not {one.shape}")
        found = self._along(one, other, unlike[0]) if unlike else self._same_shape(one, other)
        if found is None and one.dtype != other.dtype:
            return Difference(f": dtype {other.dtype}, not {one.dtype}")
        return found

    def _along(self, one: NDArray[Any], other: NDArray[Any], axis: int) -> Difference:
        """Return the difference of arrays that are longer or shorter in one axis."""
        noun = "element" if one.ndim == 1 else ("row", "column")[axis] if axis < 2 else f"slice of axis {axis}"
        first, second = np.moveaxis(one, axis, 0), np.moveaxis(other, axis, 0)
        ends = _array_ends(first, second)
        gone, come = first[ends.start : len(first) - ends.end], second[ends.start : len(second) - ends.end]
        return self._moved(noun, ends.start, gone, come, len(first), len(second))

    def _same_shape(self, one: NDArray[Any], other: NDArray[Any]) -> Difference | None:
        differs = ~_equal_cells(one, other)
        number = int(differs.sum())
        if not number:
            return None
        places = np.argwhere(differs)
        first = tuple(places[0].tolist())
        name = f"element {first[0]}" if one.ndim == 1 else f"element {first}"
        change = self._change(one[first], other[first])
        if number == 1:
            return Difference(change, (name,), one.size if one.ndim == 1 else 0)
        if one.ndim == 1:
            if number == 2:
                return self._several("element", places[:, 0].tolist(), one.size, one, other)
            first_words = f"{name}{change}".removesuffix(" differs")
            return _of_many(f"{number:,} of {one.size:,} elements", f" differ, the first is {first_words}")
        rows = np.unique(places[:, 0])
        if len(rows) == 1:
            wide = f"{number} of {_count(one[0].size, 'column' if one.ndim == 2 else 'element')}"
            return Difference(f" differs in {wide}", (f"row {first[0]}",), len(one))
        several = f"{len(rows):,} of {len(one):,} rows"
        if one.ndim == 2 and len(np.unique(places[:, 1])) == 1:
            return _of_many(f"column {first[1]}", f" differs in {several}, the first is row {first[0]}")
        return _of_many(several, f" differ, the first is row {first[0]}")

    def _sparse(self, one: Any, other: Any) -> Difference | None:
        first, second = one.tocsr(), other.tocsr()
        if first.shape[1:] != second.shape[1:]:
            return Difference(f": shape {second.shape}, not {first.shape}")
        if first.shape == second.shape:
            apart = (first != second).tocoo()
            rows = np.unique(apart.row)
            if not apart.nnz:
                return None
            place = int(apart.row[0]), int(apart.col[0])
            if apart.nnz == 1:
                return Difference(self._change(first[place], second[place]), (f"element {place}",))
            if len(rows) == 1:
                return Difference(f" differs in {apart.nnz} of {_count(first.shape[1], 'column')}", (f"row {rows[0]}",))
            return _of_many(f"{len(rows):,} of {first.shape[0]:,} rows", f" differ, the first is row {rows[0]}")
        start = _sparse_lead(first, second)
        left = min(first.shape[0], second.shape[0]) - start
        end = min(left, _sparse_lead(first[::-1], second[::-1]))
        gone, come = (range(start, size - end) for size in (first.shape[0], second.shape[0]))
        hidden, self.hidden = self.hidden, True  # a row of a sparse matrix has no short text
        try:
            return self._moved("row", start, gone, come, first.shape[0], second.shape[0])
        finally:
            self.hidden = hidden

    # Data frames.

    def _in_frame(self, compare: Callable[[], Difference | None]) -> Difference | None:
        before = self.hidden
        self.hidden = before or not self.shown
        try:
            return compare()
        finally:
            self.hidden = before

    def _frames(self, one: Any, other: Any) -> Difference | None:
        if hasattr(one, "data_vars") and hasattr(other, "data_vars"):
            found = self._parts(lambda name: f"variable {_name(name)}", dict(one.data_vars), dict(other.data_vars))
            return found or self._beside(one, other)
        if hasattr(one, "dims") and hasattr(one, "values") and hasattr(other, "dims"):
            return self._arrays(np.asarray(one.values), np.asarray(other.values)) or self._beside(one, other)
        first, second = _columns(one), _columns(other)
        if first is None or second is None:
            return None
        if not first.alone and first.names != second.names:
            return _of_names(first.names, second.names)
        found = self._rows(first, second) if first.size == second.size else self._frame_ends(first, second)
        if found is not None:
            return found
        if first.kinds != second.kinds:
            i = next(i for i, (a, b) in enumerate(zip(first.kinds, second.kinds, strict=True)) if a != b)
            change = f": dtype {second.kinds[i]}, not {first.kinds[i]}"
            return Difference(change, () if first.alone else (f"column {_name(first.names[i])}",))
        return self._beside(one, other)

    def _rows(self, one: _Columns, other: _Columns) -> Difference | None:
        """Return the difference of frames of as many rows."""
        masks = [~_equal_cells(a, b) for a, b in zip(one.values, other.values, strict=True)]
        changed = [i for i, mask in enumerate(masks) if mask.any()]
        if not changed:
            return None
        noun = "element" if one.alone else "row"
        rows = np.flatnonzero(np.logical_or.reduce([masks[i] for i in changed]))
        row, column = int(rows[0]), _name(one.names[changed[0]])
        if len(rows) == 1 and len(changed) == 1:
            change = self._change(one.values[changed[0]][row], other.values[changed[0]][row])
            if one.alone:
                return Difference(change, (f"{noun} {row}",), one.size)
            return Difference(change, (f"column {column}", f"row {row}"))
        if len(rows) == 1:
            if len(changed) == len(masks):
                return Difference(" replaced", (f"row {row}",), one.size)
            return Difference(f" differs in {len(changed)} of {len(masks)} columns", (f"row {row}",), one.size)
        several = f"{len(rows):,} of {one.size:,} {noun}s"
        if len(changed) == 1 and not one.alone:
            return _of_many(f"column {column}", f" differs in {several}, the first is row {row}")
        return _of_many(several, f" differ, the first is {noun} {row}")

    def _frame_ends(self, one: _Columns, other: _Columns) -> Difference:
        """Return the difference of frames of unlike numbers of rows."""
        both = list(zip(one.values, other.values, strict=True))
        most = min(one.size, other.size)
        start = min((_array_lead(a, b) for a, b in both), default=most)
        end = min((_array_lead(a[::-1], b[::-1]) for a, b in both), default=0)
        end = min(end, most - start)

        def part(columns: _Columns) -> list[tuple[Any, ...]]:
            stop = columns.size - end
            if stop - start != 1:
                return [()] * (stop - start)
            row = tuple(_plain(values[start]) for values in columns.values)
            return [row[0]] if columns.alone else [row]

        noun = "element" if one.alone else "row"
        return self._moved(noun, start, part(one), part(other), one.size, other.size)

    def _beside(self, one: Any, other: Any) -> Difference | None:
        """Return what differs beside the values of two frames: in the index, in attributes or in metadata."""
        if hasattr(one, "index") and hasattr(other, "index") and hasattr(one, "iloc"):
            first, second = one.index, other.index
            if list(first.names) != list(second.names):
                return Difference(" differ", ("the names", "the index"), single=False)
            labels = [np.asarray(index.to_numpy(), dtype=object) for index in (first, second)]
            if len(labels[0]) == len(labels[1]) and not (same := _equal_cells(*labels)).all():
                return Difference(f" differs from row {int(np.argmin(same))} on", ("the index",))
        for name in ("attrs", "coords"):
            if not hasattr(one, name) or not hasattr(other, name):
                continue
            first, second = dict(getattr(one, name)), dict(getattr(other, name))
            if name == "coords":  # labelled arrays, each of which has itself as a coordinate
                first, second = ({key: value.values for key, value in side.items()} for side in (first, second))
            found = self._parts(partial(_beside_name, name), first, second)
            if found is not None:
                return found
        systems = [str(getattr(side, "crs", "")) for side in (one, other)]  # of geopandas
        if systems[0] != systems[1]:
            return Difference(" differs", ("the coordinate system",))
        schemas = [getattr(side, "schema", None) for side in (one, other)]
        metadata = [getattr(schema, "metadata", None) for schema in schemas]
        if metadata[0] != metadata[1]:
            return Difference(" differs", ("the metadata of the schema",))
        dims = [getattr(side, "dims", None) for side in (one, other)]
        return Difference(" are named otherwise", ("the dimensions",)) if dims[0] != dims[1] else None


def _beside_name(kind: str, key: Any) -> str:
    return f"{'attribute' if kind == 'attrs' else 'coordinate'} {_name(key)}"


def _of_many(subject: str, what: str) -> Difference:
    return Difference(what, (subject,), single=False)


def _plain(value: Any) -> Any:
    """Return a number of numpy as Python's, an array as a list, and what is in a tuple in the same way."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.size <= LONGEST_VALUE:
        return value.tolist()
    return tuple(map(_plain, value)) if type(value) is tuple else value


def _same_plain(one: Any, other: Any) -> bool:
    """Return whether two values are one object, or equal plain ones of one type."""
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, int | float | str | bytes) and one == other


def _of_names(one: list[Any], other: list[Any]) -> Difference:
    gone, come = ([name for name in names if name not in rest] for names, rest in ((one, other), (other, one)))
    if len(gone) == len(come) == 1 and len(one) == len(other):
        return Difference(f" is named {_name(come[0])}", (f"column {_name(gone[0])}",))
    if len(gone) + len(come) == 1:
        return Difference(" removed" if gone else " added", (f"column {_name((gone or come)[0])}",))
    if not gone and not come:
        return Difference(" in another order" if len(one) == len(other) else " repeated", ("the columns",))
    return _of_many("the columns", f": {len(gone)} removed and {len(come)} added")


def _name(name: Any) -> str:
    """Return the name of a column, in short."""
    text = " ".join(str(name).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def _kind_of_part(part: Any) -> str:
    """Return what a part of an input is, as "array"; empty for a plain value."""
    if is_frame(part):
        return "frame"
    if _is_sparse(part) or (np.ndim(part) if isinstance(part, np.ndarray) else _as_array(part) is not None):
        return "array"
    kind = type(part)
    return str(kind.__name__) if kind in (list, tuple, dict) else ""


def _has_parts(parts: Sequence[Any]) -> bool:
    """Return whether a short sequence consists of datasets, as features and labels; a list of records does not."""
    kinds = {_kind_of_part(part) for part in parts}
    return bool(kinds - {""} if isinstance(parts, tuple) else kinds & {"array", "frame"})


def _part_name(parts: Sequence[Any], index: int) -> str:
    """Return "the array" or "the second array" of a part, "element 1" of a plain value."""
    kinds = [_kind_of_part(part) for part in parts]
    kind = kinds[index]
    if not kind:
        return f"element {index}"
    if kinds.count(kind) == 1:
        return f"the {kind}"
    return f"the {_ORDINALS[kinds[:index].count(kind)]} {kind}"


def _noun_of_parts(parts: Sequence[Any]) -> str:
    """Return what all parts of a short sequence are, as "array"; "part" of those of several kinds, else empty."""
    if not _has_parts(parts):
        return ""
    kinds = {_kind_of_part(part) for part in parts}
    return kinds.pop() if len(kinds) == 1 else "part"


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object by name; none of a class, a module or a function."""
    if isinstance(value, type) or (callable(value) and hasattr(value, "__code__")) or hasattr(value, "__path__"):
        return {}
    found: dict[str, Any] = {}
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            with suppress(AttributeError):
                found[name] = getattr(value, name)
    names = getattr(type(value), "__struct_fields__", ())  # of msgspec
    found |= {name: getattr(value, name) for name in names}
    held = getattr(value, "__dict__", {})
    found |= {str(name): one for name, one in held.items()} if isinstance(held, dict) else {}
    return {name: one for name, one in found.items() if name not in ("__dict__", "__weakref__")}


def _is_sequence(value: Any) -> bool:
    """Return whether a value of another library is a sequence of elements, as a deque or an awkward array."""
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and hasattr(value, "__getitem__")


def _is_sparse(value: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value)) and getattr(value, "ndim", 2) == 2


def _as_array(value: Any) -> NDArray[Any] | None:
    """Return an array of any library as numpy's; None for what is none, and for data frames."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic | str | bytes | list | tuple | int | float) or is_frame(value) or _is_sparse(value):
        return None
    if not isinstance(getattr(value, "shape", None), tuple) or not hasattr(value, "dtype"):
        return None
    with suppress(Exception):
        if hasattr(value, "detach"):  # a tensor of torch, whose numbers may be of a type that numpy has not
            value = value.detach().cpu()
            with suppress(TypeError):
                return np.asarray(value.numpy())
            return np.asarray(value.float().numpy())
        return np.asarray(value)
    return None


def _surely_equal(one: Any, other: Any) -> bool:
    """Return whether two slices are equal, as far as a quick look tells; 1 and True are."""
    try:
        return bool(one == other)
    except Exception:  # arrays in a list have no one truth value
        return False


def _text_ends(one: Any, other: Any) -> _Ends:
    def lead(first: Any, second: Any) -> int:
        low, high = 0, min(len(first), len(second))
        while low < high:  # equal up to the middle or not
            middle = (low + high + 1) // 2
            if first[low:middle] == second[low:middle]:
                low = middle
            else:
                high = middle - 1
        return low

    start = lead(one, other)
    left = min(len(one), len(other)) - start
    return _Ends(start, lead(one[len(one) - left :][::-1], other[len(other) - left :][::-1]))


def _reordered(one: Any, other: Any) -> bool:
    first, second = (Counter(map(stable_repr, side)) for side in (one, other))
    return first == second


def _equal_cells(one: Any, other: Any) -> NDArray[np.bool_]:
    """Say of each cell of two arrays of one shape whether they are alike: NaN is like NaN."""
    with suppress(Exception):
        if one.dtype != object and other.dtype != object and one.dtype.names is None:
            same = np.asarray(one == other)
            if same.shape == one.shape:
                if one.dtype.kind in "fcmM" and other.dtype.kind in "fcmM":
                    same = same | ((one != one) & (other != other))
                return same.astype(np.bool_)
    first, second = (np.asarray(side).reshape(-1).tolist() for side in (one, other))
    alike = np.ones(len(first), dtype=np.bool_)
    for at in range(0, len(first), CHUNK):
        some, twins = first[at : at + CHUNK], second[at : at + CHUNK]
        if not _surely_equal(some, twins):
            one_by_one = [a is b or _same_value(a, b) for a, b in zip(some, twins, strict=True)]
            alike[at : at + CHUNK] = np.array(one_by_one, dtype=np.bool_)
    return alike.reshape(np.shape(one))


def _same_value(one: Any, other: Any) -> bool:
    """Return whether two objects in arrays are alike, by their texts where they cannot be compared."""
    with suppress(Exception):
        if type(one) is type(other) and bool(one == other):
            return True
    return type(one) is type(other) and stable_repr(one) == stable_repr(other)


def _array_lead(one: NDArray[Any], other: NDArray[Any]) -> int:
    most = min(len(one), len(other))
    step = most if one.dtype != object and other.dtype != object else CHUNK
    for at in range(0, most, max(1, step)):
        stop = min(at + step, most)
        same = _equal_cells(one[at:stop], other[at:stop])
        whole = same.reshape(stop - at, -1).all(axis=1) if same.ndim > 1 else same
        if not whole.all():
            return at + int(np.argmin(whole))
    return most


def _array_ends(one: NDArray[Any], other: NDArray[Any]) -> _Ends:
    start = _array_lead(one, other)
    return _Ends(start, min(_array_lead(one[::-1], other[::-1]), min(len(one), len(other)) - start))


def _sparse_lead(one: Any, other: Any) -> int:
    """Return how many rows two matrices share at the start."""
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


# Data frames of libraries.


def _columns(frame: Any) -> _Columns | None:
    """Return the columns of a data frame, or of a labelled array as one; None where they cannot be read."""
    if hasattr(frame, "to_native") and type(frame).__module__.startswith("narwhals"):
        return _columns(frame.to_native())
    if hasattr(frame, "iloc"):
        if getattr(frame, "ndim", 2) == 1:
            return _Columns([frame.name], [_of_pandas(frame)], [str(frame.dtype)], len(frame), alone=True)
        held = [frame.iloc[:, i] for i in range(len(frame.columns))]
        kinds = [str(column.dtype) for column in held]
        return _Columns(list(frame.columns), [_of_pandas(one) for one in held], kinds, len(frame))
    top = type(frame).__module__.partition(".")[0]
    if top == "polars" and hasattr(frame, "get_columns"):
        held = frame.get_columns()
        return _Columns(
            list(frame.columns), [_listed(one.to_list()) for one in held], [str(one.dtype) for one in held], len(frame)
        )
    if top == "polars" and hasattr(frame, "to_list"):
        return _Columns([frame.name], [_listed(frame.to_list())], [str(frame.dtype)], len(frame), alone=True)
    if hasattr(frame, "column_names") and hasattr(frame, "num_rows"):
        held = [frame.column(i) for i in range(frame.num_columns)]
        kinds = [str(one.type) for one in held]
        return _Columns(list(frame.column_names), [_of_arrow(one) for one in held], kinds, frame.num_rows)
    if hasattr(frame, "to_pylist"):
        return _Columns([None], [_of_arrow(frame)], [str(frame.type)], len(frame), alone=True)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(frame, "__arrow_c_stream__"):
        return _columns(arrow.table(frame))
    if hasattr(frame, "to_numpy"):
        values = np.asarray(frame.to_numpy())
        return _Columns([None], [values], [str(values.dtype)], len(values), alone=True)
    return None


def _listed(values: list[Any]) -> NDArray[Any]:
    """Return values as an array that holds each as it is."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _of_pandas(column: Any) -> NDArray[Any]:
    if column.dtype.kind in "iufbcmM" and isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(dtype=object), dtype=object)


def _of_arrow(column: Any) -> NDArray[Any]:
    if column.null_count == 0:
        with suppress(Exception):
            chunked = hasattr(column, "chunks")
            found = np.asarray(column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False))
            if found.dtype.kind in "iufb":
                return found
    return _listed(column.to_pylist())
