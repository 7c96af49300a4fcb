"""Hypotheses grouped by their errors: listed where they are few, else counted in blocks and found again when drawn."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from learners.arrays import Bools, Integers
from learners.mixtures.intersections import Intersections

__all__ = ["MAX_LISTED", "Listed", "Ranking", "Tallied"]

MAX_LISTED = 2**23
"""The most hypotheses whose errors are held at once."""


class Ranking(Protocol):
    """Groups of hypotheses with equal errors."""

    @property
    def errors(self) -> Integers:
        """The errors of each group, increasing."""

    @property
    def sizes(self) -> Integers:
        """The hypotheses of each group."""

    def pick(self, groups: Integers, within: Integers) -> Integers:
        """Return the numbers of the hypotheses at these places of these groups, which are in the order of numbers."""


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Listed:
    """All hypotheses in the order of their errors: group j is order[starts[j] : starts[j] + sizes[j]]."""

    order: Integers
    starts: Integers
    sizes: Integers
    errors: Integers

    @classmethod
    def of(cls, errors: Integers, eligible: Bools | None = None) -> Listed:
        """Return the ranking of hypotheses with these errors, or of those that are eligible."""
        order = np.argsort(errors, kind="stable")
        order = order if eligible is None else order[eligible[order]]
        values, starts, sizes = np.unique(errors[order], return_index=True, return_counts=True)
        return cls(order, starts, sizes, values)

    def pick(self, groups: Integers, within: Integers) -> Integers:
        """Return the numbers of the hypotheses at these places of these groups."""
        return np.asarray(self.order[self.starts[groups] + within])


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Tallied:
    """Counts of the hypotheses of each block by their errors; a block is computed anew where one of it is drawn."""

    collections: Intersections

    @cached_property
    def _blocks(self) -> list[tuple[Integers, Integers]]:
        """The distinct errors of each block, and how many hypotheses have them."""
        return [_tally(self.collections.errors(block)) for block in range(len(self.collections.blocks))]

    @cached_property
    def errors(self) -> Integers:
        """The errors of each group, increasing."""
        return np.unique(np.concatenate([values for values, _ in self._blocks]))

    @cached_property
    def sizes(self) -> Integers:
        """The hypotheses of each group."""
        total = np.zeros(len(self.errors), dtype=np.int64)
        for values, counts in self._blocks:
            total[np.searchsorted(self.errors, values)] += counts
        return total

    def pick(self, groups: Integers, within: Integers) -> Integers:
        """Return the numbers of the hypotheses at these places of these groups."""
        wanted: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for group in np.unique(groups).tolist():
            counts = np.array([self._count(block, self.errors[group]) for block in range(len(self._blocks))])
            ends = np.cumsum(counts)
            for run in np.flatnonzero(groups == group).tolist():
                block = int(np.searchsorted(ends, within[run], side="right"))
                wanted[block].append((run, group, int(within[run] - ends[block] + counts[block])))
        found = np.zeros(len(groups), dtype=np.int64)
        lengths = np.array([counts.sum() for _, counts in self._blocks])
        firsts = np.cumsum(lengths) - lengths
        for block, draws in wanted.items():
            errors = self.collections.errors(block)
            for run, group, place in draws:
                found[run] = firsts[block] + np.flatnonzero(errors == self.errors[group])[place]
        return found

    def _count(self, block: int, error: int) -> int:
        values, counts = self._blocks[block]
        at = int(np.searchsorted(values, error))
        return int(counts[at]) if at < len(values) and values[at] == error else 0


def _tally(errors: Integers) -> tuple[Integers, Integers]:
    """Return the distinct values and their counts; by counting where their range is small, which takes no sorting."""
    if not len(errors) or int(errors.max()) - int(errors.min()) > len(errors):
        return np.unique(errors, return_counts=True)
    least = int(errors.min())
    counts = np.bincount(errors - least)
    values = np.flatnonzero(counts)
    return values + least, counts[values]
