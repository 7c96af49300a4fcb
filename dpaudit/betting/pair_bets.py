"""What a sequential audit remembers of one pair: past labels, the cells to bet on, and the wealth won."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpaudit.betting.eprocess import expected_growth, log_payoff, place_bet, posterior
from dpaudit.contract import Pair
from dpaudit.distinguish.discretizers import Labeller
from dpaudit.distinguish.histogram import LEAST, Tally

__all__ = ["Cells", "PairLedger", "Wager", "sort_into_bins", "sort_into_labels"]

Array = NDArray[np.float64]
Sides = tuple[Tally, Tally]

COARSE, FINE = 2 / 3, 1 / 2
"""Cells of an ordered label hold N^power / 2 of the N past runs: few learn fast, many see small tails."""

MOST_STAKES = 2_000_000
"""Stakes held in memory at a time."""


class Cells(Protocol):
    """A partition of all labels, seen or not, fixed by the past."""

    def count(self, batch: Tally) -> Array:
        """Return how many labels of a batch are in each cell, shape (L,)."""


@dataclass(frozen=True)
class _LabelCells:
    """A cell for each common label, and a last one for all others."""

    number: Mapping[Hashable, int]

    def count(self, batch: Tally) -> Array:
        counts = np.zeros(len(self.number) + 1)
        for label, times in batch.items():
            counts[self.number.get(label, -1)] += times
        return counts


@dataclass(frozen=True)
class _BinCells:
    """Runs of adjacent integer labels; `starts` are the least labels of all cells but the first."""

    starts: NDArray[np.int64]

    def count(self, batch: Tally) -> Array:
        labels = np.fromiter(batch.keys(), dtype=np.int64, count=len(batch))
        times = np.fromiter(batch.values(), dtype=np.float64, count=len(batch))
        where = np.searchsorted(self.starts, labels, side="right")
        return np.bincount(where, weights=times, minlength=len(self.starts) + 1).astype(np.float64)


def sort_into_labels(past: Sides) -> Cells:
    """Return a cell for each label seen at least `LEAST` times in all, and one for all others."""
    both = past[0] + past[1]
    common = (label for label, times in both.items() if times >= LEAST)
    return _LabelCells({label: i for i, label in enumerate(common)})


def sort_into_bins(past: Sides, power: float) -> Cells:
    """Return cells of adjacent integer labels, each with about max(LEAST, N^power / 2) of the N past runs."""
    both = sorted((past[0] + past[1]).items())
    if not both:
        return _BinCells(np.zeros(0, dtype=np.int64))
    labels = np.array([label for label, _ in both], dtype=np.int64)
    times = np.array([count for _, count in both], dtype=np.float64)
    least = max(float(LEAST), times.sum() ** power / 2)
    group = np.floor((np.cumsum(times) - times) / least)
    return _BinCells(labels[1:][np.diff(group) > 0])


@dataclass(frozen=True)
class Wager:
    """One way to bet on a pair: the labels of one labeller, each by itself or (with a power) in bins."""

    labeller: int
    power: float | None = None

    def cells(self, past: Sequence[Sides]) -> Cells:
        """Return the partition that the past suggests."""
        sides = past[self.labeller]
        return sort_into_labels(sides) if self.power is None else sort_into_bins(sides, self.power)


class PairLedger:
    """The past of one pair, and the log-wealth of each wager on it against each epsilon of the grid.

    The wealth of the pair is the mean over its wagers. That is again a product of e-values: over a batch it
    is multiplied by the mean of the wagers' payoffs, weighted by the wealth they had before the batch.
    """

    def __init__(self, index: int, pair: Pair, epsilons: int) -> None:
        self.index, self.pair = index, pair
        self.runs = self.visits = 0
        self.labellers: list[Labeller] = []
        self.wagers: list[Wager] = []
        self.past: list[Sides] = []
        self.wealth: Array = np.zeros((0, epsilons))

    def adopt(self, labellers: Sequence[Labeller]) -> None:
        """Start to count the labels of these labellers; the wealth won is empty before."""
        self.labellers = list(labellers)
        self.wagers = [w for i, labeller in enumerate(labellers) for w in _wagers(i, labeller)]
        self.past = [(Counter(), Counter()) for _ in labellers]
        self.wealth = np.zeros((len(self.wagers), self.wealth.shape[1]))
        self._learn()

    def remember(self, sides: Sequence[Sides]) -> None:
        """Add labels to the past, by labeller, and learn posteriors from them."""
        for mine, new in zip(self.past, sides, strict=True):
            for side in (0, 1):
                mine[side].update(new[side])
        self._learn()

    def settle(self, sides: Sequence[Sides], grid: Array, live: NDArray[np.intp], delta: float) -> None:
        """Pay out the bets on a batch at the live epsilons, and only then learn from it."""
        for m, (wager, cells) in enumerate(zip(self.wagers, self.cells, strict=True)):
            ones, zeros = (cells.count(side) for side in sides[wager.labeller])
            for part in np.array_split(live, 1 + len(live) * len(ones) // MOST_STAKES):
                bet = place_bet(self.rates[m], self.masses[m], grid[part], delta)
                self.wealth[m, part] += log_payoff(bet, ones, zeros)
        self.visits += 1
        self.remember(sides)

    def log_wealth(self) -> Array:
        """Return the logarithm of the pair's e-process against each epsilon, shape (G,)."""
        if len(self.wagers) < 2:
            return np.asarray(self.wealth.sum(axis=0))
        return np.asarray(logsumexp(self.wealth, axis=0) - np.log(len(self.wagers)))

    def growth(self, epsilon: Array, delta: float, favour: NDArray[np.intp]) -> Array:
        """Return the growth a run to expect, by the wager that has won most at the grid points `favour`."""
        if len(self.wagers) == 0:
            return np.zeros(len(epsilon))
        best = int(np.argmax(self.wealth[:, favour].sum(axis=1)))
        rate, mass = self.rates[best], self.masses[best]
        return expected_growth(place_bet(rate, mass, epsilon, delta), rate, mass)

    def promise(self, labeller: int, epsilon: Array, delta: float) -> float:
        """Return the sum over some epsilons of the growth that a labeller's best wager expects."""
        which = [m for m, wager in enumerate(self.wagers) if wager.labeller == labeller]
        values = [
            expected_growth(place_bet(self.rates[m], self.masses[m], epsilon, delta), self.rates[m], self.masses[m])
            for m in which
        ]
        return float(max(v.sum() for v in values))

    def _learn(self) -> None:
        self.cells = [wager.cells(self.past) for wager in self.wagers]
        self.rates: list[Array] = []
        self.masses: list[Array] = []
        for wager, cells in zip(self.wagers, self.cells, strict=True):
            ones, zeros = (cells.count(side) for side in self.past[wager.labeller])
            self.rates.append(posterior(ones, zeros))
            self.masses.append((ones + zeros + 0.5) / (ones + zeros + 0.5).sum())


def _wagers(index: int, labeller: Labeller) -> list[Wager]:
    return [Wager(index, COARSE), Wager(index, FINE)] if labeller.ordered else [Wager(index)]
