"""Outputs from the bytes that `outputs.encoding` makes: plain values are built, and nothing that was sent is called.

Arrays are read by `numpy.frombuffer`. Objects of other classes become stand-ins that have their family and their parts
and nothing else, so that leaves, cells and features are those of the outputs themselves. Whatever the bytes hold,
`decode` raises a `ToolFault` or returns as many outputs as it was asked for, and takes memory in proportion to the
number of bytes.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import ToolFault
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.metadata import UNSEEN, Metadata, Unseen, WithMetadata
from dpaudit.outputs.parts import parts
from dpaudit.outputs.types import Array, Batch, Type

if TYPE_CHECKING:
    import pandas as pd

V = TypeVar("V")

Sent: TypeAlias = "bool | int | float | str | bytes | list[Sent] | dict[Sent, Sent] | None"
"""A value of MessagePack."""
Decoded: TypeAlias = list[Any]
"""Values at one place of many outputs, an element an output."""

# Containers within containers: of a list in a list each is one.
LEVELS = 100
# Characters of the name of a class that are kept.
NAMES = 500
# The kinds of arrays that are sent as their bytes; of objects and records elements and fields are sent.
DTYPES = "biufcmMSUV"
PLAIN: frozenset[type] = frozenset({bool, int, float, str, bytes, type(None)})
# The types of pandas that are built again, of columns of NumPy's types and of `TEXTS`.
TABLES = ("DataFrame", "Series")
TEXTS = "str"
# Bytes of a record that may belong to no field, in addition to as many as its fields take.
MOST_GAP = 4096
# Characters of the name of a type of arrays that are read, and dimensions of an array.
MOST_DTYPE = 20
MOST_DIMENSIONS = 32
CONTAINERS: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
# Sparse matrices that are built of the arrays that they are stored as; others are built of their entries.
_STORED_FORMATS = ("csr", "csc", "bsr", "dia")
_SPARSE_FORMATS = (*_STORED_FORMATS, "coo", "lil", "dok")
_unpack: Callable[[bytes | memoryview], Sent] = msgspec.msgpack.Decoder().decode


class StandIn:
    """An output, or a part of one, of a class that only the process of the mechanism has.

    For each such class a class of stand-ins is made. Its `parts` are those that `outputs.parts` makes of it.
    """

    __slots__ = ("parts",)

    def __init__(self, held: Any) -> None:
        self.parts = held

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and canonical(self) == canonical(other)

    def __hash__(self) -> int:
        return hash(canonical(self))

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({self.parts!r})"


class NumberStandIn(StandIn):
    """A stand-in for an object of a class whose objects are numbers."""

    __slots__ = ()

    def __float__(self) -> float:
        """Return the number that the output holds, alone or with what its class adds to it, as decimals do."""
        held = self.parts
        if isinstance(held, WithMetadata):
            held = held.values
        if type(held) is dict and "value" in held:
            held = held["value"]
        if not isinstance(held, int | float | np.number | np.ndarray):
            raise TypeError("an object that holds no number")
        return float(held)


parts.register(StandIn, lambda value: value.parts)


def decode(content: bytes | memoryview, count: int) -> Batch:
    """Return so many outputs from bytes: an array if the batch was one, else a list.

    `ToolFault` is raised if the bytes are none that `encode` makes of so many outputs.
    """
    # The bytes may be a stranger's, and fail in any way.
    try:
        rows, column = _exactly(list, _unpack(content))
        if rows is not True:
            return _read(column, count, 0)
        outputs = _read(column, 1, 0)[0]
        _check(type(outputs) is np.ndarray and outputs.ndim > 0 and len(outputs) == count)
        found: Array = outputs
        return found
    # Of any type: the bytes are a stranger's.
    except Exception as error:
        raise ToolFault(
            f"the process of the mechanism sent what is no batch of {count:,} outputs ({error!s:.200})"
        ) from None


def _check(condition: bool) -> None:
    if not condition:
        raise ValueError("what was sent does not fit together")


def _exactly(kind: type[V], held: Sent) -> V:
    """Return what was sent if it has exactly this type."""
    # The exact type decides: a subclass may hold more, and True would pass for 1. `isinstance` is for type checkers.
    if type(held) is not kind or not isinstance(held, kind):
        raise ValueError("what was sent does not fit together")
    return held


def _numbers(held: Sent) -> list[int]:
    """Return a list of integers that are not negative."""
    numbers: list[int] = _exactly(list, held)
    _check(set(map(type, numbers)) <= {int} and min(numbers, default=0) >= 0)
    return numbers


def _texts(held: Sent) -> list[str]:
    texts: list[str] = _exactly(list, held)
    _check(set(map(type, texts)) <= {str})
    return texts


def _columns_of(held: Sent) -> list[Sent]:
    columns: list[Sent] = _exactly(list, held)
    return columns


def _read(column: Sent, count: int, depth: int) -> Decoded:
    """Return so many values from a column: a list of the name of its form, and what the form needs."""
    # Some forms nest two columns for one container.
    _check(depth <= 2 * LEVELS)
    form, *held = _columns_of(column)
    values = _READERS[_exactly(str, form)](count, depth + 1, *held)
    _check(len(values) == count)
    return values


def _plain(count: int, depth: int, held: Sent) -> Decoded:
    values: Decoded = _exactly(list, held)
    _check(set(map(type, values)) <= PLAIN)
    return values


def _ints(count: int, depth: int, held: Sent) -> list[int]:
    return [int.from_bytes(one, "little", signed=True) for one in _byte_strings(held)]


def _broken_texts(count: int, depth: int, held: Sent) -> list[str]:
    """Return texts with halves of surrogate pairs, which MessagePack does not have."""
    return [one.decode("utf-8", "surrogatepass") for one in _byte_strings(held)]


def _byte_strings(held: Sent) -> list[bytes]:
    values: list[bytes] = _exactly(list, held)
    _check(set(map(type, values)) <= {bytes})
    return values


def _mixed(count: int, depth: int, codes: Sent, columns: Sent) -> Decoded:
    groups = _columns_of(columns)
    places = _places(codes, len(groups))
    sizes = Counter(places)
    following = [iter(_read(column, sizes[code], depth)).__next__ for code, column in enumerate(groups)]
    return [following[code]() for code in places]


def _places(codes: Sent, number: int) -> list[int]:
    places = _numbers(codes)
    _check(not places or max(places) < number)
    return places


def _lengths(given: Sent, count: int) -> list[int]:
    """Return the lengths of containers: one number if all have the same."""
    # The writer sends one length where all containers have it.
    if type(given) is int:
        given = [given] * count
    lengths = _numbers(given)
    _check(len(lengths) == count)
    return lengths


def _runs(values: list[V], lengths: list[int]) -> list[list[V]]:
    return [values[start:stop] for start, stop in pairwise(accumulate(lengths, initial=0))]


def _containers(kind: type, count: int, depth: int, given: Sent, column: Sent) -> Decoded:
    if count == 1 and type(given) is int:
        return [kind(_read(column, given, depth))]
    lengths = _lengths(given, count)
    values = _read(column, sum(lengths), depth)
    if kind is tuple and type(given) is int and given:
        # Tuples of one length are made without a list for each.
        return list(zip(*[iter(values)] * given, strict=True))
    cut = _runs(values, lengths)
    if kind is list:
        return cut
    return list(map(kind, cut))


def _columns(count: int, depth: int, kind: Sent, columns: Sent) -> Decoded:
    each = _columns_of(columns)
    _check(bool(each))
    rows = zip(*(_read(column, count, depth) for column in each), strict=True)
    if kind == "tuple":
        return list(rows)
    return list(map(list, rows))


def _mappings(count: int, depth: int, given: Sent, keys: Sent, column: Sent) -> Decoded:
    lengths = _lengths(given, count)
    both = (_runs(_read(one, sum(lengths), depth), lengths) for one in (keys, column))
    return [dict(zip(*one, strict=True)) for one in zip(*both, strict=True)]


def _dtype(name: Sent) -> Type:
    """Return a type of arrays by its name, without fields or elements that are arrays."""
    text = _exactly(str, name)
    _check(len(text) < MOST_DTYPE)
    kind: Type = np.dtype(text)
    # Fields and arrays of arrays are sent by forms of their own; objects never are.
    _check(kind.kind in DTYPES and kind.names is None and kind.subdtype is None)
    return kind


def _flat(dtype: Sent, content: Sent) -> Array:
    """Return bytes as numbers or texts, which are not copied and cannot be changed."""
    kind = _dtype(dtype)
    held = _exactly(bytes, content)
    if not kind.itemsize:
        _check(not held)
        return np.zeros(0, kind)
    found: Array = np.frombuffer(held, kind)
    if kind.kind == "U" and len(found):
        # Python has no letters beyond those of Unicode.
        letters = np.frombuffer(held, np.dtype(np.uint32).newbyteorder(kind.byteorder))
        _check(int(letters.max()) < 0x110000)
    return found


def _arrays(count: int, depth: int, dtype: Sent, shape: Sent, content: Sent) -> Decoded:
    sides = _shape(shape)
    size = math.prod(sides)
    kind = _dtype(dtype)
    found = _flat(dtype, content)
    if not kind.itemsize:
        _check(size <= 1)
        return [np.zeros(sides, kind) for _ in range(count)]
    _check(len(found) == count * size)
    return [found[i * size : (i + 1) * size].reshape(sides) for i in range(count)]


def _shape(held: Sent) -> list[int]:
    sides = _numbers(held)
    _check(len(sides) <= MOST_DIMENSIONS)
    return sides


def _records(count: int, depth: int, shape: Sent, names: Sent, columns: Sent, layout: Sent) -> Decoded:
    sides = _shape(shape)
    texts = _texts(names)
    fields = [_read(column, count, depth) for column in _columns_of(columns)]
    found = []
    for values in zip(*fields, strict=True):
        kinds = [(name, value.dtype, value.shape[len(sides) :]) for name, value in zip(texts, values, strict=True)]
        _check(all(list(value.shape[: len(sides)]) == sides for value in values))
        record: NDArray[np.void] = np.zeros(sides, np.dtype(kinds) if layout is None else _laid_out(kinds, layout))
        for (name, _, _), value in zip(kinds, values, strict=True):
            record[name] = value
        found.append(record)
    return found


def _laid_out(kinds: list[tuple[str, Type, tuple[int, ...]]], layout: Sent) -> np.dtype[np.void]:
    """Return the type of records that have their fields at some places, in so many bytes."""
    places, width, titles = _columns_of(layout)
    formats = [np.dtype((dtype, shape)) for _, dtype, shape in kinds]
    size = _exactly(int, width)
    # A few bytes must not ask for memory without end.
    _check(size <= 2 * sum(one.itemsize for one in formats) + MOST_GAP)
    fields = {
        "names": [name for name, _, _ in kinds],
        "formats": formats,
        "offsets": _numbers(places),
        "itemsize": size,
        "titles": titles,
    }
    return np.dtype(fields)  # type: ignore[call-overload, no-any-return]


def _objects(count: int, depth: int, shape: Sent, column: Sent) -> Decoded:
    sides = _shape(shape)
    size = math.prod(sides)
    # One by one: as a whole, values that are lists of one length would be taken for a table.
    array = np.empty(count * size, object)
    for i, value in enumerate(_read(column, count * size, depth)):
        array[i] = value
    return [one.reshape(sides).copy() for one in array.reshape(count, size)]


def _sparse(count: int, depth: int, column: Sent) -> Decoded:
    import scipy.sparse

    found = []
    for held in _read(column, count, depth):
        form = held["format"]
        _check(form in _SPARSE_FORMATS and type(held["array"]) is bool)
        name = "array" if held["array"] else "matrix"
        stored = form if form in _STORED_FORMATS else "coo"
        matrix = getattr(scipy.sparse, f"{stored}_{name}")(held["built of"], shape=held["shape"])
        if stored != form:
            matrix = matrix.asformat(form)
        if form in ("csr", "csc", "bsr"):
            # Compiled code of SciPy trusts the places that these arrays hold.
            matrix.check_format(full_check=True)
        found.append(matrix)
    return found


def _tables(count: int, depth: int, kind: Sent, names: Sent, texts: Sent, label: Sent, columns: Sent) -> Decoded:
    import pandas as pd

    held = _columns_of(columns)
    are_texts = _columns_of(texts)
    _check(kind in TABLES and len(are_texts) == len(held))
    labels = _read(names, len(held) - (label is not None), depth)
    _check(bool(labels) and {*map(type, labels)} <= PLAIN)
    found = []
    for arrays in zip(*(_read(column, count, depth) for column in held), strict=True):
        _check(all(type(array) is np.ndarray and array.ndim == 1 for array in arrays))
        series = [_series(array, bool(of_texts)) for array, of_texts in zip(arrays, are_texts, strict=True)]
        index = None
        if label is not None:
            name, ranged = _columns_of(label)
            index = _index(series.pop(), name, bool(ranged))
        table = pd.DataFrame(dict(zip(labels, series, strict=True)))
        if index is not None:
            table.index = index
        found.append(table if kind == "DataFrame" else table[labels[0]])
    return found


def _series(array: Array, of_texts: bool) -> Array | pd.Series:
    """Return a column for pandas: an array, or of texts and objects a Series, for which pandas would choose a type."""
    import pandas as pd

    if array.dtype != object:
        return array
    return pd.Series(array, dtype=TEXTS if of_texts else object)


def _index(labels: Array | pd.Series, name: Sent, ranged: bool) -> pd.Index:
    """Return an index of pandas, as a range if it was one."""
    import pandas as pd

    if not ranged:
        return pd.Index(labels, name=name)
    step = int(labels[1]) - int(labels[0]) if len(labels) > 1 else 1
    start = int(labels[0]) if len(labels) else 0
    # A range needs a step; that of labels which repeat is none.
    _check(step != 0)
    found = pd.RangeIndex(start, start + step * len(labels), step, name=name)
    _check(bool((found == labels).all()))
    return found


# Classes of the standard library and of NumPy that are made of plain values.
_CLASSES: dict[str, Callable[[Any], Any]] = {
    "OrderedDict": OrderedDict,
    "Counter": Counter,
    "mappingproxy": MappingProxyType,
    "bytearray": bytearray,
    "matrix": lambda array: array.view(np.matrix),
    "fortran": np.asfortranarray,
    "recarray": lambda array: array.view(np.recarray),
}


def _of_class(count: int, depth: int, name: Sent, column: Sent) -> Decoded:
    return list(map(_CLASSES[_exactly(str, name)], _read(column, count, depth)))


def _labelled(count: int, depth: int, values: Sent, metadata: Sent) -> list[WithMetadata]:
    both = zip(_read(values, count, depth), _read(metadata, count, depth), strict=True)
    return [WithMetadata(held, _kept(dropped)) for held, dropped in both]


def _kept(dropped: Any) -> Metadata:
    _check(type(dropped) is dict and set(map(type, dropped)) <= {str})
    return Metadata.of(dropped)


def _unseen(count: int, depth: int) -> list[Unseen]:
    return [UNSEEN] * count


def _raised(count: int, depth: int, *columns: Sent) -> list[Raised]:
    texts = [_read(column, count, depth) for column in columns]
    _check(len(texts) == 4 and all(set(map(type, column)) <= {str} for column in texts))
    return [Raised.of(*one) for one in zip(*texts, strict=True)]


@lru_cache(maxsize=256)
def _class(module: str, name: str, number: bool) -> type[StandIn]:
    _check(len(module) <= NAMES and 0 < len(name) <= NAMES)
    return type(name, (NumberStandIn if number else StandIn,), {"__module__": module, "__slots__": ()})


def stand_in(kind: type, held: Any) -> StandIn:
    """Return a stand-in for an object of a class that is no number, with some parts."""
    return _class(kind.__module__[:NAMES], kind.__qualname__[:NAMES], False)(held)


def _foreign(count: int, depth: int, module: Sent, name: Sent, number: Sent, column: Sent) -> list[StandIn]:
    kind = _class(_exactly(str, module), _exactly(str, name), bool(number))
    return list(map(kind, _read(column, count, depth)))


def _shared(count: int, depth: int, codes: Sent, number: Sent, column: Sent) -> Decoded:
    """Return values by the few objects among them."""
    inside = _columns_of(column)
    # Of these only plain parts, so that bytes cannot stand for more than they are.
    _check(inside[0] == "foreign" and _columns_of(inside[-1])[0] == "plain")
    distinct = _exactly(int, number)
    _check(distinct <= count)
    objects = _read(column, distinct, depth)
    return list(map(objects.__getitem__, _places(codes, distinct)))


def _rationals(count: int, depth: int, numerators: Sent, denominators: Sent) -> list[Fraction]:
    return list(map(Fraction, _read(numerators, count, depth), _read(denominators, count, depth)))


# How the values of each form of column are read: the number of values, the depth, and what the form needs.
_READERS: dict[str, Callable[..., Decoded]] = {
    "plain": _plain,
    "ints": _ints,
    "texts": _broken_texts,
    "mixed": _mixed,
    **{name: partial(_containers, kind) for name, kind in CONTAINERS.items()},
    "columns": _columns,
    "dict": _mappings,
    "numbers": lambda count, depth, dtype, content: list(_flat(dtype, content)),
    "complex": lambda count, depth, content: np.frombuffer(content, np.complex128).tolist(),
    "rational": _rationals,
    "array": _arrays,
    "records": _records,
    "objects": _objects,
    "sparse": _sparse,
    "tables": _tables,
    "class": _of_class,
    "labelled": _labelled,
    "unseen": _unseen,
    "raised": _raised,
    "foreign": _foreign,
    "shared": _shared,
}
