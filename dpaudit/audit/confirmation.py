"""Confirm the selected events on fresh runs: count them, bound epsilon by each, and fit the curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.audit.candidate import Candidate
from dpaudit.audit.evidence import Observations, different
from dpaudit.audit.finding import EventTest
from dpaudit.audit.request import Request
from dpaudit.bounds.curve import Curve, fit_curve
from dpaudit.bounds.thresholds import choose_thresholds
from dpaudit.clock import LOOKS, SHARES
from dpaudit.events.cells import tally
from dpaudit.events.event import Tally
from dpaudit.events.families import likelier_first
from dpaudit.events.selection import SelectedEvent
from dpaudit.running.sampling import Observed
from dpaudit.running.wide_outputs import narrowed

__all__ = ["Confirmed", "confirm", "curve_of", "tests_of"]


Counts = tuple[Tally, Tally]


@dataclass(frozen=True)
class _CountKnown:
    """Counts the cells of a batch by each selected event's discretizer, those that the event does not know as one."""

    selected: tuple[SelectedEvent, ...]

    def __call__(self, outputs: Any) -> list[Tally]:
        return [one.event.known(tally(one.discretizer(outputs))) for one in self.selected]


@dataclass(frozen=True)
class Confirmed:
    """The fresh runs.

    Attributes
    ----------
    counts : list of (Counter, Counter)
        The cells on each side, by each selected event's discretizer.
    seen : Observations
        What else they show.
    runs : int
        How many were made on each side.
    share : float
        Of the verdict's error, for the look at which they ended: all of it where there is but one.
    """

    counts: list[Counts]
    seen: Observations
    runs: int
    share: float


def confirm(request: Request, candidate: Candidate, selected: Sequence[SelectedEvent]) -> Confirmed:
    """Make the fresh runs and count them, look by look where the time is limited, until it is over.

    Both sides are made together, so that no worker waits.
    """
    sampler = narrowed(candidate.sampler, [one.discretizer for one in selected])
    sides = [
        sampler.jobs(data, ("confirm", candidate.index, side), request.budget.confirmation)
        for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour))
    ]
    # What training counted stays here: workers need the rule alone.
    count = Observed(_CountKnown(tuple(replace(one, training=(Counter(), Counter())) for one in selected)))
    totals: list[Counts] = [(Counter(), Counter()) for _ in selected]
    raised: Counter[str] = Counter()
    runs, error = 0, 0.0
    for look, (chunks, share) in enumerate(_looks(len(sides[0]), request.clock is not None), 1):
        error = share
        jobs = [(side, job) for side, made in enumerate(sides) for job in made[chunks]]
        for (side, _), (found, exceptions) in zip(jobs, sampler.reduced([job for _, job in jobs], count), strict=True):
            raised.update(exceptions)
            for total, counts in zip(totals, found, strict=True):
                total[side].update(counts)
        runs += sum(job.size for job in sides[0][chunks])
        if request.clock is not None and request.clock.over(look):
            break
    return Confirmed(totals, Observations(2 * runs, different(*totals[0]), raised), runs, error)


def _looks(chunks: int, limited: bool) -> Iterator[tuple[slice, float]]:
    """Yield the chunks of each look, and its share of the error; looks that no chunk is left for give theirs on."""
    made, kept = 0, 0.0
    for part, share in zip(LOOKS, SHARES, strict=True) if limited else ((1.0, 1.0),):
        until, kept = int(part * chunks), kept + share
        if until > made:
            yield slice(made, until), kept
            made, kept = until, 0.0


def tests_of(
    request: Request, selected: SelectedEvent, counts: Counts, runs: int, share: float
) -> tuple[EventTest, ...]:
    """Bound epsilon by each event, with its part of a share of the verdict's error: all bounds hold with that share."""
    delta = request.claim.delta
    tests = []
    for event, part in selected.tests:
        error = part * share * request.verdict_gamma
        hits, others = (event.hits(side) for side in likelier_first(selected.direction, *counts))
        lower = request.bound.epsilon_lower(hits, runs, others, runs, delta=delta, gamma=error)
        found = selected.discretizer.describe(event)
        tests.append(EventTest(found, error, hits, others, float(lower), selected.direction))
    return tuple(tests)


def curve_of(selected: SelectedEvent, counts: Counts, gamma: float) -> Curve | None:
    """Return the curve over nested events in the order of the selected one; None where there is one atom only."""
    atoms = selected.ranking
    if len(atoms) < 2:
        return None
    training = (selected.event.known(side) for side in selected.training)
    data, neighbour = ([side[atom] for atom in atoms] for side in training)
    cuts = choose_thresholds(data, neighbour)
    hits, others = (np.cumsum([side[atom] for atom in atoms])[cuts - 1] for side in counts)
    return fit_curve(hits, counts[0].total(), others, counts[1].total(), gamma)
