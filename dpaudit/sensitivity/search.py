"""Search neighbouring inputs for the pair on which something computed without noise moves farthest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from dpaudit.contract import MadePair, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs
from dpaudit.neighbours.own_data.pairs import neighbours_of, own_data_moves
from dpaudit.neighbours.own_data.units import GivenUnit
from dpaudit.neighbours.own_data.value_bounds import GivenBounds

# Steps of the local search, at most; in each the best pair meets a few variations of itself.
STEPS = 24
# Steps without a farther move after which it ends.
PATIENCE = 6


M = TypeVar("M")
_Input = TypeVar("_Input")
_Dataset = TypeVar("_Dataset")
# Returns variations of a pair for a step of the search.
Moves = Callable[[Pair, int], list[Pair]]


@dataclass
class Search(Generic[M]):
    """The pairs tried so far, and how many moved anything.

    `measure(pair)` is None if a pair shows nothing, because a call on one of its inputs raised an exception; else it is
    a move, whose `size` is a number >= 0 in any unit. `best` is the pair of the farthest finite move, `infinite` the
    first of an infinite one.
    """

    measure: Callable[[Pair], M | None]
    size: Callable[[M], float]
    best: tuple[Pair, M] | None = None
    infinite: tuple[Pair, M] | None = None
    tried: int = 0
    moved: int = 0
    refused: int = 0

    def look(self, pairs: Sequence[Pair]) -> bool:
        """Measure pairs; return whether one moved farther than all before, and not infinitely."""
        better = False
        for pair in pairs:
            found = self.measure(pair)
            self.tried += 1
            self.refused += found is None
            if found is None:
                continue
            size = self.size(found)
            self.moved += size > 0
            # A NaN on one side, say, is infinitely far away and says little: finite moves are preferred.
            if math.isinf(size):
                self.infinite = self.infinite or (pair, found)
            elif self.best is None or size > self.size(self.best[1]):
                self.best = (pair, found)
                better = True
        return better

    def vary(self, moves: Moves) -> None:
        """Look at variations of the best pair until `PATIENCE` steps in a row find none that moves farther."""
        idle = 0
        for step in range(STEPS):
            if self.best is None or idle == PATIENCE:
                return
            variations = moves(self.best[0], step)
            if not variations:
                return
            idle = 0 if self.look(variations) else idle + 1

    def farthest(
        self, pairs: Sequence[Pair], moves: Moves | None, shows: Callable[[M], bool], raised: Callable[[], str]
    ) -> tuple[Pair, M] | None:
        """Return the pair to report: one whose finite move shows it, else one of an infinite move, else the best.

        `InputError` if all pairs are refused, and `raised()` says what they raise.
        """
        self.look(pairs)
        # A function that raises everywhere was not given what it takes: no finding would say so as plainly.
        if self.tried == self.refused and (why := raised()):
            text = "{f} must return outputs; on all {count} pairs it raises {raised}"
            raise InputError(text, names=("f",), count=len(pairs), raised=why)
        if moves is not None:
            self.vary(moves)
        if self.best is not None and shows(self.best[1]):
            return self.best
        return self.infinite or self.best


def pairs_and_moves(
    pairs: Sequence[Pair | tuple[_Input, _Input]] | None,
    data: _Dataset | None,
    relation: Relation | str | None,
    *,
    bounds: GivenBounds | None,
    unit: GivenUnit | None,
    outside: bool,
    include_data: bool,
    seed: int,
) -> tuple[list[Pair], Relation | None, Moves | None]:
    """Return the pairs that were given or are made of a dataset, their relation, and what varies them."""
    if (pairs is None) == (data is None):
        raise InputError("one of {pairs} and {data} must be given", names=("pairs", "data"))
    if data is None:
        for name, value in (("bounds", bounds), ("unit", unit)):
            if value is not None:
                raise InputError("{" + name + "} belongs to {data}, which must be given too", names=(name, "data"))
        stated = None if relation is None else Relation.parse(relation)
        return check_pairs(pairs, stated), stated, None
    stated = Relation.ADD_REMOVE_ONE if relation is None else Relation.parse(relation)
    made = neighbours_of(data, stated, bounds=bounds, unit=unit, outside=outside, seed=seed)
    if include_data:
        made = [MadePair(*pair.sides, pair.origin, True) for pair in made]
    return made, stated, partial(own_data_moves, seed)
