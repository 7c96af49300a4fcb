"""Audit by a fixed number of runs: choose events on some, confirm them on fresh ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from dpaudit.audit.candidate import Candidate, count_observed, event_to_test, refuting_event
from dpaudit.audit.clock import LOOKS, SHARES
from dpaudit.audit.evidence import Observations, different
from dpaudit.audit.finding import EventTest, PrivacyFinding, Witness
from dpaudit.audit.power import REFUTING_SHARE, Power
from dpaudit.audit.request import Request
from dpaudit.audit.training import PilotRuns, run_pilot, search, train, wide_limits
from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.events.cells import tally
from dpaudit.events.event import Tally
from dpaudit.events.families import likelier_first
from dpaudit.events.feature_screening.search import ROWS as SCREENED
from dpaudit.events.selection import SelectedEvent
from dpaudit.running.sampling import narrowed

__all__ = ["confirm", "curve_of", "fixed_finding", "tests_of"]

Counts = tuple[Tally, Tally]


def _count_known(selected: Sequence[SelectedEvent], outputs: Any) -> list[Tally]:
    """Count the cells of a batch by each selected event's discretizer, those that the event does not know as one."""
    return [one.event.known(tally(one.discretizer(outputs))) for one in selected]


def confirm(
    request: Request, candidate: Candidate, selected: Sequence[SelectedEvent]
) -> tuple[list[Counts], Observations, int, float]:
    """Make the fresh runs and count them, look by look where the time is limited, until it is over.

    Returns
    -------
    counts : list of (Counter, Counter)
        The cells on each side, by each selected event's discretizer.
    seen : Observations
        What else the runs show.
    runs : int
        How many were made on each side.
    share : float
        Of the verdict's error, for the look at which they ended: all of it where there is but one.
    """
    sampler = narrowed(candidate.sampler, [one.discretizer for one in selected])
    sides = [
        sampler.jobs(data, ("confirm", candidate.index, side), request.budget.confirmation)
        for side, data in enumerate(candidate.pair.sides)
    ]
    # What training counted stays here: workers need the rule alone.
    count = partial(_count_known, [replace(one, training=(Counter(), Counter())) for one in selected])
    totals: list[Counts] = [(Counter(), Counter()) for _ in selected]
    raised: Counter[str] = Counter()
    runs, error = 0, 0.0
    for look, (chunks, share) in enumerate(_looks(len(sides[0]), request.clock is not None), 1):
        error = share
        count_observed(sampler, [made[chunks] for made in sides], count, totals, raised)
        runs += sum(job.size for job in sides[0][chunks])
        if request.clock is not None and request.clock.over(look):
            break
    return totals, Observations(2 * runs, different(*totals[0]), raised), runs, error


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


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned."""
    request, looked = run_pilot(request)
    found, pairs, compared = search(request, looked)
    candidate = train(request, looked, found)
    selected = [event_to_test(request, candidate)]
    if selected[0].expected <= request.claim.epsilon:
        refuting = refuting_event(request, candidate)
        # An event that was tested twice would have two bounds, each with a part of the error alone.
        selected += [refuting] if refuting and not selected[0].agrees(refuting) else []
    return _finding(request, looked, candidate, selected, pairs=pairs, events=compared)


def _finding(
    request: Request, looked: PilotRuns, candidate: Candidate, selected: list[SelectedEvent], *, pairs: int, events: int
) -> PrivacyFinding:
    """Return the finding by fresh runs; `pairs` and `events` are those that the search has compared.

    The verdict's error is all of 1 - confidence, or four fifths of it where a curve is asked for, which has the rest.
    Where several events are tested they share it: by the union bound all of their bounds hold but with that error.
    """
    stored, gamma, training = candidate.representation, request.verdict_gamma, request.budget.training
    made, seen, fresh, look = confirm(request, candidate, [*selected, stored] if stored else selected)
    # The runs that meet rare events: all of training, or those that features are compared on.
    met = training + (request.budget.pilot if len(request.pairs) == 1 else 0)
    met = met if looked.pilot.sufficient else min(SCREENED, met // 2)
    likelier, _ = likelier_first(selected[0].direction, *selected[0].training)
    masses = (selected[0].event.hits(likelier) + 0.5) / (likelier.total() + 1), selected[0].neighbour_mass
    errors = {"verdict": gamma} | ({"curve": request.gamma - gamma} if request.options.curve else {})
    shares = [1.0] if len(selected) == 1 else [1 - REFUTING_SHARE, REFUTING_SHARE]
    tests = [
        tests_of(request, one, counts, fresh, look * share)
        for one, counts, share in zip(selected, made, shares, strict=False)
    ]
    tested = [(test, chosen) for chosen, some in zip(selected, tests, strict=True) for test in some]
    best, chosen = max(tested, key=lambda one: one[0].epsilon_lower)
    sides = (best.hits, fresh, best.neighbour_hits, fresh)
    return request.finding(
        Power.of_test(*masses, met, fresh, request.claim, look * gamma),
        seen,
        not_looked_at=tuple(looked.pilot.plan.unseen),
        limits=wide_limits(request.width, training // 2),
        refuted=best.epsilon_lower > request.claim.epsilon,
        epsilon_lower=best.epsilon_lower,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=pairs,
        events=events + sum(one.compared for one in selected),
        witness=Witness.of(candidate.index, candidate.pair, best.direction, best.event, *sides),
        bound=request.bound.name,
        distinguisher=chosen.distinguisher,
        design="fixed",
        budget=asdict(request.budget),
        errors=errors,
        scores=tuple(discretizer.name for discretizer in candidate.tried),
        tests=tuple(test for test, _ in tested),
        representation=tests_of(request, stored, made[-1], fresh, look)[0] if stored else None,
        curve=curve_of(selected[0], made[0], look * errors["curve"]) if request.options.curve else None,
    )
