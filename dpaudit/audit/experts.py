"""Bets of many experts on one pair, without a phase of fitting.

An expert bets on one partition of the outputs by posteriors counted in the past. A batch is bet on by the mean of all
experts' payoffs, weighted by what each has won relative to the mean while it bet: the weights are functions of the
past, so the mean is an e-value, and experts may come and go as scores are refitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.audit import eprocess
from dpaudit.audit.candidate import CountedPair
from dpaudit.audit.request import Request
from dpaudit.contract import Pair
from dpaudit.events.discretizers import CountCells, Discretizer, Pilot, Ranked, score_edges
from dpaudit.events.event import Tally
from dpaudit.events.fitting import Scored
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import held_runs

Array = NDArray[np.float64]
Sides = tuple[Tally, Tally]
Slot = tuple[str, int, float]
"""An expert: its discretizer's name, its number of parts (0 for single cells), and the shrinkage of its posteriors."""
PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Equally likely parts of ordered cells: few learn fast, many see small tails."""
PARTS_OF_DELTA = (2, 3, 4, 8, 16)
"""The same where delta > 0, whose bets take longer to place."""
PARTS_OF_COLUMNS, MOST_COLUMNS = (2, 3), 32
"""The same of single columns where outputs have several, and the most columns of which each is bet on by itself."""
COARSE = 4
"""The most parts of experts by which pairs are compared."""
REFITTED_RUNS = 8_192
"""Runs of a pair up to which scores are refitted as runs double; later ones are counted by the last scores."""
SCREENED_RUNS = 128
"""Runs a side from which on features of every leaf are screened: of fewer the best of hundreds is luck."""
THOROUGH_ROWS = 2_000
"""Runs a side from which on classifiers are fitted as well: of fewer they learn noise."""


@dataclass(frozen=True)
class Expert:
    """Posteriors r of parts of the cells, and the shares of runs in the parts, all from the past; shapes (L,)."""

    slot: Slot
    cuts: Array | dict[Any, int]
    rate: Array
    mass: Array

    def parts(self, tally: Tally) -> Array:
        """Return how many runs of a batch are in each part."""
        if isinstance(self.cuts, dict):
            where = np.array([self.cuts.get(cell, len(self.rate) - 1) for cell in tally], dtype=np.int64)
        else:
            where = np.searchsorted(self.cuts, np.array([*tally], dtype=np.int64), side="right")
        times = np.fromiter(tally.values(), dtype=np.float64, count=len(tally))
        return np.bincount(where, weights=times, minlength=len(self.rate)).astype(np.float64)


def experts(discretizer: Discretizer, past: Sides, parts: Sequence[int]) -> Iterator[Expert]:
    """Yield the experts on the cells of a discretizer: quantiles if they are ordered, else each repeated cell."""
    both = past[0] + past[1]
    estimates: tuple[tuple[float, float], ...] = eprocess.ESTIMATES
    if not discretizer.ordered:
        cells: dict[Any, int] = {}
        for cell, times in both.items():
            if times > 1:
                cells[cell] = len(cells)
        listed: list[tuple[int, Array | dict[Any, int], int]] = [(0, cells, len(cells) + 1)] if cells else []
        estimates = (*estimates, eprocess.RARE_ESTIMATE)
    else:
        known = np.sort(np.array([*both], dtype=np.int64))
        below = np.cumsum([both[cell] for cell in known.tolist()])
        listed = []
        for k in parts:
            if 2 * k > below[-1:].sum():
                break
            cuts = np.unique(known[np.searchsorted(below, np.arange(1, k) * below[-1] / k, side="right")])
            listed.append((k, cuts, len(cuts) + 1))
            if k >= len(known):
                break
    for k, rule, size in listed:
        blank = Expert((discretizer.name, k, 0.0), rule, np.zeros(size), np.zeros(size))
        ones, zeros = map(blank.parts, past)
        seen = ones + zeros + 0.5
        for pseudo, shrinkage in estimates:
            slot = (discretizer.name, k, shrinkage)
            yield Expert(slot, rule, eprocess.posterior(ones, zeros, pseudo, shrinkage), seen / seen.sum())


class PairBets(CountedPair):
    """The past of one pair, and its experts with what each has won relative to their mean, by epsilon of the grid.

    The logarithm of the pair's e-process against each epsilon is `log_wealth`, shape (G,). `outputs` are those of both
    sides while scores are refitted.
    """

    def __init__(self, request: Request, index: int, pair: Pair, grid: Array) -> None:
        self.grid, self.runs, self.batches, self.refit_at = grid, 0, 0, 1
        self.reduced, self.reduce_at = 0, 0
        self.log_wealth: Array = np.zeros(len(grid))
        self.won: dict[Slot, Array] = {}
        self.experts: list[Expert] = []
        self.outputs: list[list[Any]] | None = [[], []]
        self.pilot: Pilot | None = None
        self._promised: tuple[tuple[float, ...], Array] = ((), np.zeros(0))
        super().__init__(request, index, pair, [])

    def settle(self, sides: Sequence[Sides], live: NDArray[np.intp]) -> None:
        """Pay out the bets on a batch, given its cells by discretizer, at the live epsilons."""
        self.batches += 1
        if not self.experts:
            return
        delta = self.request.claim.delta
        batch = {one.name: two for one, two in zip(self.discretizers, sides, strict=True)}
        gains = np.zeros((len(self.experts), len(live)))
        for gain, one in zip(gains, self.experts, strict=True):
            ones, zeros = map(one.parts, batch[one.slot[0]])
            gain[:] = eprocess.log_payoff(one.rate, one.mass, self.grid[live], delta, ones, zeros)
        won = [self.won.setdefault(one.slot, np.zeros(len(self.grid))) for one in self.experts]
        weights = np.stack([one[live] for one in won])
        mean = eprocess.log_sum_exp(weights + gains) - eprocess.log_sum_exp(weights)
        self.log_wealth[live] += mean
        for mine, gain in zip(won, gains, strict=True):
            mine[live] += gain - mean

    def learn(self, sides: Sequence[Sides], outputs: Sequence[Any]) -> None:
        """Add a batch to the past, refit scores where the runs have doubled, and count posteriors."""
        for side, tallies in enumerate(zip(*sides, strict=True)):
            self.count(side, tallies)
        if self.outputs is not None:
            for mine, new in zip(self.outputs, outputs, strict=True):
                mine += [new] if len(new) else []
            if self.runs >= self.refit_at:
                self._refit([join(mine) if mine else [] for mine in self.outputs])
        parts = PARTS_OF_DELTA if self.request.claim.delta else PARTS
        self.experts = [
            expert
            for one, past in zip(self.discretizers, self.tallies, strict=True)
            for expert in experts(one, past, parts if not one.name.startswith("column") else PARTS_OF_COLUMNS)
        ]

    def _refit(self, sides: list[Any]) -> None:
        """Fit discretizers on the past; those fitted to coins count the half of it that they have not seen."""
        if min(map(len, sides)) < 2:
            return
        self.refit_at = 2 * self.runs
        both, cut = join(sides), [len(side) // 2 for side in sides]
        pilot = Pilot.of(both)
        self.pilot = pilot if self.reducer is None else self.pilot  # what the outputs are like, not what is looked at
        found = list(pilot.shared)
        if not pilot.sufficient:
            first = [side[:at] for side, at in zip(sides, cut, strict=True)]
            rows = min(cut)
            screened = rows if rows >= SCREENED_RUNS else None
            fitted = self.fitted(first, confirm=screened, thorough=rows >= THOROUGH_ROWS)
            rows_of = [one for one in fitted if isinstance(one, Scored) and one.groups == ("values",) and one.learned]
            if rows_of and 1 < (width := rows_of[0].flattener.width) <= MOST_COLUMNS:
                found += [rows_of[0].column(j, both) for j in range(width)]
            for one in fitted:
                if isinstance(one, Ranked):
                    found.append(one.base)
                elif isinstance(one, Scored) and not one.learned:
                    found.append(replace(one, edges=score_edges(one.scores(both))))
                else:
                    found.append(one)
        self.restart(list({one.name: one for one in found}.values()))
        for one, tallies in zip(self.discretizers, self.tallies, strict=True):
            for side, outputs in enumerate(sides):
                new = outputs[cut[side] :] if one.learned or one.screened else outputs
                if len(new):
                    tallies[side].update(*CountCells((one,))(new))
        if self.runs >= REFITTED_RUNS or self.runs >= held_runs(self.request.sampler):
            self.outputs = None

    def promise(self, epsilons: Array) -> Array:
        """Return the growth a run against some epsilons: what was won, or what the best of the coarse experts expects.

        Fine ones fit chance: of pairs that do not leak one would always promise something.
        """
        estimate = eprocess.ESTIMATES[-1][1]
        known = (self.batches, *epsilons.tolist())
        if self._promised[0] != known:
            found = self.log_wealth[np.searchsorted(self.grid, epsilons)] / max(1, self.runs)
            for one in self.experts:
                if one.slot[1] <= COARSE and one.slot[2] == estimate:
                    bet = eprocess.place_bet(one.rate, one.mass, epsilons, self.request.claim.delta)
                    found = np.maximum(found, eprocess.expected_growth(bet, one.rate, one.mass))
            self._promised = known, np.maximum(found, 0.0)
        return self._promised[1]
