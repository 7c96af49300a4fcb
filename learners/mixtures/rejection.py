"""Draws of at most three halfspaces by their errors: from counts of all, or by rejection without a list of triples.

Hypotheses are counted in blocks and found again when one is drawn. Where triples are too many for that, they are drawn
by rejection from groups that miss equally much.

The errors of a collection are what cannot be avoided (the examples with the rarer label at each point), and what it
misses (points that should be inside and are not) and takes in (points inside that should not be). It misses at least
what each of its halfspaces misses. So a collection is proposed with probability proportional to exp(-rate g), g the
most that one of its halfspaces misses: with the halfspaces in the order of what they miss, those with the same g are a
range of numbers. It is accepted with probability exp(-rate (missed - g + taken in)). Both choices are exact.

No bound on the tries would show in the outputs; where all collections can be counted as well, that is done after
some of them. The running time depends on the data: it is no part of the output, and a caller that shows it must pad
it. Samples that some intersection labels well are fast; where labels are noise, hardly a proposal is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Bools, Bytes, Floats, Integers, Sums, byte_sums, tallied, weighed
from ..mechanisms import exponential
from .intersections import Intersections
from .public_family import PublicFamily, collections_of
from .wedges import Wedges

# After so many proposals, a few seconds, or this part of all collections, they are counted, if they can be.
TRIES = 2**24
SHARE = 128
# Proposals that are made at once, first and at most.
BATCH = 2**13
MAX_BATCH = 2**16
# The points that should not be inside of which every halfspace is asked.
PACKED = 512
# Pairs of halfspaces and points that are compared at once.
BLOCK_CELLS = 2**24


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Tallied:
    """Counts of the hypotheses of each block by their errors; a block is recomputed when one of it is drawn.

    Where hypotheses are few, `held` are the errors of all of them, with -1 for those that are not to be drawn.
    """

    collections: Intersections | Wedges
    held: Integers | None = None

    def _errors(self, block: int) -> Sums:
        if self.held is None:
            return self.collections.errors(block)
        return self.held

    @cached_property
    def _blocks(self) -> list[tuple[int, Integers, Integers]]:
        """The size of each block, the distinct errors in it, and how many hypotheses have them."""
        blocks = map(self._errors, range(len(self.collections.blocks) if self.held is None else 1))
        return [(len(errors), *tallied(errors if self.held is None else errors[errors >= 0])) for errors in blocks]

    @cached_property
    def errors(self) -> Integers:
        """The errors of each group, increasing."""
        return np.unique(np.concatenate([values for _, values, _ in self._blocks]))

    @cached_property
    def _counts(self) -> Integers:
        """The hypotheses (blocks, groups) of each group in each block."""
        found = np.zeros((len(self._blocks), len(self.errors)), dtype=np.int64)
        for row, (_, values, counts) in zip(found, self._blocks, strict=True):
            row[np.searchsorted(self.errors, values)] = counts
        return found

    @cached_property
    def sizes(self) -> Integers:
        """The hypotheses of each group."""
        return np.asarray(self._counts.sum(axis=0))

    @cached_property
    def _order(self) -> Integers | None:
        if self.held is None:
            return None
        return np.argsort(self.held, kind="stable")

    def pick(self, groups: Integers, within: Integers) -> Integers:
        """Return the numbers of the hypotheses at these places of these groups."""
        if self._order is not None:
            # Counted from the end, by the sizes of the group and of all after it.
            return np.asarray(self._order[within - np.cumsum(self.sizes[::-1])[::-1][groups]])
        ends = np.cumsum(self._counts, axis=0)
        blocks = (ends[:, groups] <= within).sum(axis=0)
        places = within - ends[blocks, groups] + self._counts[blocks, groups]
        firsts = np.cumsum([0, *(size for size, _, _ in self._blocks)])
        found = firsts[blocks]
        for block in np.unique(blocks).tolist():
            errors = self._errors(block)
            for group in np.unique(groups[blocks == block]).tolist():
                chosen = (blocks == block) & (groups == group)
                found[chosen] += np.flatnonzero(errors == self.errors[group])[places[chosen]]
        return np.asarray(found)

    def draw(self, rate: float, rng: np.random.Generator, size: int) -> list[tuple[int, ...]]:
        """Return the collections of independent draws, with probabilities proportional to exp(-rate errors).

        A group of equal errors is drawn first, then uniformly within it.
        """
        groups = exponential.draw_cells(self.sizes.tolist(), -self.errors, rate, rng, size)
        picked = self.pick(groups, rng.integers(0, self.sizes[groups]))
        distinct, place = np.unique(picked, return_inverse=True)
        members = self.collections.members(distinct)
        return [members[i] for i in place.reshape(-1).tolist()]


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Rejected:
    """The empty hypothesis and every collection of 1 .. most <= 3 halfspaces, to be drawn by their errors.

    `order` (K,) are the numbers of the halfspaces by what they miss, `missed` (K,) how much. `wanted` are the points
    that should be inside, and `first` some of those that should not: packed, which each halfspace contains, and weights
    by byte. `rest` are the others that should not, in random order, with their weights. `counted` makes what draws
    after `tries` proposals, from all collections; None where they are too many.
    """

    family: PublicFamily
    order: Integers
    missed: Integers
    wanted: tuple[Bytes, Integers]
    first: tuple[Bytes, Integers]
    rest: tuple[Integers, Integers]
    most: int
    tries: int
    counted: Callable[[], Tallied] | None

    @classmethod
    def of(
        cls,
        family: PublicFamily,
        points: Integers,
        gains: Integers,
        most: int,
        counted: Callable[[], Tallied] | None,
    ) -> Rejected:
        """Return the sampler of the family, given how many more errors each point gives inside than outside."""
        # Points at random tell early what a collection takes in; in the order of a sample they stand side by side.
        spared = np.random.default_rng(0).permutation(np.flatnonzero(gains > 0))

        def packed(which: Integers) -> Bytes:
            step = max(1, BLOCK_CELLS // max(1, len(which)))
            blocks = [slice(start, start + step) for start in range(0, len(family.halfspaces), step)]
            return np.concatenate([np.packbits(family.inside(points[which], block), axis=1) for block in blocks])

        useful = np.flatnonzero(gains < 0)
        wanted = packed(useful)
        sums = byte_sums(-gains[useful])
        # What a halfspace misses is what it does not hold of the points that should be inside.
        missed = int(-gains[useful].sum()) - weighed(wanted, sums)
        order = np.argsort(missed, kind="stable")
        first = packed(spared[:PACKED])[order], byte_sums(gains[spared[:PACKED]])
        rest = points[spared[PACKED:]], gains[spared[PACKED:]]
        tries = min(TRIES, family.collections(most) // SHARE)
        return cls(family, order, missed[order], (wanted[order], sums), first, rest, most, tries, counted)

    def draw(self, rate: float, rng: np.random.Generator, size: int) -> list[tuple[int, ...]]:
        """Return the collections of independent draws, each as the increasing numbers of its halfspaces."""
        found: list[tuple[int, ...]] = []
        tries = 0
        batch = BATCH
        total = int(self.wanted[1].reshape(-1, 256)[:, -1].sum())
        # Collections are numbered by their last member in the order of what is missed: below[k] have all members
        # before k.
        below = np.array([collections_of(k, self.most) - 1 for k in range(len(self.missed) + 1)])
        values, starts = np.unique(self.missed, return_index=True)
        # The empty hypothesis misses everything; its number is -1.
        least = np.append(values, total)
        lows = np.append(below[starts], -1)
        sizes = np.append(below[np.append(starts[1:], len(self.missed))], 0) - lows
        while len(found) < size and (self.counted is None or tries < self.tries):
            # First a group by its size times exp(-rate g), then a number of the group: a proposal.
            cells = exponential.draw_cells(sizes.tolist(), -least, rate, rng, batch)
            numbers = rng.integers(lows[cells], lows[cells] + sizes[cells])
            members = _members(numbers, below)
            uniform = rng.random(batch)
            gaps = np.where(numbers < 0, 0, total - self._weight(self.wanted, members) - least[cells])
            # What is missed decides most proposals, and some points that are taken in most of the others.
            kept = np.flatnonzero(_open(uniform, gaps, rate))
            gaps[kept] += np.where(numbers[kept] < 0, 0, self._weight(self.first, members[kept]))
            for part in (slice(PACKED), slice(PACKED, 4 * PACKED), slice(4 * PACKED, None)):
                kept = kept[_open(uniform[kept], gaps[kept], rate)]
                gaps[kept] += np.where(numbers[kept] < 0, 0, self._taken(members[kept], part))
            good = kept[exponential.accepted(gaps[kept], uniform[kept], rate, rng)]
            for number, row in zip(numbers[good].tolist(), self.order[members[good]].tolist(), strict=True):
                found.append(tuple(sorted(set(row))) if number >= 0 else ())
            tries += batch
            batch = min(2 * batch, MAX_BATCH)
        # The rest is drawn from the counts of all collections: the law is the same.
        if len(found) < size:
            assert self.counted is not None
            found += self.counted().draw(rate, rng, size - len(found))
        return found[:size]

    def _weight(self, points: tuple[Bytes, Integers], members: Integers) -> Integers:
        """Return the weight of the packed points that lie in all three halfspaces of each row."""
        packed, sums = points
        held = packed[members[:, 0]] & packed[members[:, 1]] & packed[members[:, 2]]
        return np.asarray(weighed(held, sums))

    def _taken(self, members: Integers, part: slice) -> Integers:
        """Return the weight of some of the rest that lie in all three halfspaces of each row."""
        points = self.rest[0][part]
        gains = self.rest[1][part]
        found = np.zeros(len(members), dtype=np.int64)
        step = max(1, BLOCK_CELLS // 8 // max(1, len(gains)))
        for start in range(0, len(members), step):
            # Proposals share halfspaces: each is asked once about the points of the block.
            which, place = np.unique(self.order[members[start : start + step]], return_inverse=True)
            inside = self.family.inside(points, which)[place.reshape(-1, 3)]
            found[start : start + step] = inside.all(axis=1) @ gains
        return found


def _open(uniform: Floats, gaps: Integers, rate: float) -> Bools:
    """Return which proposals are not surely rejected with so many more errors, with room for rounding."""
    return np.asarray(uniform <= np.exp(-rate * gaps) * (1 + exponential.MARGIN))


def _members(numbers: Integers, below: Integers) -> Integers:
    """Return three halfspaces, repeated where a collection has fewer; `below` (K + 1,) are numbers by their last one.

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
