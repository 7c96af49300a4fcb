r"""Audit with bets instead of events: bet against the claim batch by batch, and stop as soon as it is refuted.

**Claim.** If the mechanism is (epsilon, delta)-private on every pair given, in every state in which earlier runs leave
it, then whatever rule picks the pairs, the batch sizes, the bets and the time to stop,
Pr[the claim is ever rejected] <= gamma.

**Why, run by run.** Every run tosses a fair coin for its side and pays an e-value of `eprocess`: given the
past its mean is at most 1, *whichever* pair is run, because the bet and the pair are functions of the past
and the claim speaks of all pairs. So the product E over all runs of all pairs is a nonnegative
supermartingale that starts at 1, as is the mean over pairs of the products over their own runs
(`Session.log_evidence`), and Ville's inequality gives Pr[sup E >= 1 / gamma] <= gamma. Trying more pairs
costs runs, never error probability.

**Why whole batches.** Within a batch of n runs pair and bet are fixed, so given the past the n payoffs are
independent with means at most 1, and so is the mean of their product: E observed at the ends of batches is a
supermartingale too. That product does not depend on the order of the runs, and the multiset of (coin, output)
is the same whether n coins are tossed one by one, or their number of heads B ~ Bin(n, 1/2) is drawn first and
B runs are made on data and n - B on neighbour; this assumes independent runs within a batch (`Session._batch`). The
coins have a stream of their own. What is bet on a pair is decided in `pair_bets`.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own weights, and the
claim is one of its points. The verdict is that `epsilon_lower` exceeds the claim, so one error probability covers both;
it is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from msgspec import UNSET, UnsetType

from dpaudit.audit import eprocess
from dpaudit.audit.checks_and_gaps import Answer, Check, CheckName, Observations, plausible
from dpaudit.audit.curve_claims import bet_test
from dpaudit.audit.finding import ROUNDING, PlainEvent, PrivacyFinding, Witness
from dpaudit.audit.pair_bets import COMPARED_BATCHES, CellsOfBatch, PairBets, Sides, cells_of, joined
from dpaudit.audit.power import CHANCE, MASSES, Power, leading_pair_runs
from dpaudit.audit.request import Outcome, Request
from dpaudit.audit.saved_runs import ChosenColumns, SavedRuns, encoded
from dpaudit.bounds.base import Array, Bools
from dpaudit.contract import Direction
from dpaudit.errors import InputError
from dpaudit.events.discretizers import Pilot
from dpaudit.events.event import Bets
from dpaudit.naming import Name
from dpaudit.outputs.types import Batch
from dpaudit.progress import duration
from dpaudit.running.sampling import (
    held_runs,
    knowing,
    learned_reducer,
    narrowed,
    placing_runs,
    with_exceptions,
)

# Wide outputs: the runs that choose the columns to look at, as a part of a pair's runs so far; the factor by which
# these grow until columns are chosen again; and the least on each side.
WIDE_SHARE = 0.5
WIDE_AGAIN = 4
LEAST_WIDE_RUNS = 32
# Fewer leave next to nothing to bet on after the first batch.
LEAST_RUNS = 100
# The same where a time limit leaves no time for more: such an audit can see nothing, and says so.
LEAST_IN_TIME = 2
# Of the runs, to the pairs that recorded noise speaks for, before any other pair is run.
SHORTLIST_SHARE = 0.5
# Of the runs, in equal parts to all pairs: a leak too rare to show in a few of them is met some time.
LEAST_SHARE = 0.25
# The leaks looked for among pairs would be refuted in this part of all runs so far. With 4 one leaking pair of 40
# took a seventh longer; with 16 a weak leak of 64 pairs was missed that 1 and 2 find.
AIM = 2
# The factor between the epsilons that a search bets against: it compares pairs and states no bound.
SEARCH_RATIO = 1.05
# The size of a batch, as a part of the pair's runs so far, of a search in which nothing grows against the claim: it
# takes all its runs, and learns from larger batches in a quarter of the time.
SEARCH_GROWTH = 0.5
# Runs of a pair at most whose outputs are kept while scores are fitted: more take memory, and fit hardly better.
KEPT_RUNS = 131_072


class Session:
    """One sequential audit: its state, and its outcome when it has run.

    At most `runs` runs are made, all sides and pairs together, and the probability that a true claim is refuted is at
    most `gamma`. If the sampler knows how many numbers an output holds, memory is bounded. The request's clock may stop
    it by anything: the evidence is valid at any time. Addresses of runs begin with the `name`. The first pair may come
    with what another search knows of it.

    `bets` are the state of each pair; at the grid point `target`, the claim's epsilon, the evidence is that against the
    claim. `runs_used` counts all runs, both sides together, `bet` those of batches, `fitted` those that only chose
    columns, and `raised` the exceptions among those of batches, by type, message and line. Where outputs are wider than
    scores can be fitted on, `summed` are the runs on each side of a pair that chose the columns; else it is 0.
    """

    def __init__(
        self,
        request: Request,
        runs: int,
        gamma: float,
        saved: SavedRuns | None = None,
        name: str = "sequential",
        first: PairBets | None = None,
    ) -> None:
        self._searching = name != "sequential"
        pairs = len(request.pairs)
        self.request = request
        self.claim = request.claim
        self.sampler = request.sampler
        self.saved = saved
        self.runs = runs
        self.gamma = gamma
        self.name = name
        ratio = eprocess.GRID_RATIO
        if self._searching:
            ratio = SEARCH_RATIO
        self.grid = eprocess.epsilon_grid(self.claim.epsilon, ratio)
        self.target = int(np.searchsorted(self.grid, self.claim.epsilon))
        self.refuted: Bools = np.zeros(len(self.grid), dtype=bool)
        self._first = min(eprocess.FIRST_BATCH, max(2, runs // (2 * pairs)))
        if self._searching:
            self._first = max(self._first, int(LEAST_SHARE * runs / pairs))
        self.bets = [PairBets(request, i, pair, self.grid) for i, pair in enumerate(request.pairs)]
        # What is known of the best pair so far is kept, under its place here.
        if first is not None:
            first.index = 0
            self.bets[0] = first
        self._won = np.stack([bets.log_wealth for bets in self.bets])
        self._greatest = np.zeros(len(self.grid))
        self.runs_used = self.bet = self.fitted = self.summed = 0
        self.raised: Counter[tuple[str, ...]] = Counter()

    @property
    def rejected(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon_lower > self.claim.epsilon

    @property
    def epsilon_lower(self) -> float:
        """A lower confidence bound on epsilon at the claim's delta, too high at any time with probability <= gamma."""
        return eprocess.last_before_survivor(self.grid, self.refuted)

    @property
    def log_evidence(self) -> Array:
        """The logarithm of the e-process against each epsilon, shape (G,).

        Of several pairs it is the mean of the product over pairs, to which all that leak add, and of the mean over
        pairs, from which those that do not leak take no more than the logarithm of their number.
        """
        if len(self._won) == 1:
            return np.asarray(self._won[0])
        mean = eprocess.log_sum_exp(self._won) - math.log(len(self._won))
        return np.asarray(np.logaddexp(self._won.sum(axis=0), mean) - math.log(2))

    @property
    def against_claim(self) -> float:
        """The greatest log E so far that all epsilons have had which must be refuted for the claim to be.

        They are those up to the point of the grid just above the claim; see `eprocess.last_before_survivor`.
        """
        return float(self._greatest[: self.target + 2].min())

    @property
    def not_run(self) -> int:
        """The pairs that there were no runs for."""
        return sum(not bets.runs for bets in self.bets)

    def run(self) -> Self:
        """Bet on the runs that are saved, then on fresh ones until claim, budget or time is over."""
        if self.saved is not None:
            for index, step in self.saved.steps:
                if isinstance(step, ChosenColumns):
                    self._reduce(self.bets[index], step)
                else:
                    self._bet(self.bets[index], step)
            for bets in self.bets:
                self._reduce_if_due(bets)
        report = self.sampler.report
        began = time.monotonic()
        known = self.runs_used
        clock = self.request.clock
        since = clock.elapsed
        while self._open:
            bets = self._next()
            pace = (clock.elapsed - since) / max(1, self.runs_used - known)
            if clock.over(sum(one.batches for one in self.bets), pace * self._size(bets)):
                break
            self._bet(bets)
            if report is not None:
                report(0, self.in_words((time.monotonic() - began) / (self.runs_used - known)))
        return self

    def search(self) -> PairBets:
        """Bet until claim, budget or the time of searches is over; return the pair most likely to be leaking."""
        clock = self.request.clock
        steps = 0
        since = clock.elapsed
        while self._open:
            bets = self._next()
            pace = (clock.elapsed - since) / max(1, self.runs_used)
            if clock.searched(steps, pace * self._size(bets)):
                break
            self._bet(bets)
            steps += 1
        if self.rejected:
            return self._leading
        if not self.runs_used:
            return self.bets[0]
        return self._strongest()

    def _strongest(self) -> PairBets:
        """Return the pair whose own runs bear out the greatest epsilon, of equal ones the likeliest to leak."""
        levels = np.array([bets.borne_out(bets.runs, CHANCE) for bets in self.bets])
        best = [self.bets[i] for i in np.flatnonzero(levels == levels.max())]
        if len(best) > 1:
            likeliest = self._likeliest()
            if likeliest in best:
                return likeliest
        return best[0]

    @property
    def _open(self) -> bool:
        # A refutation may stand once calls were compared, where they are to be.
        mechanism = self.sampler.mechanism
        alone = self._searching or not mechanism.batched or mechanism.promised
        ended = self.rejected and (alone or self._leading.batches >= COMPARED_BATCHES)
        return self.runs_used < self.runs and not ended

    @property
    def _leading(self) -> PairBets:
        return self.bets[int(np.argmax(self._won[:, self.target]))]

    @property
    def _growing(self) -> bool:
        return any(bets.promise(self.target) for bets in self.bets)

    def _next(self) -> PairBets:
        """Return the pair to run next: one far behind its share, else the one most likely to be leaking.

        Where a search finds no growth against the claim, it is of the strongest pair and its rivals the one of fewest
        runs. A rival is estimated to have an epsilon that the strongest would bear out in no more runs than it had.
        """
        short = self.request.shortlist
        # Those that recorded noise speaks for come first, while they have runs to come.
        listed: list[PairBets] = []
        if short is not None:
            listed = [self.bets[i] for i in {i for i, _ in short.pairs} if i < len(self.bets)]
        runs = sum(bets.runs for bets in listed)
        if listed and runs < SHORTLIST_SHARE * self.runs:
            behind = min(listed, key=lambda bets: bets.runs)
            if behind.runs < LEAST_SHARE * runs / len(listed) or not behind.runs:
                return behind
            return max(listed, key=lambda bets: bets.promise(self.target))
        behind = min(self.bets, key=lambda bets: bets.runs)
        if not behind.runs or behind.runs < self.runs_used * LEAST_SHARE / len(self.bets):
            return behind
        if self._growing or not self._searching:
            return self._likeliest()
        best = self._strongest()
        rivals = [bets for bets in self.bets if bets.borne_out(1) >= best.borne_out(bets.runs, CHANCE)]
        return min([best, *rivals], key=lambda bets: bets.runs)

    def _likeliest(self) -> PairBets:
        """Return the pair most likely to be leaking.

        That is by about the log-likelihood ratio, after n runs of a pair that promise the growth g, of a leak of growth
        a to none: n (2 sqrt(a g) - a), where a is what would refute the claim in 1 / `AIM` of the runs made so far.
        Where no pair promises any growth against the claim, it is that against the first epsilon that is not rejected,
        and a the greatest.
        """
        growth = np.array([bets.promise(self.target) for bets in self.bets])
        aim = -AIM * math.log(self.gamma) / self.runs_used
        if not growth.any():
            first = min(int(np.argmin(self.refuted)), self.target)
            growth = np.array([bets.promise(first) for bets in self.bets])
            aim = growth.max()
        ratio = np.array([bets.runs for bets in self.bets]) * (2 * np.sqrt(aim * growth) - aim)
        # Of equal ones a pair whose outputs vary comes before a constant one, which could show nothing.
        best = np.flatnonzero(ratio == ratio.max()).tolist()
        return self.bets[next((i for i in best if len(best) > 1 and self.bets[i].different), best[0])]

    def _size(self, bets: PairBets) -> int:
        """Return the runs of the next batch of a pair."""
        size = self._first
        if bets.runs:
            size = eprocess.batch_size(bets.runs)
        if self._searching and bets.runs:
            if not self._growing:
                size = int(SEARCH_GROWTH * bets.runs)
            size = max(self._first // 4, size)
        # Calls of a batched function make no fewer runs, if each pair can have several batches of so many.
        size = max(size, min(self.sampler.least_evened, self.runs // (4 * len(self.bets))))
        size = min(self.sampler.evened(size), self.runs - self.runs_used)
        if bets.outputs is not None:
            size = min(size, max(2, 2 * held_runs(self.request.sampler)), KEPT_RUNS)
        return size

    def _bet(self, bets: PairBets, known: list[Batch] | None = None) -> None:
        """Bet on one batch of a pair, whose outputs may be known by side, and only then learn from it."""
        size = self._size(bets)
        # An epsilon once rejected stays so; no more is bet against it.
        live = np.flatnonzero(~self.refuted)
        sides, outputs = self._batch(bets, size, known)
        if known is not None:
            size = sum(map(len, known))
            if self.sampler.report is not None:
                self.sampler.report(size)
        elif self.saved is not None:
            # Before anything is made of it: a run that was looked at and is not in the file could be left out at will.
            self.saved.add(bets.index, outputs)
        bets.runs += size
        self.runs_used += size
        self.bet += size
        # Paid out by what was believed before the batch, which is learned from below: else the bet would be no bet.
        bets.settle(sides, live)
        self._won[bets.index] = bets.log_wealth
        # Once rejected is rejected: by Ville's inequality the supremum over all batches has the error.
        self._greatest = np.maximum(self._greatest, self.log_evidence)
        self.refuted |= self._greatest >= ROUNDING - math.log(self.gamma)
        bets.learn(sides, outputs)
        if known is None:
            self._reduce_if_due(bets)

    def _batch(self, bets: PairBets, size: int, known: list[Batch] | None) -> tuple[list[Sides], list[Batch]]:
        """Make `size` runs, each on the side that a fair coin says; return cells by discretizer, outputs by side."""
        where = (bets.index, bets.batches)
        keep = bets.outputs is not None or self.saved is not None
        sampler = bets.sampler
        if not keep:
            sampler = narrowed(sampler, bets.discretizers)
        counted: list[Sides] = [(Counter(), Counter()) for _ in bets.discretizers]
        kept: tuple[list[Batch], list[Batch]] = ([], [])
        look = partial(with_exceptions, partial(cells_of, tuple(bets.discretizers), keep))
        made: Iterable[Sequence[tuple[CellsOfBatch, Counter[tuple[str, ...]]] | None]]
        if known is None:
            made = sampler.reduced(sampler.tossed(bets.pair, (self.name, "bet", *where), size), look)
        else:
            made = [[look(side) if len(side) else None for side in known]]
        for couple in made:
            for side, found in enumerate(couple):
                if found is None:  # no run of the couple was on this side
                    continue
                (tallies, outputs), raised = found
                self.raised.update(raised)
                if outputs is not None:
                    kept[side].append(outputs)
                for total, new in zip(counted, tallies, strict=True):
                    total[side].update(new)
        return counted, joined(kept)

    def _reduce_if_due(self, bets: PairBets) -> None:
        """Choose the columns of a pair's wide outputs if its runs have grown enough since, and some are left."""
        if bets.pilot is None or not bets.pilot.width or bets.runs < bets.reduce_at:
            return
        wanted = max(LEAST_WIDE_RUNS, int(WIDE_SHARE * bets.runs / 2))
        left = (self.runs - self.runs_used) // 4
        runs = min(wanted, left)
        if runs < 1 or (bets.reduced and left < wanted):
            bets.reduce_at = self.runs
            return
        # So many runs a side choose the columns. They are not bet on: a bet on runs that chose it would be no bet.
        sampler = self.sampler
        which = (bets.index, bets.reduced)
        placing = placing_runs(self.sampler, runs)
        first = sampler.sides(bets.pair, (self.name, "place", *which), placing)
        address = (f"{self.name} reduce", *which)
        reducer = learned_reducer(sampler, bets.pair, first, address, runs - placing, self.request.clock.pairs)
        if self.saved is not None:
            self.saved.add_columns(bets.index, first, ChosenColumns(runs, reducer))
        self._reduce(bets, ChosenColumns(runs, reducer))

    def _reduce(self, bets: PairBets, chosen: ChosenColumns) -> None:
        """Look at the columns that were chosen from now on, as if nothing of the pair had been seen before."""
        size = 2 * chosen.runs
        self.summed = chosen.runs
        bets.runs += size
        self.runs_used += size
        self.fitted += size
        bets.reduced += 1
        bets.reduce_at = WIDE_AGAIN * bets.runs
        bets.reducer = chosen.reducer
        bets.restart([])
        bets.bettors = []
        bets.outputs = [[], []]
        bets.refit_at = 0

    def in_words(self, pace: float) -> str:
        """Describe the evidence so far, and what more runs would show and cost at so many seconds a run."""
        won = float(self.log_evidence[self.target])
        left = min(self.runs - self.runs_used, int(min(self.request.clock.left / max(pace, 1e-9), self.runs)))
        growth = max(bets.promise(self.target) for bets in self.bets)
        more = math.inf
        if growth > 0:
            more = (-math.log(self.gamma) - won) / growth
        known = f"epsilon >= {self.epsilon_lower:.3g}, evidence {math.exp(min(won, 99.0)):.2g} of {1 / self.gamma:.4g}"
        if more <= left:
            return f"{known}; at this rate {more:,.0f} more runs ({duration(more * pace)}) refute the claim"
        able = Power.of_bets(MASSES[0], leading_pair_runs(self.runs, len(self.bets)), self.claim, self.gamma).epsilon
        return f"{known}; all {left:,} runs ({duration(left * pace)}) would show a leak of epsilon {able:.3g}"


def _failed_checks(pairs: Iterable[PairBets]) -> tuple[Check, ...]:
    """Return the check of calls, if batches differ from each other more than independent runs make them."""
    for bets in pairs:
        # The error is shared by all discretizers of a pair.
        for statistic, freedom in bets.scatter.values():
            if not plausible(float(statistic), int(freedom), len(bets.scatter)):
                return (Check(CheckName.CALLS, Answer.DEPENDS, 0),)
    return ()


def _session_of(request: Request) -> Session:
    """Return the session that an audit asks for, before its first bet; `InputError` if it has too few runs."""
    if 2 * request.trials_asked < LEAST_RUNS:
        raise InputError.of("trials", request.trials_asked, f"at least {LEAST_RUNS // 2} in a sequential audit")
    least = LEAST_RUNS
    # A time limit left fewer than were asked for.
    if request.trials != request.trials_asked:
        least = LEAST_IN_TIME
    allowed = max(least, 2 * (request.trials - request.check_runs - request.recorded_runs))
    first = request.preflight.take_output()
    request = replace(request, sampler=knowing(request.sampler, first))
    saved = None
    if request.continued is not None:
        # Outputs that a file cannot keep are refused before the file is made.
        encoded(first)
        saved = SavedRuns(request.continued, request)
        # All runs of the file are bet on, also if they are more than this audit asks for.
        allowed = max(allowed, saved.runs)
    return Session(request, allowed, request.gamma, saved)


def sequential_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict is that `epsilon_lower` exceeds the claim, so the two share one error probability. What is detectable is
    what bets on one given event, of the pair that leads, refute within all the runs allowed.
    """
    gamma = request.gamma
    claim = request.claim
    pairs = len(request.pairs)
    found = _session_of(request).run()
    request = found.request
    allowed = found.runs
    # Where the time was over, no more could be detected than by the runs that were made.
    able = allowed
    if request.clock.stopped.looks:
        able = found.runs_used
    # Bets have no single event and no counts; the witness is the pair that raised the stake most.
    best = max(found.bets, key=lambda bets: bets.log_wealth[found.target])
    event = Bets(best.runs, float(best.log_wealth[found.target]))
    plain: PlainEvent | UnsetType = UNSET
    # Of wide outputs the columns looked at are kept, and no whole output.
    if found.rejected and not request.coded and best.outputs is not None and not best.reduced:
        plain = PlainEvent.of(joined(best.outputs), claim.epsilon, claim.delta)
    pilot = found.bets[0].pilot or Pilot(None, False)
    promised = able
    if pilot.width:
        # Scores take few of the runs, the choice of columns more than can be left out.
        promised = max(0, able - found.fitted)
    leading = leading_pair_runs(promised, pairs)
    power = Power.of_bets(MASSES[0], leading, claim, gamma)
    not_run = 0
    # More trials would have made runs of these.
    if able == allowed:
        not_run = found.not_run
    continued = None
    if found.saved is not None:
        continued = found.saved.continued
    outcome = Outcome(
        refuted=found.rejected,
        epsilon_lower=found.epsilon_lower,
        selection_trials=0,
        confirmation_trials=found.runs_used // 2,
        pairs=pairs,
        compared=max(1, power.compared((bets.runs for bets in found.bets), claim)),
        events=0,
        witness=Witness.of(best.index, best.pair, Direction.FORWARD, event, plain=plain),
        bound="betting",
        distinguisher=Name("betting"),
        design="sequential",
        budget={"used": found.runs_used, "allowed": allowed, "checks": request.check_runs},
        errors={"verdict": gamma},
        tested_claim=bet_test(request, found.epsilon_lower, leading),
        log_evidence=found.against_claim,
        continued=continued,
    )
    different = sum(bets.different for bets in found.bets)
    seen = Observations(found.bet, different, found.raised, _failed_checks(found.bets))
    return request.finding(power, seen, pilot, found.summed, not_run, outcome, tried=pairs - found.not_run)
