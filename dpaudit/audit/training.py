"""Make the runs that choose: look at a few outputs, search the pair, and train on it.

The pilot shows what outputs look like. Of several pairs successive halving finds the most promising one, and a local
search varies it. On that pair scores are fitted, those that promise most are kept, and their cells are counted.

How floats are stored is looked at beside the verdict, which speaks of their values. Noise added in floating point leaks
through the bits of the sum whatever its scale: a sum lies on a coarser grid than a draw, and holes in what a sampler
can return lie elsewhere around another centre. An event over these bits is chosen on training runs and tested on the
runs that confirm, with an error of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from dpaudit.audit.candidate import Candidate, best_event, by_promise, refuting_event
from dpaudit.audit.request import Request
from dpaudit.events.cells import separation, tally
from dpaudit.events.discretizers import CountCells, Discretizer, Pilot
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.feature_screening.featured import hole_discretizers, screened_discretizers
from dpaudit.events.fitting import fitted_discretizers
from dpaudit.events.selection import CellFamilies, SelectedEvent
from dpaudit.events.wide import Reducer, least_dense_shift, least_shift
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import Job, held_runs, knowing, learned_reducer, placing_runs

__all__ = [
    "ROWS",
    "PilotRuns",
    "count_runs",
    "reduce_outputs",
    "representation_event",
    "run_pilot",
    "search",
    "train",
    "wide_limits",
]

TOLD_SHIFT = 3.0
"""Standard deviations: where all weaker shifts of all numbers of a row escape, the finding says so."""


def reduce_outputs(candidate: Candidate, training: int, pilot: list[Any] | None = None) -> tuple[Reducer, int]:
    """Sum up half of the training runs; from then on the candidate sees the columns that differ most.

    Parameters
    ----------
    candidate : Candidate
        The pair; its sampler is replaced.
    training : int
        Training runs on each side; those summed up must not choose anything else.
    pilot : list of two batches, optional
        Outputs of both sides, beside these runs, which say what the leaves are and about where, and are summed up too.

    Returns
    -------
    reducer : Reducer
        The map to those columns.
    runs : int
        The runs made on each side.
    """
    if pilot:
        first, placing, runs = pilot, 0, max(0, (training - len(pilot[0])) // 2)
    else:
        placing = placing_runs(candidate.sampler, training)
        first = candidate.sampler.sides(candidate.pair, ("place", candidate.index), placing)
        runs = max(0, training // 2 - placing)
    address = ("reduce", candidate.index, candidate.phase)
    reducer = learned_reducer(candidate.sampler, candidate.pair, first, address, runs)
    candidate.sampler = replace(candidate.sampler, view=reducer)
    return reducer, placing + runs


def wide_limits(width: int, runs: int) -> tuple[str, ...]:
    """Return what `runs` runs a side cannot learn of rows of so many numbers; nothing where it is little.

    Width 0 stands for outputs that are not wide.
    """
    dense = least_dense_shift(width, runs) if width else 0.0
    if dense < TOLD_SHIFT:
        return ()
    return (
        f"outputs hold rows of {width} numbers: {runs} runs a side can learn a shift of one number by "
        f"{least_shift(width, runs):.2g} standard deviations, and one of all numbers by unknown signs only if it is "
        f"{dense:.2g} or more in all (Mahalanobis distance)",
    )


PILOT_PAIRS = 8
"""The most pairs that the pilot's runs are spread over."""
QUICK_ROWS = 10_000
"""The most runs a side that a quick fit takes: it has only to rank pairs."""


@dataclass(frozen=True)
class PilotRuns:
    """The pilot's outputs, and what they suggest.

    Attributes
    ----------
    pilot : Pilot
        What they suggest.
    sides : mapping
        The outputs of both sides by the index of their pair.
    """

    pilot: Pilot
    sides: Mapping[int, list[Any]]


def run_pilot(request: Request) -> tuple[Request, PilotRuns]:
    """Look at some outputs of a few pairs; one run a side of the first pair shows how many numbers they hold.

    The request that is returned knows how wide outputs are.
    """
    some = range(0, len(request.pairs), -(-len(request.pairs) // PILOT_PAIRS))
    first = request.sampler.sides(request.pairs[0], ("peek",), 1)
    sampler = knowing(request.sampler, first)
    runs = min(request.budget.pilot // len(some), held_runs(sampler))
    sides = {i: sampler.sides(request.pairs[i], ("pilot", i), runs - int(i == 0)) for i in some}
    sides[0] = [join(batches) for batches in zip(first, sides[0], strict=True)]
    pilot = Pilot.of(join([side for pair in sides.values() for side in pair]))
    return replace(request, sampler=sampler, width=pilot.width), PilotRuns(pilot, sides)


def count_runs(request: Request, candidates: Sequence[Candidate], runs: int) -> None:
    """Add runs on each side to each candidate's counts; where one has no discretizers, half of them fit quick ones."""
    work: list[tuple[Job, Candidate, int, bool]] = []
    for candidate in candidates:
        counted = runs
        if not candidate.discretizers:
            fitted = min(QUICK_ROWS, max(1, runs // 2))
            _fit_quickly(request, candidate, fitted)
            counted -= fitted
        for side, data in enumerate(candidate.pair.sides):
            chunks = candidate.sampler.jobs(data, ("select", candidate.index, side, candidate.phase), max(1, counted))
            work += [(job, candidate, side, candidate.take_slowly(side, job.size)) for job in chunks]
        candidate.phase += 1
    # Jobs of candidates that share their discretizers run together, so that no worker waits.
    for (_, slow), group in groupby(work, key=lambda one: (id(one[1].discretizers), one[3])):
        jobs, owners, sides, _ = zip(*group, strict=True)
        counts = owners[0].sampler.reduced(jobs, CountCells(tuple(owners[0].discretizers), slow))
        for candidate, side, tallies in zip(owners, sides, counts, strict=True):
            candidate.count(side, tallies)


def _fit_quickly(request: Request, candidate: Candidate, runs: int) -> None:
    """Fit quick scores on some runs; of wide outputs half of them first choose the columns to look at."""
    reducer = None
    if request.width:
        reducer, used = reduce_outputs(candidate, runs)
        runs = max(1, runs - used)
    sides = candidate.sampler.sides(candidate.pair, ("quick", candidate.index), runs)
    candidate.restart(_fitted(request, sides, reducer, thorough=False))


def _fitted(
    request: Request, sides: list[Any], reducer: Reducer | None, *, thorough: bool, discrete: Discretizer | None = None
) -> list[Discretizer]:
    """Return the discretizers that the outputs of both sides suggest."""
    return fitted_discretizers(
        *sides,
        thorough=thorough,
        float_bits=request.options.float_bits,
        discrete=discrete,
        reducer=reducer,
        confirm=request.budget.confirmation,
        epsilon=request.claim.epsilon,
    )


LOCAL_ROUNDS = 3
"""Rounds in which the best pair meets variations of itself: of more of them each would have fewer runs."""
LOCAL_PHASE = 100
"""The first local round's part of the address, above that of any round of halving: the best so far gets fresh runs."""


def search(request: Request, looked: PilotRuns) -> tuple[Candidate, int, int]:
    """Return the most promising pair, how many pairs were tried, and how many events were compared to find it.

    In each of ceil(log2 pairs) rounds the surviving pairs share an equal part of the halving budget, and the half with
    the greater expected bound survives. Then, if variations of a pair are proposed, three rounds compare the best so
    far with them on equally many fresh runs.
    """
    budget, shared = request.budget, looked.pilot.shared
    alive = [Candidate(i, pair, shared, request.sampler) for i, pair in enumerate(request.pairs)]
    compared, pairs = 0, len(alive)
    rounds = math.ceil(math.log2(pairs))
    for _ in range(rounds):
        ranked, more = _ranked(request, alive, budget.halving // (rounds * len(alive)))
        alive, compared = ranked[: (len(alive) + 1) // 2], compared + more
    (winner,) = alive
    for step in range(LOCAL_ROUNDS if budget.local else 0):
        nearby = request.moves(winner.pair, step) if request.moves else []
        numbered = [(winner.index, winner.pair), *enumerate(nearby, pairs)]
        rivals = [Candidate(i, pair, shared, request.sampler, LOCAL_PHASE + step) for i, pair in numbered]
        (winner, *_), more = _ranked(request, rivals, budget.local // (LOCAL_ROUNDS * len(rivals)))
        compared, pairs = compared + more, pairs + len(nearby)
    return winner, pairs, compared


def _ranked(request: Request, candidates: Sequence[Candidate], runs: int) -> tuple[list[Candidate], int]:
    """Return the candidates after more runs, the most promising first, and how many events were compared.

    Where none promises anything, one whose outputs vary comes before a constant one, which could show nothing.
    """
    count_runs(request, candidates, runs)
    events = [best_event(request, candidate) for candidate in candidates]

    def rank(i: int) -> tuple[float, bool, float, int]:
        expected = events[i].expected
        return -max(expected, 0.0), not candidates[i].varies, -expected, candidates[i].index

    order = sorted(range(len(events)), key=rank)
    return [candidates[i] for i in order], sum(event.compared for event in events)


ROWS = 10_000
"""Runs a side that choose the event over the bits: they leak outright or hardly at all."""


def representation_event(request: Request, plan: LeafPlan, first: list[Any], second: list[Any]) -> SelectedEvent | None:
    """Return the best event over how floats are stored; None where outputs hold none, or where bits count anyway.

    Parameters
    ----------
    request : Request
        The audit.
    plan : LeafPlan
        The leaves of the outputs.
    first, second : list of two batches
        Training outputs of both sides: of the first the features are compared, on the second the cells counted.
    """
    if request.options.float_bits or request.width:
        return None
    runs, claim = request.budget.confirmation, request.claim
    (data, neighbour), others = ([outputs[:ROWS] for outputs in half] for half in (first, second))
    found = screened_discretizers(data, neighbour, runs, epsilon=claim.epsilon, stored=None, plan=plan)[:1]
    found += hole_discretizers(data, neighbour, plan)
    test = PlannedTest(runs, claim.delta, request.gamma)
    events = [CellFamilies.of(one, (tally(one(others[0])), tally(one(others[1])))).best(test) for one in found]
    return max(events, key=lambda event: event.expected, default=None)


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


def train(request: Request, looked: PilotRuns, candidate: Candidate) -> Candidate:
    """Return the candidate with the training runs counted; first fit scores, if the pilot's cells do not suffice.

    The pilot's own runs on the pair are counted, or fitted on, as well.
    """
    # Variations of a pair have indices of their own, which the pilot did not look at.
    left, pilot = request.budget.training, looked.sides.get(candidate.index, [])
    if looked.pilot.sufficient:
        if pilot:
            candidate.count_outputs(pilot, 0, len(pilot[0]))
    else:
        left -= _fit(request, looked, candidate, pilot, left)
    if left > 0:
        if len(candidate.discretizers) > LAST:
            candidate.keep([*by_promise(request, candidate, careful=True)[:LAST], *_refuting(request, candidate)])
        count_runs(request, [candidate], left)
    return candidate


def _refuting(request: Request, candidate: Candidate) -> list[int]:
    """Return the place of the discretizer whose event is the likeliest to refute the claim; none where none could."""
    event = refuting_event(request, candidate)
    return [i for i, one in enumerate(candidate.discretizers) if event is not None and one is event.discretizer]


def _fit(request: Request, looked: PilotRuns, candidate: Candidate, pilot: list[Any], training: int) -> int:
    """Fit all scores on one half of the training runs, count the other half; return the runs used.

    Those that do best are then fitted on the other half as well and count the first one, so that every run is news
    to the score that places it, and none only fits. Both scores estimate the same log-likelihood ratio, so they
    share their bins; their mean, which is better than either, is what confirms. Where outputs are wide, half of all
    runs first choose the columns to look at.
    """
    pair, index = candidate.pair, candidate.index
    candidate.sampler, used, reducer = request.sampler, 0, None
    if request.width:
        reducer, used = reduce_outputs(candidate, training, pilot)
        pilot = []  # they have chosen the columns
    sampler, left = candidate.sampler, training - used
    most = max(1, min(FIT_ROWS, FIT_NUMBERS // (1 if request.width else request.sampler.numbers)))
    runs = min(most, max(1, left // 2))
    first = sampler.sides(pair, ("fit", index), runs)
    if pilot:
        first = [join(batches) for batches in zip(pilot, first, strict=True)]
    discrete = None if request.width else looked.pilot.discretizer
    candidate.restart(_fitted(request, first, reducer, thorough=True, discrete=discrete))
    second = sampler.sides(pair, ("refit", index), min(most, max(1, left - runs)))
    candidate.representation = representation_event(request, looked.pilot.plan, first, second)
    _compare(request, candidate, second)
    _refit(candidate, first, second)
    return used + runs + len(second[0])


def _compare(request: Request, candidate: Candidate, sides: list[Any]) -> None:
    """Count the outputs of both sides by the most promising discretizers, and some of them by all.

    They are the best by the bound they promise, and by how far they separate the sides on the whole. A few validation
    runs say little about the small events that will matter, so the second criterion, which uses every run, keeps weak
    signals in the race.
    """
    screen = min(SCREEN_ROWS, max(1, len(sides[0]) // 2))
    candidate.count_outputs(sides, 0, screen)
    promised = by_promise(request, candidate)
    separating = sorted(range(len(promised)), key=lambda i: -separation(*candidate.tallies[i]))
    candidate.keep([*promised[:FINALISTS], *separating[:FINALISTS], *_refuting(request, candidate)])
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
