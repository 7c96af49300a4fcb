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
coins have a stream of their own. What is bet on a pair is decided in `experts`.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own weights, and the
claim is one of its points. The verdict is that `epsilon_lower` exceeds the claim, so one error probability covers both;
it is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from msgspec import UNSET, UnsetType

from dpaudit.audit import eprocess
from dpaudit.audit.curve_claims import bet_test
from dpaudit.audit.evidence import Answer, Check, CheckName, Observations, plausible
from dpaudit.audit.experts import COMPARED_BATCHES, PairBets, Sides, joined, seen
from dpaudit.audit.finding import PlainEvent, PrivacyFinding, Witness
from dpaudit.audit.power import CHANCE, MASSES, Power, leading_pair_runs
from dpaudit.audit.request import Request
from dpaudit.audit.saved_runs import Chosen, SavedRuns, encoded
from dpaudit.bounds.base import Array, Bools
from dpaudit.contract import Direction
from dpaudit.errors import InputError
from dpaudit.events.discretizers import CountCells, Pilot
from dpaudit.events.event import Bets
from dpaudit.naming import Name
from dpaudit.progress import duration
from dpaudit.running.sampling import Observed, held_runs, knowing, learned_reducer, narrowed, placing_runs

WIDE_SHARE, WIDE_AGAIN, LEAST_WIDE_RUNS = 0.5, 4, 32
"""Wide outputs: the runs that choose the columns to look at, as a part of a pair's runs so far; the factor by which
these grow until columns are chosen again; and the least on each side."""
LEAST_RUNS = 100
"""Fewer leave next to nothing to bet on after the first batch."""
LEAST_IN_TIME = 2
"""The same where a time limit leaves no time for more: such an audit can see nothing, and says so."""
SHORTLIST_SHARE = 0.5
"""Of the runs, to the pairs that recorded noise speaks for, before any other pair is run."""
LEAST_SHARE = 0.25
"""Of the runs, in equal parts to all pairs: a leak too rare to show in a few of them is met some time."""
AIM = 2
"""The leaks looked for among pairs would be refuted in this part of all runs so far. With 4 one leaking pair of 40 took
a seventh longer; with 16 a weak leak of 64 pairs was missed that 1 and 2 find."""
SEARCH_RATIO = 1.05
"""The factor between the epsilons that a search bets against: it compares pairs and states no bound."""
SEARCH_GROWTH = 0.5
"""The size of a batch, as a part of the pair's runs so far, of a search in which nothing grows against the claim: it
takes all its runs, and learns from larger batches in a quarter of the time."""
KEPT_RUNS = 131_072
"""Runs of a pair at most whose outputs are kept while scores are fitted: more take memory, and fit hardly better."""
ROUNDING = 1e-6
"""By how much log E must exceed log(1 / gamma): more than rounding can add to it."""


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
        self._searching, pairs = name != "sequential", len(request.pairs)
        self.request, self.claim, self.sampler, self.saved = request, request.claim, request.sampler, saved
        self.runs, self.gamma, self.name = runs, gamma, name
        self.grid = eprocess.epsilon_grid(self.claim.epsilon, SEARCH_RATIO if self._searching else eprocess.GRID_RATIO)
        self.target = int(np.searchsorted(self.grid, self.claim.epsilon))
        self.refuted: Bools = np.zeros(len(self.grid), dtype=bool)
        self._first = min(eprocess.FIRST_BATCH, max(2, runs // (2 * pairs)))
        if self._searching:
            self._first = max(self._first, int(LEAST_SHARE * runs / pairs))
        self.bets = [PairBets(request, i, pair, self.grid) for i, pair in enumerate(request.pairs)]
        if first is not None:
            first.index, self.bets[0] = 0, first
        self._won = np.stack([bets.log_wealth for bets in self.bets])
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
    def not_run(self) -> int:
        """The pairs that there were no runs for."""
        return sum(not bets.runs for bets in self.bets)

    def run(self) -> Self:
        """Bet on the runs that are saved, then on fresh ones until claim, budget or time is over."""
        for index, step in self.saved.steps if self.saved is not None else ():
            if isinstance(step, Chosen):
                self._reduce(self.bets[index], step)
            else:
                self._bet(self.bets[index], step)
        for bets in self.bets if self.saved is not None else ():
            self._reduce_if_due(bets)
        report, began, known, clock = self.sampler.report, time.monotonic(), self.runs_used, self.request.clock
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
        clock, steps = self.request.clock, 0
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
        return self._strongest() if self.runs_used else self.bets[0]

    def _strongest(self) -> PairBets:
        """Return the pair whose own runs bear out the greatest epsilon, of equal ones the likeliest to leak."""
        levels = np.array([bets.borne_out(bets.runs, CHANCE) for bets in self.bets])
        best = [self.bets[i] for i in np.flatnonzero(levels == levels.max())]
        likeliest = self._likeliest() if len(best) > 1 else best[0]
        return likeliest if likeliest in best else best[0]

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
        listed = [] if short is None else [self.bets[i] for i in {i for i, _ in short.pairs} if i < len(self.bets)]
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
        size = eprocess.batch_size(bets.runs) if bets.runs else self._first
        if self._searching and bets.runs:
            size = max(self._first // 4, size if self._growing else int(SEARCH_GROWTH * bets.runs))
        # Calls of a batched function make no fewer runs, if each pair can have several batches of so many.
        size = max(size, min(self.sampler.least_evened, self.runs // (4 * len(self.bets))))
        size = min(self.sampler.evened(size), self.runs - self.runs_used)
        if bets.outputs is not None:
            size = min(size, max(2, 2 * held_runs(self.request.sampler)), KEPT_RUNS)
        return size

    def _bet(self, bets: PairBets, known: list[Any] | None = None) -> None:
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
            self.saved.add(bets.index, outputs)
        bets.runs += size
        self.runs_used += size
        self.bet += size
        bets.settle(sides, live)
        self._won[bets.index] = bets.log_wealth
        self.refuted |= self.log_evidence >= ROUNDING - math.log(self.gamma)
        bets.learn(sides, outputs)
        if known is None:
            self._reduce_if_due(bets)

    def _batch(self, bets: PairBets, size: int, known: list[Any] | None) -> tuple[list[Sides], list[Any]]:
        """Make `size` runs, each on the side that a fair coin says; return cells by discretizer, outputs by side."""
        where, keep = (bets.index, bets.batches), bets.outputs is not None or self.saved is not None
        sampler = bets.sampler if keep else narrowed(bets.sampler, bets.discretizers)
        counted: list[Sides] = [(Counter(), Counter()) for _ in bets.discretizers]
        kept: tuple[list[Any], list[Any]] = ([], [])
        look = Observed(partial(seen, CountCells(tuple(bets.discretizers)), keep))
        if known is None:
            made: Iterable[Any] = sampler.reduced(sampler.tossed(bets.pair, (self.name, "bet", *where), size), look)
        else:
            made = [[look(side) if len(side) else None for side in known]]
        for couple in made:
            for side, found in enumerate(couple):
                (tallies, outputs), raised = found or (((), None), Counter())
                self.raised.update(raised)
                kept[side].extend([outputs] if outputs is not None else [])
                for total, new in zip(counted, tallies, strict=bool(found)):
                    total[side].update(new)
        return counted, joined(kept)

    def _reduce_if_due(self, bets: PairBets) -> None:
        """Choose the columns of a pair's wide outputs if its runs have grown enough since, and some are left."""
        if bets.pilot is None or not bets.pilot.width or bets.runs < bets.reduce_at:
            return
        wanted, left = max(LEAST_WIDE_RUNS, int(WIDE_SHARE * bets.runs / 2)), (self.runs - self.runs_used) // 4
        runs = min(wanted, left)
        if runs < 1 or (bets.reduced and left < wanted):
            bets.reduce_at = self.runs
            return
        # So many runs a side, which are not bet on, choose the columns.
        sampler, which, placing = self.sampler, (bets.index, bets.reduced), placing_runs(self.sampler, runs)
        first = sampler.sides(bets.pair, (self.name, "place", *which), placing)
        address = (f"{self.name} reduce", *which)
        reducer = learned_reducer(sampler, bets.pair, first, address, runs - placing, self.request.clock.pairs)
        if self.saved is not None:
            self.saved.add_choice(bets.index, first, Chosen(runs, reducer))
        self._reduce(bets, Chosen(runs, reducer))

    def _reduce(self, bets: PairBets, chosen: Chosen) -> None:
        """Look at the columns that were chosen from now on, as if nothing of the pair had been seen before."""
        size, self.summed = 2 * chosen.runs, chosen.runs
        bets.runs += size
        self.runs_used += size
        self.fitted += size
        bets.reduced, bets.reduce_at = bets.reduced + 1, WIDE_AGAIN * bets.runs
        bets.reducer = chosen.reducer
        bets.restart([])
        bets.experts, bets.outputs, bets.refit_at = [], [[], []], 0

    def in_words(self, pace: float) -> str:
        """Return what is known, and what more runs would show and cost, at so many seconds a run."""
        won = float(self.log_evidence[self.target])
        left = min(self.runs - self.runs_used, int(min(self.request.clock.left / max(pace, 1e-9), self.runs)))
        growth = max(bets.promise(self.target) for bets in self.bets)
        more = (-math.log(self.gamma) - won) / growth if growth > 0 else math.inf
        known = f"epsilon >= {self.epsilon_lower:.3g}, evidence {math.exp(min(won, 99.0)):.2g} of {1 / self.gamma:.4g}"
        if more <= left:
            return f"{known}; at this rate {more:,.0f} more runs ({duration(more * pace)}) refute the claim"
        able = Power.of_bets(MASSES[0], leading_pair_runs(self.runs, len(self.bets)), self.claim, self.gamma).epsilon
        return f"{known}; all {left:,} runs ({duration(left * pace)}) would show a leak of epsilon {able:.3g}"


def sequential_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict is that `epsilon_lower` exceeds the claim, so the two share one error probability. What is detectable is
    what bets on one given event, of the pair that leads, refute within all the runs allowed.
    """
    gamma, claim, pairs = request.gamma, request.claim, len(request.pairs)
    if 2 * request.trials_asked < LEAST_RUNS:
        raise InputError.of("trials", request.trials_asked, f"at least {LEAST_RUNS // 2} in a sequential audit")
    least = LEAST_RUNS if request.trials == request.trials_asked else LEAST_IN_TIME
    allowed = max(least, 2 * (request.trials - request.check_runs - request.recorded_runs))
    shown = request.hygiene.shown()
    request = replace(request, sampler=knowing(request.sampler, shown))
    saved = None
    if request.continued is not None:
        encoded(shown)
        saved = SavedRuns(request.continued, request)
        allowed = max(allowed, saved.runs)
    found = Session(request, allowed, gamma, saved).run()
    # Where the time was over, no more could be detected than by the runs that were made.
    able = found.runs_used if request.clock.stopped.looks else allowed
    # Bets have no single event and no counts; the witness is the pair that raised the stake most.
    best = max(found.bets, key=lambda bets: bets.log_wealth[found.target])
    event = Bets(best.runs, float(best.log_wealth[found.target]))
    plain: PlainEvent | UnsetType = UNSET
    if found.rejected and not request.coded and best.outputs is not None and not best.reduced:
        plain = PlainEvent.of(joined(best.outputs), claim.epsilon, claim.delta)
    # Batches may differ from each other no more than independent runs make them.
    batches = [(one, len(bets.scatter)) for bets in found.bets for one in bets.scatter.values()]
    agree = all(plausible(one[0], int(one[1]), sets) for one, sets in batches)
    pilot = found.bets[0].pilot or Pilot(None, False)
    failed = () if agree else (Check(CheckName.CALLS, Answer.DEPENDS, 0),)
    # Scores take few of the runs, the choice of columns more than can be left out.
    promised = max(0, able - found.fitted) if pilot.width else able
    leading = leading_pair_runs(promised, pairs)
    power = Power.of_bets(MASSES[0], leading, claim, gamma)
    return request.finding(
        power,
        Observations(found.bet, sum(bets.different for bets in found.bets), found.raised, failed),
        pilot,
        found.summed,
        found.not_run if able == allowed else 0,
        refuted=found.rejected,
        tried=pairs - found.not_run,
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
        scores=(),
        tested_claim=bet_test(request, found.epsilon_lower, leading) or UNSET,
        continued=UNSET if saved is None else saved.continued,
    )
