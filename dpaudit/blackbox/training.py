"""Training on the pair found: fitting scores, keeping those that promise most, counting the cells of the rest."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dpaudit.blackbox.candidate import Candidate, events_of, promise
from dpaudit.blackbox.request import Request
from dpaudit.blackbox.runs import count_runs
from dpaudit.distinguish.columns import Flattener
from dpaudit.distinguish.discretizers import Discretizer
from dpaudit.distinguish.fitting import fitted_discretizers
from dpaudit.distinguish.histogram import separation, tally
from dpaudit.distinguish.pilot import Pilot

__all__ = ["train"]

FIT_ROWS = 250_000
FIT_NUMBERS = 8_000_000
"""Numbers a side of each half that are held in memory: outputs of more than 32 numbers get fewer rows."""
WIDTH_ROWS = 16
SCREEN_ROWS = 50_000
JOIN_ROWS = 125_000
"""Runs a side of each half that say where the bins of a mean of two scores are."""
FINALISTS = 3
LAST = 2
"""Discretizers that runs beyond those of the fit are spent on."""


def train(request: Request, pilot: Pilot, candidate: Candidate) -> Candidate:
    """Return the candidate with the training runs counted; first fit scores, if the pilot's cells do not suffice."""
    left = request.budget.training
    if not pilot.sufficient:
        left -= _fit(request, pilot.discretizer, candidate, left)
    if left > 0:
        if len(candidate.discretizers) > LAST:
            candidate.keep(_most_promising(request, candidate, careful=True)[:LAST])
        count_runs(request, [candidate], left)
    return candidate


def _fit(request: Request, discrete: Discretizer | None, candidate: Candidate, training: int) -> int:
    """Fit all scores on one half of the training runs, count the other half; return the runs used.

    Those that do best are then fitted on the other half as well and count the first one, so that every run is news
    to the score that places it, and none only fits. Both scores estimate the same log-likelihood ratio, so they
    share their bins; their mean, which is better than either, is what confirms.
    """
    pair, index, sampler = candidate.pair, candidate.index, request.sampler
    width = Flattener.fit([sampler.outputs(pair.data, ("width", index, 0), WIDTH_ROWS)]).scalars
    most = max(1, min(FIT_ROWS, FIT_NUMBERS // max(1, width)))
    runs = min(most, max(1, training // 2))
    first = sampler.sides(pair, ("fit", index), runs)
    candidate.restart(
        fitted_discretizers(
            *first,
            thorough=True,
            float_bits=request.float_bits,
            discrete=discrete,
            confirm=request.budget.confirmation,
            epsilon=request.claim.epsilon,
        )
    )
    second = sampler.sides(pair, ("refit", index), min(most, max(1, training - runs)))
    _compare(request, candidate, second)
    _refit(candidate, first, second)
    return runs + len(second[0])


def _compare(request: Request, candidate: Candidate, sides: list[Any]) -> None:
    """Count the outputs of both sides by the most promising discretizers, and some of them by all.

    They are the best by the bound they promise, and by how far they separate the sides on the whole. A few validation
    runs say little about the small events that will matter, so the second criterion, which uses every run, keeps weak
    signals in the race.
    """
    screen = min(SCREEN_ROWS, max(1, len(sides[0]) // 2))
    candidate.count_outputs(sides, 0, screen)
    promised = _most_promising(request, candidate, careful=False)
    separating = sorted(range(len(promised)), key=lambda i: -separation(*candidate.tallies[i]))
    candidate.keep(list(dict.fromkeys([*promised[:FINALISTS], *separating[:FINALISTS]])))
    candidate.count_outputs(sides, screen, len(sides[0]))


def _most_promising(request: Request, candidate: Candidate, *, careful: bool) -> list[int]:
    """Return the places of the candidate's discretizers, the most promising first."""
    promises = [promise(event) for event in events_of(request, candidate, careful=careful)]
    return sorted(range(len(promises)), key=lambda i: promises[i], reverse=True)


def _refit(candidate: Candidate, first: list[Any], second: list[Any]) -> None:
    """Fit the scores of the first half on the second as well, count the first, and put each two scores together."""
    again = [one.refit(*second) for one in candidate.discretizers]
    for side, outputs in enumerate(first):
        candidate.count(side, [tally(one(outputs)) if one else Counter() for one in again])
    some = [[outputs[:JOIN_ROWS] for outputs in half] for half in (first, second)]
    candidate.discretizers = [
        one.joined(other, *some) if other else one for one, other in zip(candidate.discretizers, again, strict=True)
    ]
