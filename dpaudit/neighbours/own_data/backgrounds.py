"""Backgrounds against which a unit stands out, and the recipes of pairs: what comes, goes or is replaced there.

Both sides of every recipe hold the background, so they are neighbours by construction: they differ in one unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import numpy as np

from dpaudit.bounds.base import Integers
from dpaudit.contract import Relation
from dpaudit.neighbours.own_data.candidate_rows import ALLOWED, CandidateRows, NewValue
from dpaudit.neighbours.own_data.data_columns import ValueKind
from dpaudit.neighbours.own_data.units import UnitRows, words_of_rows

# Sums of floats of common types overflow beyond these.
OVERFLOWS = tuple(float(np.finfo(kind).max) for kind in (np.float16, np.float32, np.float64))
# Sums of integers of common types wrap round here.
SUMS = (2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64)
# The most copies of a record, of the backgrounds for thresholds on counts; these come after all other pairs.
FEW = 20
# The most records that are tried as the only content of a dataset, in which one copy is then replaced.
UNLIKE = 4
LEAST_LARGE = 300
# A background of equal records whose sum wraps round has at most `LEAST_LARGE` of them, or so many times those
# given.
LARGER = 4


@dataclass(frozen=True)
class Rows:
    """Rows in an order, a few numbers for a million of them.

    A run is its first row, the number of rows that follow one another, and how many times they are taken in turn.
    """

    runs: tuple[tuple[int, int, int], ...] = ()

    def __len__(self) -> int:
        return sum(length * times for _, length, times in self.runs)

    def __add__(self, other: Rows) -> Rows:
        return Rows(self.runs + other.runs)

    def index(self) -> Integers:
        """Return the numbers of the rows."""
        parts = (np.tile(np.arange(start, start + length), times) for start, length, times in self.runs)
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    @classmethod
    def of(cls, index: Sequence[int] | Integers) -> Rows:
        """Return rows given by their numbers, in as few runs as follow one another or are the same."""
        numbers = np.asarray(index, dtype=np.int64)
        # Any step but 0 and 1 ends a run.
        steps = np.append(np.diff(numbers), 2)
        runs: list[tuple[int, int, int]] = []
        at = 0
        # The last of several equal steps.
        for end in [*np.flatnonzero(np.diff(steps)).tolist(), len(steps) - 1]:
            step = int(steps[end])
            if step not in (0, 1):
                runs += [(row, 1, 1) for row in numbers[at : end + 1].tolist()]
                at = end + 1
            elif at <= end:
                first = int(numbers[at])
                length = end + 2 - at
                runs.append((first, length, 1) if step else (first, 1, length))
                at = end + 2
        return cls(tuple(runs))

    @classmethod
    def all_but(cls, size: int, rows: Iterable[int] = ()) -> Rows:
        """Return the rows 0, ..., size - 1 without some."""
        ends = [-1, *sorted(set(rows)), size]
        return cls(tuple((first + 1, second - first - 1, 1) for first, second in pairwise(ends) if second > first + 1))


def _copies(row: int, times: int) -> Rows:
    return Rows(((row, 1, times),))


@dataclass(frozen=True)
class Recipe:
    """Two datasets, as rows; the second lacks the rows `gone` of the first and has the rows `come` in their place.

    `background` is what both share, and `change` what makes the second of the first, both described without values;
    `result` describes the second by itself.
    """

    data: Rows
    neighbour: Rows
    gone: tuple[int, ...]
    come: tuple[int, ...]
    background: str
    change: str

    @property
    def result(self) -> str:
        """The second dataset in full, as "the data with row 7 removed": reports name it with the first or alone."""
        if self.background == "no record":
            return self.change.removesuffix(" added")
        if not self.neighbour:
            return "no record"
        first, _, second = self.change.partition(" replaced by ")
        # The data consist of the one unit that is replaced.
        if second and self.background == first:
            return second
        if second and self.background.endswith(f" and {first}"):
            return self.background.removesuffix(first) + second
        between = " " if self.background == "the data" else ", "
        return f"{self.background}{between}with {self.change}"


@dataclass(frozen=True)
class _Background:
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

    def recipes(self, relation: Relation) -> Iterator[Recipe]:
        """Yield the recipes by which a unit goes, comes, or takes the place of another."""
        rest = self.before + self.after
        there = self.there
        if relation is Relation.ADD_REMOVE_ONE and there is not None:
            yield Recipe(self.whole, rest, there.rows, (), self.words, f"{there.words} removed")
        elif relation is Relation.ADD_REMOVE_ONE:
            for unit in self.units:
                yield Recipe(rest, self._with(unit), (), unit.rows, self.words, f"{unit.words} added")
        elif there is not None:
            for unit in self.units:
                change = f"{there.words} replaced by {unit.words}"
                yield Recipe(self.whole, self._with(unit), there.rows, unit.rows, self.words, change)
        else:
            for first, second in pairwise(self.units):
                words = f"{self.words} and {first.words}" if len(rest) else first.words
                change = f"{first.words} replaced by {second.words}"
                yield Recipe(self._with(first), self._with(second), first.rows, second.rows, words, change)

    def _with(self, unit: UnitRows) -> Rows:
        return self.before + Rows.of(unit.rows) + self.after


def recipes_of(
    candidates: CandidateRows, notable: list[UnitRows], groups: list[tuple[str, tuple[int, ...]]], relation: Relation
) -> Iterator[Recipe]:
    """Yield recipes, one of each background in turn, so that the first ones are useful and unlike each other."""
    # Where records are replaced their number is public, and mechanisms may rely on it.
    fixed_size = relation is Relation.REPLACE_ONE and candidates.units.alone and candidates.group < candidates.size
    left_out = candidates.group if fixed_size else 0
    backgrounds = _backgrounds(candidates, notable, groups, left_out)
    turns = [background.recipes(relation) for background in backgrounds]
    if fixed_size and candidates.group == 1:
        turns += [_uniform(candidates, row) for row in candidates.unlike(UNLIKE)]
    for turn in zip_longest(*turns):
        yield from (recipe for recipe in turn if recipe is not None)
    for background in _few(candidates, tuple(candidates.made()[:1])):
        yield from background.recipes(relation)


def _backgrounds(
    candidates: CandidateRows, notable: list[UnitRows], groups: list[tuple[str, tuple[int, ...]]], left_out: int
) -> Iterator[_Background]:
    """Yield backgrounds; those as large as the dataset are smaller by the `left_out` records that come to them."""
    size = candidates.size
    nothing = Rows()
    everything = Rows.all_but(size)
    made = candidates.made()
    crowds = candidates.crowds()
    like = [found for value in ALLOWED for one in notable[-3:] for found in candidates.like(one, value)]
    doubled = []
    if candidates.adds_units:
        doubled = [candidates.doubled(unit) for unit in notable]
    new = tuple(made[:2] + doubled[:2] + made[2:])
    for unit in notable:
        rest = Rows.all_but(size, unit.rows).runs
        # What comes for a unit stands where the unit stood: a mechanism may depend on the order of rows.
        at = sum(run[0] < unit.rows[0] for run in rest)
        yield _Background("the data", Rows(rest[:at]), Rows(rest[at:]), new, unit, everything)
    # Where a unit has several rows, a single row of a group is no unit that could go.
    if not candidates.units.alone:
        groups = []
    for title, rows in groups:
        last = UnitRows(rows[: candidates.group], words_of_rows(rows[: candidates.group]))
        others = Rows.all_but(size, rows)
        words = f"the data with {last.words} alone of its group in {title}"
        yield _Background(words, others, nothing, tuple(doubled), last, others + Rows.of(last.rows))
    yield _Background("no record", nothing, nothing, tuple(made + notable))
    shared = Rows.all_but(size - left_out)
    words = "the data"
    if left_out:
        words = f"the data without {words_of_rows(range(size - left_out, size))}"
    yield _Background(words, shared, nothing, tuple(crowds + made + doubled + like))
    if unnamed := tuple(candidates.unnamed()):
        yield _Background(words, shared, nothing, unnamed)
    yield from _equal(candidates, tuple(made[:2] + doubled[:1]), tuple(made[:2]), left_out)
    if candidates.adds_units:
        yield from _sums(candidates, tuple(made[:1]))
    front = tuple(UnitRows(one.rows, f"{one.words} at the front") for one in made[:2])
    yield _Background(words, nothing, shared, front)


def _uniform(candidates: CandidateRows, row: int) -> Iterator[Recipe]:
    """Yield the recipes by which the first or the last of the copies of a row is replaced.

    Sums of equal numbers are rounded in one direction, and the roundings add up.
    """
    size = candidates.size
    whole = _copies(row, size)
    others = _copies(row, size - 1)
    # Of what is made the greatest value comes first and the least second: here the least first.
    for unit in candidates.made()[1::-1]:
        new = Rows.of(unit.rows)
        for place, neighbour in (("first", new + others), ("last", others + new)):
            change = f"the {place} of them replaced by {unit.words}"
            yield Recipe(whole, neighbour, (row,), unit.rows, f"{size} copies of row {row}", change)


def _few(candidates: CandidateRows, other: tuple[UnitRows, ...]) -> Iterator[_Background]:
    """Yield backgrounds of few copies of a record, to which one more may come that passes a threshold on a count."""
    if not candidates.units.alone or candidates.group > 1:
        return
    row = candidates.template
    more = (UnitRows((row,), f"a copy of row {row}"), *other)
    for times in range(1, FEW + 1):
        copies = "copy" if times == 1 else "copies"
        yield _Background(f"{times} {copies} of row {row}", _copies(row, times), Rows(), more)


def _equal(
    candidates: CandidateRows, units: tuple[UnitRows, ...], made: tuple[UnitRows, ...], left_out: int
) -> Iterator[_Background]:
    """Yield backgrounds of one record, of many equal ones and of ties, of a unit of its own."""
    size = candidates.size - left_out
    equal = []
    if candidates.adds_units:
        for value in (NewValue.LOW, NewValue.HIGH, NewValue.MIDDLE):
            row = candidates.all_with(value)
            if row is not None:
                equal.append((row, value.value))
    for row, words in equal:
        # What is unlike the others comes first.
        unlike = tuple(sorted(units, key=lambda unit: words in unit.words))
        yield _Background(f"{size} records, all with {words}", _copies(row, size), Rows(), unlike)
        yield _Background(f"one record with {words}", _copies(row, 1), Rows(), unlike[:2])
    if candidates.units.alone:
        template = candidates.template
        yield _Background(f"{size} copies of row {template}", _copies(template, size), Rows(), units)
    if len(equal) > 1:
        low = equal[0][0]
        high = equal[1][0]
        half = max(1, size // 2)
        other = size - half if left_out else half
        words = f"{half} records with the least value and {other} with the greatest"
        units = (*candidates.mixed(), *made)
        yield _Background(words, _copies(low, half) + _copies(high, other), Rows(), units)


def _sums(candidates: CandidateRows, units: tuple[UnitRows, ...]) -> Iterator[_Background]:
    """Yield backgrounds whose sums lose digits or wrap round when one more record comes."""
    most = max(LEAST_LARGE, LARGER * candidates.size)
    tiny = candidates.all_with(NewValue.TINY)
    if tiny is not None:
        # Of more of them the sum doubles, and they are too small to be rounded up.
        real = [column for column in candidates.columns if column.kind is ValueKind.REAL]
        size = min(candidates.size, *(int(1 / column.precision) for column in real))
        words = f"{size} records with {NewValue.TINY.value}, after the place of what comes"
        yield _Background(words, Rows(), _copies(tiny, size), units)
    greatest = candidates.all_with(NewValue.HIGH)
    if greatest is not None:
        held = candidates.cells(NewValue.HIGH).values()
        integers = {int(high) for high in held if isinstance(high, int | np.integer)}
        # As many copies as a sum holds before it wraps round: one more record takes it over the end.
        ends = {(end - 1) // high for end in SUMS for high in integers if high >= 1}
        floats = {float(high) for high in held if isinstance(high, float | np.floating) and high > 0}
        ends |= {int(end // high) for end in OVERFLOWS for high in floats if end // high <= most}
        for times in sorted(end for end in ends if 1 <= end <= most):
            yield _Background(f"{times} records with the greatest value", _copies(greatest, times), Rows(), units)
    # The greatest number of a type lies outside of the bounds.
    if not candidates.outside:
        return
    row = candidates.all_with(NewValue.MOST)
    if row is not None:
        words = f"one record with {NewValue.MOST.value}{candidates.beyond(candidates.cells(NewValue.MOST))}"
        yield _Background(words, _copies(row, 1), Rows(), units)
