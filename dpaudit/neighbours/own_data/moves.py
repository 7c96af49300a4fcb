"""Variations of a pair made from somebody's data: the moves of a local search for one that leaks more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.contract import MadePair, Pair
from dpaudit.neighbours.own_data.entities import Entity
from dpaudit.neighbours.own_data.rows import Rows
from dpaudit.neighbours.own_data.tables import Index

__all__ = ["OwnDataMoves"]

PROPOSALS = 6


class OwnDataMoves:
    """Proposes pairs near a pair made from a dataset: what both sides share changes on both, or what comes changes.

    Parameters
    ----------
    entities : sequence of Entity
        What may come.
    alone : bool
        Whether every row is a unit of its own; what both sides share is then free to change.
    seed : int
        The root seed; the proposals are a function of it, the step and the pair.
    """

    def __init__(self, entities: Sequence[Entity], alone: bool, seed: int) -> None:
        self.entities, self.alone, self.seed = tuple(entities), alone, seed

    def __call__(self, pair: Any, step: int) -> list[Pair]:
        """Return up to `PROPOSALS` distinct variations of a pair."""
        rng = seeding.generator(self.seed, "own data", "local search", step)
        sides: Any = pair.sides
        origin = pair.origin
        found: dict[Any, Pair] = {}
        for rows, words in self._proposals(sides[0].rows.index(), sides[1].rows.index(), rng):
            data, neighbour = (Rows.of(side) for side in rows)
            if data == neighbour or (data, neighbour) == (sides[0].rows, sides[1].rows):
                continue
            told = (
                replace(sides[0], rows=data, words=f"{sides[0].words}, {words}"),
                replace(sides[1], rows=neighbour),
            )
            moved = replace(origin, text=f"{origin.text}; {words}", moves=origin.moves + 1)
            found.setdefault((data, neighbour), MadePair(*told, moved, pair.shown))
        return list(found.values())[:PROPOSALS]

    def _proposals(
        self, data: Index, neighbour: Index, rng: np.random.Generator
    ) -> Iterator[tuple[tuple[Index, Index], str]]:
        """Yield the rows of both sides of variations, and what was done in words."""
        start, end = _shared(data, neighbour)
        before, after = data[:start], data[len(data) - end :]
        out, into = data[start : len(data) - end], neighbour[start : len(neighbour) - end]
        for which, (first, second) in enumerate(
            ((before[: len(before) // 2], after), (before[len(before) // 2 :], after))
        ):
            if len(before) > 1:
                part = ("second", "first")[which]
                yield (
                    (_joined(first, out, second), _joined(first, into, second)),
                    f"the {part} half of what precedes left out",
                )
        if not self.entities or (min(len(out), len(into)) and not self.alone):
            return
        for _ in range(2 * PROPOSALS):
            entity = self.entities[int(rng.integers(len(self.entities)))]
            rows = np.array(entity.rows, dtype=np.int64)
            if self.alone and len(before) + len(after) and rng.random() < 0.4:
                some, rest = np.full(len(before), rows[0]), np.full(len(after), rows[0])
                words = f"all that both share replaced by copies of {entity.words}"
                yield (_joined(some, out, rest), _joined(some, into, rest)), words
            elif len(out) and (not len(into) or rng.random() < 0.5):
                yield (_joined(before, rows, after), neighbour), f"what goes replaced by {entity.words}"
            else:
                yield (data, _joined(before, rows, after)), f"what comes replaced by {entity.words}"


def _joined(*parts: Index) -> Index:
    return np.concatenate(parts)


def _shared(data: Index, neighbour: Index) -> tuple[int, int]:
    """Return how many rows both sides share at the start, and at the end beside those."""
    least = min(len(data), len(neighbour))
    unlike = np.flatnonzero(data[:least] != neighbour[:least])
    start = int(unlike[0]) if len(unlike) else least
    left = least - start
    unlike = np.flatnonzero(data[::-1][:left] != neighbour[::-1][:left])
    return start, int(unlike[0]) if len(unlike) else left
