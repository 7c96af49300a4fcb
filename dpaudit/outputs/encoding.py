"""Outputs as bytes in which nothing can be executed, for the way from the process that makes runs to the audit.

The process of the mechanism takes outputs apart. It sends numbers, texts, bytes and arrays of numbers in MessagePack,
column by column: each is a list of the name of its form and what the form needs. `outputs.decoding` reads them.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec
import numpy as np

from dpaudit.errors import DpauditError, InputError
from dpaudit.outputs.as_sent import look_the_same
from dpaudit.outputs.canonical import Raised, family, looked_at, order_of
from dpaudit.outputs.decoding import CONTAINERS, DTYPES, LEVELS, NAMES, PLAIN, TEXTS, decode
from dpaudit.outputs.metadata import WithMetadata
from dpaudit.outputs.numpy_parts import packed, places_of_fields, titles_of_fields
from dpaudit.outputs.objects import coordinates, refuse_promises
from dpaudit.outputs.parts import parts
from dpaudit.outputs.shared import Shared
from dpaudit.outputs.tables import Head, is_table, taken
from dpaudit.outputs.types import Array, Batch, Parts, Sparse, Type, Values
from dpaudit.withheld import raised_words

# Bytes of the outputs of one call, encoded.
MOST_BYTES = 2**31
# Elements of tuples and lists that become columns of their own if they are not all plain.
APART = 16

Encoded: TypeAlias = list[Any]
"""Values of one place in many outputs: the name of a form, and what it needs in values of MessagePack."""
_PLAIN_SEQUENCES = frozenset({list, tuple})
_pack = msgspec.msgpack.Encoder().encode

# The names by which `decoding` makes classes of plain values.
_NAMES_OF_CLASSES: dict[type, str] = {
    OrderedDict: "OrderedDict",
    Counter: "Counter",
    MappingProxyType: "mappingproxy",
    bytearray: "bytearray",
    np.matrix: "matrix",
    np.recarray: "recarray",
}


def encode(outputs: Batch) -> bytes:
    """Return a batch of outputs as bytes; `InputError` if one cannot be taken apart, or they are too many bytes."""
    rows = type(outputs) is np.ndarray
    # Methods of outputs are third-party code, and may raise anything.
    try:
        values: Values = [outputs] if rows else list(outputs)
        content = _packed(rows, values)
    except DpauditError:
        raise
    except RecursionError:
        raise _too_deep() from None
    # Outputs are third-party code, and may raise anything.
    except Exception as error:
        raise InputError(f"an output cannot be taken apart: {raised_words(error)}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"the outputs of a call take more than {MOST_BYTES:,} bytes: return less in one")
    return content


def _packed(rows: bool, values: Values) -> bytes:
    try:
        return _pack([rows, _Writer(False).column(values, 0)])
    # An integer beyond 64 bits, or half of a surrogate pair: rare, and slow to look for.
    except (OverflowError, UnicodeEncodeError):
        return _pack([rows, _Writer(True).column(values, 0)])


def plain(outputs: Batch, *, alone: bool = False) -> Batch:
    """Return a batch of outputs as `decode` reads what `encode` makes of it, or as it is if that looks the same.

    Objects that are read by their parts alone look the same as their stand-ins, but not in one batch with them: they
    stay as they are if all outputs of an audit are made in one process, `alone`.
    """
    # Rows of a type that another library adds to NumPy, as bfloat16, are sent one by one.
    if type(outputs) is np.ndarray and outputs.dtype.isbuiltin == 2:
        outputs = list(outputs)
    same = False
    # Methods of outputs are third-party code, and may raise anything.
    with suppress(Exception):
        same = look_the_same(outputs, alone)
    if same:
        return outputs
    return decode(encode(outputs), len(outputs))


def _too_deep() -> InputError:
    return InputError(
        f"an output holds itself, or is nested deeper than {LEVELS} levels, too deep to be compared; return what of it "
        "matters"
    )


class _Writer:
    """Makes columns; one that is `careful` looks for numbers and texts that MessagePack does not have."""

    def __init__(self, careful: bool) -> None:
        self.careful = careful

    def column(self, values: Values, depth: int) -> Encoded:
        """Return values as a column."""
        kinds = set(map(type, values))
        if kinds <= PLAIN:
            return self._plain(values, kinds)
        if depth > LEVELS:
            raise _too_deep()
        # One run of many calls: the shortest way.
        if len(values) == 1 and kinds <= _PLAIN_SEQUENCES:
            inside = list(values[0])
            return [type(values[0]).__name__, len(inside), self.column(inside, depth + 1)]
        if len(kinds) > 1:
            return self._mixed(values, [None if type(value) in PLAIN else type(value) for value in values], depth)
        (kind,) = kinds
        write = _WRITERS.get(family(kind), _Writer._foreign)
        if _NAMES_OF_CLASSES.get(kind) is not None:
            return ["class", _NAMES_OF_CLASSES[kind], write(self, values, depth + 1)]
        if kind is Fraction:
            write = _Writer._rational
        elif is_table(kind):
            write = _Writer._tables
        return write(self, values, depth + 1)

    def _plain(self, values: Values, kinds: set[type]) -> Encoded:
        # Most batches hold nothing that MessagePack lacks: they are packed at once, and looked at only if that fails.
        if not self.careful:
            return ["plain", values]
        try:
            _pack(values)
        except (OverflowError, UnicodeEncodeError):
            if len(kinds) > 1:
                return self._mixed(values, list(map(type, values)), 0)
            if kinds == {int}:
                held = [value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True) for value in values]
                return ["ints", held]
            return ["texts", [value.encode("utf-8", "surrogatepass") for value in values]]
        return ["plain", values]

    def _mixed(self, values: Values, keys: Values, depth: int) -> Encoded:
        """Return values of several kinds as a column of each kind, and the number of each one's column."""
        numbers: dict[Hashable, int] = {}
        codes = [numbers.setdefault(key, len(numbers)) for key in keys]
        groups: list[list[Any]] = [[] for _ in numbers]
        for value, code in zip(values, codes, strict=True):
            groups[code].append(value)
        return ["mixed", codes, [self.column(group, depth) for group in groups]]

    def _sequence(self, values: Sequence[Collection[Any]], depth: int) -> Encoded:
        kind = next(name for name, base in CONTAINERS.items() if issubclass(type(values[0]), base))
        lengths = list(map(len, values))
        inside = list(chain.from_iterable(values))
        uniform = min(lengths) == max(lengths)
        # Containers of one length are sent a position a column, as those of one position are mostly of one type.
        if uniform and len(values) > 1 and lengths[0] <= APART and kind in ("list", "tuple"):
            if not set(map(type, inside)) <= PLAIN:
                return ["columns", kind, [self.column(inside[j :: lengths[0]], depth) for j in range(lengths[0])]]
        return [kind, lengths[0] if uniform else lengths, self.column(inside, depth)]

    def _mapping(self, values: Sequence[Mapping[Hashable, Any]], depth: int) -> Encoded:
        lengths = list(map(len, values))
        keys = list(chain.from_iterable(values))
        inside = list(chain.from_iterable(value.values() for value in values))
        return ["dict", lengths, self.column(keys, depth), self.column(inside, depth)]

    def _numbers(self, values: Values, depth: int) -> Encoded:
        array = np.array(values)
        return ["numbers", array.dtype.str, array.tobytes()]

    def _complex(self, values: Values, depth: int) -> Encoded:
        if isinstance(values[0], np.generic):
            return self._numbers(values, depth)
        return ["complex", np.array(values).tobytes()]

    def _rational(self, values: Sequence[Fraction], depth: int) -> Encoded:
        numerators = self.column([value.numerator for value in values], depth)
        return ["rational", numerators, self.column([value.denominator for value in values], depth)]

    def _labelled(self, values: Sequence[WithMetadata], depth: int) -> Encoded:
        kept = self.column([value.values for value in values], depth)
        return ["labelled", kept, self.column([looked_at(value.metadata) for value in values], depth)]

    def _array(self, values: Sequence[Array], depth: int) -> Encoded:
        # As plain arrays, without what a class of NumPy's own adds.
        return self._plain_arrays(list(map(np.asarray, values)), depth)

    def _plain_arrays(self, values: list[Array], depth: int) -> Encoded:
        first = values[0]
        if any(value.dtype != first.dtype or value.shape != first.shape for value in values):
            return self._mixed(values, [(value.dtype, value.shape) for value in values], depth - 1)
        fortran = [order_of(value) != "C" for value in values] if first.ndim > 1 else []
        if any(fortran):
            if not all(fortran):
                return self._mixed(values, fortran, depth - 1)
            return ["class", "fortran", self._plain_arrays(list(map(np.ascontiguousarray, values)), depth)]
        dtype = first.dtype
        shape = list(first.shape)
        # A type of another library, which the process of the audit may not have.
        if dtype.isbuiltin == 2:
            return self._foreign(values, depth)
        if dtype.names is not None:
            return self._records(values, depth)
        if dtype.kind in DTYPES:
            return ["array", dtype.str, shape, b"".join([value.tobytes() for value in values])]
        inside = list(chain.from_iterable(value.ravel().tolist() for value in values))
        return ["objects", shape, self.column(inside, depth)]

    def _records(self, values: Values, depth: int) -> Encoded:
        dtype = values[0].dtype
        fields = [self._array([value[name] for value in values], depth) for name in dtype.names]
        return ["records", list(values[0].shape), list(dtype.names), fields, _layout(dtype)]

    def _tables(self, values: Values, depth: int) -> Encoded:
        """Return tables or series of pandas by their names and arrays; those of types that NumPy lacks are foreign."""
        tables: list[tuple[Head | None, list[Array]]] = [taken(value) or (None, []) for value in values]
        heads = [head for head, _ in tables]
        head = heads[0]
        if any(other != head for other in heads):
            return self._mixed(values, heads, depth - 1)
        if head is None:
            return self._foreign(values, depth)
        arrays = zip(*(held for _, held in tables), strict=True)
        return ["tables", *self._head(head, depth), [self.column(one, depth) for one in arrays]]

    def _head(self, head: Head, depth: int) -> Encoded:
        texts = [dtype == TEXTS for dtype in head.dtypes]
        return [head.kind, self.column(head.names, depth), texts, head.of_index]

    def _exception(self, values: Sequence[Raised | BaseException], depth: int) -> Encoded:
        raised = [value if isinstance(value, Raised) else Raised(value) for value in values]
        return [
            "raised",
            self.column([one.kind for one in raised], depth),
            self.column([one.message for one in raised], depth),
            self.column([one.place for one in raised], depth),
            self.column([one.details for one in raised], depth),
        ]

    def _foreign(self, values: Values, depth: int) -> Encoded:
        """Return objects by their class and their parts; few objects of many values once each."""
        shared = Shared.of(values) if len(values) > 1 else None
        objects = values if shared is None else shared.objects
        refuse_promises(objects)
        kind = type(values[0])
        inside = self.column(list(map(parts, objects)), depth)
        if shared is not None and inside[0] != "plain":
            # `decoding` reads shared objects of plain parts alone, so that bytes cannot stand for more than they are.
            inside = self.column(list(map(parts, values)), depth)
            shared = None
        # A stand-in of a number must be a number too, since events read outputs by `float`.
        number = any("__float__" in vars(base) for base in kind.__mro__)
        found = ["foreign", str(kind.__module__)[:NAMES], str(kind.__qualname__)[:NAMES], number, inside]
        if shared is None:
            return found
        return ["shared", shared.codes.tolist(), len(objects), found]


# The methods that write values of one type, by its family; all others are foreign.
_WRITERS: dict[str, Callable[[_Writer, Any, int], Encoded]] = {
    "bool": _Writer._numbers,
    "int": _Writer._numbers,
    "float": _Writer._numbers,
    "complex": _Writer._complex,
    "text": lambda writer, values, depth: writer.column(list(map(str, values)), depth),
    "bytes": lambda writer, values, depth: writer.column(list(map(bytes, values)), depth),
    "sequence": _Writer._sequence,
    "set": _Writer._sequence,
    "mapping": _Writer._mapping,
    "array": _Writer._array,
    "sparse": lambda writer, values, depth: ["sparse", writer.column(list(map(_stored, values)), depth)],
    "exception": _Writer._exception,
    "labelled": _Writer._labelled,
    "unseen": lambda writer, values, depth: ["unseen"],
}


def _layout(dtype: Type) -> list[int | list[int] | list[str | None]] | None:
    """Return where records keep their fields, how many bytes one takes, and titles, or None if all are as usual."""
    if dtype == packed(dtype):
        return None
    titles = titles_of_fields(dtype)
    texts = [str(titles[name]) if name in titles else None for name in dtype.names or ()]
    return [list(places_of_fields(dtype)), dtype.itemsize, texts]


def _stored(value: Sparse) -> Parts:
    """Return what a sparse matrix stores, as it stores it if that can be built again."""
    # SciPy's matrices have methods that its arrays lack.
    found: Parts = {
        "format": value.format,
        "shape": tuple(map(int, value.shape)),
        "array": not hasattr(value, "getH"),
    }
    # Arrays are sent as they are stored: order and duplicates of entries are a part of the output.
    if value.format in ("csr", "csc", "bsr"):
        found["built of"] = (value.data, value.indices, value.indptr)
    elif value.format == "dia":
        found["built of"] = (value.data, value.offsets)
    else:
        entries = value.tocoo(copy=True)
        found["built of"] = (entries.data, tuple(coordinates(entries)))
    return found
