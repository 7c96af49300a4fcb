"""Datasets and pairs of them that are made of a pool of rows where a run needs them, and told by their recipes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpaudit.contract import Made, MadePair, Origin, OriginKind
from dpaudit.neighbours.own_data.held import Held
from dpaudit.neighbours.own_data.recipes import Recipe
from dpaudit.neighbours.own_data.rows import Rows
from dpaudit.neighbours.own_data.tables import Table

__all__ = ["MadeData", "Source", "made_pair"]


@dataclass(frozen=True, eq=False)
class Source:
    """The rows that datasets are made of, and what may be told of them.

    Parameters
    ----------
    pool : Table
        The rows of the dataset, followed by new ones.
    size : int
        The number of rows of the dataset.
    digest : str
        Its SHA-256.
    """

    pool: Table
    size: int
    digest: str

    @cached_property
    def held(self) -> Held:
        """The values that are not told."""
        return Held.of(replace(column, values=column.values[: self.size]) for column in self.pool.columns)


@dataclass(frozen=True)
class MadeData(Made):
    """A dataset as rows of a pool.

    Parameters
    ----------
    source : Source
        The rows that there are.
    rows : Rows
        Those of this dataset.
    words : str
        What it is, in words that name no value.
    """

    source: Source
    rows: Rows
    words: str

    def build(self) -> Any:
        """Return the dataset, of the kind and the types that were given."""
        return self.source.pool.take(self.rows.index())

    def in_words(self) -> str:
        """Return the words."""
        return self.words

    def tells(self, value: object, *, numbers: bool = True) -> bool:
        """Say whether a text, or a number if these are looked at, names a value that few records hold."""
        held = self.source.held
        return held.text(value, numbers) if isinstance(value, str) else numbers and held.number(value)


def made_pair(source: Source, recipe: Recipe, moves: int = 0) -> MadePair:
    """Return the pair of a recipe."""
    told = f"{recipe.background} (SHA-256 of the data: {source.digest})"
    return MadePair(
        MadeData(source, recipe.data, told),
        MadeData(source, recipe.neighbour, f"the same, {recipe.change}"),
        Origin(OriginKind.OWN_DATA, f"{recipe.background}; {recipe.change}", moves),
    )
