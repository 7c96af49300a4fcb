"""Entities, which come or go: units of the dataset that stand out, and new ones with values that attackers try."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit import seeding
from dpaudit.neighbours.own_data.columns import Column, ValueKind
from dpaudit.neighbours.own_data.units import Units

__all__ = ["Entity", "Group", "groups_of", "standing_out"]

SHOWN = 8
"""Columns that are looked at one by one."""
DRAWN = 2
"""Units that are drawn at random, beside those that stand out."""
GROUPS = 20
"""The most different values of a column that divides the records into groups."""
LARGE = 10_000
"""Rows of a group that is no rare one any more."""


@dataclass(frozen=True)
class Entity:
    """Rows that come or go together.

    Parameters
    ----------
    rows : tuple of int
        Their numbers; new ones come after those of the dataset.
    words : str
        The words for them in a recipe, which name no value.
    """

    rows: tuple[int, ...]
    words: str


@dataclass(frozen=True)
class Group:
    """The rows with one value in one column.

    Parameters
    ----------
    title : str
        The column, in words.
    rows : tuple of int
        The rows.
    """

    title: str
    rows: tuple[int, ...]


def standing_out(columns: tuple[Column, ...], units: Units, group: int, seed: int) -> list[Entity]:
    """Return groups of units that stand out: by the extremes of a column, their place, size, or rarity; some by chance.

    Parameters
    ----------
    columns : tuple of Column
        The columns of the dataset.
    units : Units
        Which rows are a unit.
    group : int
        Units of an entity.
    seed : int
        The root seed, for those drawn by chance.
    """
    found: dict[tuple[int, ...], None] = {}
    for chosen in _chosen(columns, units, group, seed):
        found.setdefault(units.rows(chosen))
    return [Entity(rows, _words(rows, units, group)) for rows in found]


def _chosen(columns: tuple[Column, ...], units: Units, group: int, seed: int) -> Iterator[list[int]]:
    """Yield the numbers of units, `group` at a time."""
    numeric = [column for i, column in enumerate(columns) if column.numeric and i != units.column][:SHOWN]
    for column in numeric:
        yield from _extremes(column, units, group)
    for one in groups_of(columns, units.column):
        yield _units_with(one.rows, units, group)
    if not units.alone:
        order = np.argsort(units.sizes(), kind="stable")
        yield order[-group:].tolist()
        yield order[:group].tolist()
    yield list(range(group))
    yield list(range(units.size - group, units.size))
    rng = seeding.generator(seed, "own data", "units")
    for _ in range(DRAWN):
        yield rng.choice(units.size, size=group, replace=False).tolist()


def _extremes(column: Column, units: Units, group: int) -> Iterator[list[int]]:
    """Yield the units that hold the greatest values of a column, and those that hold the least."""
    for sign in (1, -1):
        score = np.nan_to_num(sign * column.values.astype(float), nan=-np.inf)
        if not units.alone:
            by_unit = np.full(units.size, -np.inf)
            np.maximum.at(by_unit, units.codes, score)
            score = by_unit
        top = np.argsort(-score, kind="stable")[:group]
        yield top.tolist()


def _units_with(rows: tuple[int, ...], units: Units, group: int) -> list[int]:
    """Return units of some rows, filled up with the first ones of the dataset."""
    chosen = dict.fromkeys([*units.codes[list(rows[:group])].tolist(), *range(min(units.size, 2 * group))])
    return list(chosen)[:group]


def groups_of(columns: tuple[Column, ...], unit: int | None) -> list[Group]:
    """Return the smallest group of every column of few different values, the smallest of them first."""
    found = []
    for i, column in enumerate(columns[: SHOWN + 1]):
        if i == unit or column.kind is ValueKind.REAL:
            continue
        rows = _smallest(column.values.tolist())
        if rows:
            found.append(Group(column.title, rows))
    return sorted(found, key=lambda one: len(one.rows))


def _smallest(values: list[Hashable]) -> tuple[int, ...]:
    """Return the rows of the rarest value; none if there are too many, or only one, or they cannot be compared."""
    counts: dict[Hashable, int] = {}
    try:
        for value in values:
            counts[value] = counts.get(value, 0) + 1
            if len(counts) > GROUPS:
                return ()
    except TypeError:  # values that have no hash
        return ()
    if len(counts) < 2:
        return ()
    rarest = min(counts, key=lambda value: counts[value])
    if counts[rarest] > LARGE:
        return ()
    return tuple(row for row, value in enumerate(values) if value == rarest)


def _words(rows: tuple[int, ...], units: Units, group: int) -> str:
    """Return the words for rows of a dataset."""
    if units.alone:
        return f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(map(str, rows))}"
    firsts = dict(zip(units.codes[list(rows)].tolist()[::-1], rows[::-1], strict=True))
    if group == 1:
        return f"the unit of row {rows[0]} ({_plural(len(rows))})"
    return f"the units of rows {', '.join(map(str, firsts.values()))} ({_plural(len(rows))})"


def _plural(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"
