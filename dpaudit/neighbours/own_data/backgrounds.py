"""Backgrounds against which a unit stands out, and the recipes of pairs: what comes, goes or is replaced there.

Both sides of every recipe hold the background, so they are neighbours by construction: they differ in one unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Relation
from dpaudit.neighbours.own_data.candidate_rows import CandidateRows, Value
from dpaudit.neighbours.own_data.columns import ValueKind
from dpaudit.neighbours.own_data.units import UnitRows, words_of_rows

__all__ = ["Background", "Recipe", "Rows", "backgrounds_of", "recipes_of"]

SUMS = (2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64)
"""Sums of integers of common types wrap round here."""
LEAST_LARGE, LARGER = 300, 4
"""A background of equal records whose sum wraps round has at most so many of them, or so many times those given."""


@dataclass(frozen=True)
class Rows:
    """Rows in an order, a few numbers for a million of them.

    Parameters
    ----------
    runs : tuple of (int, int, int)
        First row, number of rows that follow one another, and how many times they are taken one after the other.
    """

    runs: tuple[tuple[int, int, int], ...] = ()

    def __len__(self) -> int:
        return sum(length * times for _, length, times in self.runs)

    def __add__(self, other: Rows) -> Rows:
        return Rows(self.runs + other.runs)

    def index(self) -> NDArray[np.int64]:
        """Return the numbers of the rows."""
        parts = [np.tile(np.arange(start, start + length), times) for start, length, times in self.runs]
        found: NDArray[np.int64] = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        return found

    @classmethod
    def of(cls, index: Any) -> Rows:
        """Return rows given by their numbers, in as few runs as follow one another or are the same."""
        numbers = np.asarray(index, dtype=np.int64)
        if not len(numbers):
            return cls()
        steps = np.diff(numbers)
        ends = np.append(np.flatnonzero(steps[1:] != steps[:-1]), len(steps) - 1)  # the last step of each run of them
        runs: list[tuple[int, int, int]] = []
        at = 0
        for end in ends.tolist() if len(steps) else []:
            step = int(steps[end])
            if step not in (0, 1):
                runs += [(row, 1, 1) for row in numbers[at : end + 1].tolist()]
                at = max(at, end + 1)
            elif at <= end:
                length = end + 2 - at
                runs.append((int(numbers[at]), length, 1) if step else (int(numbers[at]), 1, length))
                at = end + 2
        return cls(tuple(runs + [(row, 1, 1) for row in numbers[at:].tolist()]))

    @classmethod
    def all_but(cls, size: int, rows: Iterable[int] = ()) -> Rows:
        """Return the rows 0, ..., size - 1 but for some."""
        ends = [-1, *sorted(set(rows)), size]
        return cls(tuple((first + 1, second - first - 1, 1) for first, second in pairwise(ends) if second > first + 1))


def _copies(row: int, times: int) -> Rows:
    return Rows(((row, 1, times),) if times else ())


@dataclass(frozen=True)
class Background:
    """The rows that both sides of a pair share, before and after the place of the units that may come to it.

    The most useful unit comes first. `there` is what is at that place in the dataset that was given, and `whole` the
    dataset with it, in its own order.
    """

    words: str
    before: Rows
    after: Rows
    units: tuple[UnitRows, ...]
    there: UnitRows | None = None
    whole: Rows = Rows()

    def with_unit(self, unit: UnitRows) -> Rows:
        """Return the rows of the background with a unit in its place."""
        return self.before + Rows.of(unit.rows) + self.after


def backgrounds_of(
    candidates: CandidateRows, known: list[UnitRows], groups: list[tuple[str, tuple[int, ...]]]
) -> Iterator[Background]:
    """Yield the backgrounds, the most useful first, from units that stand out and the smallest groups of columns.

    New rows are added to the candidates as they are needed.
    """
    size, adds, alone = candidates.size, candidates.adds_units, candidates.units.alone
    made = candidates.made() if adds else []
    crowds = list(candidates.crowds()) if adds else []
    everything = Rows.all_but(size)
    like = [found for value in (Value.HIGH, Value.LOW) for one in known[-3:] if (found := candidates.like(one, value))]
    doubled = [candidates.doubled(unit) for unit in known] if adds else []
    new = tuple(made[:2] + doubled[:2] + made[2:])
    for unit in known:
        rest = Rows.all_but(size, unit.rows).runs
        at = sum(run[0] < unit.rows[0] for run in rest)
        yield Background("the data", Rows(rest[:at]), Rows(rest[at:]), new, unit, everything)
    for title, rows in groups if alone else ():
        yield _last_of_a_group(title, rows, doubled, candidates)
    yield Background("no record", Rows(), Rows(), tuple(made + known))
    yield Background("the data", everything, Rows(), tuple(crowds + made + doubled + like))
    equal = [
        (row, value.value)
        for value in (Value.LOW, Value.HIGH, Value.MIDDLE)
        if adds and (row := candidates.all_with(value, candidates.group)) is not None
    ]
    yield from _equal(candidates, equal, tuple(made[:2] + doubled[:1]))
    if len(equal) > 1:
        (low, _), (high, _), half = *equal[:2], max(1, size // 2)
        words = f"{half} records with the least value and {half} with the greatest"
        yield Background(words, _copies(low, half) + _copies(high, half), Rows(), tuple(made[:2]))
    if adds:
        yield from _sums(candidates, tuple(made[:1]))
    front = tuple(UnitRows(one.rows, f"{one.words} at the front") for one in made[:2])
    yield Background("the data", Rows(), everything, front)


def _last_of_a_group(title: str, rows: tuple[int, ...], known: list[UnitRows], candidates: CandidateRows) -> Background:
    """Return the dataset in which a few rows are all that is left of a group."""
    rest, rows = Rows.all_but(candidates.size, rows), rows[: candidates.group]
    last = UnitRows(rows, words_of_rows(rows))
    words = f"the data with {last.words} alone of its group in {title}"
    return Background(words, rest, Rows(), tuple(known), last, rest + Rows.of(rows))


def _equal(
    candidates: CandidateRows, equal: list[tuple[int, str]], units: tuple[UnitRows, ...]
) -> Iterator[Background]:
    """Yield backgrounds of one record and of many equal ones, of a unit of its own."""
    size = candidates.size
    for row, value in equal:
        # What is unlike the others comes first.
        unlike = tuple(sorted(units, key=lambda unit: value in unit.words))
        yield Background(f"{size} records, all with {value}", _copies(row, size), Rows(), unlike)
        yield Background(f"one record with {value}", _copies(row, 1), Rows(), unlike[:2])
    if candidates.units.alone:
        row = candidates.template
        yield Background(f"{size} copies of row {row}", _copies(row, size), Rows(), units)


def _sums(candidates: CandidateRows, units: tuple[UnitRows, ...]) -> Iterator[Background]:
    """Yield backgrounds whose sums lose digits or wrap round when one more record comes."""
    size, most = candidates.size, max(LEAST_LARGE, LARGER * candidates.size)
    tiny = candidates.all_with(Value.TINY, candidates.group)
    if tiny is not None:
        # Of more of them the sum doubles, and they are too small to be rounded up.
        limits: list[Any] = [column.limits for column in candidates.columns if column.kind is ValueKind.REAL]
        size = min(size, *(int(1 / float(one.eps)) for one in limits))
        words = f"{size} records with {Value.TINY.value}, after the place of what comes"
        yield Background(words, Rows(), _copies(tiny, size), units)
    greatest = candidates.all_with(Value.HIGH, candidates.group)
    if greatest is not None:
        highs = {int(high) for high in candidates.cells(Value.HIGH).values() if isinstance(high, int | np.integer)}
        ends = {(end - 1) // high for end in SUMS for high in highs if high >= 1}
        for times in sorted(end for end in ends if 1 <= end <= most):
            yield Background(f"{times} records with the greatest value", _copies(greatest, times), Rows(), units)
    row = candidates.all_with(Value.MOST, candidates.group) if candidates.outside else None
    if row is not None:
        yield Background(f"one record with {Value.MOST.value}", _copies(row, 1), Rows(), units)


@dataclass(frozen=True)
class Recipe:
    """Two datasets, as rows; the second lacks the rows `gone` of the first and has the rows `come` in their place.

    `background` is what both share, and `change` what makes the second of the first, in words without values.
    """

    data: Rows
    neighbour: Rows
    gone: tuple[int, ...]
    come: tuple[int, ...]
    background: str
    change: str


def recipes_of(backgrounds: Sequence[Background], relation: Relation) -> Iterator[Recipe]:
    """Yield the recipes of all backgrounds, one of each in turn, so that the first ones are unlike each other."""
    make = _added if relation is Relation.ADD_REMOVE_ONE else _replaced
    left = [make(background) for background in backgrounds]
    while left:
        for recipes in list(left):
            found = next(recipes, None)
            if found is None:
                left.remove(recipes)
            else:
                yield found


def _added(background: Background) -> Iterator[Recipe]:
    """Yield the recipes by which a unit goes, or comes."""
    rest, there = background.before + background.after, background.there
    if there is not None:
        yield Recipe(background.whole, rest, there.rows, (), background.words, f"{there.words} removed")
        return
    for unit in background.units:
        yield Recipe(rest, background.with_unit(unit), (), unit.rows, background.words, f"{unit.words} added")


def _replaced(background: Background) -> Iterator[Recipe]:
    """Yield the recipes by which a unit takes the place of another."""
    there, words = background.there, background.words
    if there is not None:
        for unit in background.units:
            change = f"{there.words} replaced by {unit.words}"
            yield Recipe(background.whole, background.with_unit(unit), there.rows, unit.rows, words, change)
        return
    shared = f"{words} and " if len(background.before) + len(background.after) else ""
    for first, second in pairwise(background.units):
        data, neighbour = background.with_unit(first), background.with_unit(second)
        change = f"{first.words} replaced by {second.words}"
        yield Recipe(data, neighbour, first.rows, second.rows, f"{shared}{first.words}", change)
