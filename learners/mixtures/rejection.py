"""Draws of at most three halfspaces without a list of all triples: by rejection from groups that miss equally much.

The errors of a collection are what cannot be avoided (the examples with the rarer label at each point), and what it
misses (points that should be inside and are not) and takes in (points inside that should not be). It misses at least
what each of its halfspaces misses. So a collection is proposed with probability proportional to exp(-rate g), g the
most that one of its halfspaces misses: with the halfspaces in the order of what they miss, those with the same g are a
range of numbers. It is accepted with probability exp(-rate (missed - g + taken in)). Both choices are exact.

No bound on the tries would show in the outputs; where all collections can be counted as well, that is done after
`TRIES` of them. The running time depends on the data: it is no part of the output, and a caller that shows it must pad
it. Samples that some intersection labels well are fast; where labels are noise, hardly a proposal is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from learners.arrays import Bytes, Exact, Integers, byte_sums, weighed
from learners.mechanisms import exponential
from learners.mixtures.intersections import Tallied

TRIES = 2**24
"""After so many proposals, a few seconds, all collections are counted, if they can be."""
BATCH = 2**16


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Rejected:
    """The empty hypothesis and every collection of 1 to 3 halfspaces, to be drawn by their errors.

    `inside` (K, m) says whether each halfspace contains each point, `gains` (m,) how many more errors each point gives
    inside than outside. `counted` draws from all collections, where they are few enough.
    """

    order: Integers
    missed: Integers
    wanted: tuple[Bytes, Exact]
    spared: tuple[Bytes, Exact]
    counted: Tallied | None

    @classmethod
    def of(cls, inside: Any, gains: Integers, counted: Tallied | None) -> Rejected:
        """Return the halfspaces in the order of what they miss."""
        kinds = []
        for useful, sign in ((gains < 0, -1), (gains > 0, 1)):
            kinds.append((np.packbits(inside[:, useful], axis=1), byte_sums(sign * gains[useful])))
        wanted, spared = kinds
        missed = int(-gains[gains < 0].sum()) - weighed(*wanted)
        order = np.argsort(missed, kind="stable")
        return cls(order, missed[order], (wanted[0][order], wanted[1]), (spared[0][order], spared[1]), counted)

    def draw(self, rate: float, rng: np.random.Generator, size: int) -> list[tuple[int, ...]]:
        """Return the collections of independent draws, each as the increasing numbers of its halfspaces."""
        found: list[tuple[int, ...]] = []
        tries = 0
        total = int(self.wanted[1].reshape(-1, 256)[:, -1].sum())
        values, starts = np.unique(self.missed, return_index=True)
        ends = np.append(starts[1:], len(self.missed)).tolist()
        before = [smaller(start) for start in starts.tolist()]
        sizes = [smaller(end) - low for end, low in zip(ends, before, strict=True)]
        # The empty hypothesis misses everything; its number is -1.
        least = np.append(values, total)
        sizes, lows = [*sizes, 1], np.array([*before, -1])
        below = np.array([smaller(k) for k in range(len(self.missed) + 1)])
        while len(found) < size and (self.counted is None or tries < TRIES):
            cells = exponential.draw_cells(sizes, -least, rate, rng, BATCH)
            numbers = rng.integers(lows[cells], lows[cells] + np.array(sizes)[cells])
            members, uniform = _members(numbers, below), rng.random(BATCH)
            gaps = np.where(numbers < 0, 0, total - self._weight(self.wanted, members) - least[cells])
            # What is missed decides most proposals, with room for rounding; what is taken in is asked of the others.
            kept = np.flatnonzero(uniform <= np.exp(-rate * gaps) * (1 + exponential.MARGIN))
            taken = np.where(numbers[kept] < 0, 0, self._weight(self.spared, members[kept]))
            good = kept[exponential.accepted(gaps[kept] + taken, uniform[kept], rate, rng)]
            for number, row in zip(numbers[good].tolist(), self.order[members[good]].tolist(), strict=True):
                found.append(tuple(sorted(set(row))) if number >= 0 else ())
            tries += BATCH
        if len(found) < size:
            assert self.counted is not None
            found += self.counted.draw(rate, rng, size - len(found))
        return found[:size]

    def _weight(self, points: tuple[Bytes, Exact], members: Integers) -> Integers:
        """Return the weight of the points in all three halfspaces of each row."""
        packed, sums = points
        held = packed[members[:, 0]] & packed[members[:, 1]] & packed[members[:, 2]]
        return np.asarray(weighed(held, sums))


def smaller(count: int) -> int:
    """Return how many collections of 1 to 3 halfspaces have members below `count` alone."""
    return count + comb(count, 2) + comb(count, 3)


def _members(numbers: Integers, below: Integers) -> Integers:
    """Return three halfspaces, repeated where a collection has fewer; collections are numbered by their last one.

    Among those with the last member k stand {k}, then {i, k} for i < k, then {i, j, k} for i < j < k by j.
    """
    last = np.searchsorted(below, np.maximum(numbers, 0), side="right") - 1
    place = np.maximum(numbers, 0) - below[last]
    rest = np.maximum(place - 1 - last, 0)
    middle = ((1 + np.sqrt(1 + 8.0 * rest)) / 2).astype(np.int64)
    # A root may be rounded across an integer.
    middle -= middle * (middle - 1) // 2 > rest
    middle += middle * (middle + 1) // 2 <= rest
    first = rest - middle * (middle - 1) // 2
    triple = place > last
    pair = ~triple & (place > 0)
    first = np.where(triple, first, np.where(pair, place - 1, last))
    return np.stack([first, np.where(triple, middle, last), last], axis=1)
