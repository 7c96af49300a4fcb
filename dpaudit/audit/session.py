"""Run one session of bets: decide which pair is run next, how often, on which cells, and when it ends."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.audit.eprocess import epsilon_grid, last_before_survivor
from dpaudit.audit.pair_bets import PairBets, Sides
from dpaudit.audit.schedule import batch_size, first_batch, pilot_size
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.events.discretizers import CountCells, Discretizer, Pilot, Ranked
from dpaudit.events.fitting import fitted_discretizers
from dpaudit.events.wide import Reducer
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import Job, Observed, Sampler
from dpaudit.running.wide_outputs import held_runs, learned_reducer, narrowed, placing_runs

__all__ = ["Look", "Session"]

FIT_SHARE, FIT_ROWS = 0.02, 5_000
"""The part of the runs, and the most a side, that scores are fitted on: with 8 % audits of Laplace noise took 1.3 to
2.4 times as many runs to refute a claim."""
WIDE_FIT_SHARE = 0.15
"""The same where outputs are wide: half of them find the columns to look at, half fit scores on these."""
THOROUGH_ROWS = 2_000
"""Runs a side from which on classifiers are fitted as well: of fewer they learn noise."""
FINALISTS = 2
"""Discretizers that share a pair's stakes: each further one takes its part of the wealth."""
LEAST_FIT_BUDGET = 40
"""Runs that must be left for a new pair to be fitted and bet on."""
ROUNDING = 1e-6
"""By how much log E must exceed log(1 / gamma): more than rounding can add to it."""


@dataclass(frozen=True)
class Look:
    """After one batch: runs so far, the pair just run, log E against the claim, the bound on epsilon."""

    runs: int
    pair: int
    log_e: float
    epsilon_lower: float


class Session:
    """The state of one sequential audit.

    Parameters
    ----------
    sampler : Sampler
        Makes the runs; as many outputs are held at a time as its count of their numbers allows.
    pairs : sequence of Pair
        The neighbouring inputs.
    claim : PrivacyClaim
        What is bet against.
    runs : int
        The most runs to make.
    gamma : float
        The claim falls where the evidence reaches 1 / gamma.
    float_bits : bool
        Whether to look at the bits of floats.
    over : callable
        Says after so many looks whether to stop; it may go by anything, since the evidence is valid at any time.
    """

    def __init__(
        self,
        sampler: Sampler,
        pairs: Sequence[Pair],
        claim: PrivacyClaim,
        runs: int,
        gamma: float,
        float_bits: bool,
        over: Callable[[int], bool] = lambda looks: False,
    ) -> None:
        self.sampler, self.claim, self.float_bits = sampler, claim, float_bits
        self.runs, self.gamma, self.over = runs, gamma, over
        self.grid = epsilon_grid(claim.epsilon)
        self.target = int(np.searchsorted(self.grid, claim.epsilon))
        self.bets = [PairBets(i, pair, len(self.grid)) for i, pair in enumerate(pairs)]
        self.rejected: NDArray[np.bool_] = np.zeros(len(self.grid), dtype=bool)
        self.first = first_batch(runs, len(pairs))
        self.used = 0
        self.bet = 0
        self.raised: Counter[str] = Counter()
        self.looks: list[Look] = []
        self.unseen: tuple[str, ...] = ()
        self.width = self.fitted = self.reduced = 0

    @property
    def refuted(self) -> bool:
        """Whether the evidence against the claim has ever reached 1 / gamma."""
        return bool(self.rejected[self.target])

    def epsilon_lower(self) -> float:
        """Return the lower confidence bound on epsilon at this time."""
        return last_before_survivor(self.grid, self.rejected)

    def run(self) -> None:
        """Bet until the claim is refuted, the budget is spent, or the time is over."""
        pilot = self._pilot()
        while self.used < self.runs and not self.refuted and not self.over(len(self.looks)):
            bets = self._next(pilot)
            if not bets.discretizers:
                self._fit(bets, pilot)
            self._bet(bets)

    def _pilot(self) -> Pilot:
        """See from a few runs of the first pair whether outputs repeat and so can be cells as they are."""
        bets, size = self.bets[0], min(pilot_size(self.runs), held_runs(self.sampler))
        sides = self.sampler.sides(bets.pair, ("sequential", "pilot", 0), size)
        self._spend(bets, 2 * size)
        pilot = Pilot.of(join(sides))
        self.unseen, self.width = tuple(pilot.plan.unseen), pilot.width
        if pilot.sufficient:
            bets.restart(pilot.shared)
            bets.remember(_counted(bets.discretizers, sides))
        return pilot

    def _next(self, pilot: Pilot) -> PairBets:
        """Return the pair to run next: one not seen yet, else the one furthest behind its share 1 / rank^2.

        Pairs are ranked by the growth they promise against the claim, then against the first epsilon not
        rejected.
        """
        affordable = pilot.sufficient or self.runs - self.used >= LEAST_FIT_BUDGET
        for bets in self.bets:
            if bets.batches == 0 and (affordable or bets.discretizers):
                return bets
        known = [bets for bets in self.bets if bets.batches]
        if len(known) == 1:
            return known[0]
        favour = (self.target, int(np.argmin(self.rejected)))
        growth = {k.index: k.growth(self.grid, favour, self.claim.delta).tolist() for k in known}
        # Where nothing is promised, a pair whose outputs vary comes before a constant one, which could show nothing.
        known.sort(key=lambda k: (-growth[k.index][0], -growth[k.index][1], k.different() == 0, k.index))
        return min(enumerate(known, 1), key=lambda item: item[1].runs * item[0] ** 2)[1]

    def _bet(self, bets: PairBets) -> None:
        """Bet on one batch of a pair."""
        size = min(self.runs - self.used, batch_size(bets.runs, self.first))
        # An epsilon once rejected stays so; no more is bet against it.
        live = np.flatnonzero(~self.rejected)
        batch = self._batch(bets, size)
        self._spend(bets, size)
        self.bet += size
        bets.settle(batch, self.grid, live, self.claim.delta)
        evidence = np.sum([k.log_wealth() for k in self.bets], axis=0)
        self.rejected |= evidence >= ROUNDING - math.log(self.gamma)
        self.looks.append(Look(self.used, bets.index, float(evidence[self.target]), self.epsilon_lower()))

    def _batch(self, bets: PairBets, size: int) -> list[Sides]:
        """Return by discretizer the cells of `size` runs, each on the side that a fair coin says."""
        where, sampler = (bets.index, bets.batches), narrowed(self._viewing(bets), bets.discretizers)
        coins = seeding.generator(sampler.seed, "sequential", sampler.mechanism.stream, "coins", *where)
        heads = int(coins.binomial(size, 0.5))
        jobs: list[tuple[int, Job]] = []
        for side, (data, number) in enumerate(((bets.pair.data, heads), (bets.pair.neighbour, size - heads))):
            jobs += [(side, job) for job in sampler.jobs(data, ("sequential", "bet", *where, side), number)]
        counted: list[Sides] = [(Counter(), Counter()) for _ in bets.discretizers]
        found = sampler.reduced([job for _, job in jobs], Observed(CountCells(tuple(bets.discretizers))))
        for (side, _), (tallies, raised) in zip(jobs, found, strict=True):
            self.raised.update(raised)
            for mine, new in zip(counted, tallies, strict=True):
                mine[side].update(new)
        return counted

    def _fit(self, bets: PairBets, pilot: Pilot) -> None:
        """Give a pair its discretizers: the pilot's, or the best scores fitted on runs not bet on."""
        if pilot.sufficient:
            bets.restart(pilot.shared)
            return
        share = (WIDE_FIT_SHARE / 2 if self.width else FIT_SHARE) * self.runs / len(self.bets)
        left = (self.runs - self.used) // 4
        if self.width:
            bets.reducer = self._reduce(bets, min(max(32, int(share)), left // 2))
            left //= 2
        size = min(FIT_ROWS, max(32, int(share)), left)
        sides = self._viewing(bets).sides(bets.pair, ("sequential", "fit", bets.index), size)
        self._spend_fitting(bets, size)
        cut = max(1, size * 4 // 5)
        fitting, held = ([side[part] for side in sides] for part in (slice(cut), slice(cut, None)))
        bets.restart(self._fitted(bets, pilot, fitting))
        counts = _counted(bets.discretizers, held)
        bets.remember(counts)
        probes = np.array([0.25, 0.5, 1.0]) * max(self.claim.epsilon, 0.1)
        values = [bets.promise(i, probes, self.claim.delta) for i in range(len(bets.discretizers))]
        best = sorted(sorted(range(len(values)), key=lambda i: (-values[i], i))[:FINALISTS])
        bets.restart([bets.discretizers[i] for i in best])
        bets.remember([counts[i] for i in best])

    def _fitted(self, bets: PairBets, pilot: Pilot, sides: list[Any]) -> list[Discretizer]:
        """Return the discretizers that outputs of both sides suggest, and the pilot's own where these are not wide."""
        fitted = fitted_discretizers(
            *sides,
            thorough=len(sides[0]) >= THOROUGH_ROWS,
            float_bits=self.float_bits,
            reducer=bets.reducer,
            confirm=max(1, self.runs // 2),
            epsilon=self.claim.epsilon,
        )
        own = [] if self.width else pilot.shared
        return [*own, *(Ranked.fit(base, *sides) for base in own), *fitted]

    def _reduce(self, bets: PairBets, runs: int) -> Reducer:
        """Return the few columns of a pair's wide outputs that so many runs a side suggest to look at."""
        placing = placing_runs(self.sampler, runs)
        first = self.sampler.sides(bets.pair, ("sequential", "place", bets.index), placing)
        self._spend_fitting(bets, runs)
        self.reduced = runs
        return learned_reducer(self.sampler, bets.pair, first, ("sequential reduce", bets.index, 0), runs - placing)

    def _viewing(self, bets: PairBets) -> Sampler:
        """Return a sampler that returns of a pair's wide outputs the columns that are looked at."""
        return replace(self.sampler, view=bets.reducer)

    def _spend_fitting(self, bets: PairBets, size: int) -> None:
        self._spend(bets, 2 * size)
        self.fitted += 2 * size

    def _spend(self, bets: PairBets, size: int) -> None:
        bets.runs += size
        self.used += size


def _counted(discretizers: Sequence[Discretizer], sides: Sequence[object]) -> list[Sides]:
    """Return by discretizer the cells of the outputs of both sides."""
    first, second = (CountCells(tuple(discretizers))(side) for side in sides)
    return list(zip(first, second, strict=True))
