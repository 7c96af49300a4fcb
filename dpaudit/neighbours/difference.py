"""Compare the two inputs of a pair, and say what differs: "row 7 of 15 removed", "element 9: 0.0, not 1.0".

The inputs are opaque data of any type. Arrays, data frames and the slices of long lists are compared as a whole, so
that a million of rows takes a second or less; if the comparison would take too long, or a foreign type cannot be
compared, there is no phrase. Of what is in a data frame only the place is named, unless values may be shown.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from enum import Enum
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.frame_columns import Columns, Frame, columns_of
from dpaudit.neighbours.input_kinds import (
    FEW_PARTS,
    as_array,
    attributes_of,
    counted,
    has_parts,
    holds_frame,
    is_frame,
    is_sequence,
    is_sparse,
    kind_of,
    part_name,
)
from dpaudit.neighbours.shared_elements import (
    CHUNK,
    Text,
    array_ends,
    array_lead,
    equal_cells,
    same_plain,
    sparse_ends,
    surely_equal,
    text_ends,
)

if TYPE_CHECKING:
    import xarray
    from scipy import sparse

# Characters of a value that are shown.
LONGEST_VALUE = 40
# Comparisons of single elements, after which there is no phrase; they take about a second.
MOST_STEPS = 100_000
# The most elements of a list that are asked for their types too: 1, 1.0 and True are equal.
MOST_TYPED = 100_000
# The deepest nesting that is looked into.
DEEPEST = 20
# The most elements that are compared without regard to their order.
MOST_REORDERED = 20_000
# Types whose values are shown as a whole, and not by their attributes; dates and times are among them.
_SCALARS = (Number, Enum, date, time, timedelta, np.generic)

_Value = TypeVar("_Value")
_Key = TypeVar("_Key", bound=Hashable)


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

    @classmethod
    def of_many(cls, subject: str, what: str) -> Difference:
        """Return a difference in several places."""
        return cls(what, (subject,), single=False)

    def within(self, outer: str) -> Difference:
        """Return the difference as that of a part."""
        return replace(self, place=(*self.place, outer))

    def __str__(self) -> str:
        where = " of ".join(self.place)
        if self.total and len(self.place) == 1:
            where += f" of {self.total:,}"
        return f"{where}{self.what}".removeprefix(": ").strip()


def difference_of(data: _Value, neighbour: _Value, *, shown: bool = False) -> Difference | None:
    """Return what differs between two inputs; None if nothing is known to, or it cannot be said in short.

    Values in data frames are only named if they may be `shown`; those of lists, arrays and other inputs always are.
    """
    try:
        return _Comparison(shown).compare(data, neighbour)
    # A foreign type may raise anything when it is compared.
    except (Exception, RecursionError):
        return None


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

    def compare(self, one: _Value, other: _Value) -> Difference | None:
        """Return what differs between two values; None if nothing does."""
        if one is other:
            return None
        self.steps += 1
        if self.steps > MOST_STEPS or self.depth > DEEPEST:
            raise RecursionError("the comparison would take too long")
        key = (id(one), id(other))
        # An object that holds itself comes back here: the comparison under way decides on it.
        if key in self.under:
            return None
        self.under.add(key)
        self.depth += 1
        try:
            return self._by_kind(one, other)
        finally:
            self.depth -= 1
            self.under.discard(key)

    def _by_kind(self, one: Any, other: Any) -> Difference | None:
        # Frames come first: they look like arrays and like mappings of columns too.
        if is_frame(one) and is_frame(other):
            with self._hiding(not self.shown):
                return self._frames(one, other)
        if is_frame(one) or is_frame(other):
            return Difference(f": {kind_of(other)}, not {kind_of(one)}")
        first = as_array(one)
        second = as_array(other)
        if first is not None and second is not None:
            return self._arrays(first, second)
        if is_sparse(one) and is_sparse(other):
            return self._sparse(one.tocsr(), other.tocsr())
        if isinstance(one, str | bytes | bytearray) and type(one) is type(other):
            return self._texts(one, other)
        if isinstance(one, _SCALARS) or one is None:
            return self._scalars(one, other)
        if type(one) is not type(other):
            # Two classes of one name: words would not distinguish them.
            if kind_of(one) == kind_of(other):
                return None
            return Difference(f": {kind_of(other)}, not {kind_of(one)}")
        if isinstance(one, Mapping):
            return self._mappings(one, other)
        # Before tuples: a named tuple is one, and its fields have names to say.
        if isinstance(one, tuple) and hasattr(one, "_fields"):
            fields = dict(zip(one._fields, one, strict=True))
            others = dict(zip(other._fields, other, strict=True))
            return self._parts(lambda name: f"field {name}", fields, others)
        if isinstance(one, list | tuple):
            return self._sequences(one, other)
        if isinstance(one, Set):
            return self._sets(one, other)
        if is_sequence(one):
            return self._sequences(list(one), list(other))
        return self._objects(one, other)

    @contextmanager
    def _hiding(self, hides: bool) -> Iterator[None]:
        """Show no values meanwhile if `hides`, and as before afterwards."""
        before = self.hidden
        self.hidden = before or hides
        try:
            yield
        finally:
            self.hidden = before

    # Single values.

    def _value(self, value: Any) -> str:
        """Return a value in short, in one line; empty if it may not be shown."""
        if self.hidden or holds_frame(value):
            return ""
        if isinstance(value, np.datetime64 | np.timedelta64):
            return _shortened(str(value))
        return _shortened(" ".join(stable_repr(_plain(value)).split()))

    def _change(self, one: _Value, other: _Value) -> str:
        """Return both values, or " differs" if they may not be shown or look alike in what is shown of them."""
        was = self._value(one)
        now = self._value(other)
        if not was or not now or was == now:
            return " differs"
        return f": {now}, not {was}"

    def _scalars(self, one: _Value, other: _Value) -> Difference | None:
        first = _plain(one)
        second = _plain(other)
        if type(first) is type(second) and stable_repr(first) == stable_repr(second):
            return None
        return Difference(self._change(one, other))

    # Sequences.

    def _alike(self, one: _Value, other: _Value) -> bool:
        return self.compare(one, other) is None

    def _lead(self, one: Sequence[_Value], other: Sequence[_Value]) -> int:
        """Return how many elements two sequences share at the start."""
        most = min(len(one), len(other))
        for at in range(0, most, CHUNK):
            stop = min(at + CHUNK, most)
            first = one[at:stop]
            second = other[at:stop]
            # Most of two neighbouring datasets is equal, and whole slices are compared in compiled code.
            if surely_equal(first, second):
                continue
            for place, (a, b) in enumerate(zip(first, second, strict=True)):
                if not self._alike(a, b):
                    return at + place
        return most

    def _ends(self, one: Sequence[_Value], other: Sequence[_Value]) -> tuple[int, int]:
        start = self._lead(one, other)
        left = min(len(one), len(other)) - start
        # The elements at the end that are not shared at the start.
        end = self._lead(one[len(one) - left :][::-1], other[len(other) - left :][::-1])
        return start, end

    def _sequences(self, one: Sequence[_Value], other: Sequence[_Value]) -> Difference | None:
        if len(one) == len(other) <= FEW_PARTS and has_parts(one):
            names = {i: part_name(one, i) for i in range(len(one))}
            return self._parts(names.__getitem__, dict(enumerate(one)), dict(enumerate(other)))
        start, end = self._ends(one, other)
        gone = one[start : len(one) - end]
        come = other[start : len(other) - end]
        # All elements are equal; types may differ still, as of 1 and True.
        if not gone and not come:
            return self._of_types(one, other)
        if len(gone) == len(come) == 1:
            found = self.compare(gone[0], come[0])
            if found is None:
                return None
            inside = found.within(f"element {start}")
            # Of a part of the element, whose own total stands.
            if found.place:
                return inside
            return replace(inside, total=len(one))
        if len(gone) == len(come):
            places = [start + i for i, pair in enumerate(zip(gone, come, strict=True)) if not self._alike(*pair)]
            return self._several("element", places, len(one), one, other)
        return self._moved("element", start, gone, come, len(one), len(other))

    def _of_types(self, one: Sequence[_Value], other: Sequence[_Value]) -> Difference | None:
        """Return the difference of equal elements of unlike types, as 1 and True."""
        if len(one) > MOST_TYPED:
            return None
        for place, (first, second) in enumerate(zip(one, other, strict=True)):
            if first is second:
                continue
            found = self.compare(first, second)
            if found is not None:
                return found.within(f"element {place}")
        return None

    def _several(
        self,
        noun: str,
        places: Sequence[int],
        size: int,
        one: Sequence[_Value] | np.ndarray,
        other: Sequence[_Value] | np.ndarray,
    ) -> Difference | None:
        """Return the difference of two sequences of one length that differ at several places."""
        if not places:
            return None
        first = places[0]
        last = places[-1]
        # Two that were exchanged say more than two that differ.
        if len(places) == 2 and self._alike(one[first], other[last]) and self._alike(one[last], other[first]):
            return Difference(" exchanged", (f"{noun}s {first} and {last}",))
        if size <= MOST_REORDERED and _reordered(one, other):
            return Difference(" in another order", (f"the same {size:,} {noun}s",))
        found = self.compare(one[first], other[first])
        what = f"{noun} {first}"
        if found is not None:
            what = str(found.within(what))
        return Difference.of_many(f"{len(places):,} of {size:,} {noun}s", f" differ, the first is {what}")

    def _moved(
        self,
        noun: str,
        start: int,
        gone: Sequence[_Value] | np.ndarray,
        come: Sequence[_Value] | np.ndarray,
        before: int,
        after: int,
    ) -> Difference:
        """Return the difference of two sequences if elements went, came or were replaced by others."""
        if not len(come):
            return Difference(f" removed{self._in_parentheses(gone)}", (_places(noun, start, len(gone)),), before)
        if not len(gone):
            return Difference(f" added{self._in_parentheses(come)}", (_places(noun, start, len(come)),), after)
        others = "another" if len(come) == 1 else f"{len(come):,} others"
        return Difference(f" replaced by {others}", (_places(noun, start, len(gone)),), before, single=False)

    def _in_parentheses(self, some: Sequence[_Value] | np.ndarray) -> str:
        """Return " (7)" for one value that is short enough to be shown whole; empty for others."""
        if len(some) != 1:
            return ""
        text = self._value(some[0])
        if not text or text.endswith("..."):
            return ""
        return f" {text}" if text.startswith("(") else f" ({text})"

    def _texts(self, one: Text, other: Text) -> Difference | None:
        start, end = text_ends(one, other)
        gone = one[start : len(one) - end]
        come = other[start : len(other) - end]
        if not gone and not come:
            return None
        if max(len(one), len(other)) <= LONGEST_VALUE:
            return Difference(self._change(one, other))
        noun = "character" if isinstance(one, str) else "byte"
        place = _places(noun, start, max(len(gone), len(come)))
        if gone and come:
            return Difference(self._change(gone, come), (place,), len(one))
        value = self._value(gone or come)
        shown = f" ({value})" if value else ""
        if gone:
            return Difference(f" removed{shown}", (place,), len(one))
        return Difference(f" added{shown}", (place,), len(other))

    def _sets(self, one: Set[_Value], other: Set[_Value]) -> Difference | None:
        gone = one - other
        come = other - one
        if not gone and not come:
            return None
        if len(gone) == len(come) == 1:
            was = self._value(next(iter(gone)))
            now = self._value(next(iter(come)))
            if was and now:
                return Difference(f": {now} in the place of {was}")
            return Difference(": one element replaced by another")
        if len(gone) + len(come) == 1:
            value = self._value(next(iter(gone or come))) or "one element"
            return Difference(f": {value} {'removed' if gone else 'added'}")
        parts = []
        if gone:
            parts.append(f"{len(gone):,} removed")
        if come:
            parts.append(f"{len(come):,} added")
        return Difference(f": of the elements {' and '.join(parts)}", single=False)

    # Named parts.

    def _mappings(self, one: Mapping[_Key, _Value], other: Mapping[_Key, _Value]) -> Difference | None:
        found = self._parts(lambda key: f"key {self._value(key) or '(not shown)'}", one, other)
        if found is None and list(one) != list(other):
            return Difference(" in another order", ("the keys",))
        return found

    def _parts(
        self, name_of: Callable[[_Key], str], one: Mapping[_Key, _Value], other: Mapping[_Key, _Value]
    ) -> Difference | None:
        """Return the difference of values of named parts."""
        found: list[Difference] = []
        for key, value in one.items():
            if key not in other:
                found.append(Difference(" removed", (name_of(key),)))
            elif not same_plain(value, other[key]):
                inner = self.compare(value, other[key])
                if inner is not None:
                    found.append(inner.within(name_of(key)))
        found += [Difference(" added", (name_of(key),)) for key in other if key not in one]
        if not found:
            return None
        if len(found) == 1:
            return found[0]
        if len(found) == 2:
            return Difference(" and ".join(map(str, found)), single=all(one.single for one in found))
        several = f"{len(found):,} of {len({*one, *other}):,} parts"
        return Difference.of_many(several, f" differ, the first is {found[0]}")

    def _objects(self, one: _Value, other: _Value) -> Difference | None:
        first = attributes_of(one)
        second = attributes_of(other)
        if first or second:
            noun = "field" if dataclasses.is_dataclass(one) else "attribute"
            return self._parts(lambda name: f"{noun} {name}", first, second)
        if self._value(one) == self._value(other):
            return None
        return Difference(self._change(one, other))

    # Arrays.

    def _arrays(self, one: np.ndarray, other: np.ndarray) -> Difference | None:
        if _has_mask(one) or _has_mask(other):
            found = self._arrays(np.ma.getmaskarray(one), np.ma.getmaskarray(other))
            if found is not None and one.shape == other.shape:
                return found.within("the mask")
            one = np.ma.getdata(one)
            other = np.ma.getdata(other)
        if one.ndim != other.ndim or one.ndim == 0:
            if one.shape != other.shape:
                return Difference(f": shape {other.shape}, not {one.shape}")
            return self._scalars(one[()], other[()])
        unlike = [axis for axis in range(one.ndim) if one.shape[axis] != other.shape[axis]]
        if len(unlike) > 1:
            return Difference(f": shape {other.shape}, not {one.shape}")
        if unlike:
            return self._along(one, other, unlike[0])
        found = self._same_shape(one, other)
        if found is None and one.dtype != other.dtype:
            return Difference(f": dtype {other.dtype}, not {one.dtype}")
        return found

    def _along(self, one: np.ndarray, other: np.ndarray, axis: int) -> Difference:
        """Return the difference of arrays that are longer or shorter in one axis."""
        first = np.moveaxis(one, axis, 0)
        second = np.moveaxis(other, axis, 0)
        start, end = array_ends(first, second)
        gone = first[start : len(first) - end]
        come = second[start : len(second) - end]
        return self._moved(_noun_along(axis, one.ndim), start, gone, come, len(first), len(second))

    def _same_shape(self, one: np.ndarray, other: np.ndarray) -> Difference | None:
        differs = ~equal_cells(one, other)
        number = int(differs.sum())
        if not number:
            return None
        places = np.argwhere(differs)
        if one.ndim == 1:
            return self._cells_of_one_axis(one, other, places[:, 0].tolist())
        first = tuple(places[0].tolist())
        if number == 1:
            return Difference(self._change(one[first], other[first]), (f"element {first}",))
        rows = np.unique(places[:, 0])
        if len(rows) == 1:
            noun = "column" if one.ndim == 2 else "element"
            return Difference(f" differs in {number} of {counted(one[0].size, noun)}", (f"row {first[0]}",), len(one))
        several = f"{len(rows):,} of {len(one):,} rows"
        if one.ndim == 2 and len(np.unique(places[:, 1])) == 1:
            return Difference.of_many(f"column {first[1]}", f" differs in {several}, the first is row {first[0]}")
        return Difference.of_many(several, f" differ, the first is row {first[0]}")

    def _cells_of_one_axis(self, one: np.ndarray, other: np.ndarray, places: list[int]) -> Difference | None:
        first = places[0]
        if len(places) == 2:
            return self._several("element", places, one.size, one, other)
        change = self._change(one[first], other[first])
        if len(places) == 1:
            return Difference(change, (f"element {first}",), one.size)
        what = f"element {first}{change}".removesuffix(" differs")
        return Difference.of_many(f"{len(places):,} of {one.size:,} elements", f" differ, the first is {what}")

    def _sparse(self, one: sparse.csr_array, other: sparse.csr_array) -> Difference | None:
        if one.shape[1:] != other.shape[1:]:
            return Difference(f": shape {other.shape}, not {one.shape}")
        if one.shape == other.shape:
            return self._entries(one, other)
        start, end = sparse_ends(one, other)
        gone = range(start, one.shape[0] - end)
        come = range(start, other.shape[0] - end)
        # A row of a sparse matrix has no short text.
        with self._hiding(True):
            return self._moved("row", start, gone, come, one.shape[0], other.shape[0])

    def _entries(self, one: sparse.csr_array, other: sparse.csr_array) -> Difference | None:
        """Return the difference of two sparse matrices of one shape."""
        apart = (one != other).tocoo()
        if not apart.nnz:
            return None
        rows = np.unique(apart.row)
        place = (int(apart.row[0]), int(apart.col[0]))
        if apart.nnz == 1:
            return Difference(self._change(one[place], other[place]), (f"element {place}",))
        if len(rows) == 1:
            return Difference(f" differs in {apart.nnz} of {counted(one.shape[1], 'column')}", (f"row {rows[0]}",))
        several = f"{len(rows):,} of {one.shape[0]:,} rows"
        return Difference.of_many(several, f" differ, the first is row {rows[0]}")

    # Data frames.

    def _frames(self, one: Any, other: Any) -> Difference | None:
        if hasattr(one, "data_vars") and hasattr(other, "data_vars"):
            found = self._parts(lambda name: f"variable {_name(name)}", dict(one.data_vars), dict(other.data_vars))
            return found or self._of_metadata(one, other)
        if hasattr(one, "dims") and hasattr(one, "values") and hasattr(other, "dims"):
            found = self._arrays(np.asarray(one.values), np.asarray(other.values))
            return found or self._of_metadata(one, other)
        first = columns_of(one)
        second = columns_of(other)
        if first is None or second is None:
            return None
        return self._columns(first, second) or self._of_metadata(one, other)

    def _columns(self, one: Columns, other: Columns) -> Difference | None:
        if not one.alone and one.names != other.names:
            return _of_names(one.names, other.names)
        if one.size != other.size:
            return self._frame_ends(one, other)
        found = self._rows(one, other)
        if found is not None or one.kinds == other.kinds:
            return found
        i = next(i for i, (a, b) in enumerate(zip(one.kinds, other.kinds, strict=True)) if a != b)
        place = () if one.alone else (f"column {_name(one.names[i])}",)
        return Difference(f": dtype {other.kinds[i]}, not {one.kinds[i]}", place)

    def _rows(self, one: Columns, other: Columns) -> Difference | None:
        """Return the difference of frames of as many rows."""
        masks = [~equal_cells(a, b) for a, b in zip(one.values, other.values, strict=True)]
        changed = [i for i, mask in enumerate(masks) if mask.any()]
        if not changed:
            return None
        rows = np.flatnonzero(np.logical_or.reduce([masks[i] for i in changed]))
        row = int(rows[0])
        column = _name(one.names[changed[0]])
        if len(rows) == 1 and len(changed) == 1:
            change = self._change(one.values[changed[0]][row], other.values[changed[0]][row])
            if one.alone:
                return Difference(change, (f"element {row}",), one.size)
            return Difference(change, (f"column {column}", f"row {row}"))
        if len(rows) == 1:
            if len(changed) == len(masks):
                return Difference(" replaced", (f"row {row}",), one.size)
            return Difference(f" differs in {len(changed)} of {len(masks)} columns", (f"row {row}",), one.size)
        several = f"{len(rows):,} of {one.size:,} {one.noun}s"
        if len(changed) == 1 and not one.alone:
            return Difference.of_many(f"column {column}", f" differs in {several}, the first is row {row}")
        return Difference.of_many(several, f" differ, the first is {one.noun} {row}")

    def _frame_ends(self, one: Columns, other: Columns) -> Difference:
        """Return the difference of frames of unlike numbers of rows."""
        both = list(zip(one.values, other.values, strict=True))
        most = min(one.size, other.size)
        start = min((array_lead(a, b) for a, b in both), default=most)
        end = min((array_lead(a[::-1], b[::-1]) for a, b in both), default=0)
        end = min(end, most - start)
        gone = _rows_between(one, start, end)
        come = _rows_between(other, start, end)
        return self._moved(one.noun, start, gone, come, one.size, other.size)

    def _of_metadata(self, one: Any, other: Any) -> Difference | None:
        """Return the difference of two frames of equal values: in the index, in attributes or in metadata."""
        if hasattr(one, "index") and hasattr(other, "index") and hasattr(one, "iloc"):
            if list(one.index.names) != list(other.index.names):
                return Difference(" differ", ("the names", "the index"), single=False)
            labels = np.asarray(one.index.to_numpy(), dtype=object)
            others = np.asarray(other.index.to_numpy(), dtype=object)
            if len(labels) == len(others):
                same = equal_cells(labels, others)
                if not same.all():
                    return Difference(f" differs from row {int(np.argmin(same))} on", ("the index",))
        found = None
        if hasattr(one, "attrs") and hasattr(other, "attrs"):
            found = self._parts(lambda key: f"attribute {_name(key)}", dict(one.attrs), dict(other.attrs))
        if found is None and hasattr(one, "coords") and hasattr(other, "coords"):
            found = self._parts(lambda key: f"coordinate {_name(key)}", _coordinates(one), _coordinates(other))
        if found is not None:
            return found
        if _coordinate_system(one) != _coordinate_system(other):
            return Difference(" differs", ("the coordinate system",))
        if _metadata(one) != _metadata(other):
            return Difference(" differs", ("the metadata of the schema",))
        if _dimensions(one) != _dimensions(other):
            return Difference(" are named otherwise", ("the dimensions",))
        return None


def _coordinates(frame: xarray.Dataset | xarray.DataArray) -> dict[Hashable, np.ndarray]:
    """Return the coordinates by name, as arrays: each labelled array has itself as a coordinate."""
    return {key: value.values for key, value in frame.coords.items()}


def _coordinate_system(frame: Frame) -> str:
    """Return the coordinate system of a frame of geopandas; empty for others."""
    return str(frame.crs) if hasattr(frame, "crs") else ""


def _dimensions(frame: Frame) -> Iterable[Hashable] | None:
    """Return the dimensions of a labelled array; None for other frames."""
    return frame.dims if hasattr(frame, "dims") else None


def _metadata(frame: Frame) -> Mapping[bytes, bytes] | None:
    """Return the metadata of a schema of pyarrow; None if there are none."""
    if not hasattr(frame, "schema") or not hasattr(frame.schema, "metadata"):
        return None
    metadata: Mapping[bytes, bytes] | None = frame.schema.metadata
    return metadata


def _rows_between(columns: Columns, start: int, end: int) -> Sequence[Any]:
    """Return the rows that two frames do not share; of several rows only how many there are is needed."""
    stop = columns.size - end
    if stop - start != 1:
        return range(start, stop)
    if columns.alone:
        return [_plain(columns.values[0][start])]
    return [tuple(_plain(values[start]) for values in columns.values)]


def _places(noun: str, start: int, count: int) -> str:
    """Return "row 7", or "rows 7 to 9" for three of them."""
    if count <= 1:
        return f"{noun} {start}"
    return f"{noun}s {start} to {start + count - 1}"


def _noun_along(axis: int, axes: int) -> str:
    """Return what is numbered along an axis of an array."""
    if axes == 1:
        return "element"
    if axis == 0:
        return "row"
    if axis == 1:
        return "column"
    return f"slice of axis {axis}"


def _has_mask(array: np.ndarray) -> bool:
    """Return whether an array says for each cell whether it is masked."""
    return isinstance(array, np.ma.MaskedArray) and bool(np.ndim(array.mask))


def _plain(value: Any) -> Any:
    """Return a number of numpy as Python's, an array as a list, and what is in a tuple in the same way."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.size <= LONGEST_VALUE:
        return value.tolist()
    if type(value) is tuple:
        return tuple(map(_plain, value))
    return value


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[: LONGEST_VALUE - 3]}..."


def _of_names(one: list[Hashable], other: list[Hashable]) -> Difference:
    gone = [name for name in one if name not in other]
    come = [name for name in other if name not in one]
    if len(gone) == len(come) == 1 and len(one) == len(other):
        return Difference(f" is named {_name(come[0])}", (f"column {_name(gone[0])}",))
    if len(gone) == 1 and not come:
        return Difference(" removed", (f"column {_name(gone[0])}",))
    if len(come) == 1 and not gone:
        return Difference(" added", (f"column {_name(come[0])}",))
    if not gone and not come:
        what = " in another order" if len(one) == len(other) else " repeated"
        return Difference(what, ("the columns",))
    return Difference.of_many("the columns", f": {len(gone)} removed and {len(come)} added")


def _name(name: Hashable) -> str:
    """Return the name of a column, in short."""
    return _shortened(" ".join(str(name).split()))


def _reordered(one: Iterable[_Value], other: Iterable[_Value]) -> bool:
    return Counter(map(stable_repr, one)) == Counter(map(stable_repr, other))
