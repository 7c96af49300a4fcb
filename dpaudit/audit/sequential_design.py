r"""Audit with bets instead of events: bet against the claim batch by batch, and stop as soon as it is refuted.

**Claim.** If the mechanism is (epsilon, delta)-private on every pair given, in every state in which earlier runs leave
it, then whatever rule picks the pairs, the batch sizes, the bets and the time to stop,
Pr[the claim is ever rejected] <= gamma.

**Why, run by run.** Every run tosses a fair coin for its side and pays an e-value of `eprocess`: given the
past its mean is at most 1, *whichever* pair is run, because the bet and the pair are functions of the past
and the claim speaks of all pairs. So the product E over all runs of all pairs is a nonnegative
supermartingale that starts at 1, and Ville's inequality gives Pr[sup E >= 1 / gamma] <= gamma. Trying more
pairs costs runs, never error probability.

**Why whole batches.** Within a batch of n runs pair and bet are fixed, so given the past the n payoffs are
independent with means at most 1, and so is the mean of their product: E observed at the ends of batches is a
supermartingale too. That product does not depend on the order of the runs, and the multiset of (coin, output)
is the same whether n coins are tossed one by one, or their number of heads B ~ Bin(n, 1/2) is drawn first and
B runs are made on data and n - B on neighbour; this assumes independent runs within a batch (`Session._batch`). The
coins have a stream of their own.

**Many experts, no phase of fitting.** An expert bets on one partition of the outputs by posteriors counted in the past.
A batch is bet on by the mean of all experts' payoffs, weighted by what each has won relative to the mean while it bet:
the weights are functions of the past, so the mean is an e-value, and experts may come and go as scores are refitted.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own weights, and the
claim is one of its points. The verdict is that `epsilon_lower` exceeds the claim, so one error probability covers both;
it is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpaudit.audit import eprocess
from dpaudit.audit.candidate import CountedPair
from dpaudit.audit.curve_claims import bet_test
from dpaudit.audit.evidence import Observations
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.audit.power import MASSES, Power, leading_pair_runs
from dpaudit.audit.request import Request
from dpaudit.contract import Direction, Pair
from dpaudit.errors import InputError
from dpaudit.events.discretizers import CountCells, Discretizer, Pilot, Ranked, score_edges
from dpaudit.events.event import Bets, Tally
from dpaudit.events.fitting import Scored, fitted_discretizers
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import Observed, held_runs, knowing, learned_reducer, narrowed, placing_runs

Array = NDArray[np.float64]
Sides = tuple[Tally, Tally]
Slot = tuple[str, int, float]
"""An expert: its discretizer's name, its number of parts (0 for single cells), and the shrinkage of its posteriors."""

PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Equally likely parts of ordered cells: few learn fast, many see small tails."""
PARTS_OF_DELTA = (2, 3, 4, 8, 16)
"""The same where delta > 0, whose bets take longer to place."""
REFITTED_RUNS = 8_192
"""Runs of a pair up to which scores are refitted as runs double; later ones are counted by the last scores."""
SCREENED_RUNS = 512
"""Runs a side from which on features of every leaf are screened: of fewer the best of hundreds is luck."""
THOROUGH_ROWS = 2_000
"""Runs a side from which on classifiers are fitted as well: of fewer they learn noise."""
WIDE_FIT_SHARE = 0.075
"""The part of the runs that find the columns to look at where outputs are wide."""
LEAST_RUNS = 100
"""Fewer leave next to nothing to bet on after the first batch."""
ROUNDING = 1e-6
"""By how much log E must exceed log(1 / gamma): more than rounding can add to it."""


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
        self.log_wealth: Array = np.zeros(len(grid))
        self.won: dict[Slot, Array] = {}
        self.experts: list[Expert] = []
        self.outputs: list[list[Any]] | None = [[], []]
        self.pilot: Pilot | None = None
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
        mean = logsumexp(weights + gains, axis=0) - logsumexp(weights, axis=0)
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
        pasts = zip(self.discretizers, self.tallies, strict=True)
        self.experts = [expert for one, past in pasts for expert in experts(one, past, parts)]

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
            fitted = fitted_discretizers(
                *first,
                thorough=rows >= THOROUGH_ROWS,
                float_bits=self.request.options.float_bits,
                reducer=self.reducer,
                confirm=max(rows, 1) if rows >= SCREENED_RUNS else None,
                epsilon=self.request.claim.epsilon,
            )
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

    def growth(self, epsilon: Array) -> Array:
        """Return the growth a run to expect at some epsilons, by the expert that has won most."""
        if not self.experts:
            return np.zeros(len(epsilon))
        near = np.searchsorted(self.grid, epsilon[0])
        best = max(self.experts, key=lambda one: float(self.won[one.slot][near]) if one.slot in self.won else -1e9)
        bet = eprocess.place_bet(best.rate, best.mass, epsilon, self.request.claim.delta)
        return eprocess.expected_growth(bet, best.rate, best.mass)


@dataclass(frozen=True)
class _Seen:
    """Reduces a batch to its cells by each discretizer, with the outputs if they are kept."""

    count: CountCells
    keep: bool

    def __call__(self, outputs: Any) -> tuple[tuple[Tally, ...], Any]:
        return self.count(outputs), outputs if self.keep else None


class Session:
    """One sequential audit: its state, and its outcome when it has run.

    At most `runs` runs are made, all sides and pairs together, and the probability that a true claim is refuted is at
    most `gamma`. The outcome is a function of all arguments but the sampler's workers; if the sampler knows how many
    numbers an output holds, memory is bounded. The request's clock may stop it after any number of looks, and may go by
    anything: the evidence is valid at any time.

    `bets` are the state of each pair; at the grid point `target`, the claim's epsilon, the evidence is that against the
    claim. `runs_used` counts all runs, both sides together, `bet` those of batches, `fitted` those that only chose
    columns, and `raised` the exceptions among those of batches, by type and message. Where outputs are wider than
    scores can be fitted on, `summed` are the runs on each side of a pair that chose the columns; else it is 0.
    """

    def __init__(self, request: Request, runs: int, gamma: float) -> None:
        self.request, self.claim, self.sampler = request, request.claim, request.sampler
        self.runs, self.gamma = runs, gamma
        self.grid = eprocess.epsilon_grid(self.claim.epsilon)
        self.target = int(np.searchsorted(self.grid, self.claim.epsilon))
        self.refuted: NDArray[np.bool_] = np.zeros(len(self.grid), dtype=bool)
        self.bets = [PairBets(request, i, pair, self.grid) for i, pair in enumerate(request.pairs)]
        self.runs_used = self.bet = self.fitted = self.summed = 0
        self.raised: Counter[str] = Counter()

    @property
    def rejected(self) -> bool:
        """Whether the claim is refuted: `epsilon_lower` exceeds it, which is wrong with probability at most gamma."""
        return self.epsilon_lower > self.claim.epsilon

    @property
    def epsilon_lower(self) -> float:
        """A lower confidence bound on epsilon at the claim's delta, over all pairs, at this time as at any other.

        It is too high with probability at most gamma.
        """
        return eprocess.last_before_survivor(self.grid, self.refuted)

    @property
    def pilot(self) -> Pilot:
        """The form of the outputs of the first pair."""
        return self.bets[0].pilot or Pilot(None, False)

    def run(self) -> Self:
        """Bet until the claim is refuted, the budget is spent, or the time is over."""
        while self.runs_used < self.runs and not self.rejected:
            if self.request.clock.over(sum(bets.batches for bets in self.bets)):
                break
            self._bet(self._next())
        return self

    def _next(self) -> PairBets:
        """Return the pair to run next: one not seen yet, else that of the greatest upper limit on its growth.

        Over n runs the log-wealth has about twice the variance of its mean n g, so that the limit is
        g + sqrt(2 g / n) + 1 / n. The growth is that against the claim, or where no pair promises any, against the
        first epsilon that is not rejected.
        """
        new = [bets for bets in self.bets if bets.batches == 0]
        if new or len(self.bets) == 1:
            return (new or self.bets)[0]
        epsilons = self.grid[[self.target, min(int(np.argmin(self.refuted)), self.target)]]
        growths = np.maximum([bets.growth(epsilons) for bets in self.bets], 0.0)
        growth = growths[:, 0] if growths[:, 0].any() else growths[:, 1]
        runs = np.array([bets.runs for bets in self.bets])
        # Where nothing is promised, a pair whose outputs vary comes before a constant one, which could show nothing.
        varied = np.array([bets.different > 0 for bets in self.bets])
        return self.bets[int(np.argmax(growth + np.sqrt(2 * growth / runs) + varied / runs))]

    def _bet(self, bets: PairBets) -> None:
        """Bet on one batch of a pair, and only then learn from it."""
        size = min(self.runs - self.runs_used, eprocess.batch_size(bets.runs))
        if bets.outputs is not None:
            size = min(size, max(2, 2 * held_runs(self.request.sampler)))
        # An epsilon once rejected stays so; no more is bet against it.
        live = np.flatnonzero(~self.refuted)
        sides, outputs = self._batch(bets, size)
        self._spend(bets, size)
        self.bet += size
        bets.settle(sides, live)
        self.refuted |= np.sum([k.log_wealth for k in self.bets], axis=0) >= ROUNDING - math.log(self.gamma)
        bets.learn(sides, outputs)
        if bets.pilot is not None and bets.pilot.width and bets.reducer is None:
            self._reduce(bets)

    def _batch(self, bets: PairBets, size: int) -> tuple[list[Sides], list[Any]]:
        """Make `size` runs, each on the side that a fair coin says; return cells by discretizer, outputs by side."""
        where, keep = (bets.index, bets.batches), bets.outputs is not None
        sampler = bets.sampler if keep else narrowed(bets.sampler, bets.discretizers)
        counted: list[Sides] = [(Counter(), Counter()) for _ in bets.discretizers]
        kept: tuple[list[Any], list[Any]] = ([], [])
        seen = Observed(_Seen(CountCells(tuple(bets.discretizers)), keep))
        for couple in sampler.reduced(sampler.tossed(bets.pair, ("sequential", "bet", *where), size), seen):
            for side, found in enumerate(couple):
                (tallies, outputs), raised = found or (((), None), Counter())
                self.raised.update(raised)
                kept[side].extend([outputs] if outputs is not None else [])
                for total, new in zip(counted, tallies, strict=bool(found)):
                    total[side].update(new)
        return counted, [join(side) if side else [] for side in kept]

    def _reduce(self, bets: PairBets) -> None:
        """Let runs that are not bet on choose the few columns of a pair's wide outputs to look at."""
        runs = min(max(32, int(WIDE_FIT_SHARE * self.runs / len(self.bets))), (self.runs - self.runs_used) // 4)
        if runs < 1:
            return
        placing = placing_runs(self.request.sampler, runs)
        first = self.request.sampler.sides(bets.pair, ("sequential", "place", bets.index), placing)
        self._spend(bets, 2 * runs)
        self.fitted += 2 * runs
        self.summed = runs
        address = ("sequential reduce", bets.index, 0)
        bets.reducer = learned_reducer(self.request.sampler, bets.pair, first, address, runs - placing)
        bets.restart([])
        bets.experts, bets.outputs, bets.refit_at = [], [[], []], 0

    def _spend(self, bets: PairBets, size: int) -> None:
        bets.runs += size
        self.runs_used += size


def sequential_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict is that `epsilon_lower` exceeds the claim, so the two share one error probability. What is detectable is
    what bets on one given event, of the pair that leads, refute within all the runs allowed.
    """
    gamma, claim, pairs = request.gamma, request.claim, len(request.pairs)
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
        errors={"verdict": gamma},
        scores=(),
        tested_claim=bet_test(request, found.epsilon_lower) or UNSET,
    )
