"""Neighbours of a dataset: the pairs that an attacker would try, the most useful first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.contract import Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.bounds import read_bounds
from dpaudit.neighbours.own_data.entities import groups_of, standing_out
from dpaudit.neighbours.own_data.kinds import read_table
from dpaudit.neighbours.own_data.made import Source, made_pair
from dpaudit.neighbours.own_data.moves import OwnDataMoves
from dpaudit.neighbours.own_data.recipes import Recipe, recipes_of
from dpaudit.neighbours.own_data.rows import Rows
from dpaudit.neighbours.own_data.scenes import scenes_of
from dpaudit.neighbours.own_data.stock import Stock
from dpaudit.neighbours.own_data.units import read_units

__all__ = ["COUNT", "OwnData", "neighbours_of", "own_data"]

COUNT = 40
"""The most pairs that are made by default."""
FEW = 64
"""Rows of a dataset that are looked at one by one, to see whether it is made twice."""


@dataclass(frozen=True)
class OwnData:
    """The pairs made from a dataset, and what varies them.

    Parameters
    ----------
    pairs : tuple of Pair
        The pairs.
    moves : callable
        Proposes variations of one.
    """

    pairs: tuple[Pair, ...]
    moves: OwnDataMoves


def neighbours_of(
    data: Any,
    relation: Relation | str = Relation.ADD_REMOVE_ONE,
    *,
    group: int = 1,
    bounds: Any = None,
    unit: Any = None,
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
        One dataset. Records of a list are numbers, texts, tuples, dictionaries or data classes of the same fields, or
        anything else, of which none are then made. `register_dataset` adds a kind.
    relation : Relation or str
        ADD_REMOVE_ONE or REPLACE_ONE, or an alias that `Relation.parse` knows.
    group : int
        How many records (or units) the datasets of a pair differ in, at most.
    bounds : (low, high), sequence of them, or dict of column to (low, high), optional
        The values that are allowed, of all numbers or of each column. By default those between the least and the
        greatest value of the data.
    unit : str or sequence of n names, optional
        What all rows of a user have in common: a column, or the names themselves. A record is then all rows of a user.
    count : int
        The most pairs.
    outside : bool
        Whether values outside of the bounds, NaN and infinity are tried. A mechanism that takes anything has to clip;
        say False if something before it does.
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
        reversed; if a column is not there; if a row is of no unit, or a unit in no row.

    Examples
    --------
    >>> pairs = neighbours_of([0.2, 0.9, 0.4], bounds=(0, 1), count=3)
    >>> [pair.origin.text for pair in pairs][0]
    'the data; row 1 removed'
    >>> pairs[0].neighbour
    [0.2, 0.4]
    """
    found = own_data(data, relation, group=group, bounds=bounds, unit=unit, count=count, outside=outside, seed=seed)
    return list(found.pairs)


def own_data(
    data: Any,
    relation: Relation | str,
    *,
    group: int = 1,
    bounds: Any = None,
    unit: Any = None,
    count: int = COUNT,
    outside: bool = True,
    seed: int = 0,
) -> OwnData:
    """Return the pairs of `neighbours_of`, and the moves that vary them."""
    relation = Relation.parse(relation)
    group, count, seed = read_integer("group", group), read_integer("count", count), seeding.check_seed(seed)
    if relation is Relation.REPLACE_PRIVATE:
        told = "{relation} replace-private needs samples with public examples: {data} are made neighbours by "
        raise InputError(told + "add-remove-one or replace-one", names=("relation", "data"), value=relation)
    table = read_table(data)
    columns = table.columns
    units = read_units(unit, data, table)
    if group > units.size:
        told = "at most {size}, the number of {what} in {data}"
        raise InputError(
            "{group} must be " + told + "; got {given}",
            names=("group", "data"),
            size=units.size,
            what="records" if units.alone else "units",
            given=group,
        )
    stock = Stock(table, columns, units, read_bounds(bounds, columns), group, bool(outside))
    known = standing_out(columns, units, group, seed)
    scenes = list(scenes_of(stock, known, groups_of(columns, units.column)))
    recipes = _distinct(recipes_of(scenes, relation), stock, count)
    source = Source(table.extended(stock.new), table.size, table.digest())
    entities = stock.made() if stock.adds_units else []
    return OwnData(tuple(made_pair(source, recipe) for recipe in recipes), OwnDataMoves(entities, units.alone, seed))


def _distinct(recipes: Iterable[Recipe], stock: Stock, count: int) -> list[Recipe]:
    """Return the first recipes whose two sides differ, none twice, whichever way round."""
    found: dict[frozenset[tuple[object, ...]], Recipe] = {}
    for recipe in recipes:
        gone, come = (sorted(map(stock.key, rows)) for rows in (recipe.gone, recipe.come))
        if gone != come:
            sides = frozenset((_content(recipe.data, stock), _content(recipe.neighbour, stock)))
            found.setdefault(sides, recipe)
        if len(found) == count:
            break
    return list(found.values())


def _content(rows: Rows, stock: Stock) -> tuple[object, ...]:
    """Return what tells datasets apart: in a few rows equal records are the same."""
    if len(rows) <= FEW:
        return tuple(map(stock.key, rows.index().tolist()))
    if len(rows.runs) > FEW:
        return rows.runs
    return tuple((stock.key(start) if length == 1 else start, length, times) for start, length, times in rows.runs)
