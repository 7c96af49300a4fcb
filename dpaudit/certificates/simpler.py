"""Pairs with simpler values near a pair, and how much there is to say of a pair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpaudit.certificates.parts import Records, SharedExamples, parts_of, row_count, with_common
from dpaudit.contract import Pair
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.check import as_multiset
from dpaudit.outputs.canonical import canonical

__all__ = ["Bounds", "complexity", "simpler"]

Bounds = tuple[float, float] | None
"""The range of values that a mechanism is made for, where it is known."""


def complexity(pair: Pair) -> tuple[int, int, str]:
    """Return how much there is to say of a pair: its distinct values, then the length of its text."""
    text = ""
    for side in (pair.data, pair.neighbour):
        text += stable_repr(sorted(as_multiset(side).items()) if hasattr(side, "counts") else canonical(side))
    return len(set(re.findall(r"[^\s,()\[\]]+", text))), len(text), text


def simpler(pair: Pair, bounds: Bounds = None) -> Iterator[Pair]:
    """Yield pairs with simpler values: 0, 1, or the ends of a column's range; and with fewer copies of examples.

    0 and 1 are tried only within that range, for outside of it a mechanism may promise nothing.

    Parameters
    ----------
    pair : Pair
        The pair.
    bounds : tuple of two numbers, optional
        The range; by default that of a column's own numbers on both sides.
    """
    parts = parts_of(pair)
    if isinstance(parts, SharedExamples):
        common = as_multiset(pair.data) & as_multiset(pair.neighbour)
        for fewer in (lambda count: 1, lambda count: count // 2):
            yield with_common(pair, Counter({example: max(1, fewer(count)) for example, count in common.items()}))
    elif isinstance(parts, Records):
        yield from _simpler_rows(parts, bounds)


def _simpler_rows(parts: Records, bounds: Bounds) -> Iterator[Pair]:
    sides = (parts.pair.data, parts.pair.neighbour)
    own = [range(parts.before, row_count(side) - parts.after) for side in sides]
    both = [[i for i in range(row_count(side)) if i not in rows] for side, rows in zip(sides, own, strict=True)]
    for column, numbers in _columns(*sides).items():
        least, greatest = bounds or (min(numbers), max(numbers))
        for target in dict.fromkeys([*(x for x in (0, 1) if least <= x <= greatest), least, greatest]):
            yield _changed(parts.pair, both, column, target)
            for side in (0, 1):
                yield _changed(parts.pair, [own[side] if i == side else [] for i in (0, 1)], column, target)


def _changed(pair: Pair, rows: Sequence[Sequence[int]], column: Any, target: float) -> Pair:
    """Return a pair with one value in some rows of a column on either side."""
    data, neighbour = (
        _with(side, list(some), column, target) for side, some in zip((pair.data, pair.neighbour), rows, strict=True)
    )
    return Pair(data, neighbour, pair.origin)


def _columns(data: Any, neighbour: Any) -> dict[Any, list[float]]:
    """Return the finite numbers of both sides by column; None stands for rows that are numbers themselves."""
    found: dict[Any, list[float]] = {}
    for side in (data, neighbour):
        for name, values in _named_columns(side):
            numbers = values.tolist() if isinstance(values, np.ndarray) else list(values)
            if numbers and all(type(x) in (int, float) for x in numbers):
                found.setdefault(name, []).extend(x for x in numbers if abs(x) < np.inf)
    return {name: numbers for name, numbers in found.items() if numbers}


def _named_columns(value: Any) -> list[tuple[Any, Any]]:
    if type(value) is dict:
        return list(value.items())
    if type(value).__name__ == "DataFrame":
        return [(name, value[name].to_numpy()) for name in value]
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return list(enumerate(value.T))
    return [(None, value)] if type(value).__name__ != "Series" else []


def _with(value: Any, rows: list[int], column: Any, target: float) -> Any:
    """Return a dataset with one value in some rows of a column."""
    if type(value) is dict:
        return {**value, column: _with(value[column], rows, None, target)}
    if type(value).__name__ == "DataFrame":
        return value.assign(**{column: _with(value[column].to_numpy(), rows, None, target)})
    if isinstance(value, np.ndarray):
        changed = value.copy()
        changed[(rows,) if column is None else (rows, column)] = target
        return changed
    return type(value)(type(x)(target) if i in set(rows) else x for i, x in enumerate(value))
