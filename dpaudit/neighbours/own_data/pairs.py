"""Neighbours of a dataset: the pairs that an attacker would try, the most useful first, and variations of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.bounds.base import Bools, Integers
from dpaudit.contract import Made, MadePair, Origin, OriginKind, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import lacking, shared_ends
from dpaudit.neighbours.own_data.backgrounds import Recipe, Rows, recipes_of
from dpaudit.neighbours.own_data.candidate_rows import CandidateRows
from dpaudit.neighbours.own_data.data_columns import unfit
from dpaudit.neighbours.own_data.units import GivenUnit, UnitRows, read_units, small_groups, standing_out
from dpaudit.neighbours.own_data.value_bounds import GivenBounds, read_bounds
from dpaudit.withheld import Coarse

if TYPE_CHECKING:
    from dpaudit.neighbours.own_data.adapters import Table

# The most pairs that are made by default.
COUNT = 40
# The most pairs that a dataset is said to give; beyond it gives "at least" so many.
COUNTED = 1_000
# Rows of a dataset that are compared one by one, to see whether it is made twice.
FEW = 64
# The most variations of a pair in one step of a local search.
PROPOSALS = 6


def neighbours_of(
    data: Any,
    relation: Relation | str = Relation.ADD_REMOVE_ONE,
    *,
    group: int = 1,
    bounds: GivenBounds | None = None,
    unit: GivenUnit | None = None,
    count: int = COUNT,
    outside: bool = True,
    seed: int = 0,
) -> list[Pair]:
    """Return pairs of neighbouring datasets that an attacker would try, made from one dataset.

    A record is removed, doubled, added with the values at the bounds and outside of them, or replaced by such; from the
    dataset itself, from none and from few records, from equal ones, from ties, from one in which a group is about to
    become empty, from one whose sum is about to lose digits or to wrap round. Every pair differs in one record, by
    construction; values keep their types, and datasets their kind.

    Parameters
    ----------
    data : list, tuple, array, DataFrame, Series, dict of columns, tuple of arrays, or sparse matrix
        One dataset; tables may be of pandas, polars, pyarrow or xarray. Records of a list are numbers, texts, tuples,
        dictionaries or data classes of the same fields, or anything else, of which none are then made.
        `register_dataset` adds a kind.
    relation : Relation or str
        ADD_REMOVE_ONE or REPLACE_ONE, or an alias that `Relation.parse` knows.
    group : int
        How many records (or units) the datasets of a pair differ in, at most.
    bounds : (low, high), sequence of them, or dict of column to (low, high), optional
        The values that are allowed, of all numbers or of each column. By default those between the least and the
        greatest value of the data.
    unit : str or sequence of n names, optional
        What all rows of a user have in common: a column, or the names themselves. A record is then all rows of a user.
        A row whose name is missing is a unit of its own; a new user of many rows without a name is tried too.
    count : int
        The most pairs.
    outside : bool
        Whether values outside of the bounds, NaN and infinity are tried. A mechanism that accepts any value has to
        clip; pass False if something before it does.
    seed : int
        The root seed, for the few records that are drawn by chance.

    Returns
    -------
    list of Pair
        At least one; distinct, the most useful first. Their datasets are made each time they are asked for, so that
        they take no memory meanwhile; their origins name recipes and no values.

    Raises
    ------
    InputError
        If the dataset is of a kind that is not known, is empty, or holds records of different kinds; if bounds are
        reversed; if a column does not exist; if a unit has no row; if no record can be replaced.

    Examples
    --------
    >>> pairs = neighbours_of([0.2, 0.9, 0.4], bounds=(0, 1), count=3)
    >>> [pair.origin.text for pair in pairs][0]
    'the data; row 1 removed'
    >>> pairs[0].neighbour
    [0.2, 0.4]
    """
    # This module loads pandas, which takes a while.
    from dpaudit.neighbours.own_data.tables import table_of

    relation = Relation.parse(relation)
    group = read_integer("group", group)
    count = read_integer("count", count)
    seed = seeding.check_seed(seed)
    if relation is Relation.REPLACE_PRIVATE:
        text = "{relation} replace-private needs samples with public examples: {data} are made neighbours by "
        raise InputError(text + "add-remove-one or replace-one", names=("relation", "data"), value=relation)
    table = table_of(data)
    if table.size == 0:
        text = "{data} must hold at least one record, got an empty {kind}: neighbours are made of the records that are "
        raise unfit(text + "there", kind=type(data).__qualname__)
    columns = table.columns
    units = read_units(unit, data, table.size, columns)
    if group > len(units.sizes):
        what = "records" if units.alone else "units"
        text = "{group} must be at most {size}, the number of {what} in {data}; got {given}"
        raise InputError(text, names=("group", "data"), size=len(units.sizes), what=what, given=group)
    ends = read_bounds(bounds, columns)
    candidates = CandidateRows(table.size, columns, units, ends, group, bool(outside))
    notable = standing_out(columns, units, group, seed)
    proposed = recipes_of(candidates, notable, small_groups(columns, units.column), relation)
    distinct = _distinct(proposed, candidates)
    recipes = list(islice(distinct, count))
    if not recipes:
        text = "{data} has no pair of neighbours by {relation}: its records are equal, and of a kind of which "
        raise InputError(text + "no others are made; use add-remove-one, or more records", names=("data", "relation"))
    made = tuple(candidates.made())
    pool = table.extended(candidates.new)
    given = frozenset(chain(*ends.values()))
    # The pool is made before: the rows of the pairs that are only counted are not kept.
    more = sum(1 for _ in islice(distinct, max(0, COUNTED - len(recipes))))
    source = RowSource(pool, table.size, made, units.alone, given, len(recipes) + more)
    kind = OriginKind.OWN_DATA if units.alone else OriginKind.OWN_USERS
    return [
        MadePair(
            MadeData(source, one.data, one.background),
            MadeData(source, one.neighbour, one.result),
            Origin(kind, f"{one.background}; {one.change}"),
        )
        for one in recipes
    ]


# The contents of all rows, or runs of rows by their content or number.
_Content = tuple[str, ...] | tuple[tuple[str | int, int, int], ...]


def _distinct(recipes: Iterable[Recipe], candidates: CandidateRows) -> Iterator[Recipe]:
    """Yield the recipes whose two sides differ, without duplicates, ignoring the order of the sides."""
    key = cache(candidates.key)
    found: set[frozenset[_Content]] = set()
    for recipe in recipes:
        # A record that is replaced by an equal one gives twice the same dataset, on which nothing can differ.
        if sorted(map(key, recipe.gone)) == sorted(map(key, recipe.come)):
            continue
        # Both directions of a pair are audited, so that its sides have no order.
        content = frozenset((_content(recipe.data, key), _content(recipe.neighbour, key)))
        if content not in found:
            found.add(content)
            yield recipe


def _content(rows: Rows, key: Callable[[int], str]) -> _Content:
    """Return what distinguishes datasets: in a few rows equal records are the same."""
    if len(rows) <= FEW:
        return tuple(map(key, rows.index().tolist()))
    if len(rows.runs) > FEW:
        return rows.runs
    return tuple((key(start) if length == 1 else start, length, times) for start, length, times in rows.runs)


def own_data_moves(seed: int, pair: Pair, step: int) -> list[Pair]:
    """Return up to `PROPOSALS` distinct pairs near a pair made from a dataset.

    What both sides share changes on both, or what comes changes. The proposals are a function of the root seed, the
    step and the pair.
    """
    rng = seeding.generator(seed, "own data", "local search", step)
    first, second = pair.sides
    origin = pair.origin
    found: dict[tuple[Rows, Rows], Pair] = {}
    for data, neighbour, words in _proposals(first.source, first.rows.index(), second.rows.index(), rng):
        if data == neighbour or (data, neighbour) == (first.rows, second.rows):
            continue
        moved = replace(origin, text=f"{origin.text}; {words}", moves=origin.moves + 1)
        made = MadePair(_varied(first, data, words), _varied(second, neighbour, words), moved, pair.shown)
        found.setdefault((data, neighbour), made)
    return list(found.values())[:PROPOSALS]


def _proposals(
    source: RowSource, data: Integers, neighbour: Integers, rng: np.random.Generator
) -> Iterator[tuple[Rows, Rows, str]]:
    start, end = shared_ends(data, neighbour, _same_rows)
    before = data[:start]
    after = data[len(data) - end :]
    out = data[start : len(data) - end]
    into = neighbour[start : len(neighbour) - end]
    if len(before) > 1:
        half = len(before) // 2
        for part, kept in (("second", before[:half]), ("first", before[half:])):
            words = f"the {part} half of what precedes left out"
            yield _joined(kept, out, after), _joined(kept, into, after), words
    if not source.units or (min(len(out), len(into)) and not source.alone):
        return
    # The rows of a group stand apart from one another, and both sides share the rows between them. If those were
    # replaced too, a pair for groups of two could differ in six records, and refute a claim that is true.
    gone = lacking(out.tolist(), into.tolist())
    come = lacking(into.tolist(), out.tolist())
    for _ in range(2 * PROPOSALS):
        unit = source.units[int(rng.integers(len(source.units)))]
        rows = np.array(unit.rows, dtype=np.int64)
        if source.alone and len(before) + len(after) and rng.random() < 0.4:
            some = np.full(len(before), rows[0])
            rest = np.full(len(after), rows[0])
            left = np.where(gone, out, rows[0])
            right = np.where(come, into, rows[0])
            words = f"all that both share replaced by copies of {unit.words}"
            yield _joined(some, left, rest), _joined(some, right, rest), words
        elif gone.any() and (not come.any() or rng.random() < 0.5):
            left = _replaced(out, gone, rows)
            yield _joined(before, left, after), Rows.of(neighbour), f"what goes replaced by {unit.words}"
        else:
            right = _replaced(into, come, rows)
            yield Rows.of(data), _joined(before, right, after), f"what comes replaced by {unit.words}"


def _same_rows(rows: Integers, others: Integers) -> Bools:
    return np.equal(rows, others)


def _replaced(rows: Integers, which: Bools, new: Integers) -> Integers:
    """Return rows with some replaced in their places; the last of those is replaced by all new ones that are left."""
    places = np.flatnonzero(which)
    some = min(len(places), len(new))
    found = rows.copy()
    found[places[:some]] = new[:some]
    if len(new) > some:
        if not len(places):
            return np.append(found, new)
        return np.insert(found, places[-1] + 1, new[some:])
    return np.delete(found, places[some:])


def _varied(side: MadeData, rows: Rows, words: str) -> MadeData:
    """Return one side of a pair with other rows, and with what changed in its words if that is on this side."""
    if rows == side.rows:
        return side
    return replace(side, rows=rows, words=f"{side.words}, {words}")


def _joined(*parts: Integers) -> Rows:
    return Rows.of(np.concatenate(parts))


@dataclass(frozen=True, eq=False)
class RowSource:
    """The rows that datasets are made of: those of the dataset, `size` of them, followed by new ones.

    `units` are what a local search may let come. It may change what both sides share if every row is a unit, `alone`.
    `given` are the bounds that the user gave, and `offered` how many pairs the dataset gives, or `COUNTED` if there are
    at least so many.
    """

    pool: Table = field(repr=False)
    size: int
    units: tuple[UnitRows, ...] = field(repr=False)
    alone: bool = field(repr=False)
    given: frozenset[float] = field(repr=False)
    offered: int

    @cached_property
    def coarse(self) -> Coarse:
        """The constants that may be shown."""
        names = frozenset(str(one.name) for one in self.pool.columns if one.name is not None)
        return Coarse(names, self.given)


@dataclass(frozen=True)
class MadeData(Made):
    """A dataset as rows of a pool, with words for it that name no value."""

    source: RowSource
    rows: Rows
    words: str

    def build(self) -> Any:
        """Return the dataset, of the kind and the types that were given."""
        return self.source.pool.take(self.rows.index())

    def in_words(self) -> str:
        """Return the words."""
        return self.words

    @property
    def coarse(self) -> Coarse:
        """The values of the records that may be shown."""
        return self.source.coarse
