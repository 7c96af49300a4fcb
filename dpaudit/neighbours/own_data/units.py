"""Units, the rows that come and go together: every row alone, or all rows of one user; and which of them stand out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit import seeding
from dpaudit.bounds.base import Integers
from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.data_columns import DataColumn, ValueKind, is_missing
from dpaudit.neighbours.own_data.value_bounds import column_number

if TYPE_CHECKING:
    import pandas as pd

# Columns that are examined one by one.
COLUMNS = 8
# Units that are drawn at random, in addition to those that stand out.
DRAWN = 2
# The most different values of a column that divides the records into groups.
GROUPS = 20
# Rows of a group that is not rare any more.
LARGE = 10_000


GivenUnit = str | Sequence[Hashable] | np.ndarray
"""Units as users give them: the name of a column, or the name of the unit of each row."""


@dataclass(frozen=True)
class UnitRows:
    """The rows that come or go together, new ones numbered after those of the dataset, and words without any value."""

    rows: tuple[int, ...]
    words: str


@dataclass(frozen=True, eq=False)
class Units:
    """The units of privacy of a dataset: the number of the unit of each row.

    `column` is the number of the column that holds the units' names, if there is one, and `alone` whether every row is
    a unit of its own, as are rows without a name, whose units are `unnamed`.
    """

    codes: Integers
    column: int | None = None
    alone: bool = True
    unnamed: frozenset[int] = frozenset()

    @property
    def sizes(self) -> Integers:
        """The number of rows of each unit."""
        return np.bincount(self.codes)


def read_units(unit: GivenUnit | None, data: Any, size: int, columns: tuple[DataColumn, ...]) -> Units:
    """Return the units that a column or an array names, as `neighbours_of` takes it, in a dataset of `size` records.

    A row whose name is missing is a unit of its own: nothing says whose it is.
    """
    if unit is None:
        return Units(np.arange(size))
    column = None
    if isinstance(unit, str):
        column = column_number("unit", unit, columns)
        names = columns[column].values.tolist()
        if hasattr(data, "iloc") and hasattr(data, "dtypes"):
            _check_categories(data, unit)
    elif hasattr(unit, "__len__"):
        names = list(unit)
    else:
        raise InputError.of("unit", unit, "the name of a column of the data, or a list of one name a row")
    if len(names) != size:
        text = "{unit} must name the unit of every row of {data}: {given} names were given for {size} rows"
        raise InputError(text, names=("unit", "data"), given=len(names), size=size)
    numbers: dict[Hashable, int] = {}
    codes = []
    unnamed = set()
    for row, name in enumerate(names):
        missing = is_missing(name)
        if not missing and not isinstance(name, Hashable):
            text = "{unit} must hold texts or numbers; row {row} has a {kind}"
            raise InputError(text, names=("unit",), row=row, kind=type(name).__qualname__)
        if missing:
            # An object of its own: no name that is given equals it.
            code = numbers.setdefault(object(), len(numbers))
            unnamed.add(code)
        else:
            code = numbers.setdefault(name, len(numbers))
        codes.append(code)
    return Units(np.array(codes, dtype=np.int64), column, False, frozenset(unnamed))


def _check_categories(data: pd.DataFrame, unit: str) -> None:
    """Raise `InputError` if a column of categories knows units that have no row."""
    kind = data.dtypes[unit]
    if not hasattr(kind, "categories") or kind.categories is None:
        return
    absent = len(kind.categories) - data[unit].nunique()
    if absent:
        text = "{unit} names a column that knows {absent} unit(s) in no row, which the mechanism could count: take "
        text += "them out with data[{given}].cat.remove_unused_categories()"
        raise InputError(text, names=("unit",), absent=absent, given=repr(unit))


def standing_out(columns: tuple[DataColumn, ...], units: Units, group: int, seed: int) -> list[UnitRows]:
    """Return `group` units at a time that stand out by an extreme, place, size or rarity, and a few drawn at random."""
    chosen = (np.flatnonzero(np.isin(units.codes, some)) for some in _chosen(columns, units, group, seed))
    return [UnitRows(rows, _words(rows, units, group)) for rows in dict.fromkeys(tuple(one.tolist()) for one in chosen)]


def _chosen(columns: tuple[DataColumn, ...], units: Units, group: int, seed: int) -> Iterator[list[int]]:
    sizes = units.sizes
    numeric = [column for i, column in enumerate(columns) if column.numeric and i != units.column][:COLUMNS]
    for column in numeric:
        # The greatest values, then the least.
        for sign in (1, -1):
            score = np.full(len(sizes), -np.inf)
            np.maximum.at(score, units.codes, np.nan_to_num(sign * column.values.astype(float), nan=-np.inf))
            yield np.argsort(-score, kind="stable")[:group].tolist()
    for _, rows in small_groups(columns, units.column):
        # Filled up with the first units of the dataset.
        some = dict.fromkeys([*units.codes[list(rows[:group])].tolist(), *range(min(len(sizes), 2 * group))])
        yield list(some)[:group]
    if not units.alone:
        order = np.argsort(sizes, kind="stable")
        yield order[-group:].tolist()
        yield order[:group].tolist()
    if units.unnamed:
        first = sorted(units.unnamed)[:group]
        yield list(dict.fromkeys([*first, *range(min(len(sizes), 2 * group))]))[:group]
    yield list(range(group))
    yield list(range(len(sizes) - group, len(sizes)))
    rng = seeding.generator(seed, "own data", "units")
    for _ in range(DRAWN):
        yield rng.choice(len(sizes), size=group, replace=False).tolist()


def small_groups(columns: tuple[DataColumn, ...], unit: int | None) -> list[tuple[str, tuple[int, ...]]]:
    """Return the smallest group of every column of few different values, as its title and rows, the smallest first."""
    found = []
    for i, column in enumerate(columns[: COLUMNS + 1]):
        if i == unit or column.kind is ValueKind.REAL:
            continue
        values = column.values.tolist()
        try:
            counts = Counter(values)
        # Some values, as lists, have no hash.
        except TypeError:
            continue
        rarest, size = min(counts.items(), key=lambda item: item[1])
        # NaN is no group, and NA equals nothing.
        group = rarest is None or not is_missing(rarest)
        if 2 <= len(counts) <= GROUPS and size <= LARGE and group:
            found.append((column.title, tuple(_places(values, rarest))))
    return sorted(found, key=lambda one: len(one[1]))


def _places(values: Sequence[Hashable], rarest: Hashable) -> Iterator[int]:
    for row, value in enumerate(values):
        # NA compared with anything is no truth.
        if value is rarest or (not is_missing(value) and value == rarest):
            yield row


def _words(rows: tuple[int, ...], units: Units, group: int) -> str:
    if units.alone:
        return words_of_rows(rows)
    number = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    if group == 1:
        unnamed = int(units.codes[rows[0]]) in units.unnamed
        return f"row {rows[0]}, which names no unit" if unnamed else f"the unit of row {rows[0]} ({number})"
    firsts = dict(zip(units.codes[list(rows)].tolist()[::-1], rows[::-1], strict=True))
    return f"the units of rows {', '.join(map(str, firsts.values()))} ({number})"


def words_of_rows(rows: Sequence[int]) -> str:
    """Return "row 3" or "rows 3, 5"."""
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(map(str, rows))}"
