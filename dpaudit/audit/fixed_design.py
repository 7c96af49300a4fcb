"""Audit by a fixed number of runs: choose a pair and events on some, confirm the events on fresh ones.

Of several pairs bets find the one most likely to leak, as in the sequential design, and a local search varies it. On
that pair the pilot shows what outputs look like, scores are fitted, those that promise most are kept, and their cells
are counted.

Words for what chooses and what is chosen: a *search* finds the pair; *training* counts the runs of that pair
(`TrainedPair`), compares all events over its cells, and *selects* one or two of them (`SelectedEvent`); the *choice*
(`Choice`) is all that this fixes before the first fresh run. *Confirmation* makes the fresh runs and decides.

How floats are stored is tested apart from the verdict, which speaks of their values. Noise added in floating point
leaks through the bits of the sum whatever its scale: a sum lies on a coarser grid than a draw, and gaps in what a
sampler can return lie elsewhere around another centre. An event over these bits is chosen on training runs and tested
on the runs that confirm, with an error of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from itertools import groupby

import numpy as np
from msgspec import UNSET, UnsetType

from dpaudit.audit.choice import Choice
from dpaudit.audit.claim_tests import COIN, MELDED, refutes
from dpaudit.audit.confirmation import Confirmation
from dpaudit.audit.curve_claims import choose_point, curve_test, event_share
from dpaudit.audit.finding import PLAIN_RUNS, PlainEvent, PrivacyFinding, Witness
from dpaudit.audit.power import REFUTING_SHARE, Power
from dpaudit.audit.request import Outcome, Request
from dpaudit.audit.sequential_design import Session
from dpaudit.audit.trained_pair import TrainedPair
from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.contract import Pair
from dpaudit.events.cells import separation, tally
from dpaudit.events.discretizers import Discretizer, Pilot, tally_each
from dpaudit.events.event import Event, Tally
from dpaudit.events.exceptions import as_exceptions, exceptions_first
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.explicit import is_plain
from dpaudit.events.feature_screening.featured import is_intricate, screened_discretizers, support_gap_discretizers
from dpaudit.events.feature_screening.search import ROWS as SCREENED
from dpaudit.events.prefixes import likelier_first
from dpaudit.events.selected import OrderedCells, SelectedEvent
from dpaudit.events.wide import wide_leaves
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.shared import join
from dpaudit.outputs.types import Batch
from dpaudit.running.sampling import held_runs, knowing, learned_reducer

Tallies = tuple[Tally, Tally]

# The search among pairs ends when bets refute the claim with this error. The finding does not rest on that.
SURE = 0.02
# Rounds in which the best pair meets variations of itself: of more of them each would have fewer runs.
LOCAL_ROUNDS = 3
# Runs a side that choose the event over the bits: they leak outright or hardly at all.
REPRESENTATION_ROWS = 10_000
# Runs a side of each half that scores are fitted on: the ratio in each of 64 bins then errs by 2 %.
FIT_ROWS = 250_000
# Numbers a side of each half that are held in memory: outputs of more than 32 numbers get fewer rows.
FIT_NUMBERS = 8_000_000
# Runs a side that all discretizers count; those that do not do well are spared the rest.
SCREEN_ROWS = 50_000
# Runs a side of each half that say where the bins of a mean of two scores are.
JOIN_ROWS = 125_000
# Discretizers that are kept by either criterion after that, for the difference between the best few is luck.
FINALISTS = 3
# Discretizers that runs beyond those of the fit are spent on.
LAST = 2


class Training:
    """The choice of a pair, and of the discretizers whose events promise most on it.

    The `trained_pair` is the most likely to leak among `pairs` pairs and variations of them. There were no runs for
    `not_run` of these; the search made `runs_of` each of the others. Training `began` at a time of the clock.
    """

    def __init__(self, request: Request) -> None:
        """Search among several pairs; then look at some outputs of the best one, first of all at how large they are."""
        self.pairs = len(request.pairs)
        self.not_run = 0
        self.runs_of: tuple[int, ...] = ()
        index, pair, request = self._search(request)
        self.began = request.clock.elapsed
        # One output of each side shows how many numbers an output holds, and so how many runs fit into memory.
        first = request.sampler.sides(pair, ("peek",), 1)
        sampler = knowing(request.sampler, first)
        runs = min(request.budget.pilot, held_runs(sampler))
        self._sides = first
        if runs > 1:
            rest = sampler.sides(pair, ("pilot", index), runs - 1)
            self._sides = [join(batches) for batches in zip(first, rest, strict=True)]
        self.pilot = Pilot.of(join(self._sides))
        self.request = replace(request, sampler=sampler, width=self.pilot.width)
        self.trained_pair = TrainedPair(self.request, index, pair, self.pilot.shared)

    def _search(self, request: Request) -> tuple[int, Pair, Request]:
        """Return the best pair with its index, and the request with the runs that the search took.

        Bets search all given pairs, and then, round by round, the best so far and variations of it, if there are any.
        """
        if len(request.pairs) == 1:
            return 0, request.pairs[0], request
        short = request.shortlist
        if short is not None and not short.pairs:
            short = None
        if short is not None:
            self.pairs = max(self.pairs, short.tried)
            if short.sure or len(short.pairs) == 1:
                (index, pair), *_ = short.pairs
                return index, pair, replace(request, searched=(0, 0))
        betting = replace(request, sampler=knowing(request.sampler, request.preflight.take_output()))
        budget = request.budget
        among = betting
        if short is not None:
            among = replace(betting, pairs=tuple(pair for _, pair in short.pairs))
        request.clock.begins_search()
        # Bets choose the pair run by run at no price in error: only fresh runs on the pair they find decide.
        search = Session(among, 2 * (budget.search - request.recorded_runs), SURE, name="search")
        best = search.search()
        index = best.index
        if short is not None:
            index = short.pairs[best.index][0]
        used = search.runs_used
        nearby = 0
        self.not_run = search.not_run
        # By round and place in its list: pairs of a shortlist that are not among those given share one index.
        runs_of = {(-1, bets.index): bets.runs for bets in search.bets}
        chosen = (-1, best.index)
        rounds = 0
        if budget.local:
            rounds = LOCAL_ROUNDS
        for step in range(rounds):
            if not request.clock.begins_search():
                break
            variations: list[Pair] = []
            if request.moves is not None:
                variations = request.moves(best.pair, step)
            if variations:
                rivals = replace(betting, pairs=(best.pair, *variations))
                runs = 2 * budget.local // LOCAL_ROUNDS
                search = Session(rivals, runs, SURE, name=f"search near {step}", first=best)
                best = search.search()
                runs_of[chosen] = search.bets[0].runs
                runs_of |= {(step, bets.index): bets.runs for bets in search.bets[1:]}
                if best.index:
                    index = self.pairs + best.index - 1
                    chosen = (step, best.index)
                nearby += search.runs_used
            self.pairs += len(variations)
        runs_of.pop(chosen)
        self.runs_of = tuple(runs_of.values())
        return index, best.pair, replace(request, searched=(-(-used // 2), -(-nearby // 2)))

    def train(self) -> TrainedPair:
        """Count the training runs, the pilot's among them; first fit scores, if the pilot's cells do not suffice."""
        left = self.request.budget.training
        trained_pair = self.trained_pair
        self.read = self._sides
        if self.pilot.sufficient:  # outputs of few kinds: their cells need no scores
            trained_pair.count_outputs(self._sides, 0, len(self._sides[0]))
        else:
            left -= self._fit(trained_pair, self._sides, left)
        if left > 0:
            if len(trained_pair.discretizers) > LAST:
                trained_pair.keep([*trained_pair.by_promise(careful=True)[:LAST], *trained_pair.refuting_place()])
            addresses = [("select", trained_pair.index, side, 0) for side in (0, 1)]
            couples = list(trained_pair.sampler.couples(trained_pair.pair, addresses, left))
            # Some of the runs are counted by slow discretizers as well.
            slowly = [
                # A list: each side takes its part, also where the first has none left.
                all([trained_pair.take_slowly(side, job.size) for side, job in enumerate(couple)])
                for couple in couples
            ]
            for slow, group in groupby(zip(couples, slowly, strict=True), key=lambda one: one[1]):
                count = partial(tally_each, tuple(trained_pair.discretizers), slow)
                for sides in trained_pair.sampler.reduced([couple for couple, _ in group], count):
                    for side, counts in enumerate(sides):
                        trained_pair.count(side, counts)
        return trained_pair

    def _fit(self, trained_pair: TrainedPair, pilot: list[Batch], training: int) -> int:
        """Fit all scores on one half of the training runs, count the other half; return the runs used.

        Those that do best are then fitted on the other half as well and count the first one (two-fold cross-fitting: no
        run is scored by a model fitted on it). Their mean, which is better than either, is what confirms.
        """
        pair = trained_pair.pair
        index = trained_pair.index
        wide = self.request.width > 0
        left = training
        most = FIT_ROWS
        if not wide:  # of wide outputs a few columns are held
            most = max(1, min(FIT_ROWS, FIT_NUMBERS // self.request.sampler.numbers))
        if wide:
            # Half of the runs choose the columns; the pilot's outputs say what the leaves are, and are summed up too.
            reducing = max(0, (training - len(pilot[0])) // 2)
            trained_pair.reducer = learned_reducer(
                self.request.sampler, pair, pilot, ("reduce", index, 0), reducing, self.request.clock.pairs
            )
            left -= reducing
            pilot = []
        runs = min(most, max(1, left // 2))
        first = trained_pair.sampler.sides(pair, ("fit", index), runs)
        if pilot:
            first = [join(batches) for batches in zip(pilot, first, strict=True)]
        discrete = None
        if not wide:
            discrete = self.pilot.discretizer
        confirm = self.request.budget.confirmation
        trained_pair.restart(trained_pair.fitted(first, confirm=confirm, thorough=True, discrete=discrete))
        second = trained_pair.sampler.sides(pair, ("refit", index), min(most, max(1, left - runs)))
        trained_pair.representation = self._representation_event(first, second)
        # Of wide outputs the columns looked at are at hand here, and no whole output.
        self.read = [[], []]
        if not wide:
            halves = zip(first, second, strict=True)
            self.read = [join([outputs[:PLAIN_RUNS] for outputs in side]) for side in halves]
        _compare(trained_pair, second)
        # Scores of the first half are fitted on the second as well, count the first, and are put together.
        again = [one.refit(*second) for one in trained_pair.discretizers]
        for side, outputs in enumerate(first):
            trained_pair.count(side, [tally(one(outputs)) if one else Counter() for one in again])
        some = [[outputs[:JOIN_ROWS] for outputs in half] for half in (first, second)]
        both = zip(trained_pair.discretizers, again, strict=True)
        trained_pair.discretizers = [one.joined(other, *some) if other else one for one, other in both]
        return training - left + runs + len(second[0])

    def reads(self, event: Event, discretizer: Discretizer) -> bool:
        """Say whether no event is easier to read off the outputs than one over the cells of a discretizer."""
        if self.request.coded or not len(self.read[0]):
            return True
        return not discretizer.learned and not is_intricate(discretizer, self.read[0][0]) and is_plain(event)

    def named(self, selected: SelectedEvent) -> SelectedEvent:
        """Return an event over the names of exceptions in the place of one that holds the same training outputs."""
        if self.request.coded:
            return selected
        found = as_exceptions(selected, self.read)
        if found is None:
            return selected
        return exceptions_first(self.trained_pair.best_of(*found))

    def _representation_event(self, first: list[Batch], second: list[Batch]) -> SelectedEvent | None:
        """Return the best event over how floats are stored, on training outputs, or None if there is none to test."""
        request = self.request
        plan = self.pilot.plan
        claim = self.request.claim
        if request.look.float_bits or request.width:
            return None
        test = PlannedTest(request.budget.confirmation, claim.delta, request.gamma)
        (data, neighbour), others = ([outputs[:REPRESENTATION_ROWS] for outputs in half] for half in (first, second))
        found = screened_discretizers(data, neighbour, test.runs, epsilon=claim.epsilon, stored=None, plan=plan)[:1]
        found += support_gap_discretizers(data, neighbour, plan)
        events = [OrderedCells.of(one, (tally(one(others[0])), tally(one(others[1])))).best(test) for one in found]
        best = max(events, key=lambda event: event.expected, default=None)
        if best is None or claim.delta:
            return best
        return replace(best, guesses=(best.alone,))


def _compare(trained_pair: TrainedPair, sides: list[Batch]) -> None:
    """Count the outputs of both sides by the most promising discretizers, and some of them by all.

    A few validation runs say little about the small events that will matter, so those that separate the sides best on
    the whole, by every run, stay in the race too.
    """
    screen = min(SCREEN_ROWS, max(1, len(sides[0]) // 2))
    trained_pair.count_outputs(sides, 0, screen)
    promised = trained_pair.by_promise()
    separating = sorted(range(len(promised)), key=lambda i: -separation(*trained_pair.tallies[i]))
    trained_pair.keep([*promised[:FINALISTS], *separating[:FINALISTS], *trained_pair.refuting_place()])
    trained_pair.count_outputs(sides, screen, len(sides[0]))


def reading_seconds(request: Request, outputs: Batch) -> float:
    """Estimate how many seconds it takes to read the output of a run, apart from its own time; 0 if they are few.

    Scores are fitted on some outputs twice: what more of them take is what they take, without what any number does.
    Long texts take a hundred times as long to read as to make.
    """
    if len(outputs) < 2 * max(READ) or wide_leaves(plan := LeafPlan.of(outputs)):
        return 0.0

    def took(number: int) -> float:
        began = time.perf_counter()
        sides = outputs[:number], outputs[number : 2 * number]
        screened_discretizers(*sides, 1000, epsilon=request.claim.epsilon, stored=False, plan=plan)
        return time.perf_counter() - began

    # The least of two measurements of each: a busy machine makes them longer, and none shorter.
    few, many = (min(took(number) for _ in range(2)) for number in READ)
    seconds = (many - few) / (2 * (READ[1] - READ[0]))
    if seconds <= LEAST_READING:
        return 0.0
    return READING * seconds


# Outputs on either side that show how long outputs take to read.
READ = 1, 3
# The share of the seconds in which scores are fitted on an output that a run takes on the average: a fifth of the
# runs train, and those that confirm are read by a few scores.
READING = 0.3
# Seconds below which the difference of two measurements says little.
LEAST_READING = 1e-3


def _choose(request: Request) -> tuple[Request, Choice]:
    """Make the runs that choose; return what they have fixed, and the request as they leave it.

    The verdict's error is all of 1 - confidence, less `CURVE_SHARE` of it where a curve is asked for.
    Where several events are tested they share it: by the union bound all of their bounds hold but with that error.
    """
    clock = request.clock
    curve_claim = request.curve_claim
    training = Training(request)
    request = training.request
    began = training.began
    trained_pair = training.train()
    budget = request.budget
    seen = (clock.elapsed - began) / (2 * (budget.pilot + budget.training))
    clock.confirm(2 * budget.confirmation, seen)
    if curve_claim is not None:
        main, request = choose_point(request, trained_pair)
    else:
        main = trained_pair.event_to_test()
    selected = [main]
    # One event has all of the verdict's error, but for a claim on orders, of which a bet on all outputs has most.
    shares = [event_share(curve_claim)]
    if curve_claim is None and main.expected <= request.claim.epsilon:
        refuting = trained_pair.refuting_event()
        # An event that was tested twice would have two bounds, each with a part of the error alone.
        if refuting and not main.agrees(refuting):
            selected = [main, refuting]
            shares = [1 - REFUTING_SHARE, REFUTING_SHARE]
    selected = [training.named(one) for one in selected]
    stored = trained_pair.representation
    tested = tuple(selected)
    if stored is not None:
        tested = (*selected, stored)
    return request, Choice(
        index=trained_pair.index,
        pair=trained_pair.pair,
        reducer=trained_pair.reducer,
        selected=tested,
        # How floats are stored is no part of the verdict, and its test has an error of its own.
        shares=(*shares, 1.0),
        stored=stored is not None,
        trained=trained_pair.trained,
        different=max(trained_pair.different, training.pilot.different),
        tried=tuple(discretizer.name for discretizer in trained_pair.tried),
        pilot=training.pilot,
        not_run=training.not_run,
        pairs=training.pairs,
        runs_of=training.runs_of,
        reads=tuple(tuple(training.reads(event, one.discretizer) for event in one.events) for one in selected),
        read=training.read,
    )


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned."""
    request, choice = _choose(request)
    confirmation = Confirmation(request, choice)
    confirmation.run()
    return _finding_of(request, choice, confirmation)


def _finding_of(request: Request, choice: Choice, confirmation: Confirmation) -> PrivacyFinding:
    """Return the finding of an audit, given the choice of its training and its confirming runs."""
    claim = request.claim
    gamma = request.verdict_gamma
    # All but the event over how floats are stored, which comes last.
    selected = choice.selected[: len(choice.reads)]
    main = selected[0]
    fresh = confirmation.runs // 2
    look = confirmation.look
    tested = [(test, i, place) for i in range(len(selected)) for place, test in enumerate(confirmation.tests(i))]
    # All bounds hold at once, as their errors add up to that of the verdict: the greatest may be told.
    best, i, place = max(tested, key=lambda one: one[0].epsilon_lower)
    runs = likelier_first(best.direction, *confirmation.sides)
    # The runs that meet rare events: all of training, or those that features are compared on.
    met = request.budget.training + request.budget.pilot
    if not choice.pilot.sufficient:
        met = min(SCREENED, met // 2)
    hits, trained, *_ = main.hits
    power = Power.of_test((hits + 0.5) / (trained + 1), main.neighbour_mass, met, fresh, claim, look * gamma)
    tested_claim = curve_test(request, main, confirmation.counts[0], best, confirmation.sides, met, look * gamma)
    plain: PlainEvent | UnsetType = UNSET
    if best.epsilon_lower > claim.epsilon and not choice.reads[i][place]:
        plain = choice.plain_event(claim)
    errors = {"verdict": gamma}
    curve = None
    if request.look.curve:
        errors["curve"] = request.gamma - gamma
        curve = _curve_of(main, confirmation.counts[0], look * errors["curve"])
    representation = None
    if choice.stored:
        representation = confirmation.tests(len(selected))[0]
    bound = COIN
    if best.count is UNSET:
        bound = MELDED
    outcome = Outcome(
        refuted=refutes(best.epsilon_lower, claim.epsilon, tested_claim),
        epsilon_lower=best.epsilon_lower,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=choice.pairs,
        compared=1 + power.compared(choice.runs_of, claim),
        events=sum(one.compared for one in selected),
        witness=Witness.of_test(choice.index, choice.pair, best, runs, plain),
        bound=bound,
        distinguisher=selected[i].distinguisher,
        design="fixed",
        budget=asdict(request.budget),
        errors=errors,
        scores=choice.tried,
        tests=tuple(test for test, *_ in tested),
        representation=representation,
        tested_claim=tested_claim,
        curve=curve,
    )
    summed = request.budget.training // 2
    return request.finding(power, confirmation.seen, choice.pilot, summed, choice.not_run, outcome)


def _curve_of(selected: SelectedEvent, counts: Tallies, gamma: float) -> Curve | None:
    """Return the curve over nested events in the order of the selected one, or None if there is only one atom."""
    atoms = selected.ranking
    if len(atoms) < 2:
        return None
    sides = map(selected.event.with_rare_merged, selected.training)
    data, neighbour = ([side[atom] for atom in atoms] for side in sides)
    cuts = choose_thresholds(data, neighbour)
    hits, others = (np.cumsum([side[atom] for atom in atoms])[cuts - 1] for side in counts)
    return fit_curve(hits, counts[0].total(), others, counts[1].total(), gamma)
