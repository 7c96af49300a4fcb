r"""Audit with bets instead of events: bet against the claim batch by batch, and stop as soon as it is refuted.

**Claim.** If the mechanism is (epsilon, delta)-private on every pair given, then whatever rule picks the
pairs, the batch sizes, the bets and the time to stop, Pr[the claim is ever rejected] <= gamma.

**Why, run by run.** Every run tosses a fair coin for its side and pays an e-value of `eprocess`: given the
past its mean is at most 1, *whichever* pair is run, because the bet and the pair are functions of the past
and the claim speaks of all pairs. So the product E over all runs of all pairs is a nonnegative
supermartingale that starts at 1, and Ville's inequality gives Pr[sup E >= 1 / gamma] <= gamma. Trying more
pairs costs runs, never error probability.

**Why whole batches.** Within a batch of n runs pair and bet are fixed, so given the past the n payoffs are
independent with means at most 1, and so is the mean of their product: E observed at the ends of batches is a
supermartingale too. That product does not depend on the order of the runs, and the multiset of (coin, output)
is the same whether n coins are tossed one by one, or their number of heads B ~ Bin(n, 1/2) is drawn first and
B runs are made on data and n - B on neighbour. The coins have a stream of their own. The pilot, which fixes
the cells, is never bet on.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own stakes; the
error of `epsilon_lower` is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpaudit import seeding
from dpaudit.audit import eprocess
from dpaudit.audit.candidate import CountedPair, count_observed
from dpaudit.audit.curve_claims import bet_test
from dpaudit.audit.evidence import Observations
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.audit.power import MASSES, Power
from dpaudit.audit.request import Request
from dpaudit.contract import Direction, Pair
from dpaudit.errors import InputError
from dpaudit.events.cells import LEAST
from dpaudit.events.discretizers import CountCells, Discretizer, Pilot, Ranked
from dpaudit.events.event import Bets, Tally
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import held_runs, knowing, learned_reducer, narrowed, placing_runs

Array = NDArray[np.float64]
Sides = tuple[Tally, Tally]
Partition = Callable[[Tally], Array]
"""Parts of the cells, fixed by the past: returns how many runs of a batch are in each, shape (L,)."""

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
LEAST_RUNS = 100
"""Fewer leave next to nothing to bet on after the pilot and the first batch."""
ROUNDING = 1e-6
"""By how much log E must exceed log(1 / gamma): more than rounding can add to it."""
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
                bet = eprocess.place_bet(rate, mass, self.grid[part], self.request.claim.delta)
                wealth[part] += eprocess.log_payoff(bet, ones, zeros)
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
        return eprocess.expected_growth(eprocess.place_bet(rate, mass, epsilon, self.request.claim.delta), rate, mass)

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
            self.learned.append((partition, eprocess.posterior(ones, zeros), seen / seen.sum()))


class Session:
    """One sequential audit: its state, and its outcome when it has run.

    At most `runs` runs are made, all sides and pairs together, and the probability that a true claim is refuted is at
    most `gamma`. The outcome is a function of all arguments but the sampler's workers; if the sampler knows how many
    numbers an output holds, memory is bounded. The request's clock may stop it after any number of looks, and may go by
    anything: the evidence is valid at any time.

    `bets` are the state of each pair; at the grid point `target`, the claim's epsilon, the evidence is that against the
    claim. `runs_used` counts all runs, both sides and pilots together, `bet` those that were bet on, `fitted` those
    that only trained, and `raised` the exceptions among those bet on, by type and message. Where outputs are wider than
    scores can be fitted on, `summed` are the runs on each side of a pair that chose the columns to look at; else it is
    0.
    """

    def __init__(self, request: Request, runs: int, gamma: float) -> None:
        self.request, self.claim, self.sampler = request, request.claim, request.sampler
        self.runs, self.gamma = runs, gamma
        self.grid = eprocess.epsilon_grid(self.claim.epsilon)
        self.target = int(np.searchsorted(self.grid, self.claim.epsilon))
        self.refuted: NDArray[np.bool_] = np.zeros(len(self.grid), dtype=bool)
        self.bets = [PairBets(request, i, pair, self.grid) for i, pair in enumerate(request.pairs)]
        self.runs_used = self.bet = self.fitted = self.summed = 0
        self.raised: Counter[tuple[str, ...]] = Counter()

    @property
    def rejected(self) -> bool:
        """Whether the evidence against the claim has ever reached 1 / gamma; wrong with probability at most gamma."""
        return bool(self.refuted[self.target])

    @property
    def epsilon_lower(self) -> float:
        """A lower confidence bound on epsilon at the claim's delta, over all pairs, at this time as at any other.

        It is too high with probability at most gamma. `rejected` has an error gamma of its own: where it is True the
        bound may, rarely, be below the claim.
        """
        return eprocess.last_before_survivor(self.grid, self.refuted)

    def run(self) -> Self:
        """Bet until the claim is refuted, the budget is spent, or the time is over."""
        self._pilot()
        while self.runs_used < self.runs and not self.rejected:
            if self.request.clock.over(sum(bets.batches for bets in self.bets)):
                break
            bets = self._next()
            if not bets.discretizers:
                self._fit(bets)
            self._bet(bets)
        return self

    def _pilot(self) -> None:
        """See from a few runs of the first pair whether outputs repeat and so can be cells as they are."""
        bets, size = self.bets[0], min(eprocess.pilot_size(self.runs), held_runs(self.sampler))
        sides = self.sampler.sides(bets.pair, ("sequential", "pilot", 0), size)
        self._spend(bets, 2 * size)
        self.pilot = Pilot.of(join(sides))
        if self.pilot.sufficient:
            bets.restart(self.pilot.shared)
            bets.remember(_counted(bets.discretizers, sides))

    def _next(self) -> PairBets:
        """Return the pair to run next: one not seen yet, else the one furthest behind its share 1 / rank^2.

        Pairs are ranked by the growth they promise against the claim, then against the first epsilon not rejected.
        """
        affordable = self.pilot.sufficient or self.runs - self.runs_used >= LEAST_FIT_BUDGET
        for bets in self.bets:
            if bets.batches == 0 and (affordable or bets.discretizers):
                return bets
        known = [bets for bets in self.bets if bets.batches]
        if len(known) == 1:
            return known[0]
        favour = (self.target, int(np.argmin(self.refuted)))
        # Where nothing is promised, a pair whose outputs vary comes before a constant one, which could show nothing.
        known.sort(key=lambda k: (*(-k.growth(favour)).tolist(), k.different == 0, k.index))
        return min(enumerate(known, 1), key=lambda item: item[1].runs * item[0] ** 2)[1]

    def _bet(self, bets: PairBets) -> None:
        size = min(self.runs - self.runs_used, eprocess.batch_size(bets.runs, self.runs, len(self.bets)))
        # An epsilon once rejected stays so; no more is bet against it.
        live = np.flatnonzero(~self.refuted)
        batch = self._batch(bets, size)
        self._spend(bets, size)
        self.bet += size
        bets.settle(batch, live)
        evidence = np.sum([k.log_wealth for k in self.bets], axis=0)
        self.refuted |= evidence >= ROUNDING - math.log(self.gamma)

    def _batch(self, bets: PairBets, size: int) -> list[Sides]:
        """Return by discretizer the cells of `size` runs, each on the side that a fair coin says."""
        where, sampler = (bets.index, bets.batches), narrowed(bets.sampler, bets.discretizers)
        coins = seeding.generator(sampler.seed, "sequential", sampler.mechanism.stream, "coins", *where)
        heads = int(coins.binomial(size, 0.5))
        addresses = [("sequential", "bet", *where, side) for side in (0, 1)]
        couples = sampler.couples(bets.pair, addresses, heads, size - heads)
        counted: list[Sides] = [(Counter(), Counter()) for _ in bets.discretizers]
        count_observed(sampler, couples, CountCells(tuple(bets.discretizers)), counted, self.raised)
        return counted

    def _fit(self, bets: PairBets) -> None:
        """Give a pair its discretizers: the pilot's, or the best scores fitted on runs not bet on."""
        if self.pilot.sufficient:
            bets.restart(self.pilot.shared)
            return
        wide = self.pilot.width > 0
        share = (WIDE_FIT_SHARE / 2 if wide else FIT_SHARE) * self.runs / len(self.bets)
        left = (self.runs - self.runs_used) // 4
        if wide:
            self._reduce(bets, min(max(32, int(share)), left // 2))
            left //= 2
        size = min(FIT_ROWS, max(32, int(share)), left)
        sides = bets.sampler.sides(bets.pair, ("sequential", "fit", bets.index), size)
        self._spend(bets, 2 * size, fitted=True)
        cut = max(1, size * 4 // 5)
        first, second = ([side[part] for side in sides] for part in (slice(cut), slice(cut, None)))
        own = [] if wide else self.pilot.shared
        fitted = bets.fitted(first, confirm=max(1, self.runs // 2), thorough=len(first[0]) >= THOROUGH_ROWS)
        discretizers = [*own, *(Ranked.fit(base, *first) for base in own), *fitted]
        counts = _counted(discretizers, second)
        bets.restart(discretizers)
        bets.remember(counts)
        probes = np.array([0.25, 0.5, 1.0]) * max(self.claim.epsilon, 0.1)
        values = [-bets.promise(i, probes) for i in range(len(discretizers))]
        best = sorted(sorted(range(len(values)), key=values.__getitem__)[:FINALISTS])
        bets.restart([discretizers[i] for i in best])
        bets.remember([counts[i] for i in best])

    def _reduce(self, bets: PairBets, runs: int) -> None:
        """Let so many runs a side choose the few columns of a pair's wide outputs to look at."""
        placing = placing_runs(self.sampler, runs)
        first = self.sampler.sides(bets.pair, ("sequential", "place", bets.index), placing)
        self._spend(bets, 2 * runs, fitted=True)
        self.summed = runs
        address = ("sequential reduce", bets.index, 0)
        bets.reducer = learned_reducer(self.sampler, bets.pair, first, address, runs - placing)

    def _spend(self, bets: PairBets, size: int, *, fitted: bool = False) -> None:
        bets.runs += size
        self.runs_used += size
        self.fitted += size * fitted


def _counted(discretizers: Sequence[Discretizer], sides: Sequence[object]) -> list[Sides]:
    """Return by discretizer the cells of the outputs of both sides."""
    first, second = (CountCells(tuple(discretizers))(side) for side in sides)
    return list(zip(first, second, strict=True))


def leading_pair_runs(runs: int, pairs: int) -> int:
    """Return the runs on the pair that promises most from the start: the pairs' shares are as 1 / rank^2."""
    return int(runs / sum(rank**-2 for rank in range(1, pairs + 1)))


def sequential_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict and `epsilon_lower` are two statements, so each has half of the error probability. What is detectable is
    what bets on one given event, of one pair that leads from the start, refute within all the runs allowed.
    """
    gamma, claim, pairs = request.gamma / 2, request.claim, len(request.pairs)
    if 2 * request.trials * pairs < LEAST_RUNS:
        least = -(-LEAST_RUNS // (2 * pairs))
        raise InputError.of("trials", request.trials, f"at least {least} in a sequential audit of {pairs} pair(s)")
    allowed = max(LEAST_RUNS, 2 * (request.trials * pairs - request.check_runs))
    request = replace(request, sampler=knowing(request.sampler, request.hygiene.shown()))
    found = Session(request, allowed, gamma).run()
    # Where the time was over, no more could be detected than by the runs that were made.
    able = found.runs_used if request.clock.stopped.looks else allowed
    # Bets have no single event and no counts; the witness is the pair that raised the stake most.
    best = max(found.bets, key=lambda bets: bets.log_wealth[found.target])
    event = Bets(best.runs, float(best.log_wealth[found.target]))
    # Scores take few of the runs, the choice of columns more than can be left out.
    promised = max(0, able - found.fitted) if found.pilot.width else able
    return request.finding(
        Power.of_bets(MASSES[0], leading_pair_runs(promised, pairs), claim, gamma),
        Observations(found.bet, sum(bets.different for bets in found.bets), found.raised),
        found.pilot,
        found.summed,
        refuted=found.rejected,
        epsilon_lower=found.epsilon_lower,
        selection_trials=0,
        confirmation_trials=found.runs_used // 2,
        pairs=pairs,
        events=0,
        witness=Witness.of(best.index, best.pair, Direction.FORWARD, event),
        bound="betting",
        distinguisher="betting",
        design="sequential",
        budget={"used": found.runs_used, "allowed": allowed, "checks": request.check_runs},
        errors={"verdict": gamma, "epsilon_lower": gamma},
        scores=(),
        tested_claim=bet_test(request, found.epsilon_lower) or UNSET,
    )
