"""Recipes of pairs: a background that both datasets share, and what comes, goes or is replaced in one of them.

Both sides of every recipe hold the background, so they are neighbours by construction: they differ in one entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dpaudit.contract import Relation
from dpaudit.neighbours.own_data.rows import Rows, these_rows
from dpaudit.neighbours.own_data.scenes import Scene

__all__ = ["Recipe", "recipes_of"]


@dataclass(frozen=True)
class Recipe:
    """Two datasets, as rows of a stock.

    Parameters
    ----------
    data, neighbour : Rows
        The rows.
    gone, come : tuple of int
        The rows of the first that the second lacks, and those that it has in their place.
    background : str
        What both share, in words.
    change : str
        What is done to the first dataset to make the second, in words.
    """

    data: Rows
    neighbour: Rows
    gone: tuple[int, ...]
    come: tuple[int, ...]
    background: str
    change: str


def recipes_of(scenes: Sequence[Scene], relation: Relation) -> Iterator[Recipe]:
    """Yield the recipes of all scenes, one of each scene after the other, so that the first ones are unlike each other.

    Parameters
    ----------
    scenes : sequence of Scene
        The scenes.
    relation : Relation
        ADD_REMOVE_ONE or REPLACE_ONE.
    """
    make = _added if relation is Relation.ADD_REMOVE_ONE else _replaced
    left = [make(scene) for scene in scenes]
    while left:
        for recipes in list(left):
            found = next(recipes, None)
            if found is None:
                left.remove(recipes)
            else:
                yield found


def _added(scene: Scene) -> Iterator[Recipe]:
    """Yield the recipes by which an entity goes, or comes."""
    rest = scene.before + scene.after
    if scene.whole is not None and scene.there is not None:
        yield Recipe(scene.whole, rest, scene.there.rows, (), scene.words, f"{scene.there.words} removed")
        return
    for entity in scene.entities:
        more = scene.before + these_rows(entity.rows) + scene.after
        yield Recipe(rest, more, (), entity.rows, scene.words, f"{entity.words} added")


def _replaced(scene: Scene) -> Iterator[Recipe]:
    """Yield the recipes by which an entity takes the place of another."""
    if scene.whole is not None and scene.there is not None:
        for entity in scene.entities:
            neighbour = scene.before + these_rows(entity.rows) + scene.after
            told = f"{scene.there.words} replaced by {entity.words}"
            yield Recipe(scene.whole, neighbour, scene.there.rows, entity.rows, scene.words, told)
        return
    for first, second in pairwise(scene.entities):
        data, neighbour = (scene.before + these_rows(one.rows) + scene.after for one in (first, second))
        words = f"{scene.words} and {first.words}" if len(scene.before) + len(scene.after) else first.words
        yield Recipe(data, neighbour, first.rows, second.rows, words, f"{first.words} replaced by {second.words}")
