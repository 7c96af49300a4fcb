"""Outputs from the bytes that `outputs.encoding` makes: plain values are built, and nothing that was sent is called.

Arrays are read by `numpy.frombuffer`. Objects of other classes have stand-ins, with their family and parts and nothing
else, so that leaves, cells and features are those of the outputs themselves. Whatever the bytes hold, `decode` raises a
`ToolFault` or returns as many outputs as it was asked for, and takes memory in proportion to their number of bytes.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from dpaudit.errors import ToolFault
from dpaudit.outputs.beside import UNSEEN, Beside, Labelled
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.parts import parts

LEVELS = 100
"""Containers within containers: of a list in a list each is one."""
NAMES = 500
"""Characters of the name of a class that are kept."""
DTYPES = "biufcmMSUV"
"""The kinds of arrays that are sent as their bytes; of objects and records elements and fields are sent."""
PLAIN = frozenset({bool, int, float, str, bytes, type(None)})
TABLES = ("DataFrame", "Series")
"""The types of pandas that are built again, of columns of NumPy's types and of `TEXTS`."""
TEXTS = "str"
MOST_GAP = 4096
"""Bytes of a record that may belong to no field, beside as many as its fields take."""
CONTAINERS: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
_unpack = msgspec.msgpack.Decoder().decode


class StandIn:
    """An output, or a part of one, of a class that only the process of the mechanism has; each has a class of its own.

    Its `parts` are those that `outputs.parts` makes of it.
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
    """One of a class whose objects are numbers."""

    __slots__ = ()

    def __float__(self) -> float:
        """Return the number that the output holds, alone or beside what its class adds to it, as decimals do."""
        parts = self.parts.values if isinstance(self.parts, Labelled) else self.parts
        held = parts["value"] if type(parts) is dict and "value" in parts else parts
        if not isinstance(held, int | float | np.number | np.ndarray):
            raise TypeError("an object that holds no number")
        return float(held)


parts.register(StandIn, lambda value: value.parts)


def decode(content: bytes | memoryview, count: int) -> Any:
    """Return so many outputs from bytes: an array if the batch was one, else a list.

    `ToolFault` is raised if the bytes are none that `encode` makes of so many outputs.
    """
    try:
        rows, column = _unpack(content)
        if rows is not True:
            return _read(column, count, 0)
        outputs = _read(column, 1, 0)[0]
        _check(type(outputs) is np.ndarray and outputs.ndim > 0 and len(outputs) == count)
        return outputs
    except Exception as error:  # bytes of a stranger may be anything, and fail in any way
        raise ToolFault(
            f"the process of the mechanism sent what is no batch of {count:,} outputs ({error!s:.200})"
        ) from None


def _check(condition: bool) -> None:
    if not condition:
        raise ValueError("what was sent does not fit together")


def _read(column: Any, count: int, depth: int) -> list[Any]:
    _check(type(column) is list and depth <= 2 * LEVELS)
    form, *held = column
    values: list[Any] = _READERS[form](count, depth + 1, *held)
    _check(len(values) == count)
    return values


def _plain(count: int, depth: int, values: list[Any]) -> list[Any]:
    _check(type(values) is list and set(map(type, values)) <= PLAIN)
    return values


def _of_bytes(read: Callable[[bytes], Any], count: int, depth: int, values: list[bytes]) -> list[Any]:
    _check(type(values) is list and set(map(type, values)) <= {bytes})
    return list(map(read, values))


def _mixed(count: int, depth: int, codes: Any, columns: list[Any]) -> list[Any]:
    sizes = Counter(_places(codes, len(columns)))
    following = [iter(_read(column, sizes[code], depth)).__next__ for code, column in enumerate(columns)]
    return [following[code]() for code in codes]


def _places(codes: Any, number: int) -> list[int]:
    _check(type(codes) is list and set(map(type, codes)) <= {int})
    _check(not codes or (min(codes) >= 0 and max(codes) < number))
    return list(codes)


def _lengths(given: Any, count: int) -> list[int]:
    lengths = [given] * count if type(given) is int else given
    _check(type(lengths) is list and len(lengths) == count and set(map(type, lengths)) <= {int})
    _check(not lengths or min(lengths) >= 0)
    return lengths


def _runs(values: list[Any], lengths: list[int]) -> list[list[Any]]:
    return [values[start:stop] for start, stop in pairwise(accumulate(lengths, initial=0))]


def _containers(kind: type, count: int, depth: int, given: Any, column: Any) -> list[Any]:
    if count == 1 and type(given) is int:
        return [kind(_read(column, given, depth))]
    lengths = _lengths(given, count)
    values = _read(column, sum(lengths), depth)
    if kind is tuple and type(given) is int and given:
        return list(zip(*[iter(values)] * given, strict=True))
    cut = _runs(values, lengths)
    return cut if kind is list else list(map(kind, cut))


def _columns(count: int, depth: int, kind: str, columns: list[Any]) -> list[Any]:
    _check(bool(columns))
    rows = zip(*(_read(column, count, depth) for column in columns), strict=True)
    return list(rows if kind == "tuple" else map(list, rows))


def _mappings(count: int, depth: int, given: Any, keys: Any, column: Any) -> list[Any]:
    lengths = _lengths(given, count)
    both = (_runs(_read(one, sum(lengths), depth), lengths) for one in (keys, column))
    return [dict(zip(*one, strict=True)) for one in zip(*both, strict=True)]


def _flat(dtype: str, content: bytes) -> np.ndarray[Any, Any]:
    """Return bytes as numbers or texts, which are copied by nobody and can be changed by nobody."""
    _check(type(dtype) is str and len(dtype) < 20)
    kind = np.dtype(dtype)
    _check(kind.kind in DTYPES and kind.names is None and kind.subdtype is None)
    if not kind.itemsize:
        _check(not content)
        return np.zeros(0, kind)
    found = np.frombuffer(content, kind)
    if kind.kind == "U" and len(found):
        letters = np.frombuffer(content, np.dtype(np.uint32).newbyteorder(kind.byteorder))
        _check(int(letters.max()) < 0x110000)
    return found


def _arrays(count: int, depth: int, dtype: str, shape: list[int], content: bytes) -> list[Any]:
    size = _size(shape)
    found = _flat(dtype, content)
    if not np.dtype(dtype).itemsize:
        _check(size <= 1)
        return [np.zeros(shape, dtype) for _ in range(count)]
    _check(len(found) == count * size)
    return [found[i * size : (i + 1) * size].reshape(shape) for i in range(count)]


def _size(shape: Any) -> int:
    _check(type(shape) is list and len(shape) <= 32 and set(map(type, shape)) <= {int} and min(shape, default=0) >= 0)
    return math.prod(shape)


def _records(
    count: int, depth: int, shape: list[int], names: list[str], columns: list[Any], layout: list[Any] | None
) -> list[Any]:
    _size(shape)
    fields = [_read(column, count, depth) for column in columns]
    found = []
    for values in zip(*fields, strict=True):
        kinds = [(name, value.dtype, value.shape[len(shape) :]) for name, value in zip(names, values, strict=True)]
        _check(all(list(value.shape[: len(shape)]) == shape for value in values))
        record = np.zeros(shape, kinds if layout is None else _laid_out(kinds, *layout))
        for name, value in zip(names, values, strict=True):
            record[name] = value
        found.append(record)
    return found


def _laid_out(kinds: list[Any], places: list[int], width: int, titles: list[str | None]) -> np.dtype[Any]:
    """Return the type of records that have their fields at these places, in so many bytes."""
    formats = [np.dtype((dtype, shape)) for _, dtype, shape in kinds]
    _check(type(width) is int and all(type(place) is int and place >= 0 for place in places))
    _check(width <= 2 * sum(one.itemsize for one in formats) + MOST_GAP)
    names = [name for name, _, _ in kinds]
    return np.dtype({"names": names, "formats": formats, "offsets": places, "itemsize": width, "titles": titles})


def _objects(count: int, depth: int, shape: list[int], column: Any) -> list[Any]:
    size = _size(shape)
    array = np.empty(count * size, object)
    for i, value in enumerate(_read(column, count * size, depth)):
        array[i] = value
    return [one.reshape(shape).copy() for one in array.reshape(count, size)]


def _sparse(count: int, depth: int, column: Any) -> list[Any]:
    import scipy.sparse

    found = []
    for held in _read(column, count, depth):
        form, shape, built = held["format"], held["shape"], held["built of"]
        _check(form in ("csr", "csc", "bsr", "dia", "coo", "lil", "dok") and type(held["array"]) is bool)
        name = "array" if held["array"] else "matrix"
        if form in ("csr", "csc", "bsr", "dia"):
            matrix = getattr(scipy.sparse, f"{form}_{name}")(built, shape=shape)
        else:
            matrix = getattr(scipy.sparse, f"coo_{name}")(built, shape=shape).asformat(form)
        if form in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
        found.append(matrix)
    return found


def _tables(
    count: int, depth: int, kind: str, names: Any, texts: list[bool], label: list[Any] | None, columns: list[Any]
) -> list[Any]:
    import pandas as pd

    _check(kind in TABLES and type(texts) is list and len(texts) == len(columns))
    labels = _read(names, len(columns) - (label is not None), depth)
    _check(bool(labels) and {*map(type, labels)} <= PLAIN)
    found = []
    for arrays in zip(*(_read(column, count, depth) for column in columns), strict=True):
        _check(all(type(array) is np.ndarray and array.ndim == 1 for array in arrays))
        held: list[Any] = [
            pd.Series(a, dtype=TEXTS if of_texts else object) if a.dtype == object else a  # else pandas chooses one
            for a, of_texts in zip(arrays, texts, strict=True)
        ]
        index = None if label is None else _index(held.pop(), *label)
        table = pd.DataFrame(dict(zip(labels, held, strict=True)))
        if index is not None:
            table.index = index
        found.append(table if kind == "DataFrame" else table[labels[0]])
    return found


def _index(labels: Any, name: Any, ranged: bool) -> Any:
    """Return an index of pandas, as a range if it was one."""
    import pandas as pd

    if not ranged:
        return pd.Index(labels, name=name)
    step = int(labels[1]) - int(labels[0]) if len(labels) > 1 else 1
    start = int(labels[0]) if len(labels) else 0
    _check(step != 0)
    found = pd.RangeIndex(start, start + step * len(labels), step, name=name)
    _check(bool((found == labels).all()))
    return found


_CLASSES: dict[str, Callable[[Any], Any]] = {
    "OrderedDict": OrderedDict,
    "Counter": Counter,
    "mappingproxy": MappingProxyType,
    "bytearray": bytearray,
    "matrix": lambda array: array.view(np.matrix),
    "fortran": np.asfortranarray,
    "recarray": lambda array: array.view(np.recarray),
}
"""Classes of the standard library and of NumPy that are made of plain values."""


def _of_class(count: int, depth: int, name: str, column: Any) -> list[Any]:
    return list(map(_CLASSES[name], _read(column, count, depth)))


def _labelled(count: int, depth: int, values: Any, beside: Any) -> list[Any]:
    both = zip(_read(values, count, depth), _read(beside, count, depth), strict=True)
    return [Labelled(held, _kept(dropped)) for held, dropped in both]


def _kept(dropped: Any) -> Beside:
    _check(type(dropped) is dict and set(map(type, dropped)) <= {str})
    return Beside.of(dropped)


def _unseen(count: int, depth: int) -> list[Any]:
    return [UNSEEN] * count


def _raised(count: int, depth: int, *columns: Any) -> list[Any]:
    texts = [_read(column, count, depth) for column in columns]
    _check(len(texts) == 4 and all(set(map(type, column)) <= {str} for column in texts))
    return [Raised.of(*one) for one in zip(*texts, strict=True)]


@lru_cache(maxsize=256)
def _class(module: str, name: str, number: bool) -> type[StandIn]:
    _check(type(module) is str and type(name) is str and len(module) <= NAMES and 0 < len(name) <= NAMES)
    return type(name, (NumberStandIn if number else StandIn,), {"__module__": module, "__slots__": ()})


def stand_in(kind: type, held: Any) -> StandIn:
    """Return a stand-in for an object of a class that is no number, with some parts."""
    return _class(kind.__module__[:NAMES], kind.__qualname__[:NAMES], False)(held)


def _foreign(count: int, depth: int, module: str, name: str, number: bool, column: Any) -> list[Any]:
    return list(map(_class(module, name, bool(number)), _read(column, count, depth)))


def _shared(count: int, depth: int, codes: Any, number: int, column: Any) -> list[Any]:
    """Return values by the few objects among them; of these only plain parts, so that bytes cannot stand for more."""
    _check(type(number) is int and number <= count and column[0] == "foreign" and column[-1][0] == "plain")
    objects = _read(column, number, depth)
    return list(map(objects.__getitem__, _places(codes, number)))


_READERS: dict[str, Callable[..., list[Any]]] = {
    "plain": _plain,
    "ints": partial(_of_bytes, lambda held: int.from_bytes(held, "little", signed=True)),
    "texts": partial(_of_bytes, lambda held: held.decode("utf-8", "surrogatepass")),
    "mixed": _mixed,
    **{name: partial(_containers, kind) for name, kind in CONTAINERS.items()},
    "columns": _columns,
    "dict": _mappings,
    "numbers": lambda count, depth, dtype, content: list(_flat(dtype, content)),
    "complex": lambda count, depth, content: np.frombuffer(content, np.complex128).tolist(),
    "rational": lambda count, depth, *both: list(map(Fraction, *(_read(column, count, depth) for column in both))),
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
