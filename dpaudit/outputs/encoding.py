"""Outputs as bytes in which nothing can be executed, for the way from the process that makes runs to the audit.

The process of the mechanism takes outputs apart. It sends numbers, texts, bytes and arrays of numbers in MessagePack,
column by column: each is a list of the name of its form and what the form needs. `outputs.decoding` reads them.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from dpaudit.errors import DpauditError, InputError
from dpaudit.outputs.canonical import Raised, family, looked_at, order_of
from dpaudit.outputs.decoding import CONTAINERS, DTYPES, LEVELS, NAMES, PLAIN, TABLES, TEXTS, decode
from dpaudit.outputs.frames import columns_of, usual_storage
from dpaudit.outputs.objects import refuse_promises
from dpaudit.outputs.parts import packed, parts
from dpaudit.outputs.shared import Shared
from dpaudit.withheld import raised_words

MOST_BYTES = 2**31
"""Bytes of the outputs of one call, encoded."""
APART = 16
"""Elements of tuples and lists that become columns of their own where they are not all plain."""

Column = list[Any]
_PLAIN_SEQUENCES = frozenset({list, tuple})

_LEAVES = PLAIN | {np.dtype(code).type for code in "?bhilqBHILQefdgFDG"}
"""The types of single values that are sent as they are."""
_HOLDING: frozenset[type] = frozenset({*CONTAINERS.values(), dict})
_NUMBERS_AND_TEXTS = (int, float, complex, str, bytes, bytearray, np.generic)
_OPEN = (*_NUMBERS_AND_TEXTS, *CONTAINERS.values(), Mapping, np.ndarray, BaseException)
_OPENING = frozenset({"__float__", "__next__", "__await__", "__aiter__", "__call__", "__array__", "__dlpack__", "iloc"})
"""The classes, and methods of others, of objects that are looked at as such, or refused."""
SHALLOW = 4
"""Levels of containers that are looked through for what is not plain: each may hold many times what the last does."""
_pack = msgspec.msgpack.Encoder().encode


def encode(outputs: Any) -> bytes:
    """Return a batch of outputs as bytes; `InputError` if one cannot be taken apart, or they are too many bytes."""
    rows = type(outputs) is np.ndarray
    try:
        values = [outputs] if rows else list(outputs)
        try:
            content: bytes = _pack([rows, _Writer(False).column(values, 0)])
        except (OverflowError, UnicodeEncodeError):  # an integer beyond 64 bits, or half of a surrogate pair
            content = _pack([rows, _Writer(True).column(values, 0)])
    except DpauditError:
        raise
    except RecursionError:
        raise _too_deep() from None
    except Exception as error:  # methods of outputs are third-party code
        raise InputError(f"an output cannot be taken apart: {raised_words(error)}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"the outputs of a call take more than {MOST_BYTES:,} bytes: return less in one")
    return content


def plain(outputs: Any, *, alone: bool = False) -> Any:
    """Return a batch of outputs as `decode` reads what `encode` makes of it, or as it is if that looks the same.

    Objects that are looked at by their parts alone look the same as their stand-ins, but not beside them: they stay as
    they are where all outputs of an audit are made in one process, `alone`.
    """
    same, array = False, type(outputs) is np.ndarray
    if array and outputs.dtype.isbuiltin == 2:  # rows of a type of another library, as bfloat16
        outputs, array = list(outputs), False
    with suppress(Exception):  # methods of outputs are third-party code
        if array and outputs.dtype.kind in DTYPES:
            same = True
        elif type(outputs) is list or (array and outputs.dtype == object):
            same = _look_the_same(outputs.ravel().tolist() if array else outputs, alone, SHALLOW)
    return outputs if same else decode(encode(outputs), len(outputs))


def _look_the_same(values: list[Any], alone: bool, depth: int) -> bool:
    """Return whether every event and every feature is the same for outputs as for what `decode` makes of them."""
    kinds: set[Any] = set(map(type, values))
    for kind in kinds - _LEAVES:
        some: list[Any] = values if len(kinds) == 1 else [one for one in values if type(one) is kind]
        if kind in _HOLDING:
            if not depth:
                return False
            for held in (
                (some, list(map(dict.values, some))) if kind is dict else (some,)
            ):  # of dictionaries the keys too
                nested = not set(map(type, chain.from_iterable(held))) <= _LEAVES
                if nested and not _look_the_same(list(chain.from_iterable(held)), alone, depth - 1):
                    return False
        elif kind is np.ndarray or family(kind) == "sparse":
            if not all(one.dtype.kind in DTYPES and one.dtype.isbuiltin != 2 for one in some):
                return False
        elif _is_table(kind):
            taken = list(map(_taken, some))
            parts_of = [one for table in taken if table is not None for one in table[1]]
            if None in taken or not all(
                one.dtype.kind in DTYPES or set(map(type, one.tolist())) <= PLAIN for one in parts_of
            ):
                return False
        elif not (alone and _is_opaque(kind)):
            return False
    return True


@lru_cache(maxsize=256)
def _is_opaque(kind: type) -> bool:
    """Return whether objects of a class are looked at by their parts alone, as their stand-ins are."""
    return not (issubclass(kind, _OPEN) or any(_OPENING & base.__dict__.keys() for base in kind.__mro__))


def _is_table(kind: type) -> bool:
    """Return whether a class is a table or series of pandas, and no stand-in of one."""
    return kind.__name__ in TABLES and kind.__module__.partition(".")[0] == "pandas" and hasattr(kind, "iloc")


def _too_deep() -> InputError:
    return InputError(
        f"an output holds itself, or is nested deeper than {LEVELS} levels, too deep to be compared; return what of it "
        "matters"
    )


_NAMES_OF_CLASSES: dict[type, str] = {
    OrderedDict: "OrderedDict",
    Counter: "Counter",
    MappingProxyType: "mappingproxy",
    bytearray: "bytearray",
    np.matrix: "matrix",
    np.recarray: "recarray",
}
"""The names by which `decoding` makes classes of plain values."""


class _Writer:
    """Makes columns; one that is `careful` looks for numbers and texts that MessagePack does not have."""

    def __init__(self, careful: bool) -> None:
        self.careful = careful

    def column(self, values: Sequence[Any], depth: int) -> Column:
        """Return values as a column."""
        kinds = set(map(type, values))
        if kinds <= PLAIN:
            return self._plain(values, kinds)
        if depth > LEVELS:
            raise _too_deep()
        if len(values) == 1 and kinds <= _PLAIN_SEQUENCES:  # one run of many: the shortest way
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
        elif _is_table(kind):
            write = _Writer._tables
        return write(self, values, depth + 1)

    def _plain(self, values: Sequence[Any], kinds: set[type]) -> Column:
        if self.careful:
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

    def _mixed(self, values: Sequence[Any], keys: Sequence[Any], depth: int) -> Column:
        numbers: dict[Any, int] = {}
        codes = [numbers.setdefault(key, len(numbers)) for key in keys]
        groups: list[list[Any]] = [[] for _ in numbers]
        for value, code in zip(values, codes, strict=True):
            groups[code].append(value)
        return ["mixed", codes, [self.column(group, depth) for group in groups]]

    def _sequence(self, values: Sequence[Any], depth: int) -> Column:
        kind = next(name for name, base in CONTAINERS.items() if issubclass(type(values[0]), base))
        lengths = list(map(len, values))
        inside = list(chain.from_iterable(values))
        uniform = min(lengths) == max(lengths)
        if uniform and len(values) > 1 and lengths[0] <= APART and kind in ("list", "tuple"):
            if not set(map(type, inside)) <= PLAIN:
                return ["columns", kind, [self.column(inside[j :: lengths[0]], depth) for j in range(lengths[0])]]
        return [kind, lengths[0] if uniform else lengths, self.column(inside, depth)]

    def _mapping(self, values: Sequence[Any], depth: int) -> Column:
        lengths = list(map(len, values))
        keys, inside = list(chain.from_iterable(values)), list(chain.from_iterable(value.values() for value in values))
        return ["dict", lengths, self.column(keys, depth), self.column(inside, depth)]

    def _numbers(self, values: Sequence[Any], depth: int) -> Column:
        array = np.array(values)
        return ["numbers", array.dtype.str, array.tobytes()]

    def _complex(self, values: Sequence[Any], depth: int) -> Column:
        plain = not isinstance(values[0], np.generic)
        return ["complex", np.array(values).tobytes()] if plain else self._numbers(values, depth)

    def _rational(self, values: Sequence[Any], depth: int) -> Column:
        both = [[value.numerator for value in values], [value.denominator for value in values]]
        return ["rational", *(self.column(one, depth) for one in both)]

    def _labelled(self, values: Sequence[Any], depth: int) -> Column:
        kept = self.column([value.values for value in values], depth)
        return ["labelled", kept, self.column([looked_at(value.beside) for value in values], depth)]

    def _array(self, values: Sequence[Any], depth: int) -> Column:
        values = list(map(np.asarray, values))  # without what a class of NumPy's own adds
        first = values[0]
        fortran = [order_of(value) != "C" for value in values] if first.ndim > 1 else []
        if any(value.dtype != first.dtype or value.shape != first.shape for value in values):
            return self._mixed(values, [(value.dtype, value.shape) for value in values], depth - 1)
        if any(fortran):
            if not all(fortran):
                return self._mixed(values, fortran, depth - 1)
            return ["class", "fortran", self._array(list(map(np.ascontiguousarray, values)), depth)]
        dtype, shape = first.dtype, list(first.shape)
        if dtype.isbuiltin == 2:  # of another library, that the process of the audit may not have
            return self._foreign(values, depth)
        if dtype.names is not None:
            fields = [self._array([value[name] for value in values], depth) for name in dtype.names]
            return ["records", shape, list(dtype.names), fields, _layout(dtype)]
        if dtype.kind in DTYPES:
            return ["array", dtype.str, shape, b"".join([value.tobytes() for value in values])]
        inside = list(chain.from_iterable(value.ravel().tolist() for value in values))
        return ["objects", shape, self.column(inside, depth)]

    def _tables(self, values: Sequence[Any], depth: int) -> Column:
        """Return tables or series of pandas by their names and arrays; those of types that NumPy lacks are foreign."""
        taken = list(map(_taken, values))
        heads = [None if one is None else one[0] for one in taken]
        if any(head != heads[0] for head in heads):
            return self._mixed(values, heads, depth - 1)
        if heads[0] is None:
            return self._foreign(values, depth)
        kind, names, dtypes, label = heads[0]
        arrays = zip(*(one[1] for one in taken if one is not None), strict=True)
        texts = [dtype == TEXTS for dtype in dtypes]
        return ["tables", kind, self.column(names, depth), texts, label, [self.column(one, depth) for one in arrays]]

    def _exception(self, values: Sequence[Any], depth: int) -> Column:
        raised = [value if type(value) is Raised else Raised(value) for value in values]
        texts = [[getattr(one, name) for one in raised] for name in ("kind", "message", "place", "beside")]
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
        number = any("__float__" in base.__dict__ for base in kind.__mro__)
        found = ["foreign", str(kind.__module__)[:NAMES], str(kind.__qualname__)[:NAMES], number, inside]
        return found if shared is None else ["shared", shared.codes.tolist(), len(objects), found]


_WRITERS: dict[str, Callable[[_Writer, Sequence[Any], int], Column]] = {
    **dict.fromkeys(("bool", "int", "float"), _Writer._numbers),
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
"""The methods that write values of one type, by its family; all others are foreign."""


def _taken(table: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return the head of a table or series of pandas, and the arrays of its columns and its index.

    The head holds the type, the names and dtypes of the columns, and the name of the index with whether it is a range,
    or None where rows are numbered from 0. None is returned where a part has a type that NumPy lacks, a name is no
    plain value, or something else stands beside the values.
    """
    kind, index = type(table).__name__, table.index
    columns = [(table.name, table)] if kind == "Series" else columns_of(table)
    ranged = type(index).__name__ == "RangeIndex"
    numbered = ranged and index.equals(type(index)(len(table))) and index.name is None
    held = [column for _, column in columns] + ([] if numbered else [index])
    names = tuple(name for name, _ in columns)
    plain = all(isinstance(one.dtype, np.dtype) or one.dtype == TEXTS for one in held) and index.nlevels == 1
    known = len(set(names)) == len(names) and {*map(type, (*names, index.name))} <= PLAIN
    # What is built again has the types that pandas gives labels and texts.
    usual = (kind == "Series" or table.columns.dtype == _type_of_labels(names)) and all(map(_is_usual, held))
    if not (columns and plain and known and usual) or _has_more(table):
        return None
    dtypes = tuple(str(one.dtype) for one in held)
    return (kind, names, dtypes, None if numbered else (index.name, ranged)), [np.asarray(one) for one in held]


def _layout(dtype: np.dtype[Any]) -> list[Any] | None:
    """Return where records keep their fields, how many bytes one takes, and titles; None where nothing is special."""
    if dtype == packed(dtype):
        return None
    fields: Mapping[str, tuple[Any, ...]] = dtype.fields or {}
    places = [int(fields[name][1]) for name in dtype.names or ()]
    titles = [str(fields[name][2]) if len(fields[name]) > 2 else None for name in dtype.names or ()]
    return [places, dtype.itemsize, titles]


@lru_cache(maxsize=256)
def _type_of_labels(names: tuple[Any, ...]) -> Any:
    """Return the type that pandas gives an index of these names of columns."""
    import pandas as pd

    return pd.Index(list(names)).dtype


def _is_usual(column: Any) -> bool:
    """Return whether texts of pandas are kept as those are that are built again."""
    return getattr(column.dtype, "storage", None) in (None, usual_storage())


_ALONE = frozenset({"_mgr", "_attrs", "_flags", "_name", "_item_cache", "_is_copy", "_cacher"})


def _has_more(table: Any) -> bool:
    """Return whether a table or series holds more than names, values and an index of numbers, texts or times."""
    if table.attrs or not table.flags.allows_duplicate_labels or not vars(table).keys() <= _ALONE:
        return True
    named = table.ndim > 1 and (table.columns.name is not None or table.columns.nlevels > 1)
    return bool(named) or getattr(table.index, "freq", None) is not None


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
