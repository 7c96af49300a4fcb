"""The planning of containers: sequences, arrays, sparse matrices, mappings, sets and objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.jsonable import stable_repr
from dpaudit.outputs import readers
from dpaudit.outputs.derived_values import Element, Entry, Has, Keys, Length, Size, Values, key_order, key_set
from dpaudit.outputs.families import NUMERIC, family
from dpaudit.outputs.planner import Planner
from dpaudit.outputs.shared import follow
from dpaudit.outputs.sparse import ExplicitZeros, SparseRows, Stored
from dpaudit.outputs.steps import Item, Key, Part, Path, in_words

__all__ = ["NAMED_POSITIONS", "POSITIONS", "array", "exploded", "mapping", "sequence", "set_", "sparse"]

POSITIONS = 64
"""Elements of a sequence of mixed kinds that are taken apart one by one; of a longer one the rest is told as unseen."""
NAMED_POSITIONS = 16
"""Numbers of a sequence that are leaves of their own beside the row that they form."""
KEYS = 256
"""Keys of mappings that are followed: the commonest."""
DENSE = 10**6
"""Numbers of a sparse matrix up to which it becomes a row of numbers."""


def exploded(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan the parts of objects, as the table of types gives them."""
    planner.node(follow(Part(), values)[0], (*path, Part()))


def sequence(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan lists and tuples: their length, and a row of numbers or each element."""
    lengths = set(map(len, values))
    longest = max(lengths)
    if len(lengths) > 1:
        planner.add((*path, Length()), readers.Whole())
    inside = {family(kind) for kind in set(map(type, chain.from_iterable(values)))}
    if len(inside) > 1 or not inside <= NUMERIC:
        planner.category(_types_of, values, path, "types")
    if inside <= NUMERIC:
        if longest:
            planner.add(path, readers.Block(longest))
        if 1 <= longest <= NAMED_POSITIONS:
            outer, planner.in_row = planner.in_row, True
            _positions(planner, values, path, longest)
            planner.in_row = outer
        return
    _positions(planner, values, path, min(longest, POSITIONS))
    if longest > POSITIONS:
        planner.unseen.append(f"elements {POSITIONS} to {longest - 1} of {in_words(path)}")


def _positions(planner: Planner, values: list[Any], path: Path, longest: int) -> None:
    for j in range(longest):
        below = follow(Item(j), values)[0]
        if planner.common(len(below)) or len(values) == len(below):
            planner.node(below, (*path, Item(j)))


def _types_of(values: Iterable[Any]) -> str:
    """Return the families of the first elements, as one category."""
    return " ".join(family(type(value)) for value, _ in zip(values, range(POSITIONS), strict=False))


def array(planner: Planner, values: list[NDArray[Any]], path: Path) -> None:
    """Plan arrays: their shape, kind and numbers; those of other things by their parts."""
    planner.category(_shape, values, path, "shape")
    planner.category(_kind_of_numbers, values, path, "kind of the numbers")
    planner.category(_dtype, values, path, "dtype", representation=True)
    if any(value.dtype.kind not in "iufb" for value in values):
        exploded(planner, values, path)
        return
    widest = max(value.size for value in values)
    if len({value.size for value in values}) > 1:
        planner.add((*path, Size()), readers.Whole())
    if widest:
        planner.add(path, readers.Block(widest))
    if 1 <= widest <= NAMED_POSITIONS:
        outer, planner.in_row = planner.in_row, True
        for j in range(widest):
            below = follow(Entry(j), values)[0]
            if planner.common(len(below)) or len(below) == len(values):
                planner.node(below, (*path, Entry(j)))
        planner.in_row = outer


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape)


def _kind_of_numbers(value: NDArray[Any]) -> str:
    """Return the kind of an array's dtype: integers are integers, with a sign or without."""
    return "i" if value.dtype.kind == "u" else value.dtype.kind


def _dtype(value: Any) -> str:
    return str(value.dtype)


def sparse(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan sparse matrices: all their numbers where these are not too many, and the pattern of what is stored."""
    planner.category(_shape, values, path, "shape")
    planner.category(_kind_of_numbers, values, path, "kind of the numbers")
    planner.category(_format, values, path, "format", representation=True)
    planner.category(_dtype, values, path, "dtype", representation=True)
    widths = {int(np.prod(value.shape, dtype=np.int64)) for value in values}
    if len(widths) > 1 or max(widths) > DENSE or any(value.dtype.kind not in "iufb" for value in values):
        exploded(planner, values, path)
        return
    planner.add(path, SparseRows(max(widths)))
    planner.add((*path, Stored()), readers.Whole())
    zeros = ExplicitZeros()(values)[0]
    if any(zeros):
        planner.node(zeros, (*path, ExplicitZeros()))


def _format(value: Any) -> str:
    return str(value.format)


def mapping(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan mappings: their keys, the order of these, and the value at each."""
    planner.category(key_set, values, path, "keys")
    planner.category(key_order, values, path, "order of the keys")
    if len(set(map(len, values))) > 1:
        planner.add((*path, Length()), readers.Whole())
    counts = Counter(chain.from_iterable(values))
    kept = [key for key, count in counts.most_common(KEYS) if planner.common(count) or count == len(values)]
    for key in sorted(kept, key=stable_repr):
        below = follow(Key(key), values)[0]
        if len(below) < len(values):
            planner.category(Has(key), values, path, f"presence of {key!r:.60}")
        planner.node(below, (*path, Key(key)))
    if len(kept) < len(counts):
        for step in (Keys(), Values()):
            planner.node(follow(step, values)[0], (*path, step))


def set_(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan sets: the presence of common members, and the sorted elements."""
    counts = Counter(chain.from_iterable(values))
    followed = [member for member, count in counts.most_common(KEYS) if planner.common(count) and count < len(values)]
    for member in sorted(followed, key=stable_repr):
        planner.category(Has(member), values, path, f"membership of {member!r:.60}")
    planner.node(Element()(values)[0], (*path, Element()))
