"""Make pairs smaller: what both inputs share is left out on both sides, and values are made simpler.

What is left stays neighbours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dpaudit.contract import Pair, Sample
from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.check import as_multiset, lacking, sample_of, shared_ends
from dpaudit.outputs.canonical import canonical

if TYPE_CHECKING:
    from dpaudit.neighbours.own_data.adapters import Table

C = TypeVar("C")
Better = Callable[[Pair], C | None]
"""Returns what refutes the claim on a pair; None where nothing does."""
Kept = tuple[tuple[int, ...], tuple[int, ...]] | None
"""The numbers of the records of either input that stay; None where parts are no numbered records, or all stay."""
_Keep = Callable[[Sequence[int]], tuple[Pair, Kept]]
"""Makes the pair with some of the parts that both inputs share, of which it takes the numbers."""
ValueRange = tuple[float, float] | None
"""The range of values that a mechanism is made for, where it is known."""


@dataclass(frozen=True)
class Small(Generic[C]):
    """A pair with what refutes the claim on it, and the records of either original input that are left."""

    pair: Pair
    chosen: C
    records: Kept = None


def shrink(better: Better[C], start: Small[C], *, values: bool = True, bounds: ValueRange = None) -> Iterator[Small[C]]:
    """Yield ever smaller pairs that still show it, the first one the start itself.

    What refutes a claim on a pair is `better(pair)`, None where nothing does. With `values` values are made simpler
    too, within `bounds` where the range that the mechanism is made for is known; else records are left out alone.
    """
    yield start
    small: Small[C] | None = start
    for small in _fewer(better, start.pair):
        yield small
    while values and small is not None:
        limit = complexity(small.pair)
        simpler = (pair for pair in _simpler_pairs(small.pair, bounds) if complexity(pair) < limit)
        small = next((Small(pair, chosen) for pair in simpler if (chosen := better(pair)) is not None), None)
        if small is not None:
            yield small


def _fewer(better: Better[C], pair: Pair) -> Iterator[Small[C]]:
    """Yield the pair with fewer and fewer shared parts: all, then ever smaller blocks of them are left out."""
    shared, keep = _parts_of(pair)
    kept, block = list(range(shared)), shared
    while block:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + block :]
            try:
                smaller, records = keep(fewer)
            except (InputError, ValueError, TypeError):  # so few make no input
                chosen = None
            else:
                chosen = better(smaller)
            if chosen is not None:
                kept = fewer
                yield Small(smaller, chosen, records)
            else:
                at += block
        block = min(block // 2, len(kept))


def _simpler_pairs(pair: Pair, bounds: ValueRange) -> Iterator[Pair]:
    """Yield pairs with simpler values: the ends of a column's range, and 0 and 1 in it; or fewer copies of examples."""
    if _are_samples(pair):
        common = as_multiset(pair.data) & as_multiset(pair.neighbour)
        for most in (1, None):
            fewer = {example: most or max(1, count // 2) for example, count in common.items()}
            yield _with_common(pair, Counter(fewer))
        return
    rows = None
    with suppress(InputError, TypeError, ValueError):
        rows = _Rows.of(pair)
    if rows is not None:
        yield from rows.simpler(bounds)


def complexity(pair: Pair) -> tuple[int, int, str]:
    """Return how much there is to say of a pair: its distinct values, then the length of its text."""
    text = ""
    for side in (pair.data, pair.neighbour):
        text += stable_repr(sorted(as_multiset(side).items()) if isinstance(side, Sample) else canonical(side))
    return len(set(re.findall(r"[^\s,()\[\]]+", text))), len(text), text


def _parts_of(pair: Pair) -> tuple[int, _Keep]:
    """Return how many parts both inputs share, 0 for numbers and texts, and what makes the pair with some of them."""
    if _are_samples(pair):
        common = as_multiset(pair.data) & as_multiset(pair.neighbour)
        examples = sorted(common)

        def keep(kept: Sequence[int]) -> tuple[Pair, Kept]:
            return _with_common(pair, Counter({examples[i]: common[examples[i]] for i in kept})), None

        return len(examples), keep
    with suppress(InputError, TypeError, ValueError):
        if (rows := _Rows.of(pair)) is not None:
            return rows.before + rows.after, rows.keep
        if type(pair.data) is type(pair.neighbour) is dict:
            return _entries(pair)
    return 0, lambda kept: (pair, None)


def _are_samples(pair: Pair) -> bool:
    return all(isinstance(side, Sample) and side.domain is not None for side in (pair.data, pair.neighbour))


def _with_common(pair: Pair, common: Counter[tuple[Any, ...]]) -> Pair:
    """Return a pair of samples with other examples in place of those that both share."""
    first, second = as_multiset(pair.data), as_multiset(pair.neighbour)
    flagged, domain = pair.data.public is not None, pair.data.domain
    data, neighbour = (sample_of(own - (first & second) + common, domain, flagged) for own in (first, second))
    return Pair(data, neighbour, pair.origin)


def _entries(pair: Pair) -> tuple[int, _Keep]:
    data, neighbour = pair.data, pair.neighbour
    alike = [key for key in data if key in neighbour and canonical(data[key]) == canonical(neighbour[key])]

    def keep(kept: Sequence[int]) -> tuple[Pair, Kept]:
        gone = {alike[i] for i in set(range(len(alike))) - set(kept)}
        first, second = ({k: v for k, v in side.items() if k not in gone} for side in (data, neighbour))
        return Pair(first, second, pair.origin), None

    return len(alike), keep


@dataclass(frozen=True)
class _Rows:
    """Two datasets as tables, and how many rows both have at the start and, after those that differ, at the end."""

    pair: Pair
    tables: tuple[Table, Table]
    before: int
    after: int
    lacked: tuple[frozenset[int], frozenset[int]]
    """The rows of each side that the other lacks; there may be shared ones between them."""

    @classmethod
    def of(cls, pair: Pair) -> _Rows | None:
        """Return the rows of a pair; None for inputs that have none."""
        first, second = _table(pair.data), _table(pair.neighbour)
        if first is None or second is None or type(pair.data) is not type(pair.neighbour):
            return None
        rows, others = ([canonical(row) for row in table.records()] for table in (first, second))
        ends = shared_ends(rows, others, lambda *some: np.array(list(map(eq, *some)), dtype=np.bool_))
        start, end = ends
        out, into = rows[start : len(rows) - end], others[start : len(others) - end]
        lacked, more = (
            frozenset((start + np.flatnonzero(lacking(*sides))).tolist()) for sides in ((out, into), (into, out))
        )
        return cls(pair, (first, second), start, end, (lacked, more))

    @property
    def own(self) -> list[range]:
        """The rows of each side from the first that the other lacks to the last one."""
        return [range(self.before, table.size - self.after) for table in self.tables]

    def keep(self, shared: Sequence[int]) -> tuple[Pair, Kept]:
        """Return the pair with some of the shared rows alone, and the numbers of the rows of either input that stay."""
        early = [i for i in shared if i < self.before]
        late = [i - self.before for i in shared if i >= self.before]
        first, second = ((*early, *own, *(own.stop + i for i in late)) for own in self.own)
        data, neighbour = map(_taken, self.tables, (first, second))
        return Pair(data, neighbour, self.pair.origin), (first, second)

    def simpler(self, bounds: ValueRange) -> Iterator[Pair]:
        """Yield the pair with 0, 1 or the ends of a column's range in the rows that are shared, or those of a side."""
        try:
            cells = [table.cells() for table in self.tables]
        except InputError:  # records of different fields
            return
        own = [sorted(rows) for rows in self.lacked]
        shared = [[i for i in range(t.size) if i not in rows] for t, rows in zip(self.tables, self.lacked, strict=True)]
        for column in range(cells[0].shape[1]):
            sides = [side.iloc[:, column].tolist() if column < side.shape[1] else [] for side in cells]
            plain = [values for values in sides if all(type(x) in (int, float) for x in values)]
            numbers = [x for values in plain for x in values if abs(x) < np.inf]
            if not numbers:
                continue
            least, greatest = bounds or (min(numbers), max(numbers))
            for target in dict.fromkeys([*(x for x in (0, 1) if least <= x <= greatest), least, greatest]):
                for rows in (shared, [own[0], []], [[], own[1]]):
                    data, neighbour = (
                        table.with_values(column, {row: type(values[row])(target) for row in some})
                        for table, values, some in zip(self.tables, sides, rows, strict=True)
                    )
                    yield Pair(data, neighbour, self.pair.origin)


def _table(value: Any) -> Table | None:
    from dpaudit.neighbours.own_data.tables import table_of  # loads pandas

    if isinstance(value, list | tuple | dict) and type(value) not in (list, tuple, dict):
        return None
    try:
        return table_of(value)
    except InputError:
        return None


def take_rows(value: Any, rows: Sequence[int]) -> Any:
    """Return some rows of a dataset, as a dataset of the same type; rows of pandas are renumbered.

    `InputError` is raised if it has not these rows, or none.
    """
    table = _table(value)
    if table is None or any(row >= table.size for row in rows):
        raise InputError("the input given has not the records that the certificate names")
    return _taken(table, rows)


def _taken(table: Table, rows: Sequence[int]) -> Any:
    taken = table.take(np.array(rows, dtype=np.int64))
    return taken.reset_index(drop=True) if hasattr(taken, "iloc") else taken
