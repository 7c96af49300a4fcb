"""Audit by a fixed number of runs: choose events on some, confirm them on fresh ones."""

from __future__ import annotations

from dataclasses import replace

from dpaudit.audit.candidate import event_to_test, refuting_event
from dpaudit.audit.confirmation import Confirmed, confirm, curve_of, tests_of
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.audit.power import REFUTING_SHARE, Power
from dpaudit.audit.reduction import wide_limits
from dpaudit.audit.request import Request
from dpaudit.audit.runs import PilotRuns, run_pilot
from dpaudit.audit.search import Found, search
from dpaudit.audit.training import train
from dpaudit.events.families import likelier_first
from dpaudit.events.feature_screening.search import ROWS as SCREENED
from dpaudit.events.selected_event import SelectedEvent

__all__ = ["fixed_finding"]


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned."""
    looked = run_pilot(request)
    request = replace(request, width=looked.pilot.width)
    found = search(request, looked)
    candidate = train(request, looked, found.candidate)
    selected = [event_to_test(request, candidate)]
    if selected[0].expected <= request.claim.epsilon:
        refuting = refuting_event(request, candidate)
        # An event that was tested twice would have two bounds, each with a part of the error alone.
        selected += [refuting] if refuting and not selected[0].agrees(refuting) else []
    stored = [candidate.representation] if candidate.representation else []
    return _finding(request, looked, found, selected, confirm(request, candidate, [*selected, *stored]))


def _learning_runs(request: Request, looked: PilotRuns) -> int:
    """Return the runs a side that meet rare events: all of training, or those that features are compared on."""
    runs = request.budget.training + (request.budget.pilot if len(request.pairs) == 1 else 0)
    return runs if looked.pilot.sufficient else min(SCREENED, runs // 2)


def _finding(
    request: Request,
    looked: PilotRuns,
    found: Found,
    selected: list[SelectedEvent],
    made: Confirmed,
) -> PrivacyFinding:
    """Return the finding of the fresh runs' counts.

    The verdict's error is all of 1 - confidence, or four fifths of it where a curve is asked for, which has the rest.
    Where several events are tested they share it: by the union bound all of their bounds hold but with that error.
    """
    candidate, fresh, gamma = found.candidate, made.runs, request.verdict_gamma
    errors = {"verdict": gamma} | ({"curve": request.gamma - gamma} if request.options.curve else {})
    shares = [1.0] if len(selected) == 1 else [1 - REFUTING_SHARE, REFUTING_SHARE]
    tests = [
        tests_of(request, one, counts, fresh, made.share * share)
        for one, counts, share in zip(selected, made.counts, shares, strict=False)
    ]
    stored = candidate.representation
    tested = [(test, chosen) for chosen, some in zip(selected, tests, strict=True) for test in some]
    best, chosen = max(tested, key=lambda one: one[0].epsilon_lower)
    sides = (best.hits, fresh, best.neighbour_hits, fresh)
    return request.finding(
        Power.of_test(*_masses(selected[0]), _learning_runs(request, looked), fresh, request.claim, made.share * gamma),
        made.seen,
        not_looked_at=tuple(looked.pilot.plan.unseen),
        limits=wide_limits(request.width, request.budget.training // 2),
        refuted=best.epsilon_lower > request.claim.epsilon,
        epsilon_lower=best.epsilon_lower,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=found.pairs,
        events=found.compared + sum(one.compared for one in selected),
        witness=Witness.of(candidate.index, candidate.pair, best.direction, best.event, *sides),
        bound=request.bound.name,
        distinguisher=chosen.distinguisher,
        design="fixed",
        budget=request.budget.as_dict(),
        errors=errors,
        scores=tuple(discretizer.name for discretizer in candidate.tried),
        tests=tuple(test for test, _ in tested),
        representation=tests_of(request, stored, made.counts[-1], fresh, made.share)[0] if stored else None,
        curve=curve_of(selected[0], made.counts[0], made.share * errors["curve"]) if request.options.curve else None,
    )


def _masses(selected: SelectedEvent) -> tuple[float, float]:
    """Return the main event's probabilities on the likelier and on the unlikelier side, as the training runs show."""
    likelier, _ = likelier_first(selected.direction, *selected.training)
    return (selected.event.hits(likelier) + 0.5) / (likelier.total() + 1), selected.neighbour_mass
