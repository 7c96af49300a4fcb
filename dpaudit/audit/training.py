"""Train on the pair found: fit scores, keep those that promise most, count the cells of the remaining runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dpaudit.audit.candidate import Candidate, by_promise, refuting_event
from dpaudit.audit.reduction import reduce_outputs
from dpaudit.audit.representation import representation_event
from dpaudit.audit.request import Request
from dpaudit.audit.runs import PilotRuns, count_runs
from dpaudit.events.batches import join
from dpaudit.events.fitting import fitted_discretizers
from dpaudit.events.histogram import separation, tally

__all__ = ["train"]

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
            _keep_best(request, candidate)
        count_runs(request, [candidate], left)
    return candidate


def _keep_best(request: Request, candidate: Candidate) -> None:
    """Drop all discretizers but those that promise most, and the one whose event may refute the claim."""
    kept = by_promise(request, candidate, careful=True)[:LAST]
    kept += _refuting(request, candidate)
    candidate.keep(list(dict.fromkeys(kept)))


def _refuting(request: Request, candidate: Candidate) -> list[int]:
    """Return the place of the discretizer whose event is the likeliest to refute the claim; none where none could."""
    event = refuting_event(request, candidate)
    return [i for i, one in enumerate(candidate.discretizers) if event is not None and one is event.discretizer]


def _fit(request: Request, looked: PilotRuns, candidate: Candidate, pilot: list[Any], training: int) -> int:
    """Fit all scores on one half of the training runs, count the other half; return the runs used.

    Those that do best are then fitted on the other half as well and count the first one, so that every run is news
    to the score that places it, and none only fits. Both scores estimate the same log-likelihood ratio, so they
    share their bins; their mean, which is better than either, is what confirms. Where outputs are wide, half of all
    runs tell before that which of their columns to look at.
    """
    pair, index = candidate.pair, candidate.index
    candidate.sampler, used, reducer = looked.sampler, 0, None
    if request.wide:
        reducer, used = reduce_outputs(candidate, training, pilot)
        pilot = []  # they have chosen the columns
    sampler, left = candidate.sampler, training - used
    most = max(1, min(FIT_ROWS, FIT_NUMBERS // (1 if request.wide else looked.sampler.numbers)))
    runs = min(most, max(1, left // 2))
    first = _with(pilot, sampler.sides(pair, ("fit", index), runs))
    candidate.restart(
        fitted_discretizers(
            *first,
            thorough=True,
            float_bits=request.options.float_bits,
            discrete=None if request.wide else looked.pilot.discretizer,
            reducer=reducer,
            confirm=request.budget.confirmation,
            epsilon=request.claim.epsilon,
        )
    )
    second = sampler.sides(pair, ("refit", index), min(most, max(1, left - runs)))
    candidate.representation = representation_event(request, looked.pilot.plan, first, second)
    _compare(request, candidate, second)
    _refit(candidate, first, second)
    return used + runs + len(second[0])


def _with(pilot: list[Any], sides: list[Any]) -> list[Any]:
    """Return the pilot's outputs, if there are any, and those of both sides together."""
    return [join(batches) for batches in zip(pilot, sides, strict=True)] if pilot else sides


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
    kept = [*promised[:FINALISTS], *separating[:FINALISTS]]
    kept += _refuting(request, candidate)
    candidate.keep(list(dict.fromkeys(kept)))
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
