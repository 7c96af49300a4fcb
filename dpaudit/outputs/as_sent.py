"""Whether outputs look the same as what `decode` makes of their bytes, so that they need not be taken apart.

Most outputs are numbers, texts, arrays of numbers and plain containers of these, which are read as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

import numpy as np

from dpaudit.outputs.canonical import family
from dpaudit.outputs.decoding import CONTAINERS, DTYPES, PLAIN
from dpaudit.outputs.tables import is_plain_table, is_table
from dpaudit.outputs.types import Array, Batch, Sparse, Values

# Levels of containers that are looked through for what is not plain: each may hold many times what the last does.
SHALLOW = 4

# The types of single values that are sent as they are.
_LEAVES: frozenset[type] = PLAIN | {np.dtype(code).type for code in "?bhilqBHILQefdgFDG"}
_HOLDING: frozenset[type] = frozenset({*CONTAINERS.values(), dict})
_NUMBERS_AND_TEXTS = (int, float, complex, str, bytes, bytearray, np.generic)
# The classes, and methods of others, of objects that are read as such, or refused.
_OPEN = (*_NUMBERS_AND_TEXTS, *CONTAINERS.values(), Mapping, np.ndarray, BaseException)
_OPENING = frozenset({"__float__", "__next__", "__await__", "__aiter__", "__call__", "__array__", "__dlpack__", "iloc"})


def look_the_same(outputs: Batch, alone: bool) -> bool:
    """Say whether every event and every feature is the same for outputs as for what is read of their bytes.

    Objects that are read by their parts alone are the same if all outputs of an audit are made in one process, `alone`.
    """
    if type(outputs) is np.ndarray:
        if outputs.dtype.kind in DTYPES:
            return True
        return outputs.dtype == object and _are_plain(outputs.ravel().tolist(), alone, SHALLOW)
    return type(outputs) is list and _are_plain(outputs, alone, SHALLOW)


def _are_plain(values: Values, alone: bool, depth: int) -> bool:
    kinds = set(map(type, values))
    for kind in kinds - _LEAVES:
        some = values if len(kinds) == 1 else [one for one in values if type(one) is kind]
        if not _is_plain_kind(kind, some, alone, depth):
            return False
    return True


def _is_plain_kind(kind: type, values: Values, alone: bool, depth: int) -> bool:
    """Say whether values of one type are read as they are."""
    if kind is dict:
        # Of dictionaries the keys too.
        below = [one.values() for one in values]
        return depth > 0 and _hold_plain(values, alone, depth) and _hold_plain(below, alone, depth)
    if kind in _HOLDING:
        return depth > 0 and _hold_plain(values, alone, depth)
    if kind is np.ndarray or family(kind) == "sparse":
        return all(map(_has_sent_type, values))
    if is_table(kind):
        return all(map(is_plain_table, values))
    return alone and _is_opaque(kind)


def _hold_plain(containers: Values, alone: bool, depth: int) -> bool:
    nested = not set(map(type, chain.from_iterable(containers))) <= _LEAVES
    return not nested or _are_plain(list(chain.from_iterable(containers)), alone, depth - 1)


def _has_sent_type(value: Array | Sparse) -> bool:
    return value.dtype.kind in DTYPES and value.dtype.isbuiltin != 2


@lru_cache(maxsize=256)
def _is_opaque(kind: type) -> bool:
    """Say whether objects of a class are read by their parts alone, as their stand-ins are."""
    return not (issubclass(kind, _OPEN) or any(_OPENING & vars(base).keys() for base in kind.__mro__))
