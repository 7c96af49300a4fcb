"""A leaf: a part of every output that features are computed from, and the steps that lead to it.

A step is made for all outputs of a batch at once. It takes a list of values and returns the parts that it leads to, and
a mask of the values that have one (None if all have). It looks at one value at a time, so that a feature never depends
on the other outputs of its batch. A new step is a function, and a line of `_STEPS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import attrgetter, is_not, itemgetter, methodcaller
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.jsonable import Json, stable_repr
from dpaudit.naming import Name, key, position
from dpaudit.outputs import readers
from dpaudit.outputs.canonical import Raised, class_of, dtype_of, family, looked_at, order_of
from dpaudit.outputs.metadata import WithMetadata
from dpaudit.outputs.parts import parts
from dpaudit.outputs.shared import Shared, follow
from dpaudit.outputs.types import Array, Batch, Mask, Parts, Places, Sparse, Values

V = TypeVar("V")
W = TypeVar("W")
N = TypeVar("N", bound=np.generic)

Taken: TypeAlias = tuple[Values, Mask | None]
"""The parts that a step leads to, and which values have one (None for all)."""
Take: TypeAlias = Callable[[Values, Any], Taken]
"""The function of a step: it takes values, and where the step leads if there are several places."""

_DIGITS = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"(?:(?<!\w)[-+])?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*")
# Characters of a text whose numbers are read.
LOOKED_THROUGH = 4096
# The name of all of an output.
OUTPUT = Name("output")
# Python reads no integers of more than 4300 digits.
MOST_DIGITS = 4000


@dataclass(frozen=True)
class Step:
    """One step from values to their parts, one of `_STEPS` by its name.

    It leads to the position, key, place or family `at`, if there are several.
    """

    name: str
    at: Hashable = None

    def __call__(self, values: Values) -> Taken:
        """Return the parts, and which values have one (None for all)."""
        take, _ = _STEPS[self.name]
        return take(values, self.at)

    def named(self, whole: Name) -> Name:
        """Return the name of the parts that it leads to, given that of the whole."""
        _, words = _STEPS[self.name]
        if isinstance(words, str):
            return Name.of(words, whole)
        return words(whole, self.at)


Path: TypeAlias = tuple[Step, ...]


def in_words(path: Path) -> Name:
    """Return a path as a person would write it: "output['name'][2]"."""
    name = OUTPUT
    for step in path:
        name = step.named(name)
    return name


# The families of numbers by the kinds of NumPy's dtypes.
FAMILIES_OF_DTYPES = {"i": "int", "u": "int", "b": "bool", "f": "float"}


def _of_family(values: Values, name: str) -> Taken:
    if isinstance(values, np.ndarray) and values.dtype.kind in FAMILIES_OF_DTYPES:
        held = "array" if values.ndim > 1 else FAMILIES_OF_DTYPES[values.dtype.kind]
        if name == held:
            return values, None
        return values[:0], np.zeros(len(values), dtype=np.bool_)
    kinds = set(map(type, values))
    wanted = {kind for kind in kinds if family(kind) == name}
    if wanted == kinds:
        return values, None
    mask = np.fromiter((type(value) in wanted for value in values), np.bool_, len(values))
    return list(compress(values, mask)), mask


def _parts(values: Values, at: None) -> Taken:
    """Return the parts of every value by the table of types; an object that many values share is taken apart once."""
    shared = Shared.of(values)
    if shared is None:
        return list(map(parts, values)), None
    return Shared(list(map(parts, shared.objects)), shared.codes), None


class NoPart:
    """Stands for the part of a value that has no such part."""


NO_PART: Final = NoPart()
_INDEXED = frozenset({list, tuple, dict})


def _item(values: Values, at: Any) -> Taken:
    """Return the elements at a position of the sequences that are long enough, or those of mappings at a key."""
    # Rows of objects.
    if isinstance(values, np.ndarray) and at < values.shape[1]:
        column = values[:, at].tolist()
        return Shared.of(column) or column, None
    if set(map(type, values)) <= _INDEXED:
        with suppress(LookupError):
            return list(map(itemgetter(at), values)), None
    return _some([_at(value, at) for value in values])


def _at(value: Any, at: Any) -> Any:
    # Asked for first, since a mapping with a default would put a key that it lacks into the output.
    there = at in value if isinstance(value, Mapping) else len(value) > at
    return value[at] if there else NO_PART


def _some(found: list[V]) -> Taken:
    """Return the parts that are there, and which values have one."""
    mask = np.fromiter(map(partial(is_not, NO_PART), found), np.bool_, len(found))
    if mask.all():
        return found, None
    return list(compress(found, mask)), mask


def _entry(values: Sequence[Array], at: int) -> Taken:
    """Return the entries at a position of the flattened arrays that are large enough."""
    if isinstance(values, np.ndarray) and at < values[0].size:
        return values.reshape(len(values), -1)[:, at], None
    with suppress(IndexError):
        return list(map(methodcaller("item", at), values)), None
    return _some([array.item(at) if array.size > at else NO_PART for array in values])


def _each(of: Callable[[V], W]) -> Take:
    """Return the step to what a function makes of each value; the function returns `NO_PART` if that is nothing."""
    return lambda values, at: _some(list(map(of, values)))


def _each_text(of: Callable[[str], tuple[float, ...]]) -> Take:
    """Return the step to something that every text has; texts that are equal are read once."""

    def step(values: Sequence[str], at: None) -> Taken:
        known = {value: of(value) for value in dict.fromkeys(values)}
        return list(map(known.__getitem__, values)), None

    return step


def _sorted(values: Collection[Any]) -> tuple[Any, ...]:
    """Return the elements of a set, ascending where they can be compared."""
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=stable_repr))


def _explicit_zeros(value: Sparse) -> tuple[int, ...]:
    """Return the places of the zeros that a sparse matrix stores, ascending."""
    places, held = readers.entries(value)
    return tuple(places[held == 0].tolist())


def _message(error: Raised | BaseException) -> str:
    # Any exception may have an attribute of this name.
    return str(getattr(error, "message", error))


def _details(error: Raised | BaseException) -> str:
    raised = error if isinstance(error, Raised) else Raised(error)
    return raised.details


def _metadata(value: WithMetadata) -> Parts:
    return looked_at(value.metadata)


def _stored_entries(matrix: Sparse) -> int:
    return int(matrix.nnz)


def _values(mapping: Mapping[Hashable, V]) -> tuple[V, ...]:
    return tuple(mapping.values())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple([int(found[:MOST_DIGITS]) for found in _DIGITS.findall(text[:LOOKED_THROUGH])])


def _decimals(text: str) -> tuple[float, ...]:
    """Return the numbers in a text as a person reads them, with sign, decimals and exponent."""
    return tuple(map(float, _DECIMAL.findall(text[:LOOKED_THROUGH])))


def _from_json(text: str) -> Json | NoPart:
    if text[:1] not in ("{", "["):
        return NO_PART
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return NO_PART
    return found


def _from_hexadecimal(text: str) -> int | NoPart:
    """Return the integer that a text of at least eight hexadecimal digits stands for."""
    if not _HEXADECIMAL.fullmatch(text):
        return NO_PART
    return int(text[:LOOKED_THROUGH].replace("-", ""), 16)


def _lowest_bits(integers: Any) -> Array | tuple[int, ...] | NoPart:
    """Return what the last 32 bits of each of some integers stand for; `NO_PART` of anything else."""
    if isinstance(integers, np.ndarray):
        if integers.dtype.kind not in "iu" or integers.dtype.itemsize != 8:
            return NO_PART
        return integers & 0xFFFFFFFF
    try:
        return tuple([int(one) & 0xFFFFFFFF for one in integers])
    except (TypeError, ValueError, OverflowError):
        return NO_PART


def template(text: str) -> Hashable:
    """Return a text with every run of digits as one sign."""
    return _DIGITS.sub("#", text[:LOOKED_THROUGH])


Words: TypeAlias = str | Callable[[Name, Any], Name]
"""The name of what a step leads to, given that of the whole and `Step.at`, whose mention it declares.

A text is a template of ours, with the whole in the place of {0}.
"""


# The function of each step, and the name of what it leads to.
# A "leaf" is a part of a reduced row, by its number and its name.
_STEPS: dict[str, tuple[Take, Words]] = {
    "family": (_of_family, "{0}"),
    "parts": (_parts, "{0}"),
    "item": (_item, lambda whole, at: Name.of("{}[{}]", whole, position(at))),
    "leaf": (lambda values, at: _item(values, at[0]), lambda whole, at: at[1]),
    "key": (_item, lambda whole, at: Name.of("{}[{}]", whole, key(at))),
    "entry": (_entry, lambda whole, at: Name.of("{}.flat[{}]", whole, position(at))),
    "length": (_each(len), "len({0})"),
    "size": (_each(attrgetter("size")), "size of {0}"),
    "keys": (_each(tuple), "keys of {0}"),
    "values": (_each(_values), "values of {0}"),
    "elements": (_each(_sorted), "sorted({0})"),
    "labelled": (_each(attrgetter("values")), "{0}"),
    "lowest bits": (_each(_lowest_bits), "last 32 bits of {0}"),
    "metadata": (_each(_metadata), "{0}"),
    "message": (_each(_message), "message of {0}"),
    "details": (_each(_details), "what {0} holds beside its message"),
    "stored entries": (_each(_stored_entries), "stored entries of {0}"),
    "explicit zeros": (_each(_explicit_zeros), "places of the zeros stored in {0}"),
    "numbers": (_each_text(_numbers), "numbers in {0}"),
    "decimals": (_each_text(_decimals), "decimal numbers in {0}"),
    "json": (_each(_from_json), "json.loads({0})"),
    "hexadecimal": (_each(_from_hexadecimal), "int({0}, 16)"),
}

Reached: TypeAlias = tuple[Any, Places | None]
"""Values, and the numbers of the rows that have one (None for all)."""
Known: TypeAlias = dict[tuple[Hashable, ...], Reached]
"""The values that walks from a batch have reached, by their paths."""


@dataclass(frozen=True)
class Leaf:
    """A part of the outputs that is a number, a text, bytes, a category or a row of numbers.

    The `path` leads to it from an output; the `reader` makes an array, or a list of texts or bytes, of the parts of a
    batch. A person would write the leaf as its `name`. Fitted scores leave out what is `in_row`: another leaf, a row of
    numbers, holds it too, or it is no value. A `representation` shows how a value is stored rather than which it is.
    """

    path: Path
    reader: readers.Reader
    name: Name
    in_row: bool = False
    representation: bool = False

    @property
    def tells_likes_apart(self) -> bool:
        """Whether the leaf distinguishes outputs that share a cell: a list and a tuple, or arrays of two types."""
        return isinstance(self.reader, readers.Categories) and self.reader.of in (class_of, dtype_of, order_of)

    def read(self, rows: Batch) -> Reached:
        """Return the parts of a batch of outputs that are there, and their rows' numbers (None if all have one)."""
        values, where = walk(rows, self.path)
        if not isinstance(self.reader, readers.Block) or self.reader.width > KEPT_WIDTH:
            return readers.read(self.reader, values), where
        # Rows of numbers are what takes longest to read, and several features of a batch read them.
        known = _known(rows)
        place = (*self.path, self.reader)
        if place not in known:
            known[place] = readers.read(self.reader, values), where
        return known[place]


def spread(found: NDArray[N], where: Places | None, total: int, absent: float) -> NDArray[N]:
    """Return the numbers of all of so many outputs: `absent` for those that have no such leaf."""
    if where is None:
        return found
    rows = np.full((total, *found.shape[1:]), absent, dtype=found.dtype)
    rows[where] = found
    return rows


# Numbers of a row up to which a batch's rows are kept: wider ones would take as much memory again as the outputs.
KEPT_WIDTH = 1_000
# The parts that walks of this thread reached from the last two batches: audits read one of each side by turns.
_LAST: ContextVar[tuple[tuple[Batch, Known], ...]] = ContextVar("last", default=())


def walk(rows: Batch, path: Path) -> Reached:
    """Return the values at the end of a path, and the numbers of the rows that have one (None for all).

    The outputs must not change between walks.
    """
    known = _known(rows)
    if path not in known:
        if path:
            known[path] = _after(path[-1], *walk(rows, path[:-1]))
        else:
            known[path] = listed(rows), None
    return known[path]


def _known(rows: Batch) -> Known:
    """Return the values that walks from a batch have reached; whatever is reached or read next is added to it."""
    reached: Known
    # Arrays of numbers are walked as they are, which takes no time, so that they are not kept.
    if isinstance(rows, np.ndarray) and rows.dtype.kind in FAMILIES_OF_DTYPES:
        return {(): (rows, None)}
    for batch, reached in _LAST.get():
        if batch is rows:
            return reached
    reached = {}
    if type(rows) is np.ndarray and rows.dtype == object and rows.ndim > 1 and rows.size:
        # Arrays in an array of objects are taken apart at once, as `parts` does.
        inside = (Step("family", "array"), Step("parts"), Step("family", "mapping"))
        reached[(*inside, Step("key", "shape"))] = Shared([rows.shape[1:]], np.zeros(len(rows), dtype=np.intp)), None
        values = (*inside, Step("key", "values"))
        reached[values] = reached[(*values, Step("family", "sequence"))] = rows.reshape(len(rows), -1), None
    _LAST.set((*_LAST.get()[-1:], (rows, reached)))
    return reached


def listed(rows: Batch) -> list[Any]:
    """Return a batch of outputs as a list, numbers of an array as Python has them."""
    if isinstance(rows, np.ndarray) and rows.ndim == 1:
        found: list[Any] = rows.tolist()
        return found
    return list(rows)


def _after(step: Step, values: Values, where: Places | None) -> Reached:
    """Return the parts that a step leads to from values, and the numbers of their rows."""
    if not len(values):
        return values, np.zeros(0, dtype=np.intp) if where is None else where
    found, mask = follow(step, values)
    if mask is None:
        return found, where
    if where is None:
        return found, np.flatnonzero(mask)
    return found, where[mask]
