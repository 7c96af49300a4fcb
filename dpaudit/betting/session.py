"""One sequential audit as it is played: which pair is run next, how often, on what labels, when it ends."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.betting.eprocess import epsilon_grid, last_before_survivor
from dpaudit.betting.pair_bets import PairLedger, Sides
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.distinguish.candidates import discrete_labeller, join, scored_labellers
from dpaudit.distinguish.discretizers import Labeller, Ranked
from dpaudit.distinguish.histogram import Tally, tally
from dpaudit.sampling import Job, chunk_jobs, run_jobs

__all__ = ["Game", "Look", "Source", "batch_size", "first_batch", "pilot_size"]

PILOT = 64
FIRST_BATCH = 200
BATCH_GROWTH = 0.15
FIT_SHARE = 0.02
FIT_ROWS = 5_000
THOROUGH_ROWS = 2_000
FINALISTS = 2
LEAST_FIT_BUDGET = 40
ROUNDING = 1e-6
"""By how much log E must exceed log(1 / gamma): more than rounding can add to it."""


def pilot_size(runs: int) -> int:
    """Return how many runs a side an audit of `runs` runs begins with, on its first pair."""
    return min(PILOT, runs // 8)


def first_batch(runs: int, pairs: int) -> int:
    """Return the size of the first batch of every pair."""
    return min(FIRST_BATCH, max(20, runs // (8 * pairs)))


def batch_size(past: int, first: int) -> int:
    """Return the size of the next batch of a pair after `past` runs of it."""
    return max(first, int(BATCH_GROWTH * past))


@dataclass(frozen=True)
class Look:
    """After one batch: runs so far, the pair just run, log E against the claim, the bound on epsilon."""

    runs: int
    pair: int
    log_e: float
    epsilon_lower: float


@dataclass(frozen=True)
class _Tallies:
    labellers: tuple[Labeller, ...]

    def __call__(self, outputs: Any) -> tuple[Tally, ...]:
        return tuple(tally(labeller(outputs)) for labeller in self.labellers)


def _keep(outputs: Any) -> Any:
    return outputs


@dataclass(frozen=True)
class Source:
    """Makes runs of a mechanism at addresses, in chunks that depend on their number alone."""

    mechanism: Mechanism
    seed: int
    n_jobs: int
    backend: str | None

    def raw(self, pair: Pair, index: int, phase: str, size: int) -> list[Any]:
        """Return `size` outputs of each side."""
        sides = []
        for side, data in enumerate((pair.data, pair.neighbour)):
            jobs = chunk_jobs(self.mechanism, data, ("sequential", phase, index, side), size)
            found = run_jobs(self.mechanism, jobs, _keep, seed=self.seed, n_jobs=self.n_jobs, backend=self.backend)
            sides.append(join(list(found)))
        return sides

    def batch(self, ledger: PairLedger, size: int) -> list[Sides]:
        """Return by labeller the labels of `size` runs, each on the side that a fair coin says."""
        where = (ledger.index, ledger.visits)
        coins = seeding.generator(self.seed, "sequential", self.mechanism.stream, "coins", *where)
        heads = int(coins.binomial(size, 0.5))
        jobs: list[Job] = []
        owners: list[int] = []
        for side, (data, number) in enumerate(((ledger.pair.data, heads), (ledger.pair.neighbour, size - heads))):
            jobs += chunk_jobs(self.mechanism, data, ("sequential", "bet", *where, side), number)
            owners += [side] * (len(jobs) - len(owners))
        reduce = _Tallies(tuple(ledger.labellers))
        counted: list[Sides] = [(Counter(), Counter()) for _ in ledger.labellers]
        found = run_jobs(self.mechanism, jobs, reduce, seed=self.seed, n_jobs=self.n_jobs, backend=self.backend)
        for side, tallies in zip(owners, found, strict=True):
            for mine, new in zip(counted, tallies, strict=True):
                mine[side].update(new)
        return counted


class Game:
    """The state of one sequential audit."""

    def __init__(
        self,
        source: Source,
        pairs: list[Pair],
        claim: PrivacyClaim,
        runs: int,
        gamma: float,
        float_bits: bool,
    ) -> None:
        self.source, self.claim, self.float_bits = source, claim, float_bits
        self.runs, self.gamma = runs, gamma
        self.grid = epsilon_grid(claim.epsilon)
        self.target = int(np.searchsorted(self.grid, claim.epsilon))
        self.ledgers = [PairLedger(i, pair, len(self.grid)) for i, pair in enumerate(pairs)]
        self.rejected: NDArray[np.bool_] = np.zeros(len(self.grid), dtype=bool)
        self.first = first_batch(runs, len(pairs))
        self.shared: list[Labeller] = []
        self.enough = False
        self.used = 0
        self.looks: list[Look] = []

    @property
    def refuted(self) -> bool:
        """Whether the evidence against the claim has ever reached 1 / gamma."""
        return bool(self.rejected[self.target])

    def epsilon_lower(self) -> float:
        """Return the lower confidence bound on epsilon at this time."""
        return last_before_survivor(self.grid, self.rejected)

    def play(self) -> None:
        """Run until the claim is refuted or the budget is spent."""
        self._pilot()
        while self.used < self.runs and not self.refuted:
            self._turn(self._next())

    def _pilot(self) -> None:
        """See from a few runs of the first pair whether outputs repeat and so can be labels as they are."""
        ledger, size = self.ledgers[0], pilot_size(self.runs)
        sides = self.source.raw(ledger.pair, 0, "pilot", size)
        self._spend(ledger, 2 * size)
        found, self.enough = discrete_labeller(join(sides))
        self.shared = [found] if found else []
        if self.enough:
            ledger.adopt(self.shared)
            first, second = (tally(self.shared[0](side)) for side in sides)
            ledger.remember([(first, second)])

    def _next(self) -> PairLedger:
        """Return the pair to run next: one not seen yet, else the one furthest behind its share 1 / rank^2.

        Pairs are ranked by the growth they promise against the claim, then against the first epsilon not
        rejected.
        """
        affordable = self.enough or self.runs - self.used >= LEAST_FIT_BUDGET
        for ledger in self.ledgers:
            if ledger.visits == 0 and (affordable or ledger.labellers):
                return ledger
        known = [ledger for ledger in self.ledgers if ledger.visits]
        if len(known) == 1:
            return known[0]
        favour = np.array([self.target, int(np.argmin(self.rejected))])
        growth = {k.index: k.growth(self.grid[favour], self.claim.delta, favour).tolist() for k in known}
        known.sort(key=lambda k: (-growth[k.index][0], -growth[k.index][1], k.index))
        return min(enumerate(known, 1), key=lambda item: item[1].runs * item[0] ** 2)[1]

    def _turn(self, ledger: PairLedger) -> None:
        """Fit labels to a new pair if need be, then bet on one batch."""
        if not ledger.labellers:
            self._fit(ledger)
        size = min(self.runs - self.used, batch_size(ledger.runs, self.first))
        # An epsilon once rejected stays so; no more is bet against it.
        live = np.flatnonzero(~self.rejected)
        batch = self.source.batch(ledger, size)
        self._spend(ledger, size)
        ledger.settle(batch, self.grid, live, self.claim.delta)
        evidence = np.sum([k.log_wealth() for k in self.ledgers], axis=0)
        self.rejected |= evidence >= ROUNDING - math.log(self.gamma)
        self.looks.append(Look(self.used, ledger.index, float(evidence[self.target]), self.epsilon_lower()))

    def _fit(self, ledger: PairLedger) -> None:
        """Give a pair its labellers: the shared one, or the best scores fitted on runs not bet on."""
        if self.enough:
            ledger.adopt(self.shared)
            return
        wanted = min(FIT_ROWS, max(32, int(FIT_SHARE * self.runs / len(self.ledgers))))
        size = min(wanted, (self.runs - self.used) // 4)
        sides = self.source.raw(ledger.pair, ledger.index, "fit", size)
        self._spend(ledger, 2 * size)
        cut = max(1, size * 4 // 5)
        fitted = scored_labellers(
            sides[0][:cut], sides[1][:cut], thorough=cut >= THOROUGH_ROWS, float_bits=self.float_bits
        )
        ranked = [Ranked.fit(base, *(tally(base(side[:cut])) for side in sides)) for base in self.shared]
        ledger.adopt([*self.shared, *ranked, *fitted])
        held = _Tallies(tuple(ledger.labellers))
        tallies = list(zip(*(held(side[cut:]) for side in sides), strict=True))
        ledger.remember(tallies)
        probes = np.array([0.25, 0.5, 1.0]) * max(self.claim.epsilon, 0.1)
        values = [ledger.promise(i, probes, self.claim.delta) for i in range(len(ledger.labellers))]
        best = sorted(range(len(values)), key=lambda i: (-values[i], i))[:FINALISTS]
        ledger.adopt([ledger.labellers[i] for i in sorted(best)])
        ledger.remember([tallies[i] for i in sorted(best)])

    def _spend(self, ledger: PairLedger, size: int) -> None:
        ledger.runs += size
        self.used += size
