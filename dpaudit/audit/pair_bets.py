"""The bets on one pair: the cells counted so far, and the wealth won on partitions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpaudit.audit.candidate import CountedPair
from dpaudit.audit.eprocess import expected_growth, log_payoff, place_bet, posterior
from dpaudit.audit.request import Request
from dpaudit.contract import Pair
from dpaudit.events.cells import LEAST
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.event import Tally

__all__ = ["PairBets", "Sides", "partition_by_bins", "partition_by_cells"]

Array = NDArray[np.float64]
Sides = tuple[Tally, Tally]
Partition = Callable[[Tally], Array]
"""Parts of the cells, fixed by the past: returns how many runs of a batch are in each, shape (L,)."""

COARSE, FINE = 2 / 3, 1 / 2
"""Parts of ordered cells hold N^power / 2 of the N past runs: few learn fast, many see small tails.
With the fine ones alone Laplace noise of 1.2 was refuted after twice as many runs."""

MOST_STAKES = 2_000_000
"""Stakes held in memory at a time."""


def partition_by_cells(past: Sides) -> Partition:
    """Return a part for each cell seen at least `LEAST` times in all, and a last one for all others."""
    common = (cell for cell, times in (past[0] + past[1]).items() if times >= LEAST)
    part = {cell: i for i, cell in enumerate(common)}

    def runs(batch: Tally) -> Array:
        counts = np.zeros(len(part) + 1)
        for cell, times in batch.items():
            counts[part.get(cell, -1)] += times
        return counts

    return runs


def partition_by_bins(past: Sides, power: float) -> Partition:
    """Return parts of adjacent integer cells, each with about max(LEAST, N^power / 2) of the N past runs."""
    ordered = sorted((past[0] + past[1]).items())
    cells, times = np.array(ordered, dtype=np.int64).reshape(-1, 2).T
    group = np.floor((np.cumsum(times) - times) / max(LEAST, times.sum() ** power / 2))
    starts = cells[1:][np.diff(group) > 0]

    def runs(batch: Tally) -> Array:
        where = np.searchsorted(starts, np.fromiter(batch.keys(), dtype=np.int64, count=len(batch)), side="right")
        counts = np.fromiter(batch.values(), dtype=np.float64, count=len(batch))
        return np.bincount(where, weights=counts, minlength=len(starts) + 1).astype(np.float64)

    return runs


class PairBets(CountedPair):
    """The past of one pair, and the log-wealth of each strategy on it against each epsilon of the grid.

    A strategy bets on the cells of the discretizer at an index, each by itself or (with a power) in bins. The wealth of
    the pair is the mean over its strategies. That is again a product of e-values: over a batch it is multiplied by the
    mean of the strategies' payoffs, weighted by the wealth they had before the batch. Its logarithm, that of the pair's
    e-process against each epsilon, is `log_wealth`, shape (G,).
    """

    def __init__(self, request: Request, index: int, pair: Pair, grid: Array) -> None:
        self.grid, self.runs, self.batches = grid, 0, 0
        super().__init__(request, index, pair, [])

    def restart(self, discretizers: list[Discretizer]) -> None:
        """Start to count by these discretizers; no bet has been made before."""
        super().restart(discretizers)
        self.strategies: list[tuple[int, float | None]] = [
            (i, power) for i, one in enumerate(discretizers) for power in ((COARSE, FINE) if one.ordered else (None,))
        ]
        self.wealth = np.zeros((len(self.strategies), len(self.grid)))
        self._learn()

    def remember(self, sides: Sequence[Sides]) -> None:
        """Add counts to the past, by discretizer, and learn posteriors from them."""
        for side, tallies in enumerate(zip(*sides, strict=True)):
            self.count(side, tallies)
        self._learn()

    def settle(self, sides: Sequence[Sides], live: NDArray[np.intp]) -> None:
        """Pay out the bets on a batch at the live epsilons, and only then learn from it."""
        for wealth, (which, _), (partition, rate, mass) in zip(self.wealth, self.strategies, self.learned, strict=True):
            ones, zeros = (partition(side) for side in sides[which])
            for part in np.array_split(live, 1 + len(live) * len(ones) // MOST_STAKES):
                bet = place_bet(rate, mass, self.grid[part], self.request.claim.delta)
                wealth[part] += log_payoff(bet, ones, zeros)
        self.batches += 1
        self.remember(sides)

    def growth(self, favour: tuple[int, ...]) -> Array:
        """Return the growth a run to expect at the grid points `favour`, by the strategy that has won most there."""
        if not self.strategies:
            return np.zeros(len(favour))
        if favour not in self._expected:
            best = int(np.argmax(self.wealth[:, favour].sum(axis=1)))
            self._expected[favour] = self._growth(best, self.grid[list(favour)])
        return self._expected[favour]

    def promise(self, discretizer: int, epsilon: Array) -> float:
        """Return the sum over some epsilons of the growth that a discretizer's best strategy expects."""
        which = [m for m, (index, _) in enumerate(self.strategies) if index == discretizer]
        return float(max(self._growth(m, epsilon).sum() for m in which))

    def _growth(self, m: int, epsilon: Array) -> Array:
        """Return the growth a run that one strategy expects."""
        _, rate, mass = self.learned[m]
        return expected_growth(place_bet(rate, mass, epsilon, self.request.claim.delta), rate, mass)

    def _learn(self) -> None:
        """Sum up the past once: every look asks every pair, and only the pair just run has changed."""
        total = logsumexp(self.wealth, axis=0) if len(self.strategies) > 1 else self.wealth.sum(axis=0)
        self.log_wealth = np.asarray(total - np.log(max(1, len(self.strategies))))
        self._expected: dict[tuple[int, ...], Array] = {}
        self.learned: list[tuple[Partition, Array, Array]] = []
        for index, power in self.strategies:
            sides = self.tallies[index]
            partition = partition_by_cells(sides) if power is None else partition_by_bins(sides, power)
            ones, zeros = (partition(side) for side in sides)
            seen = ones + zeros + 0.5
            self.learned.append((partition, posterior(ones, zeros), seen / seen.sum()))
