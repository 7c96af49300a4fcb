"""Confirm the selected events on fresh runs: count them, bound epsilon by each, and fit the curve."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.blackbox.candidate import Candidate
from dpaudit.blackbox.evidence import Observations, different
from dpaudit.blackbox.finding import EventTest
from dpaudit.blackbox.request import Request
from dpaudit.bounds.curve import Curve, fit_curve
from dpaudit.bounds.thresholds import choose_thresholds
from dpaudit.distinguish.discretizers import Discretizer
from dpaudit.distinguish.families import likelier_first
from dpaudit.distinguish.histogram import CellEvent, Tally, tally
from dpaudit.distinguish.selected_event import SelectedEvent
from dpaudit.sampling import Observed

__all__ = ["confirm", "curve_of", "tests_of"]


@dataclass(frozen=True)
class _CountKnown:
    """Counts the cells of a batch, those that an event does not know as one."""

    discretizer: Discretizer
    event: CellEvent

    def __call__(self, outputs: Any) -> Tally:
        return self.event.known(tally(self.discretizer(outputs)))


def confirm(
    request: Request, candidate: Candidate, selected: SelectedEvent
) -> tuple[tuple[Tally, Tally], Observations]:
    """Return the cells of the fresh runs on each side, and what else they show.

    Both sides are made together, so that no worker waits.
    """
    sampler, runs = request.sampler, request.budget.confirmation
    jobs = [
        (side, job)
        for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour))
        for job in sampler.jobs(data, ("confirm", candidate.index, side), runs)
    ]
    count = Observed(_CountKnown(selected.discretizer, selected.event))
    totals: tuple[Tally, Tally] = Counter(), Counter()
    raised: Counter[str] = Counter()
    for (side, _), (counts, exceptions) in zip(jobs, sampler.reduced([job for _, job in jobs], count), strict=True):
        totals[side].update(counts)
        raised.update(exceptions)
    return totals, Observations(2 * runs, different(*totals), raised)


def tests_of(request: Request, selected: SelectedEvent, counts: tuple[Tally, Tally]) -> tuple[EventTest, ...]:
    """Bound epsilon by each event, with its share of the verdict's error: all of the bounds hold with that error."""
    runs, delta = request.budget.confirmation, request.claim.delta
    tests = []
    for event, share in selected.tests:
        error = share * request.verdict_gamma
        hits, others = (event.hits(side) for side in likelier_first(selected.direction, *counts))
        lower = request.bound.epsilon_lower(hits, runs, others, runs, delta=delta, gamma=error)
        tests.append(EventTest(selected.discretizer.describe(event), error, hits, others, float(lower)))
    return tuple(tests)


def curve_of(selected: SelectedEvent, counts: tuple[Tally, Tally], gamma: float) -> Curve | None:
    """Return the curve over nested events in the order of the selected one; None where there is one atom only."""
    atoms = selected.ranking
    if len(atoms) < 2:
        return None
    training = (selected.event.known(side) for side in selected.training)
    data, neighbour = ([side[atom] for atom in atoms] for side in training)
    cuts = choose_thresholds(data, neighbour)
    hits, others = (np.cumsum([side[atom] for atom in atoms])[cuts - 1] for side in counts)
    return fit_curve(hits, counts[0].total(), others, counts[1].total(), gamma)
