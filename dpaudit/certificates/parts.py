"""A pair as parts that both inputs share: these can be left out on both sides, and the rest stays neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit.contract import Pair
from dpaudit.errors import InputError
from dpaudit.neighbours.check import as_multiset
from dpaudit.outputs.canonical import canonical

__all__ = ["Kept", "Parts", "Records", "SharedExamples", "parts_of", "row_count", "take_rows", "with_common"]

Kept = tuple[tuple[int, ...], tuple[int, ...]] | None
"""The numbers of the records of either input that stay; None where parts are no numbered records, or all stay."""


class Parts(ABC):
    """A pair as what both inputs share, in parts that can be left out, and what they differ in."""

    @property
    @abstractmethod
    def shared(self) -> int:
        """The number of parts that both inputs share."""

    @abstractmethod
    def keep(self, kept: Sequence[int]) -> Pair:
        """Return the pair with those of the shared parts alone."""

    def records(self, kept: Sequence[int]) -> Kept:
        """Return the numbers of the records of either input that stay; None where parts are no numbered records."""
        return None


@dataclass(frozen=True)
class Records(Parts):
    """Datasets as rows: lists, tuples, arrays, data frames, and dictionaries of columns of one length.

    Attributes
    ----------
    pair : Pair
        The pair.
    before, after : int
        Rows that both have at the start and, after those in which they differ, at the end.
    """

    pair: Pair
    before: int
    after: int

    @classmethod
    def of(cls, pair: Pair) -> Records | None:
        """Return the rows of a pair; None for inputs that have none."""
        kinds = [_rows_of(side) for side in (pair.data, pair.neighbour)]
        if kinds[0] is None or kinds[1] is None or type(pair.data) is not type(pair.neighbour):
            return None
        cells = [[canonical(row) for row in rows] for rows in kinds if rows is not None]
        least = min(map(len, cells))
        before = next((i for i in range(least) if cells[0][i] != cells[1][i]), least)
        most = least - before
        after = next((i for i in range(most) if cells[0][-1 - i] != cells[1][-1 - i]), most)
        return cls(pair, before, after)

    @property
    def shared(self) -> int:
        """The number of rows that both share."""
        return self.before + self.after

    def keep(self, kept: Sequence[int]) -> Pair:
        """Return the pair with those of the shared rows alone."""
        sides = (self.pair.data, self.pair.neighbour)
        data, neighbour = (take_rows(side, rows) for side, rows in zip(sides, self.records(kept), strict=True))
        return Pair(data, neighbour, self.pair.origin)

    def records(self, kept: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the numbers of the rows of either input that stay."""
        found = []
        for side in (self.pair.data, self.pair.neighbour):
            total = row_count(side)
            own = range(self.before, total - self.after)
            late = (i - self.before + total - self.after for i in kept if i >= self.before)
            found.append((*(i for i in kept if i < self.before), *own, *late))
        return found[0], found[1]


@dataclass(frozen=True)
class Fields(Parts):
    """Dictionaries as their entries."""

    pair: Pair

    @cached_property
    def _alike(self) -> list[Any]:
        data, neighbour = self.pair.data, self.pair.neighbour
        return [key for key in data if key in neighbour and canonical(data[key]) == canonical(neighbour[key])]

    @property
    def shared(self) -> int:
        """The number of entries that both share."""
        return len(self._alike)

    def keep(self, kept: Sequence[int]) -> Pair:
        """Return the pair with those of the shared entries alone."""
        gone = {self._alike[i] for i in set(range(self.shared)) - set(kept)}
        sides = (self.pair.data, self.pair.neighbour)
        data, neighbour = ({key: value for key, value in side.items() if key not in gone} for side in sides)
        return Pair(data, neighbour, self.pair.origin)


@dataclass(frozen=True)
class SharedExamples(Parts):
    """Samples of a learner as their distinct examples, with all copies that both have."""

    pair: Pair

    @cached_property
    def _common(self) -> Counter[tuple[Any, ...]]:
        return as_multiset(self.pair.data) & as_multiset(self.pair.neighbour)

    @property
    def shared(self) -> int:
        """The number of distinct examples that both have."""
        return len(self._common)

    def keep(self, kept: Sequence[int]) -> Pair:
        """Return the pair with those of the shared examples alone."""
        examples = sorted(self._common)
        return with_common(self.pair, Counter({examples[i]: self._common[examples[i]] for i in kept}))


def with_common(pair: Pair, common: Counter[tuple[Any, ...]]) -> Pair:
    """Return a pair of samples with other examples in place of those that both share."""
    first, second = as_multiset(pair.data), as_multiset(pair.neighbour)
    shared = first & second
    data, neighbour = (_sample(pair.data, own - shared + common) for own in (first, second))
    return Pair(data, neighbour, pair.origin)


def _sample(like: Any, rows: Counter[tuple[Any, ...]]) -> Any:
    rows = +rows
    if not rows:
        return like.domain.empty_sample()
    points, labels, flags = zip(*rows, strict=True)
    return like.domain.sample(list(points), list(labels), list(rows.values()), None if like.public is None else flags)


def parts_of(pair: Pair) -> Parts | None:
    """Return the parts of a pair; None for inputs that have none, as numbers and texts."""
    if all(hasattr(side, "counts") and getattr(side, "domain", None) for side in (pair.data, pair.neighbour)):
        return SharedExamples(pair)
    try:
        rows = Records.of(pair)
        if rows is None and type(pair.data) is type(pair.neighbour) is dict:
            return Fields(pair)
    except (InputError, TypeError, ValueError):
        return None
    return rows


def _rows_of(value: Any) -> Sequence[Any] | None:
    """Return the rows of a dataset; None where there are none."""
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    if type(value).__name__ in ("DataFrame", "Series"):
        return list(value.itertuples(index=False, name=None)) if value.ndim == 2 else value.tolist()
    if type(value) is dict and value and all(isinstance(column, list | np.ndarray) for column in value.values()):
        lengths = {len(column) for column in value.values()}
        return list(zip(*value.values(), strict=True)) if len(lengths) == 1 else None
    return None


def row_count(value: Any) -> int:
    """Return the number of rows of a dataset."""
    return len(next(iter(value.values()))) if type(value) is dict else len(value)


def take_rows(value: Any, rows: Sequence[int]) -> Any:
    """Return some rows of a dataset, as a dataset of the same type."""
    if isinstance(value, list | tuple):
        return type(value)(value[i] for i in rows)
    if isinstance(value, np.ndarray):
        return value[list(rows)]
    if type(value) is dict:
        return {name: take_rows(column, rows) for name, column in value.items()}
    taken = value.iloc[list(rows)]
    return taken.reset_index(drop=True)
