"""Variations of a pair of samples: the moves of a local search for one that leaks more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.contract import Domain, Pair
from dpaudit.neighbours.check import as_multiset

__all__ = ["SampleMoves"]

PROPOSALS = 6


class SampleMoves:
    """Proposes pairs near a pair of samples over a domain: neighbours still, and as many examples on each side.

    A move changes the same examples on both sides: it takes one, half or all copies of one shared example to a
    landmark, or flips their labels; or it does so with one of the examples in which the two sides differ.

    Parameters
    ----------
    domain : Domain
        The domain of the examples.
    seed : int
        The root seed; the proposals are a function of it, the step and the pair.
    """

    def __init__(self, domain: Domain, seed: int) -> None:
        self.domain, self.seed = domain, seed

    def __call__(self, pair: Pair, step: int) -> list[Pair]:
        """Return up to `PROPOSALS` distinct variations of a pair."""
        rng = seeding.generator(self.seed, "local search", step)
        origin = replace(pair.origin, moves=pair.origin.moves + 1)
        found: dict[Any, Pair] = {}
        for data, neighbour in self._proposals(pair, rng):
            if data != neighbour and (data, neighbour) != (pair.data, pair.neighbour):
                found.setdefault((data, neighbour), Pair(data, neighbour, origin))
        return list(found.values())[:PROPOSALS]

    def _proposals(self, pair: Pair, rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
        first, second = as_multiset(pair.data), as_multiset(pair.neighbour)
        shared = first & second
        own = [first - shared, second - shared]
        for _ in range(4 * PROPOSALS):
            common, sides = shared.copy(), [own[0].copy(), own[1].copy()]
            if common and rng.random() < 0.7:
                self._move(common, rng, several=True)
            else:
                self._move(sides[int(rng.integers(2))], rng, several=False)
            yield self._sample(common + sides[0], pair), self._sample(common + sides[1], pair)

    def _move(self, rows: Any, rng: np.random.Generator, *, several: bool) -> None:
        """Replace one, half or all copies of one example."""
        if not rows:
            return
        example = sorted(rows)[int(rng.integers(len(rows)))]
        count = rows[example]
        moved = int(rng.choice([1, max(1, count // 2), count])) if several else 1
        point, label, public = example
        marks = self.domain.landmarks()
        target = tuple(marks[int(rng.integers(len(marks)))].tolist()) if rng.random() < 0.6 else point
        rows[example] -= moved
        rows[(target, int(1 - label) if target == point or rng.random() < 0.3 else label, public)] += moved

    def _sample(self, rows: Any, pair: Pair) -> Any:
        rows = +rows
        if not rows:
            return self.domain.empty_sample()
        points, labels, flags = zip(*rows, strict=True)
        public = list(flags) if pair.data.public is not None else None
        return self.domain.sample(list(points), list(labels), list(rows.values()), public)
