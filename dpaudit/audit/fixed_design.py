"""Audit by a fixed number of runs: choose a pair and events on some, confirm the events on fresh ones.

The pilot shows what outputs look like. Of several pairs successive halving finds the most promising one, and a local
search varies it. On that pair scores are fitted, those that promise most are kept, and their cells are counted.

How floats are stored is looked at beside the verdict, which speaks of their values. Noise added in floating point leaks
through the bits of the sum whatever its scale: a sum lies on a coarser grid than a draw, and gaps in what a sampler
can return lie elsewhere around another centre. An event over these bits is chosen on training runs and tested on the
runs that confirm, with an error of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

import numpy as np
from msgspec import UNSET

from dpaudit.audit.candidate import Candidate, promise
from dpaudit.audit.confirmation import Confirmation
from dpaudit.audit.curve_claims import choose_point, curve_test, event_share
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.audit.power import REFUTING_SHARE, Power
from dpaudit.audit.request import Request
from dpaudit.audit.tested import COIN, MELDED
from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.events.cells import separation, tally
from dpaudit.events.discretizers import CountCells, Pilot
from dpaudit.events.event import Tally
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.families import likelier_first
from dpaudit.events.feature_screening.featured import screened_discretizers, support_gap_discretizers
from dpaudit.events.feature_screening.search import ROWS as SCREENED
from dpaudit.events.selection import CellFamilies, Selection
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import Job, held_runs, knowing, learned_reducer, placing_runs

Tallies = tuple[Tally, Tally]

PILOT_PAIRS = 8
"""The most pairs that the pilot's runs are spread over."""
QUICK_ROWS = 10_000
"""The most runs a side that a quick fit takes: it has only to rank pairs."""
LOCAL_ROUNDS = 3
"""Rounds in which the best pair meets variations of itself: of more of them each would have fewer runs."""
LOCAL_PHASE = 100
"""The first local round's part of the address, above that of any round of halving: the best so far gets fresh runs."""
REPRESENTATION_ROWS = 10_000
"""Runs a side that choose the event over the bits: they leak outright or hardly at all."""
FIT_ROWS = 250_000
"""Runs a side of each half that scores are fitted on: the ratio in each of 64 bins then errs by 2 %."""
FIT_NUMBERS = 8_000_000
"""Numbers a side of each half that are held in memory: outputs of more than 32 numbers get fewer rows."""
SCREEN_ROWS = 50_000
"""Runs a side that all discretizers count; those that do not do well are spared the rest."""
JOIN_ROWS = 125_000
"""Runs a side of each half that say where the bins of a mean of two scores are."""
FINALISTS = 3
"""Discretizers that are kept by either criterion after that, for the difference between the best few is luck."""
LAST = 2
"""Discretizers that runs beyond those of the fit are spent on."""


class Training:
    """The choice of a pair, and of the discretizers whose events promise most on it.

    Its `request` knows from the `pilot` how wide outputs are; the search has tried so many `pairs`, and has `compared`
    so many events to find the best one.
    """

    def __init__(self, request: Request) -> None:
        """Look at some outputs of a few pairs; one run a side of the first pair shows how many numbers they hold."""
        pairs = request.pairs
        some = range(0, len(pairs), -(-len(pairs) // PILOT_PAIRS))
        first = request.sampler.sides(pairs[0], ("peek",), 1)
        sampler = knowing(request.sampler, first)
        runs = min(request.budget.pilot // len(some), held_runs(sampler))
        self._sides = {i: sampler.sides(pairs[i], ("pilot", i), runs - int(i == 0)) for i in some}
        rest = self._sides[0]  # of a pilot of one run nothing
        self._sides[0] = [join(batches) for batches in zip(first, rest, strict=True)] if rest else first
        self.pilot = Pilot.of(join([side for sides in self._sides.values() for side in sides]))
        self.request = replace(request, sampler=sampler, width=self.pilot.width)
        self.pairs, self.compared = len(pairs), 0

    def search(self) -> Candidate:
        """Return the most promising pair.

        In each of ceil(log2 pairs) rounds the surviving pairs share an equal part of the halving budget, and the half
        with the greater expected bound survives. Then, if variations of a pair are proposed, three rounds compare the
        best so far with them on equally many fresh runs.
        """
        request, budget, shared = self.request, self.request.budget, self.pilot.shared
        alive = [Candidate(request, i, pair, shared) for i, pair in enumerate(request.pairs)]
        rounds = math.ceil(math.log2(len(alive)))
        for _ in range(rounds):
            ranked = self._ranked(alive, budget.halving // (rounds * len(alive)))
            alive = ranked[: (len(alive) + 1) // 2]
        (winner,) = alive
        for step in range(LOCAL_ROUNDS if budget.local else 0):
            nearby = request.moves(winner.pair, step) if request.moves else []
            numbered = [(winner.index, winner.pair), *enumerate(nearby, self.pairs)]
            rivals = [Candidate(request, i, pair, shared, LOCAL_PHASE + step) for i, pair in numbered]
            winner, *_ = self._ranked(rivals, budget.local // (LOCAL_ROUNDS * len(rivals)))
            self.pairs += len(nearby)
        return winner

    def _ranked(self, candidates: Sequence[Candidate], runs: int) -> list[Candidate]:
        """Return the candidates after more runs, the most promising first.

        Where none promises anything, one whose outputs vary comes before a constant one, which could show nothing.
        """
        _count_runs(candidates, runs)
        events = [max(candidate.events(), key=promise) for candidate in candidates]
        self.compared += sum(event.compared for event in events)

        def rank(i: int) -> tuple[float, bool, float, int]:
            expected = events[i].expected
            return -max(expected, 0.0), candidates[i].different == 0, -expected, candidates[i].index

        return [candidates[i] for i in sorted(range(len(events)), key=rank)]

    def train(self, candidate: Candidate) -> None:
        """Count the training runs of the pair chosen; first fit scores, if the pilot's cells do not suffice.

        The pilot's own runs on the pair are counted, or fitted on, as well.
        """
        # Variations of a pair have indices of their own, which the pilot did not look at.
        left, pilot = self.request.budget.training, self._sides.get(candidate.index, [])
        if not self.pilot.sufficient:
            left -= self._fit(candidate, pilot, left)
        elif pilot:
            candidate.count_outputs(pilot, 0, len(pilot[0]))
        if left > 0:
            if len(candidate.discretizers) > LAST:
                candidate.keep([*candidate.by_promise(careful=True)[:LAST], *candidate.refuting_place()])
            _count_runs([candidate], left)

    def _fit(self, candidate: Candidate, pilot: list[Any], training: int) -> int:
        """Fit all scores on one half of the training runs, count the other half; return the runs used.

        Those that do best are then fitted on the other half as well and count the first one (two-fold cross-fitting: no
        run is scored by a model fitted on it). Both scores estimate the same log-likelihood ratio, so they share their
        bins; their mean, which is better than either, is what confirms. Where outputs are wide, half of all runs first
        choose the columns to look at.
        """
        pair, index, wide = candidate.pair, candidate.index, self.request.width > 0
        left, most = training, max(1, FIT_ROWS if wide else min(FIT_ROWS, FIT_NUMBERS // self.request.sampler.numbers))
        if wide:
            left -= _reduce(candidate, training, pilot)
            pilot = []  # they have chosen the columns
        runs = min(most, max(1, left // 2))
        first = candidate.sampler.sides(pair, ("fit", index), runs)
        if pilot:
            first = [join(batches) for batches in zip(pilot, first, strict=True)]
        discrete = None if wide else self.pilot.discretizer
        confirm = self.request.budget.confirmation
        candidate.restart(candidate.fitted(first, confirm=confirm, thorough=True, discrete=discrete))
        second = candidate.sampler.sides(pair, ("refit", index), min(most, max(1, left - runs)))
        candidate.representation = self._representation_event(first, second)
        _compare(candidate, second)
        _refit(candidate, first, second)
        return training - left + runs + len(second[0])

    def _representation_event(self, first: list[Any], second: list[Any]) -> Selection | None:
        """Return the best event over how floats are stored; None where outputs hold none, or where bits count anyway.

        On the `first` training outputs of both sides the features are compared, on the `second` the cells are counted.
        """
        request, plan = self.request, self.pilot.plan
        if request.options.float_bits or request.width:
            return None
        runs, claim = request.budget.confirmation, request.claim
        (data, neighbour), others = ([outputs[:REPRESENTATION_ROWS] for outputs in half] for half in (first, second))
        found = screened_discretizers(data, neighbour, runs, epsilon=claim.epsilon, stored=None, plan=plan)[:1]
        found += support_gap_discretizers(data, neighbour, plan)
        test = PlannedTest(runs, claim.delta, request.gamma)
        events = [CellFamilies.of(one, (tally(one(others[0])), tally(one(others[1])))).best(test) for one in found]
        best = max(events, key=lambda event: event.expected, default=None)
        return best if best is None or claim.delta else replace(best, guesses=(best.alone,))


def _count_runs(candidates: Sequence[Candidate], runs: int) -> None:
    """Add runs on each side to each candidate's counts; where one has no discretizers, half of them fit quick ones."""
    work: list[tuple[tuple[Job, Job], Candidate, bool]] = []
    for candidate in candidates:
        counted = runs if candidate.discretizers else runs - _fit_quickly(candidate, min(QUICK_ROWS, max(1, runs // 2)))
        addresses = [("select", candidate.index, side, candidate.phase) for side in (0, 1)]
        for couple in candidate.sampler.couples(candidate.pair, addresses, max(1, counted)):
            slowly = [candidate.take_slowly(side, job.size) for side, job in enumerate(couple)]
            work.append((couple, candidate, all(slowly)))
        candidate.phase += 1
    # Jobs of candidates that share their discretizers run together, so that no worker waits.
    for (_, slow), group in groupby(work, key=lambda one: (id(one[1].discretizers), one[2])):
        couples, owners, _ = zip(*group, strict=True)
        counts = owners[0].sampler.reduced(couples, CountCells(tuple(owners[0].discretizers), slow))
        for candidate, sides in zip(owners, counts, strict=True):
            for side, tallies in enumerate(sides):
                candidate.count(side, tallies)


def _fit_quickly(candidate: Candidate, runs: int) -> int:
    """Fit quick scores on so many runs, and return their number; of wide outputs half of them first choose columns."""
    left = max(1, runs - _reduce(candidate, runs, [])) if candidate.request.width else runs
    sides = candidate.sampler.sides(candidate.pair, ("quick", candidate.index), left)
    candidate.restart(candidate.fitted(sides, confirm=candidate.request.budget.confirmation, thorough=False))
    return runs


def _reduce(candidate: Candidate, training: int, pilot: list[Any]) -> int:
    """Let half of the training runs choose the columns that a candidate looks at; return the runs made on each side.

    A pilot's outputs, beside these runs, say what the leaves are and about where, and are summed up too.
    """
    sampler, pair, index = candidate.request.sampler, candidate.pair, candidate.index
    if pilot:
        first, placing, runs = pilot, 0, max(0, (training - len(pilot[0])) // 2)
    else:
        placing = placing_runs(sampler, training)
        first, runs = sampler.sides(pair, ("place", index), placing), max(0, training // 2 - placing)
    candidate.reducer = learned_reducer(sampler, pair, first, ("reduce", index, candidate.phase), runs)
    return placing + runs


def _compare(candidate: Candidate, sides: list[Any]) -> None:
    """Count the outputs of both sides by the most promising discretizers, and some of them by all.

    They are the best by the bound they promise, and by how far they separate the sides on the whole. A few validation
    runs say little about the small events that will matter, so the second criterion, which uses every run, keeps weak
    signals in the race.
    """
    screen = min(SCREEN_ROWS, max(1, len(sides[0]) // 2))
    candidate.count_outputs(sides, 0, screen)
    promised = candidate.by_promise()
    separating = sorted(range(len(promised)), key=lambda i: -separation(*candidate.tallies[i]))
    candidate.keep([*promised[:FINALISTS], *separating[:FINALISTS], *candidate.refuting_place()])
    candidate.count_outputs(sides, screen, len(sides[0]))


def _refit(candidate: Candidate, first: list[Any], second: list[Any]) -> None:
    """Fit the scores of the first half on the second as well, count the first, and put each two scores together."""
    again = [one.refit(*second) for one in candidate.discretizers]
    for side, outputs in enumerate(first):
        candidate.count(side, [tally(one(outputs)) if one else Counter() for one in again])
    some = [[outputs[:JOIN_ROWS] for outputs in half] for half in (first, second)]
    candidate.discretizers = [
        one.joined(other, *some) if other else one for one, other in zip(candidate.discretizers, again, strict=True)
    ]


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned.

    The verdict's error is all of 1 - confidence, less `CURVE_SHARE` of it where a curve is asked for.
    Where several events are tested they share it: by the union bound all of their bounds hold but with that error.
    """
    training = Training(request)
    candidate = training.search()
    training.train(candidate)
    curve_claim, gamma = request.curve_claim, request.verdict_gamma
    if curve_claim is not None:
        main, training.request = choose_point(training.request, candidate)
    else:
        main = candidate.event_to_test()
    request, claim = training.request, training.request.claim
    selected, shares = [main], [event_share(curve_claim)]
    if curve_claim is None and main.expected <= claim.epsilon:
        refuting = candidate.refuting_event()
        # An event that was tested twice would have two bounds, each with a part of the error alone.
        if refuting and not main.agrees(refuting):
            selected, shares = [main, refuting], [1 - REFUTING_SHARE, REFUTING_SHARE]
    stored = candidate.representation
    shown = Confirmation(request, candidate, [*selected, stored] if stored else selected, [*shares, 1.0])
    tested = [(test, one) for i, one in enumerate(selected) for test in shown.tests(i)]
    best, chosen = max(tested, key=lambda one: one[0].epsilon_lower)
    fresh, look = shown.runs // 2, shown.look
    trials, other_trials = likelier_first(best.direction, *shown.sides)
    power = _power(training, main, fresh, look * gamma)
    tested_claim = curve_test(request, main, shown.counts[0], best, shown.sides, power, look * gamma)
    errors = {"verdict": gamma} | ({"curve": request.gamma - gamma} if request.options.curve else {})
    counted = {name: getattr(best, name) for name in ("hits", "neighbour_hits", "opposite", "count")}
    counted |= {"trials": trials, "neighbour_trials": other_trials}
    return request.finding(
        power,
        shown.seen,
        training.pilot,
        request.budget.training // 2,
        refuted=best.epsilon_lower > claim.epsilon or (tested_claim is not None and tested_claim.by_holder),
        epsilon_lower=best.epsilon_lower,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=training.pairs,
        events=training.compared + sum(one.compared for one in selected),
        witness=Witness.of(candidate.index, candidate.pair, best.direction, best.event, **counted),
        bound=MELDED if best.count is UNSET else COIN,
        distinguisher=chosen.distinguisher,
        design="fixed",
        budget=asdict(request.budget),
        errors=errors,
        scores=tuple(discretizer.name for discretizer in candidate.tried),
        tests=tuple(test for test, _ in tested),
        representation=shown.tests(len(selected))[0] if stored else None,
        tested_claim=tested_claim or UNSET,
        curve=_curve_of(main, shown.counts[0], look * errors["curve"]) if request.options.curve else None,
    )


def _curve_of(selected: Selection, counts: Tallies, gamma: float) -> Curve | None:
    """Return the curve over nested events in the order of the selected one; None where there is one atom only."""
    atoms = selected.ranking
    if len(atoms) < 2:
        return None
    training = (selected.event.known(side) for side in selected.training)
    data, neighbour = ([side[atom] for atom in atoms] for side in training)
    cuts = choose_thresholds(data, neighbour)
    hits, others = (np.cumsum([side[atom] for atom in atoms])[cuts - 1] for side in counts)
    return fit_curve(hits, counts[0].total(), others, counts[1].total(), gamma)


def _power(training: Training, main: Selection, runs: int, gamma: float) -> Power:
    """Return the power of so many confirming runs a side, at error `gamma`, for an event as likely as the main one."""
    request, budget = training.request, training.request.budget
    # The runs that meet rare events: all of training, or those that features are compared on.
    met = budget.training + (budget.pilot if len(request.pairs) == 1 else 0)
    met = met if training.pilot.sufficient else min(SCREENED, met // 2)
    hits, trained, *_ = main.hits
    return Power.of_test((hits + 0.5) / (trained + 1), main.neighbour_mass, met, runs, request.claim, gamma)
