"""The bets on one pair: the sizes of batches, the cells counted so far, and the wealth won on partitions of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpaudit.audit.eprocess import expected_growth, log_payoff, place_bet, posterior
from dpaudit.audit.evidence import different
from dpaudit.contract import Pair
from dpaudit.events.cells import LEAST
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.event import Tally
from dpaudit.events.wide import Reducer

__all__ = [
    "PairBets",
    "Sides",
    "batch_schedule",
    "batch_size",
    "first_batch",
    "leading_pair_runs",
    "partition_by_bins",
    "partition_by_cells",
    "pilot_size",
]

Array = NDArray[np.float64]
Sides = tuple[Tally, Tally]

PILOT = 64
"""Runs a side of the pilot, which is never bet on: enough to see whether outputs repeat."""
FIRST_BATCH = 200
"""Runs of a pair's first batch, on which nothing is known and nothing won."""
BATCH_GROWTH = 0.15
"""The length of a batch as a part of the past: at 0.5 audits took a quarter to a half more runs to refute a claim, at
0.05 up to a fifth fewer in three times as many batches."""


def pilot_size(runs: int) -> int:
    """Return how many runs a side an audit of `runs` runs begins with, on its first pair."""
    return min(PILOT, runs // 8)


def first_batch(runs: int, pairs: int) -> int:
    """Return the size of the first batch of every pair."""
    return min(FIRST_BATCH, max(20, runs // (8 * pairs)))


def batch_size(past: int, first: int) -> int:
    """Return the size of the next batch of a pair after `past` runs of it."""
    return max(first, int(BATCH_GROWTH * past))


def batch_schedule(runs: int) -> tuple[Array, Array]:
    """Return how many runs of its only pair an audit of discrete outputs has made before each batch, and its size."""
    used = 2 * pilot_size(runs)
    past, sizes = [], []
    while used < runs:
        sizes.append(min(runs - used, batch_size(used, first_batch(runs, 1))))
        past.append(used)
        used += sizes[-1]
    return np.array(past, dtype=np.float64), np.array(sizes, dtype=np.float64)


def leading_pair_runs(runs: int, pairs: int) -> int:
    """Return the runs on the pair that promises most from the start: the pairs' shares are as 1 / rank^2."""
    return int(runs / sum(rank**-2 for rank in range(1, pairs + 1)))


COARSE, FINE = 2 / 3, 1 / 2
"""Parts of ordered cells hold N^power / 2 of the N past runs: few learn fast, many see small tails.
With the fine ones alone Laplace noise of 1.2 was refuted after twice as many runs."""

MOST_STAKES = 2_000_000
"""Stakes held in memory at a time."""


@dataclass(frozen=True)
class Common:
    """A part for each common cell, and a last one for all others; fixed by the past."""

    number: Mapping[Hashable, int]

    def count(self, batch: Tally) -> Array:
        """Return how many runs of a batch are in each part, shape (L,)."""
        counts = np.zeros(len(self.number) + 1)
        for cell, times in batch.items():
            counts[self.number.get(cell, -1)] += times
        return counts


@dataclass(frozen=True)
class Bins:
    """Parts of adjacent integer cells; `starts` are the least cells of all parts but the first; fixed by the past."""

    starts: NDArray[np.int64]

    def count(self, batch: Tally) -> Array:
        """Return how many runs of a batch are in each part, shape (L,)."""
        cells = np.fromiter(batch.keys(), dtype=np.int64, count=len(batch))
        times = np.fromiter(batch.values(), dtype=np.float64, count=len(batch))
        where = np.searchsorted(self.starts, cells, side="right")
        return np.bincount(where, weights=times, minlength=len(self.starts) + 1).astype(np.float64)


def partition_by_cells(past: Sides) -> Common:
    """Return a part for each cell seen at least `LEAST` times in all, and one for all others."""
    both = past[0] + past[1]
    return Common({cell: i for i, cell in enumerate(cell for cell, times in both.items() if times >= LEAST)})


def partition_by_bins(past: Sides, power: float) -> Bins:
    """Return parts of adjacent integer cells, each with about max(LEAST, N^power / 2) of the N past runs."""
    both = sorted((past[0] + past[1]).items())
    cells = np.array([cell for cell, _ in both], dtype=np.int64)
    times = np.array([count for _, count in both], dtype=np.float64)
    least = max(float(LEAST), times.sum() ** power / 2)
    group = np.floor((np.cumsum(times) - times) / least)
    return Bins(cells[1:][np.diff(group) > 0])


Strategy = tuple[int, float | None]
"""One way to bet on a pair: on the cells of the discretizer at an index, each by itself or (with a power) in bins."""


class PairBets:
    """The past of one pair, and the log-wealth of each strategy on it against each epsilon of the grid.

    The wealth of the pair is the mean over its strategies. That is again a product of e-values: over a batch it
    is multiplied by the mean of the strategies' payoffs, weighted by the wealth they had before the batch.
    """

    def __init__(self, index: int, pair: Pair, epsilons: int) -> None:
        self.index, self.pair = index, pair
        self.runs = self.batches = 0
        self.reducer: Reducer | None = None
        self.discretizers: list[Discretizer] = []
        self.strategies: list[Strategy] = []
        self.past: list[Sides] = []
        self.wealth: Array = np.zeros((0, epsilons))
        # Every look asks every pair, and only the pair just run has changed.
        self._log_wealth: Array | None = None
        self._expected: dict[tuple[int, ...], Array] = {}

    def restart(self, discretizers: Sequence[Discretizer]) -> None:
        """Start to count by these discretizers; no bet has been made before."""
        self.discretizers = list(discretizers)
        self.strategies = [
            (i, power) for i, one in enumerate(discretizers) for power in ((COARSE, FINE) if one.ordered else (None,))
        ]
        self.past = [(Counter(), Counter()) for _ in discretizers]
        self.wealth = np.zeros((len(self.strategies), self.wealth.shape[1]))
        self._learn()

    def remember(self, sides: Sequence[Sides]) -> None:
        """Add counts to the past, by discretizer, and learn posteriors from them."""
        for mine, new in zip(self.past, sides, strict=True):
            for side in (0, 1):
                mine[side].update(new[side])
        self._learn()

    def settle(self, sides: Sequence[Sides], grid: Array, live: NDArray[np.intp], delta: float) -> None:
        """Pay out the bets on a batch at the live epsilons, and only then learn from it."""
        for m, ((which, _), partition) in enumerate(zip(self.strategies, self.partitions, strict=True)):
            ones, zeros = (partition.count(side) for side in sides[which])
            for part in np.array_split(live, 1 + len(live) * len(ones) // MOST_STAKES):
                bet = place_bet(self.rates[m], self.masses[m], grid[part], delta)
                self.wealth[m, part] += log_payoff(bet, ones, zeros)
        self.batches += 1
        self.remember(sides)

    def different(self) -> int:
        """Return how many runs had another cell than the commonest one, by the discretizer that separates most."""
        return max((different(*past) for past in self.past), default=0)

    def log_wealth(self) -> Array:
        """Return the logarithm of the pair's e-process against each epsilon, shape (G,)."""
        if self._log_wealth is None:
            total = logsumexp(self.wealth, axis=0) if len(self.strategies) > 1 else self.wealth.sum(axis=0)
            self._log_wealth = np.asarray(total - np.log(max(1, len(self.strategies))))
        return self._log_wealth

    def growth(self, grid: Array, favour: tuple[int, ...], delta: float) -> Array:
        """Return the growth a run to expect at the grid points `favour`, by the strategy that has won most there."""
        if not self.strategies:
            return np.zeros(len(favour))
        if favour not in self._expected:
            best = int(np.argmax(self.wealth[:, favour].sum(axis=1)))
            self._expected[favour] = self._growth(best, grid[list(favour)], delta)
        return self._expected[favour]

    def promise(self, discretizer: int, epsilon: Array, delta: float) -> float:
        """Return the sum over some epsilons of the growth that a discretizer's best strategy expects."""
        which = [m for m, (index, _) in enumerate(self.strategies) if index == discretizer]
        return float(max(self._growth(m, epsilon, delta).sum() for m in which))

    def _growth(self, m: int, epsilon: Array, delta: float) -> Array:
        """Return the growth a run that one strategy expects."""
        rate, mass = self.rates[m], self.masses[m]
        return expected_growth(place_bet(rate, mass, epsilon, delta), rate, mass)

    def _learn(self) -> None:
        self._log_wealth = None
        self._expected.clear()
        self.partitions: list[Common | Bins] = []
        self.rates: list[Array] = []
        self.masses: list[Array] = []
        for index, power in self.strategies:
            sides = self.past[index]
            partition = partition_by_cells(sides) if power is None else partition_by_bins(sides, power)
            self.partitions.append(partition)
            ones, zeros = (partition.count(side) for side in sides)
            self.rates.append(posterior(ones, zeros))
            self.masses.append((ones + zeros + 0.5) / (ones + zeros + 0.5).sum())
