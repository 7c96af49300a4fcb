"""Backgrounds against which an entity stands out: the dataset itself, none, few or equal records, ties, a group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit.neighbours.own_data.columns import ValueKind
from dpaudit.neighbours.own_data.entities import Entity, Group
from dpaudit.neighbours.own_data.rows import Rows, all_but, copies, every_row, split
from dpaudit.neighbours.own_data.stock import Stock
from dpaudit.neighbours.own_data.values import Value

__all__ = ["Scene", "scenes_of"]

SUMS = (2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64)
"""Sums of integers of common types wrap round here."""
LEAST_LARGE, LARGER = 300, 4
"""A background of equal records whose sum wraps round has at most so many of them, or so many times those given."""


@dataclass(frozen=True)
class Scene:
    """A background, and what may come to it.

    Parameters
    ----------
    words : str
        The background in words.
    before, after : Rows
        Its rows before and after the place of what comes.
    entities : tuple of Entity
        What may come there, the most useful first.
    there : Entity or None
        What is there in the dataset that was given.
    whole : Rows or None
        The dataset with what is there, in its own order.
    """

    words: str
    before: Rows
    after: Rows
    entities: tuple[Entity, ...]
    there: Entity | None = None
    whole: Rows | None = None


def scenes_of(stock: Stock, known: list[Entity], groups: list[Group]) -> Iterator[Scene]:
    """Yield the scenes, the most useful first.

    Parameters
    ----------
    stock : Stock
        The rows; new ones are added to it as they are needed.
    known : list of Entity
        The units that stand out.
    groups : list of Group
        The smallest group of each column that has few values.
    """
    size = stock.table.size
    made = stock.made() if stock.adds_units else []
    crowds = list(stock.crowds()) if stock.adds_units else []
    everything, nothing = every_row(size), Rows()
    like = [found for value in (Value.HIGH, Value.LOW) for one in known[-3:] if (found := stock.like(one, value))]
    doubled = [stock.doubled(entity) for entity in known] if stock.adds_units else []
    for entity in known:
        yield _without(entity, size, tuple(made[:2] + doubled[:2] + made[2:]))
    if stock.units.alone:
        for group in groups:
            yield _lone(group, doubled, size, stock.group)
    yield Scene("no record", nothing, nothing, tuple(made + known))
    yield Scene("the data", everything, nothing, tuple(crowds + made + doubled + like))
    yield from _equal(stock, tuple(made[:2] + doubled[:1]))
    yield from _ties(stock, tuple(made[:2]))
    yield from _sums(stock, made)
    yield Scene("the data", nothing, everything, tuple(_named(one, "at the front") for one in made[:2]))


def _named(entity: Entity, where: str) -> Entity:
    return Entity(entity.rows, f"{entity.words} {where}")


def _without(entity: Entity, size: int, entities: tuple[Entity, ...]) -> Scene:
    """Return the dataset without an entity that is there."""
    before, after = split(all_but(size, entity.rows), entity.rows[0])
    return Scene("the data", before, after, entities, entity, every_row(size))


def _lone(group: Group, known: list[Entity], size: int, number: int) -> Scene:
    """Return the dataset in which a few rows are all that is left of a group."""
    rest = all_but(size, group.rows)
    rows = group.rows[:number]
    last = Entity(rows, f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(map(str, rows))}")
    words = f"the data with {last.words} alone of its group in {group.title}"
    return Scene(words, rest, Rows(), tuple(known), last, rest + Rows.of(rows))


def _equal(stock: Stock, entities: tuple[Entity, ...]) -> Iterator[Scene]:
    """Yield backgrounds of one record and of many equal ones."""
    size = stock.table.size
    for row, words in _rows_of(stock):
        # What is unlike the others comes first.
        unlike = sorted(entities, key=lambda entity: words in entity.words)
        yield Scene(f"{size} records, all with {words}", copies(row, size), Rows(), tuple(unlike))
        yield Scene(f"one record with {words}", copies(row, 1), Rows(), tuple(unlike[:2]))
    if stock.units.alone:
        row = stock.template
        yield Scene(f"{size} copies of row {row}", copies(row, size), Rows(), entities)


def _rows_of(stock: Stock) -> list[tuple[int, str]]:
    """Return rows of which backgrounds consist, of a unit that comes and goes in none of them."""
    found = []
    for value in (Value.LOW, Value.HIGH, Value.MIDDLE):
        row = stock.all_with(value, stock.group) if stock.adds_units else None
        if row is not None:
            found.append((row, value.value))
    return found


def _ties(stock: Stock, entities: tuple[Entity, ...]) -> Iterator[Scene]:
    """Yield the background in which the greatest and the least value are equally many."""
    rows, half = _rows_of(stock)[:2], max(1, stock.table.size // 2)
    if len(rows) == 2:
        (low, _), (high, _) = rows
        words = f"{half} records with the least value and {half} with the greatest"
        yield Scene(words, copies(low, half) + copies(high, half), Rows(), entities)


def _sums(stock: Stock, made: list[Entity]) -> Iterator[Scene]:
    """Yield backgrounds whose sums lose digits or wrap round when one more record comes."""
    if not stock.adds_units:
        return
    size, most = stock.table.size, max(LEAST_LARGE, LARGER * stock.table.size)
    tiny = stock.all_with(Value.TINY, stock.group)
    if tiny is not None:
        # Of more of them the sum doubles, and they are too small to be rounded up.
        size = min(size, *(int(1 / column.precision) for column in stock.columns if column.kind is ValueKind.REAL))
        words = f"{size} records with {Value.TINY.value}, after the place of what comes"
        yield Scene(words, Rows(), copies(tiny, size), tuple(made[:1]))
    greatest = stock.all_with(Value.HIGH, stock.group)
    highs = {int(high) for high in stock.cells(Value.HIGH).values() if isinstance(high, int | np.integer)}
    ends = {(end - 1) // high for end in SUMS for high in highs if high >= 1}
    for times in sorted(end for end in ends if 1 <= end <= most and greatest is not None):
        words = f"{times} records with the greatest value"
        yield Scene(words, copies(int(greatest or 0), times), Rows(), tuple(made[:1]))
    row = stock.all_with(Value.MOST, stock.group) if stock.outside else None
    if row is not None:
        yield Scene(f"one record with {Value.MOST.value}", copies(row, 1), Rows(), tuple(made[:1]))
