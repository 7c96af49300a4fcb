r"""The anytime-valid audit: bet against the claim batch by batch, stop as soon as it is refuted.

**Claim.** If the mechanism is (epsilon, delta)-private on every pair given, then whatever rule picks the pairs, the batch sizes,
the bets and the time to stop, Pr[the claim is ever rejected] <= gamma.

**Why, run by run.** Every run tosses a fair coin for its side and pays an e-value of `eprocess`: given the past its mean is at
most 1, *whichever* pair is run, because the bet and the pair are functions of the past and the claim speaks of all pairs.
So the product E over all runs of all pairs is a nonnegative supermartingale that starts at 1, and Ville's inequality gives
Pr[sup E >= 1 / gamma] <= gamma. Trying more pairs costs runs, never error probability.

**Why whole batches.** Within a batch of n runs pair and bet are fixed, so given the past the n payoffs are independent with means
at most 1, and so is the mean of their product: E observed at the ends of batches is a supermartingale too. That product does not
depend on the order of the runs, and the multiset of (coin, output) is the same whether n coins are tossed one by one, or their
number of heads B ~ Bin(n, 1/2) is drawn first and B runs are made on data and n - B on neighbour. The coins have a stream of
their own. The pilot, which fixes what is a label, is never bet on.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own stakes; the error of
`epsilon_lower` is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.distinguish.candidates import discrete_labeller, join, scored_labellers
from dpaudit.distinguish.histogram import Tally, tally
from dpaudit.distinguish.labellers import Labeller
from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs
from dpaudit.privacy.counts import check_level
from dpaudit.privacy.eprocess import epsilon_grid, last_before_survivor
from dpaudit.privacy.sampling import chunk_jobs, run_jobs
from dpaudit.privacy.wagers import PairLedger, Sides
from dpaudit.results import jsonable

__all__ = ["Look", "PairEvidence", "SequentialOutcome", "audit_sequential"]

LEAST_RUNS = 100
PILOT = 64
FIRST_BATCH = 200
BATCH_GROWTH = 0.15
FIT_SHARE = 0.02
FIT_ROWS = 5_000
THOROUGH_ROWS = 2_000
FINALISTS = 2
LEAST_FIT_BUDGET = 40


@dataclass(frozen=True)
class Look:
    """The state after one batch: runs so far, the pair just run, log E against the claim, the bound on epsilon."""

    runs: int
    pair: int
    log_e: float
    epsilon_lower: float


@dataclass(frozen=True)
class PairEvidence:
    """What one pair got and gave: its runs, its batches and its part of log E against the claim."""

    pair: int
    origin: str
    runs: int
    batches: int
    log_e: float


@dataclass(frozen=True)
class SequentialOutcome:
    """What a sequential audit learned.

    Attributes
    ----------
    rejected : bool
        Whether the claim was refuted; wrong with probability at most gamma.
    epsilon_lower : float
        A lower confidence bound on epsilon at the claim's delta, over all pairs; too high with probability at most gamma. It is
        valid at the time of stopping, as at any other. (Each of the two statements has error gamma; where `rejected` is
        True this may, rarely, be below the claim.)
    log_e : float
        Natural logarithm of the evidence against the claim when the audit stopped; log(1 / gamma) refutes.
    runs_used, runs : int
        Runs made and allowed, both sides, all pairs and pilots together.
    epsilon, delta, gamma : float
        The claim and the error probability.
    looks : tuple of Look
        One for each batch, in order.
    pairs : tuple of PairEvidence
        One for each pair.
    seed : int
        The root seed.
    """

    rejected: bool
    epsilon_lower: float
    log_e: float
    runs_used: int
    runs: int
    epsilon: float
    delta: float
    gamma: float
    looks: tuple[Look, ...]
    pairs: tuple[PairEvidence, ...]
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON-safe data."""
        shown: dict[str, Any] = jsonable(self)
        return shown


def audit_sequential(
    mechanism: Mechanism,
    pairs: Sequence[Any],
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 100_000,
    gamma: float = 0.05,
    seed: int = 0,
    n_jobs: int = 1,
    backend: str | None = None,
    float_bits: bool = False,
) -> SequentialOutcome:
    """Test a claim of (epsilon, delta)-differential privacy with evidence that may be looked at after every batch.

    Parameters
    ----------
    mechanism : Mechanism
        What is audited (see `adapters.as_mechanism`).
    pairs : sequence of (data, neighbour) or Pair
        Neighbouring inputs; which to run is decided batch by batch.
    epsilon, delta : float
        The claim.
    runs : int
        The most runs to make, all sides and pairs together, at least 100.
    gamma : float
        The probability with which a true claim may be refuted.
    seed : int
        The root seed; the outcome is a function of it and the arguments above, whatever `n_jobs` and `backend`.
    n_jobs, backend
        As for `joblib.Parallel`.
    float_bits : bool
        Whether to look at the bits of floats and not only at their values.

    Raises
    ------
    InputError
        For a bad argument, before any run.
    """
    claim = PrivacyClaim(epsilon, delta)
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"mechanism must be a Mechanism (see adapters.as_mechanism), got {mechanism!r:.100}")
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < LEAST_RUNS:
        raise InputError(f"runs must be an integer >= {LEAST_RUNS}, got {runs!r}")
    source = _Runs(mechanism, seeding.check_seed(seed), n_jobs, backend)
    game = _Game(source, check_pairs(pairs, None), claim, runs, check_level(gamma), float_bits)
    return game.play()


@dataclass(frozen=True)
class _Tallies:
    labellers: tuple[Labeller, ...]

    def __call__(self, outputs: Any) -> tuple[Tally, ...]:
        return tuple(tally(labeller(outputs)) for labeller in self.labellers)


def _keep(outputs: Any) -> Any:
    return outputs


@dataclass(frozen=True)
class _Runs:
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
        """Return by labeller the labels of `size` runs, a fair coin for each saying on which side it is made."""
        where = (ledger.index, ledger.visits)
        coins = seeding.generator(self.seed, "sequential", self.mechanism.name, "coins", *where)
        heads = int(coins.binomial(size, 0.5))
        jobs, owners = [], []
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


class _Game:
    """The state of one sequential audit."""

    def __init__(
        self, source: _Runs, pairs: list[Pair], claim: PrivacyClaim, runs: int, gamma: float, float_bits: bool
    ) -> None:
        self.source, self.claim, self.runs, self.gamma, self.float_bits = source, claim, runs, gamma, float_bits
        self.grid = epsilon_grid(claim.epsilon)
        self.target = int(np.searchsorted(self.grid, claim.epsilon))
        self.ledgers = [PairLedger(i, pair, len(self.grid)) for i, pair in enumerate(pairs)]
        self.rejected: NDArray[np.bool_] = np.zeros(len(self.grid), dtype=bool)
        self.first = min(FIRST_BATCH, max(20, runs // (8 * len(pairs))))
        self.shared: list[Labeller] = []
        self.enough = False
        self.used = 0
        self.looks: list[Look] = []

    def play(self) -> SequentialOutcome:
        """Run until the claim is refuted or the budget is spent."""
        self._pilot()
        while self.used < self.runs and not self.rejected[self.target]:
            self._turn(self._next())
        ledgers = self.ledgers
        logs = [float(ledger.log_wealth()[self.target]) for ledger in ledgers]
        return SequentialOutcome(
            rejected=bool(self.rejected[self.target]),
            epsilon_lower=last_before_survivor(self.grid, self.rejected),
            log_e=math.fsum(logs),
            runs_used=self.used,
            runs=self.runs,
            epsilon=self.claim.epsilon,
            delta=self.claim.delta,
            gamma=self.gamma,
            looks=tuple(self.looks),
            pairs=tuple(
                PairEvidence(k.index, k.pair.origin, k.runs, k.visits, log)
                for k, log in zip(ledgers, logs, strict=True)
            ),
            seed=self.source.seed,
        )

    def _pilot(self) -> None:
        """See from a few runs of the first pair whether outputs repeat, so that they can be labels as they are."""
        ledger, size = self.ledgers[0], min(PILOT, self.runs // 8)
        sides = self.source.raw(ledger.pair, 0, "pilot", size)
        self._spend(ledger, 2 * size)
        found, self.enough = discrete_labeller(join(sides))
        self.shared = [found] if found else []
        if self.enough:
            ledger.adopt(self.shared)
            first, second = (tally(self.shared[0](side)) for side in sides)
            ledger.remember([(first, second)])

    def _next(self) -> PairLedger:
        """Return the pair to run next: one not seen yet, else the one whose runs lag most behind a share of 1 / rank^2.

        Pairs are ranked by the growth they promise against the claim, then against the first epsilon not rejected.
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
        size = min(self.runs - self.used, max(self.first, int(BATCH_GROWTH * ledger.runs)))
        # An epsilon once rejected stays so; no more is bet against it.
        live = np.flatnonzero(~self.rejected)
        batch = self.source.batch(ledger, size)
        self._spend(ledger, size)
        ledger.settle(batch, self.grid, live, self.claim.delta)
        evidence = np.sum([k.log_wealth() for k in self.ledgers], axis=0)
        self.rejected |= evidence >= -math.log(self.gamma)
        lower = last_before_survivor(self.grid, self.rejected)
        self.looks.append(Look(self.used, ledger.index, float(evidence[self.target]), lower))

    def _fit(self, ledger: PairLedger) -> None:
        """Give a pair its labellers: the shared one, or the most promising scores fitted on runs that are not bet on."""
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
        ledger.adopt([*self.shared, *fitted])
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
