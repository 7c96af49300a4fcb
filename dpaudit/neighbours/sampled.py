"""Pairs drawn at random: neighbouring samples over a domain, or whatever a hypothesis strategy makes."""

from __future__ import annotations

from typing import Any

from dpaudit import seeding
from dpaudit.contract import Domain, Pair, Relation
from dpaudit.errors import InputError, ToolFault

__all__ = ["pairs_from_strategy", "random_pairs"]


def random_pairs(
    domain: Domain, n: int, relation: Relation = Relation.REPLACE_ONE, *, count: int = 16, seed: int = 0
) -> list[Pair]:
    """Return pairs of neighbouring samples: n uniform examples over the domain, then a uniform neighbour.

    Parameters
    ----------
    domain : Domain
        Where points come from; it is listed.
    n : int
        Examples in the first sample.
    relation : Relation
        What neighbours are.
    count : int
        How many pairs; repeated ones are dropped.
    seed : int
        The root seed.
    """
    relation = Relation.parse(relation)
    if n < 1 or count < 1:
        raise InputError(f"n and count must be at least 1, got {n!r} and {count!r}")
    points = domain.points()
    found: dict[frozenset[Any], Pair] = {}
    for i in range(count):
        rng = seeding.generator(seed, "random pairs", i)
        rows, labels = rng.integers(len(points), size=n), rng.integers(2, size=n)
        public = [False] * n if relation is Relation.REPLACE_PRIVATE else None
        data = domain.sample(points[rows], labels, public=public)
        near = list(data.neighbours(relation))
        neighbour = near[int(rng.integers(len(near)))]
        found.setdefault(frozenset((data, neighbour)), Pair(data, neighbour, f"random: number {i}"))
    return list(found.values())


def pairs_from_strategy(strategy: Any, *, count: int = 16, seed: int = 0) -> list[Pair]:
    """Return pairs that a hypothesis strategy of (data, neighbour) tuples makes.

    Parameters
    ----------
    strategy : hypothesis.strategies.SearchStrategy
        Must produce tuples of two neighbouring inputs.
    count : int
        How many pairs.
    seed : int
        Makes the draws repeatable.

    Raises
    ------
    InputError
        If hypothesis is not installed.
    """
    try:
        import hypothesis
    except ImportError:
        raise InputError("pairs_from_strategy needs the package hypothesis") from None
    found: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, derandomize=False, phases=[hypothesis.Phase.generate]
    )
    @hypothesis.given(strategy)
    def collect(pair: Any) -> None:
        found.append(pair)

    collect()
    if not found:
        raise ToolFault("the strategy made no pair")
    return [Pair(data, neighbour, f"strategy: number {i}") for i, (data, neighbour) in enumerate(found[:count])]
