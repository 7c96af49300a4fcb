"""Audit by a fixed number of runs: choose events on some, confirm them on fresh ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from dpaudit.audit.candidate import Candidate, count_observed
from dpaudit.audit.evidence import Observations, different
from dpaudit.audit.finding import EventTest, PrivacyFinding, Witness
from dpaudit.audit.power import REFUTING_SHARE, Power
from dpaudit.audit.request import Request, wide_limits
from dpaudit.audit.training import Training
from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.events.cells import tally
from dpaudit.events.event import Tally
from dpaudit.events.families import likelier_first
from dpaudit.events.feature_screening.search import ROWS as SCREENED
from dpaudit.events.selection import SelectedEvent
from dpaudit.running.sampling import narrowed

__all__ = ["fixed_finding"]

Counts = tuple[Tally, Tally]


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned.

    The verdict's error is all of 1 - confidence, or four fifths of it where a curve is asked for, which has the rest.
    Where several events are tested they share it: by the union bound all of their bounds hold but with that error.
    """
    training = Training(request)
    candidate = training.search()
    training.train(candidate)
    request, claim, gamma = training.request, request.claim, request.verdict_gamma
    main = candidate.event_to_test()
    selected, shares = [main], [1.0]
    if main.expected <= claim.epsilon:
        refuting = candidate.refuting_event()
        # An event that was tested twice would have two bounds, each with a part of the error alone.
        if refuting and not main.agrees(refuting):
            selected, shares = [main, refuting], [1 - REFUTING_SHARE, REFUTING_SHARE]
    stored = candidate.representation
    made, seen, fresh, look = _confirm(request, candidate, [*selected, stored] if stored else selected)
    tested = [
        (test, chosen)
        for chosen, counts, share in zip(selected, made, shares, strict=False)
        for test in _tests_of(request, chosen, counts, fresh, look * share)
    ]
    best, chosen = max(tested, key=lambda one: one[0].epsilon_lower)
    sides = best.hits, fresh, best.neighbour_hits, fresh
    errors = {"verdict": gamma} | ({"curve": request.gamma - gamma} if request.options.curve else {})
    return request.finding(
        _power(training, main, fresh, look * gamma),
        seen,
        not_looked_at=tuple(training.pilot.plan.unseen),
        limits=wide_limits(request.width, request.budget.training // 2),
        refuted=best.epsilon_lower > claim.epsilon,
        epsilon_lower=best.epsilon_lower,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=training.pairs,
        events=training.compared + sum(one.compared for one in selected),
        witness=Witness.of(candidate.index, candidate.pair, best.direction, best.event, *sides),
        bound=request.bound.name,
        distinguisher=chosen.distinguisher,
        design="fixed",
        budget=asdict(request.budget),
        errors=errors,
        scores=tuple(discretizer.name for discretizer in candidate.tried),
        tests=tuple(test for test, _ in tested),
        representation=_tests_of(request, stored, made[-1], fresh, look)[0] if stored else None,
        curve=_curve_of(main, made[0], look * errors["curve"]) if request.options.curve else None,
    )


def _confirm(
    request: Request, candidate: Candidate, selected: Sequence[SelectedEvent]
) -> tuple[list[Counts], Observations, int, float]:
    """Make the fresh runs and count them, look by look where the time is limited, until it is over.

    Return the cells on both sides by each selected event's discretizer, what else the runs show, how many were made on
    each side, and the share of the verdict's error that the look has at which they ended.
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
    runs, share = 0, 0.0
    for chunks, share in request.clock.looks(len(sides[0])):  # noqa: B007
        count_observed(sampler, [made[chunks] for made in sides], count, totals, raised)
        runs += sum(job.size for job in sides[0][chunks])
    return totals, Observations(2 * runs, different(*totals[0]), raised), runs, share


def _count_known(selected: Sequence[SelectedEvent], outputs: Any) -> list[Tally]:
    """Count the cells of a batch by each selected event's discretizer, those that the event does not know as one."""
    return [one.event.known(tally(one.discretizer(outputs))) for one in selected]


def _tests_of(
    request: Request, selected: SelectedEvent, counts: Counts, runs: int, share: float
) -> tuple[EventTest, ...]:
    """Bound epsilon by each event, with its part of a share of the verdict's error: all bounds hold with that share."""
    tests = []
    for event, part in selected.tests:
        error = part * share * request.verdict_gamma
        hits, others = (event.hits(side) for side in likelier_first(selected.direction, *counts))
        lower = request.bound.epsilon_lower(hits, runs, others, runs, delta=request.claim.delta, gamma=error)
        found = selected.discretizer.describe(event)
        tests.append(EventTest(found, error, hits, others, float(lower), selected.direction))
    return tuple(tests)


def _curve_of(selected: SelectedEvent, counts: Counts, gamma: float) -> Curve | None:
    """Return the curve over nested events in the order of the selected one; None where there is one atom only."""
    atoms = selected.ranking
    if len(atoms) < 2:
        return None
    training = (selected.event.known(side) for side in selected.training)
    data, neighbour = ([side[atom] for atom in atoms] for side in training)
    cuts = choose_thresholds(data, neighbour)
    hits, others = (np.cumsum([side[atom] for atom in atoms])[cuts - 1] for side in counts)
    return fit_curve(hits, counts[0].total(), others, counts[1].total(), gamma)


def _power(training: Training, main: SelectedEvent, runs: int, gamma: float) -> Power:
    """Return the power of so many confirming runs a side, at error `gamma`, for an event as likely as the main one."""
    request, budget = training.request, training.request.budget
    # The runs that meet rare events: all of training, or those that features are compared on.
    met = budget.training + (budget.pilot if len(request.pairs) == 1 else 0)
    met = met if training.pilot.sufficient else min(SCREENED, met // 2)
    hits, trained, *_ = main.hits
    return Power.of_test((hits + 0.5) / (trained + 1), main.neighbour_mass, met, runs, request.claim, gamma)
