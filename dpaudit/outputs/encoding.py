"""Outputs as bytes in which nothing can be executed, to send them from the process that makes runs to the one that audits.

The process of the mechanism takes outputs apart. It sends numbers, texts, bytes and arrays of numbers in MessagePack,
column by column. The reader builds plain values, arrays by `numpy.frombuffer`, and stand-ins for objects of
other classes, which have their families and parts and nothing else. So leaves, cells and features are those of the
outputs themselves. Whatever the bytes hold, the reader raises a `ToolFault` or returns as many outputs as it asked for,
and takes memory in proportion to their number of bytes.

A column is a list: the name of its form, then what the form needs. `_READERS` has the forms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, chain, pairwise
from typing import Any

import msgspec
import numpy as np

from dpaudit.errors import DpauditError, InputError, ToolFault, text_of
from dpaudit.outputs.canonical import Raised, canonical, family
from dpaudit.outputs.objects import refuse_promises
from dpaudit.outputs.parts import parts
from dpaudit.outputs.shared import Shared

LEVELS = 100
"""Containers within containers: of a list in a list each is one."""
MOST_BYTES = 2**31
"""Bytes of the outputs of one call, encoded."""
APART = 16
"""Elements of tuples and lists that become columns of their own where they are not all plain."""
NAMES = 500
"""Characters of the name of a class that are kept."""
ALLOWED_DTYPES = "biufcmMSUV"
"""The kinds of arrays that are sent as their bytes; of objects and records elements and fields are sent."""

Column = list[Any]

_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})
_CONTAINERS: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


class StandIn:
    """An output, or a part of one, of a class that only the process of the mechanism has; each has a class of its own.

    Attributes
    ----------
    parts : any
        What `outputs.parts` makes of it.
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


parts.register(StandIn, lambda value: value.parts)


def encode(outputs: Any) -> bytes:
    """Return a batch of outputs as bytes.

    Raises
    ------
    InputError
        If an output cannot be taken apart, or they are too many bytes.
    """
    for careful in (False, True):
        write = _Writer(careful).column
        try:
            rows = type(outputs) is np.ndarray
            content: bytes = _pack([rows, write([outputs] if rows else list(outputs), 0)])
        except (OverflowError, UnicodeEncodeError):  # an integer beyond 64 bits, or half of a surrogate pair
            if careful:
                raise
        except DpauditError:
            raise
        except RecursionError:
            raise _too_deep() from None
        except Exception as error:  # methods of outputs are third-party code
            raise InputError(f"an output cannot be taken apart: {text_of(error)}") from None
        else:
            if len(content) > MOST_BYTES:
                raise InputError(f"the outputs of a call take more than {MOST_BYTES:,} bytes: return less in one")
            return content
    raise AssertionError


def decode(content: bytes | memoryview, count: int) -> Any:
    """Return so many outputs from bytes: an array if the batch was one, else a list.

    Raises
    ------
    ToolFault
        If the bytes are none that `encode` makes of so many outputs.
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


def _too_deep() -> InputError:
    return InputError(
        f"an output holds itself, or is nested deeper than {LEVELS} levels, too deep to be compared; return what of it "
        "matters"
    )


class _Writer:
    """Makes columns; one that is `careful` looks for numbers and texts that MessagePack does not have."""

    def __init__(self, careful: bool) -> None:
        self.careful = careful

    def column(self, values: Sequence[Any], depth: int) -> Column:
        """Return values as a column."""
        kinds = set(map(type, values))
        if kinds <= _PLAIN:
            return self._plain(values, kinds)
        if depth > LEVELS:
            raise _too_deep()
        if len(kinds) > 1:
            return self._mixed(values, [None if type(value) in _PLAIN else type(value) for value in values], depth)
        (kind,) = kinds
        write = _WRITERS.get(family(kind), _Writer._foreign)
        if kind is Fraction:
            write = _Writer._rational
        return write(self, values, depth + 1)

    def _plain(self, values: Sequence[Any], kinds: set[type]) -> Column:
        if self.careful:
            try:
                _pack(values)
            except (OverflowError, UnicodeEncodeError):
                if len(kinds) > 1:
                    return self._mixed(values, list(map(type, values)), 0)
                if kinds == {int}:
                    sizes = [value.bit_length() // 8 + 1 for value in values]
                    held = [
                        value.to_bytes(size, "little", signed=True) for value, size in zip(values, sizes, strict=True)
                    ]
                    return ["ints", held]
                return ["texts", [value.encode("utf-8", "surrogatepass") for value in values]]
        return ["plain", values]

    def _mixed(self, values: Sequence[Any], keys: Sequence[Any], depth: int) -> Column:
        """Return values as columns of those whose keys are equal."""
        numbers: dict[Any, int] = {}
        codes = [numbers.setdefault(key, len(numbers)) for key in keys]
        groups: list[list[Any]] = [[] for _ in numbers]
        for value, code in zip(values, codes, strict=True):
            groups[code].append(value)
        return ["mixed", codes, [self.column(group, depth) for group in groups]]

    def _sequence(self, values: Sequence[Any], depth: int) -> Column:
        kind = next(name for name, base in _CONTAINERS.items() if issubclass(type(values[0]), base))
        lengths = list(map(len, values))
        inside = list(chain.from_iterable(values))
        uniform = min(lengths) == max(lengths)
        if uniform and len(values) > 1 and lengths[0] <= APART and kind in ("list", "tuple"):
            if not set(map(type, inside)) <= _PLAIN:
                return ["columns", kind, [self.column(inside[j :: lengths[0]], depth) for j in range(lengths[0])]]
        return [kind, lengths[0] if uniform else lengths, self.column(inside, depth)]

    def _mapping(self, values: Sequence[Any], depth: int) -> Column:
        lengths = list(map(len, values))
        keys, inside = list(chain.from_iterable(values)), list(chain.from_iterable(value.values() for value in values))
        return ["dict", lengths, self.column(keys, depth), self.column(inside, depth)]

    def _numbers(self, values: Sequence[Any], depth: int) -> Column:
        """Return NumPy's scalars; arrays of one dtype."""
        array = np.array(values)
        return ["numbers", array.dtype.str, array.tobytes()]

    def _text(self, values: Sequence[Any], depth: int) -> Column:
        return self.column(list(map(str, values)), depth)

    def _bytes(self, values: Sequence[Any], depth: int) -> Column:
        return self.column(list(map(bytes, values)), depth)

    def _complex(self, values: Sequence[Any], depth: int) -> Column:
        return (
            self._numbers(values, depth)
            if isinstance(values[0], np.generic)
            else ["complex", np.array(values).tobytes()]
        )

    def _rational(self, values: Sequence[Any], depth: int) -> Column:
        both = [[value.numerator for value in values], [value.denominator for value in values]]
        return ["rational", *(self.column(one, depth) for one in both)]

    def _array(self, values: Sequence[Any], depth: int) -> Column:
        values = list(map(np.asarray, values))  # without what a class of NumPy's own adds
        first = values[0]
        if any(value.dtype != first.dtype or value.shape != first.shape for value in values):
            return self._mixed(values, [(value.dtype, value.shape) for value in values], depth - 1)
        dtype, shape = first.dtype, list(first.shape)
        if dtype.names is not None:
            return [
                "records",
                shape,
                list(dtype.names),
                [self._array([value[n] for value in values], depth) for n in dtype.names],
            ]
        if dtype.kind in ALLOWED_DTYPES:
            return ["array", dtype.str, shape, b"".join([value.tobytes() for value in values])]
        inside = list(chain.from_iterable(value.ravel().tolist() for value in values))
        return ["objects", shape, self.column(inside, depth)]

    def _sparse(self, values: Sequence[Any], depth: int) -> Column:
        return ["sparse", self.column(list(map(_stored, values)), depth)]

    def _exception(self, values: Sequence[Any], depth: int) -> Column:
        raised = [value if type(value) is Raised else Raised(value) for value in values]
        texts = [[one.kind for one in raised], [one.message for one in raised], [one.place for one in raised]]
        return ["raised", *(self.column(one, depth) for one in texts)]

    def _foreign(self, values: Sequence[Any], depth: int) -> Column:
        """Return objects by their class and their parts; few objects of many values once each."""
        shared = Shared.of(values) if len(values) > 1 else None
        objects = values if shared is None else shared.objects
        refuse_promises(objects)
        kind = type(values[0])
        inside = self.column(list(map(parts, objects)), depth)
        if shared is not None and inside[0] != "plain":
            inside = self.column(list(map(parts, values)), depth)
            shared = None
        found = ["foreign", str(kind.__module__)[:NAMES], str(kind.__qualname__)[:NAMES], inside]
        return found if shared is None else ["shared", shared.codes.tolist(), len(objects), found]


_WRITERS: dict[str, Callable[[_Writer, Sequence[Any], int], Column]] = {
    **dict.fromkeys(("bool", "int", "float"), _Writer._numbers),
    "complex": _Writer._complex,
    "text": _Writer._text,
    "bytes": _Writer._bytes,
    "sequence": _Writer._sequence,
    "set": _Writer._sequence,
    "mapping": _Writer._mapping,
    "array": _Writer._array,
    "sparse": _Writer._sparse,
    "exception": _Writer._exception,
}
"""What writes values of one type, by its family; all others are foreign."""


def _stored(value: Any) -> dict[str, Any]:
    """Return what a sparse matrix stores, as it stores it where that can be built again."""
    held = {"format": value.format, "shape": tuple(map(int, value.shape)), "array": not hasattr(value, "getH")}
    if value.format in ("csr", "csc", "bsr"):
        return {**held, "built of": (value.data, value.indices, value.indptr)}
    if value.format == "dia":
        return {**held, "built of": (value.data, value.offsets)}
    entries = value.tocoo(copy=True)
    places = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    return {**held, "built of": (entries.data, tuple(places))}


def _check(condition: bool) -> None:
    if not condition:
        raise ValueError("what was sent does not fit together")


def _read(column: Any, count: int, depth: int) -> list[Any]:
    """Return the values of a column, so many."""
    _check(type(column) is list and depth <= 2 * LEVELS)
    form, *held = column
    values: list[Any] = _READERS[form](count, depth + 1, *held)
    _check(len(values) == count)
    return values


def _plain(count: int, depth: int, values: list[Any]) -> list[Any]:
    _check(type(values) is list and set(map(type, values)) <= _PLAIN)
    return values


def _of_bytes(read: Callable[[bytes], Any], count: int, depth: int, values: list[bytes]) -> list[Any]:
    _check(type(values) is list and set(map(type, values)) <= {bytes})
    return list(map(read, values))


def _mixed(count: int, depth: int, codes: Any, columns: list[Any]) -> list[Any]:
    sizes = Counter(_places(codes, len(columns)))
    following = [iter(_read(column, sizes[code], depth)).__next__ for code, column in enumerate(columns)]
    return [following[code]() for code in codes]


def _places(codes: Any, number: int) -> list[int]:
    """Return codes, if they are numbers of so many things."""
    _check(type(codes) is list and set(map(type, codes)) <= {int})
    _check(not codes or (min(codes) >= 0 and max(codes) < number))
    return list(codes)


def _lengths(given: Any, count: int) -> list[int]:
    lengths = [given] * count if type(given) is int else given
    _check(type(lengths) is list and len(lengths) == count and set(map(type, lengths)) <= {int})
    _check(not lengths or min(lengths) >= 0)
    return lengths


def _runs(values: list[Any], lengths: list[int]) -> list[list[Any]]:
    """Return values cut into runs of these lengths."""
    return [values[start:stop] for start, stop in pairwise(accumulate(lengths, initial=0))]


def _containers(kind: type, count: int, depth: int, given: Any, column: Any) -> list[Any]:
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
    _check(kind.kind in ALLOWED_DTYPES and kind.names is None and kind.subdtype is None)
    if not kind.itemsize:
        _check(not content)
        return np.zeros(0, kind)
    found = np.frombuffer(content, kind)
    if kind.kind == "U" and len(found):
        letters = np.frombuffer(content, np.dtype(np.uint32).newbyteorder(kind.byteorder))
        _check(int(letters.max()) < 0x110000)
    return found


def _numbers(count: int, depth: int, dtype: str, content: bytes) -> list[Any]:
    return list(_flat(dtype, content))


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


def _records(count: int, depth: int, shape: list[int], names: list[str], columns: list[Any]) -> list[Any]:
    _size(shape)
    fields = [_read(column, count, depth) for column in columns]
    found = []
    for values in zip(*fields, strict=True):
        kinds = [(name, value.dtype, value.shape[len(shape) :]) for name, value in zip(names, values, strict=True)]
        _check(all(list(value.shape[: len(shape)]) == shape for value in values))
        record = np.empty(shape, kinds)
        for name, value in zip(names, values, strict=True):
            record[name] = value
        found.append(record)
    return found


def _objects(count: int, depth: int, shape: list[int], column: Any) -> list[Any]:
    size = _size(shape)
    found = []
    for inside in _runs(_read(column, count * size, depth), [size] * count):
        array = np.empty(size, object)
        for i, value in enumerate(inside):
            array[i] = value
        found.append(array.reshape(shape))
    return found


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


def _raised(count: int, depth: int, *columns: Any) -> list[Any]:
    texts = [_read(column, count, depth) for column in columns]
    _check(len(texts) == 3 and all(set(map(type, column)) <= {str} for column in texts))
    return [Raised.of(*one) for one in zip(*texts, strict=True)]


def _rationals(count: int, depth: int, above: Any, below: Any) -> list[Any]:
    both = _read(above, count, depth), _read(below, count, depth)
    return [Fraction(*one) for one in zip(*both, strict=True)]


@lru_cache(maxsize=256)
def _class(module: str, name: str) -> type[StandIn]:
    _check(type(module) is str and type(name) is str and len(module) <= NAMES and 0 < len(name) <= NAMES)
    return type(name, (StandIn,), {"__module__": module, "__slots__": ()})


def _foreign(count: int, depth: int, module: str, name: str, column: Any) -> list[Any]:
    return list(map(_class(module, name), _read(column, count, depth)))


def _shared(count: int, depth: int, codes: Any, number: int, column: Any) -> list[Any]:
    """Return values by the few objects among them; of these only plain parts, so that bytes cannot stand for more."""
    _check(type(number) is int and number <= count and column[0] == "foreign" and column[3][0] == "plain")
    objects = _read(column, number, depth)
    return list(map(objects.__getitem__, _places(codes, number)))


_READERS: dict[str, Callable[..., list[Any]]] = {
    "plain": _plain,
    "ints": partial(_of_bytes, lambda held: int.from_bytes(held, "little", signed=True)),
    "texts": partial(_of_bytes, lambda held: held.decode("utf-8", "surrogatepass")),
    "mixed": _mixed,
    **{name: partial(_containers, kind) for name, kind in _CONTAINERS.items()},
    "columns": _columns,
    "dict": _mappings,
    "numbers": _numbers,
    "complex": lambda count, depth, content: np.frombuffer(content, np.complex128).tolist(),
    "rational": _rationals,
    "array": _arrays,
    "records": _records,
    "objects": _objects,
    "sparse": _sparse,
    "raised": _raised,
    "foreign": _foreign,
    "shared": _shared,
}
