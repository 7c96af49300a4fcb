"""Bets of many bettors on one pair, without a phase of fitting.

A bettor bets on one partition of the outputs by posteriors counted in the past. A batch is bet on by the mean of all
bettors' payoffs, weighted by what each has won relative to the mean while it bet: the weights are functions of the
past, so the mean is an e-value, and bettors may come and go as scores are refitted.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.audit import eprocess
from dpaudit.audit.request import Request
from dpaudit.audit.trained_pair import CountedPair
from dpaudit.bounds.base import Array, Integers
from dpaudit.contract import Pair
from dpaudit.events.discretizers import Discretizer, Pilot, Ranked, score_edges, tally_each
from dpaudit.events.event import Tally
from dpaudit.events.fitting import Scored
from dpaudit.events.scores import ColumnScore
from dpaudit.outputs.shared import join
from dpaudit.outputs.types import Batch
from dpaudit.running.sampling import held_runs

Sides: TypeAlias = tuple[Tally, Tally]
# A bettor: its discretizer's name, its number of parts (0 for single cells), and the shrinkage of its posteriors.
Slot: TypeAlias = tuple[str, int, float]
# Equally likely parts of ordered cells: few learn fast, many see small tails.
PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# The same where delta > 0, whose bets take longer to place.
PARTS_OF_DELTA = (2, 3, 4, 6, 8, 12, 16)
# The same for single columns of outputs that have several, and the most columns that are bet on one by one.
PARTS_OF_COLUMNS = (2, 3)
MOST_COLUMNS = 32
# The most parts of bettors by which pairs are compared.
COARSE = 4
# Runs of a pair up to which scores are refitted as runs double; later ones are counted by the last scores.
REFITTED_RUNS = 8_192
# Runs a side from which on features of every leaf are screened: of fewer the best of hundreds is luck.
SCREENED_RUNS = 128
# Batches of a pair whose calls make many runs, at least, before it refutes a claim: they are compared.
COMPARED_BATCHES = 24
# The least variance of the runs of a batch above the median with which batches are compared.
BATCH_VARIANCE = 1.0
# Runs a side from which on classifiers are fitted as well: of fewer they learn noise.
THOROUGH_ROWS = 2_000


@dataclass(frozen=True)
class Tallied:
    """The cells of a discretizer that some runs were in, and how many runs on both sides; shapes (C,), (2, C)."""

    cells: list[Hashable] | Integers
    runs: Array

    @classmethod
    def of(cls, sides: Sides, *, ordered: bool) -> Tallied:
        """Return the counts of both sides by cell, in ascending order where cells are ordered."""
        cells: list[Any] = list(dict.fromkeys([*sides[0], *sides[1]]))
        if ordered:
            cells.sort()
        runs = np.array([[side[cell] for cell in cells] for side in sides], dtype=np.float64)
        if ordered:
            return cls(np.array(cells, dtype=np.int64), runs)
        return cls(cells, runs)


@dataclass(frozen=True)
class Partition:
    """Parts of the cells of a discretizer: intervals between `cuts` if they are ordered, else the cells of `single`.

    `slot` are the discretizer's name and the number of parts asked for, 0 for single cells; other cells are together in
    the last part.
    """

    slot: tuple[str, int]
    cuts: Array | None = None
    single: dict[Hashable, int] = field(default_factory=dict)

    def __len__(self) -> int:
        if self.cuts is None:
            return 1 + len(self.single)
        return 1 + len(self.cuts)

    def parts(self, counted: Tallied) -> Array:
        """Return how many runs on both sides are in each part, shape (2, L)."""
        if self.cuts is None:
            other = len(self.single)
            where = np.array([self.single.get(cell, other) for cell in counted.cells], dtype=np.int64)
        else:
            where = np.searchsorted(self.cuts, np.asarray(counted.cells), side="right")
        return np.stack([np.bincount(where, weights=side, minlength=len(self)) for side in counted.runs])


def partitions(discretizer: Discretizer, past: Tallied, parts: Sequence[int]) -> Iterator[Partition]:
    """Yield partitions of the cells of a discretizer: by quantiles if they are ordered, else each repeated cell."""
    both = past.runs.sum(axis=0)
    if not discretizer.ordered:
        repeated = [cell for cell, times in zip(past.cells, both.tolist(), strict=True) if times > 1]
        if repeated:
            yield Partition((discretizer.name, 0), None, {cell: i for i, cell in enumerate(repeated)})
        return
    known = np.asarray(past.cells)
    below = np.cumsum(both)
    for k in parts:
        if 2 * k > below[-1:].sum():
            return
        cuts = np.unique(known[np.searchsorted(below, np.arange(1, k) * below[-1] / k, side="right")])
        yield Partition((discretizer.name, k), cuts)
        if k >= len(known):
            return


class Bettors:
    """Bettors on several partitions, each by several estimates of the posterior.

    `slots` name them; `rate` are their posteriors r and `mass` the shares of runs in the parts, from the past, of shape
    (N, L); parts that a partition does not have are never met.
    """

    def __init__(self, several: Sequence[tuple[Partition, Tallied]], estimates: Sequence[tuple[float, float]]) -> None:
        self.partitions = [partition for partition, _ in several]
        self.slots: list[Slot] = [(*one.slot, shrinkage) for _, shrinkage in estimates for one in self.partitions]
        self._expected: dict[tuple[int, ...], eprocess.CellSums] = {}
        ones, zeros = self._parts([counted for _, counted in several])
        self.rate = np.concatenate([eprocess.posterior(ones, zeros, *estimate) for estimate in estimates])
        seen = ones + zeros + 0.5
        seen[np.arange(seen.shape[1]) >= np.array([[len(one)] for one in self.partitions])] = 0.0
        self.mass = np.tile(seen / seen.sum(axis=1, keepdims=True), (len(estimates), 1))

    def _parts(self, several: Sequence[Tallied]) -> Array:
        """Return the runs on both sides in each part of each partition, shape (2, P, L)."""
        found = np.zeros((2, len(self.partitions), max(map(len, self.partitions))))
        for i, (partition, counted) in enumerate(zip(self.partitions, several, strict=True)):
            found[:, i, : len(partition)] = partition.parts(counted)
        return found

    def log_payoff(self, epsilon: Array, delta: float, batch: Mapping[str, Tallied]) -> Array:
        """Return the logarithm of what each bettor's bets on a batch pay, shape (N, G), given its counts by name."""
        ones, zeros = self._parts([batch[partition.slot[0]] for partition in self.partitions])
        times = len(self.rate) // len(ones)
        return eprocess.log_payoff(
            self.rate, self.mass, epsilon, delta, np.tile(ones, (times, 1)), np.tile(zeros, (times, 1))
        )

    def expected_growth(self, which: tuple[int, ...], epsilon: float, delta: float) -> Array:
        """Return the growth a run that some of the bettors expect of the best bets, shape (len(which),)."""
        row = np.arange(len(which))
        ratio = np.full(len(which), math.exp(epsilon))
        if which not in self._expected:  # one pair is compared at several epsilons
            self._expected[which] = eprocess.CellSums.expected(self.rate[which, :], self.mass[which, :])
        past = self._expected[which]
        return past.log_payoff(row, ratio, delta, *past.best_caps(row, ratio, delta))

    @cached_property
    def coarse(self) -> tuple[tuple[int, ...], Array]:
        """The numbers of the bettors by which pairs are compared, and how many parts each has beyond two."""
        least = eprocess.ESTIMATES[-1][1]
        which = tuple(i for i, (_, parts, moved) in enumerate(self.slots) if parts <= COARSE and moved == least)
        return which, np.array([len(self.partitions[i % len(self.partitions)]) - 2 for i in which])


# A batch's cells by each discretizer, and its outputs if they are kept.
CellsOfBatch: TypeAlias = tuple[tuple[Tally, ...], Batch | None]


def cells_of(discretizers: Sequence[Discretizer], keep: bool, outputs: Batch) -> CellsOfBatch:
    """Return a batch's cells by each discretizer, and its outputs if they are kept, else None."""
    cells = tally_each(discretizers, True, outputs)
    if keep:
        return cells, outputs
    return cells, None


def joined(sides: Sequence[Sequence[Batch]]) -> list[Batch]:
    """Return the outputs of both sides, each as one batch of those given."""
    return [join(side) if side else [] for side in sides]


def _count_outputs(discretizer: Discretizer, sides: Sequence[Batch], counts: Sides) -> None:
    """Add the cells of the outputs of both sides to their counts."""
    for count, outputs in zip(counts, sides, strict=True):
        if len(outputs):
            count.update(*tally_each((discretizer,), True, outputs))


class PairBets(CountedPair):
    """The past of one pair, and its bettors with what each has won relative to their mean, by epsilon of the grid.

    `log_wealth`, shape (G,), is the logarithm of its e-process; `outputs` are kept while scores are refitted.
    """

    def __init__(self, request: Request, index: int, pair: Pair, grid: Array) -> None:
        self.grid = grid
        self.runs = 0
        self.batches = 0
        self.refit_at = 1
        self.reduced = 0
        self.reduce_at = 0
        self.log_wealth: Array = np.zeros(len(grid))
        self.won: dict[Slot, Array] = {}
        self.bettors: list[Bettors] = []
        self.outputs: list[list[Batch]] | None = [[], []]
        self.pilot: Pilot | None = None
        self.scatter: defaultdict[str, Array] = defaultdict(lambda: np.zeros(2))
        self._promised: dict[int, float] = {}
        self._levels: dict[tuple[int, float], int] = {}
        super().__init__(request, index, pair, [])

    def settle(self, sides: Sequence[Sides], live: NDArray[np.intp]) -> None:
        """Pay out the bets on a batch, given its cells by discretizer, at the live epsilons."""
        # Promises are of the past before this batch.
        self.batches += 1
        self._promised = {}
        self._levels = {}
        if not self.bettors:
            return
        batch: dict[str, Tallied] = {
            one.name: Tallied.of(two, ordered=one.ordered) for one, two in zip(self.discretizers, sides, strict=True)
        }
        if self.request.sampler.mechanism.batched:
            self._compare(batch)
        delta = self.request.claim.delta
        gains = np.concatenate([one.log_payoff(self.grid[live], delta, batch) for one in self.bettors])
        won = [self.won.setdefault(slot, np.zeros(len(self.grid))) for one in self.bettors for slot in one.slots]
        # What each bettor has won relative to the mean while it bet: one that came later is at no disadvantage.
        weights = np.stack([one[live] for one in won])
        mean = eprocess.log_sum_exp(weights + gains) - eprocess.log_sum_exp(weights)
        self.log_wealth[live] += mean
        for mine, gain in zip(won, gains, strict=True):
            mine[live] += gain - mean

    def _compare(self, batch: Mapping[str, Tallied]) -> None:
        """Compare a batch with the past on either side, by the runs above the past's median, or in its first cell.

        Of h of n runs, H of N earlier ones and p = (h + H) / (n + N) the statistic is (h / n - H / N)^2 / (p (1 - p) (1
        / n + 1 / N)), near chi-squared where runs are independent, as `checks_and_gaps.calls_agree` has it.
        """
        for one, tallies in zip(self.discretizers, self.tallies, strict=True):
            if one.learned:
                continue
            past = Tallied.of(tallies, ordered=one.ordered)
            for halves in partitions(one, past, (2,)):
                new = halves.parts(batch[one.name])
                old = halves.parts(past)
                runs = np.maximum(new.sum(axis=1), 1)
                earlier = np.maximum(old.sum(axis=1), 1)
                share = (new + old)[:, 0] / (runs + earlier)
                variance = share * (1 - share)
                some = (runs * variance >= BATCH_VARIANCE) & (old.sum(axis=1) > 0)
                away = (new[:, 0] / runs - old[:, 0] / earlier)[some] ** 2
                self.scatter[one.name] += np.sum(away / (variance * (1 / runs + 1 / earlier))[some]), some.sum()

    def learn(self, sides: Sequence[Sides], outputs: Sequence[Batch]) -> None:
        """Add a batch to the past, refit scores where the runs have doubled, and count posteriors."""
        for side, tallies in enumerate(zip(*sides, strict=True)):
            self.count(side, tallies)
        if self.outputs is not None:
            for mine, new in zip(self.outputs, outputs, strict=True):
                if len(new):
                    mine.append(new)
            if self.runs >= self.refit_at:
                self._refit(joined(self.outputs))
        # Those on ordered cells come last, all together.
        parts: Sequence[int] = PARTS
        if self.request.claim.delta:
            parts = PARTS_OF_DELTA
        ordered: list[tuple[Partition, Tallied]] = []
        self.bettors = []
        for one, past in zip(self.discretizers, self.tallies, strict=True):
            counted = Tallied.of(past, ordered=one.ordered)
            some = parts
            if isinstance(one, Scored) and isinstance(one.score, ColumnScore):
                some = PARTS_OF_COLUMNS
            found = [(partition, counted) for partition in partitions(one, counted, some)]
            if one.ordered:
                ordered += found
            elif found:
                self.bettors.append(Bettors(found, (*eprocess.ESTIMATES, eprocess.RARE_ESTIMATE)))
        if ordered:
            self.bettors.append(Bettors(ordered, eprocess.ESTIMATES))

    def _refit(self, sides: list[Batch]) -> None:
        """Fit discretizers on the past: each half is counted by the scores of the other, and bets take their mean."""
        if min(map(len, sides)) < 2:
            return
        self.refit_at = 2 * self.runs
        # Two-fold cross-fitting: no run is counted by a score that was fitted on it.
        both = join(sides)
        cut = [len(side) // 2 for side in sides]
        first, second = zip(*((side[:at], side[at:]) for side, at in zip(sides, cut, strict=True)), strict=True)
        pilot = Pilot.of(both)
        if self.reducer is None:  # of whole outputs, and not of the columns looked at
            self.pilot = pilot
        found = list(pilot.shared)
        if not pilot.sufficient:
            rows = min(cut)
            screened = None
            if rows >= SCREENED_RUNS:
                screened = rows
            fitted = self.fitted(first, confirm=screened, thorough=rows >= THOROUGH_ROWS)
            rows_of = [one for one in fitted if isinstance(one, Scored) and one.groups == ("values",) and one.learned]
            if rows_of and 1 < (width := rows_of[0].flattener.width) <= MOST_COLUMNS:
                found += [rows_of[0].column(j, both) for j in range(width)]
            for one in fitted:
                if isinstance(one, Scored) and not one.learned:
                    one = replace(one, edges=score_edges(one.scores(both)))
                if isinstance(one, Ranked):
                    found.append(one.base)
                else:
                    found.append(one)
        if pilot.atoms is not None:
            found.append(pilot.atoms)
        self.restart(list({one.name: one for one in found}.values()))
        for i, (one, tallies) in enumerate(zip(self.discretizers, self.tallies, strict=True)):
            # It was fitted, or chosen among hundreds, on the first half.
            if one.learned or one.screened:
                _count_outputs(one, second, tallies)
            else:
                _count_outputs(one, sides, tallies)
            if isinstance(one, Scored) and one.learned:
                other = one.refit(*second)
                if other is not None:
                    _count_outputs(other, first, tallies)
                    self.discretizers[i] = one.joined(other, first, second)
        if self.runs >= REFITTED_RUNS or self.runs >= held_runs(self.request.sampler):
            # Scores are fitted no more: later runs are counted by the last ones.
            self.outputs = None

    def promise(self, at: int) -> float:
        """Return the growth a run against an epsilon of the grid: what was won, or what the best coarse bettor expects.

        Fine ones fit chance: of pairs that do not leak one would always promise something. So does each further cell
        of a category, by half a unit of log-likelihood.
        """
        if at not in self._promised:
            growths = [float(self.log_wealth[at]) / max(1, self.runs), 0.0]
            against = self.grid[at]
            for one in self.bettors:
                which, fitted = one.coarse
                expected = one.expected_growth(which, against, self.request.claim.delta) - fitted / (2 * self.runs)
                growths += expected.tolist()
            self._promised[at] = max(growths)
        return self._promised[at]

    def borne_out(self, runs: int, chance: float = 0.0) -> int:
        """Return how many epsilons of the grid, from the least, so many runs should refute with log E > `chance`."""
        if (runs, chance) not in self._levels:
            places = range(len(self.grid))
            level = bisect.bisect_left(places, True, key=lambda i: self.promise(i) * runs <= chance)
            self._levels[runs, chance] = level
        return self._levels[runs, chance]
