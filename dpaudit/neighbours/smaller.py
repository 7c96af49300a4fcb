"""Make pairs smaller: what both inputs share is left out on both sides, and values are made simpler.

What is left stays neighbours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dpaudit.bounds.base import Bools
from dpaudit.contract import Pair, Sample
from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.check import Example, as_multiset, lacking, sample_of, shared_ends
from dpaudit.outputs.canonical import canonical

if TYPE_CHECKING:
    from dpaudit.neighbours.own_data.adapters import Table

C = TypeVar("C")
D = TypeVar("D")
Better = Callable[[Pair], C | None]
"""Returns what refutes the claim on a pair; None if nothing does."""
Kept = tuple[tuple[int, ...], tuple[int, ...]] | None
"""The numbers of the records of either input that stay; None if parts are no numbered records, or all stay."""
# Makes the pair with some of the parts that both inputs share, given by their numbers.
_Keep = Callable[[Sequence[int]], tuple[Pair, Kept]]
ValueRange = tuple[float, float] | None
"""The range of values that a mechanism is made for, if it is known."""
_PLAIN = (list, tuple, dict)


@dataclass(frozen=True)
class Small(Generic[C]):
    """A pair with what refutes the claim on it, and the records of either original input that are left."""

    pair: Pair
    chosen: C
    records: Kept = None


def shrink(better: Better[C], start: Small[C], *, values: bool = True, bounds: ValueRange = None) -> Iterator[Small[C]]:
    """Yield ever smaller pairs that still show it, the first one the start itself.

    `better(pair)` returns what refutes the claim on a pair, None if nothing does. With `values` values are made simpler
    too, within `bounds` if the range that the mechanism is made for is known; without it, records are only left out.
    """
    yield start
    small: Small[C] | None = start
    for small in _fewer(better, start.pair):
        yield small
    while values and small is not None:
        limit = complexity(small.pair)
        # Only what has less to say than before, so that the search ends.
        simpler = (pair for pair in _simpler_pairs(small.pair, bounds) if complexity(pair) < limit)
        small = next((Small(pair, chosen) for pair in simpler if (chosen := better(pair)) is not None), None)
        if small is not None:
            yield small


def _fewer(better: Better[C], pair: Pair) -> Iterator[Small[C]]:
    """Yield the pair with fewer and fewer shared parts: all, then ever smaller blocks of them are left out."""
    shared, keep = _parts_of(pair)
    kept = list(range(shared))
    block = shared
    while block:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + block :]
            try:
                smaller, records = keep(fewer)
            # So few records make no input of this type.
            except (InputError, ValueError, TypeError):
                chosen = None
            else:
                chosen = better(smaller)
            if chosen is not None:
                kept = fewer
                yield Small(smaller, chosen, records)
            else:
                at += block
        # Large blocks first: most parts go at once, and each try costs an audit.
        block = min(block // 2, len(kept))


def _simpler_pairs(pair: Pair, bounds: ValueRange) -> Iterator[Pair]:
    """Yield pairs with simpler values: the ends of a column's range, and 0 and 1 in it; or fewer copies of examples."""
    if _are_samples(pair):
        common = _common(pair)
        yield _with_common(pair, Counter(dict.fromkeys(common, 1)))
        yield _with_common(pair, Counter({example: max(1, count // 2) for example, count in common.items()}))
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
        if isinstance(side, Sample):
            text += stable_repr(sorted(as_multiset(side).items()))
        else:
            text += stable_repr(canonical(side))
    return len(set(re.findall(r"[^\s,()\[\]]+", text))), len(text), text


def _parts_of(pair: Pair) -> tuple[int, _Keep]:
    """Return how many parts both inputs share, 0 for numbers and texts, and what makes the pair with some of them."""
    if _are_samples(pair):
        common = _common(pair)
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


def _common(pair: Pair) -> Counter[Example]:
    """Return the examples that both samples share."""
    return as_multiset(pair.data) & as_multiset(pair.neighbour)


def _with_common(pair: Pair, common: Counter[Example]) -> Pair:
    """Return a pair of samples with other examples in place of those that both share."""
    shared = _common(pair)
    flagged = pair.data.public is not None
    domain = pair.data.domain
    data, neighbour = (
        sample_of(as_multiset(side) - shared + common, domain, flagged) for side in (pair.data, pair.neighbour)
    )
    return Pair(data, neighbour, pair.origin)


def _entries(pair: Pair) -> tuple[int, _Keep]:
    """Return how many entries two dictionaries share, and what makes the pair with some of them."""
    data = pair.data
    neighbour = pair.neighbour
    alike = [key for key in data if key in neighbour and canonical(data[key]) == canonical(neighbour[key])]

    def keep(kept: Sequence[int]) -> tuple[Pair, Kept]:
        gone = {alike[i] for i in set(range(len(alike))) - set(kept)}
        first, second = ({key: value for key, value in side.items() if key not in gone} for side in (data, neighbour))
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
        first = _table(pair.data)
        second = _table(pair.neighbour)
        if first is None or second is None or type(pair.data) is not type(pair.neighbour):
            return None
        rows, others = ([canonical(row) for row in table.records()] for table in (first, second))
        start, end = shared_ends(rows, others, _equal)
        out = rows[start : len(rows) - end]
        into = others[start : len(others) - end]
        gone = frozenset((start + np.flatnonzero(lacking(out, into))).tolist())
        come = frozenset((start + np.flatnonzero(lacking(into, out))).tolist())
        return cls(pair, (first, second), start, end, (gone, come))

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
        # Records of different fields have no columns.
        except InputError:
            return
        # Between the first and the last row that a side has alone, rows of both may stand: they change on both.
        own = [sorted(rows) for rows in self.lacked]
        shared = [[i for i in range(t.size) if i not in rows] for t, rows in zip(self.tables, self.lacked, strict=True)]
        for column in range(cells[0].shape[1]):
            sides = [side.iloc[:, column].tolist() if column < side.shape[1] else [] for side in cells]
            plain = [values for values in sides if all(type(x) in (int, float) for x in values)]
            numbers = [x for values in plain for x in values if abs(x) < np.inf]
            if not numbers:
                continue
            least, greatest = bounds or (min(numbers), max(numbers))
            targets = [x for x in (0, 1) if least <= x <= greatest]
            for target in dict.fromkeys([*targets, least, greatest]):
                for rows in (shared, [own[0], []], [[], own[1]]):
                    data, neighbour = (
                        table.with_values(column, {row: type(values[row])(target) for row in some})
                        for table, values, some in zip(self.tables, sides, rows, strict=True)
                    )
                    yield Pair(data, neighbour, self.pair.origin)


def _equal(rows: Sequence[Hashable], others: Sequence[Hashable]) -> Bools:
    """Say of each two records whether they are equal."""
    return np.array([one == other for one, other in zip(rows, others, strict=True)], dtype=np.bool_)


def _table(value: Any) -> Table | None:
    """Return a dataset as a table; None for an input that is none, or is of a class derived from a plain one."""
    # This module loads pandas, which takes a while.
    from dpaudit.neighbours.own_data.tables import table_of

    if isinstance(value, _PLAIN) and type(value) not in _PLAIN:
        return None
    try:
        return table_of(value)
    except InputError:
        return None


def take_rows(value: D, rows: Sequence[int]) -> D:
    """Return some rows of a dataset, as a dataset of the same type; rows of pandas are renumbered.

    `InputError` is raised if it does not contain these rows, or has no rows.
    """
    table = _table(value)
    if table is None or any(row >= table.size for row in rows):
        raise InputError("the input does not contain the records named in the certificate")
    taken: D = _taken(table, rows)
    return taken


def _taken(table: Table, rows: Sequence[int]) -> Any:
    taken = table.take(np.array(rows, dtype=np.int64))
    if hasattr(taken, "iloc"):
        return taken.reset_index(drop=True)
    return taken
