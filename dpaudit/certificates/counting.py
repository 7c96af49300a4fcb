"""Count fresh runs of a pair, and the guesses of their coins, by an event that is fixed."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.audit.tested import CoinCount
from dpaudit.certificates.certificate import Counts
from dpaudit.contract import Direction, Pair
from dpaudit.events.event import Event
from dpaudit.events.families import likelier_first
from dpaudit.running.sampling import Sampler


def counted(
    sampler: Sampler,
    purpose: str,
    pair: Pair,
    events: tuple[Event, Event | UnsetType],
    direction: Direction,
    runs: int,
    number: int | None,
) -> Counts:
    """Return how many of twice `runs` runs of a pair are in an event, and the guesses of their coins.

    A coin decides the side of each run. A run in the first of `events` is guessed to be of the side on which that is
    likelier, a run in the second, if there is one, of the other side; the first `number` guesses are counted, or all of
    them. No output is kept.
    """
    couples = sampler.tossed(pair, ("certificate", purpose), 2 * runs)
    likelier = tuple(Direction).index(direction)
    hits, sizes, right = [0, 0], [0, 0], [np.zeros(0, dtype=np.bool_)]
    for couple, found in zip(couples, sampler.reduced(couples, partial(_spoken, events)), strict=True):
        turns = sampler.turns(couple)
        said = np.zeros(len(turns), dtype=np.int8)
        for side, codes in enumerate(found):
            sizes[side] += couple[side].size
            if codes is not None:
                said[turns == side] = codes
                hits[side] += int((codes == 1).sum())
        guessed = np.where(said == 1, likelier, 1 - likelier)
        right.append((guessed == turns)[said > 0])
    fair = seeding.generator(sampler.seed, "privacy", sampler.mechanism.stream, "certificate", purpose, "fill")
    every = np.concatenate(right)
    count = CoinCount.of_order(every, max(1, len(every)) if number is None else number, fair)
    first, second = likelier_first(direction, *zip(hits, sizes, strict=True))
    return Counts(*first, *second, count)


FEWER = 2.0
"""Standard deviations below the hits expected, of the guesses that are counted of runs made one by one."""


def fewer(counts: Counts, runs: int) -> int:
    """Return how many guesses to count of twice `runs` runs made one by one, given an earlier count of the event."""
    scale = 2 * runs / (counts.runs + counts.neighbour_runs)
    expected = scale * (counts.hits + counts.neighbour_hits)
    return max(1, math.floor(expected - FEWER * math.sqrt(expected * (1 + scale))))


def _spoken(events: tuple[Event, Event | UnsetType], outputs: Any) -> NDArray[np.int8]:
    """Return 1 for outputs in the first event, 2 for those in the second, else 0."""
    first, second = events
    found = first.holds(outputs).astype(np.int8)
    return found if second is UNSET else np.where(found == 0, 2 * second.holds(outputs), found).astype(np.int8)
