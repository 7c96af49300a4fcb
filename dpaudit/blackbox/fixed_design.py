"""Audit by a fixed number of runs: choose one event or two on some, confirm them on fresh ones."""

from __future__ import annotations

from dpaudit.blackbox.candidate import best_event
from dpaudit.blackbox.confirmation import confirm, curve_of, tests_of
from dpaudit.blackbox.evidence import Observations
from dpaudit.blackbox.finding import PrivacyFinding, Witness
from dpaudit.blackbox.power import Power
from dpaudit.blackbox.request import Request
from dpaudit.blackbox.runs import run_pilot
from dpaudit.blackbox.search import Found, search
from dpaudit.blackbox.training import train
from dpaudit.distinguish.families import likelier_first
from dpaudit.distinguish.histogram import Tally
from dpaudit.distinguish.selected_event import SelectedEvent

__all__ = ["fixed_finding"]


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned."""
    pilot = run_pilot(request)
    found = search(request, pilot)
    candidate = train(request, pilot, found.candidate)
    selected = best_event(request, candidate, careful=True)
    return _finding(request, found, selected, *confirm(request, candidate, selected))


def _finding(
    request: Request, found: Found, selected: SelectedEvent, counts: tuple[Tally, Tally], seen: Observations
) -> PrivacyFinding:
    """Return the finding of the fresh runs' counts.

    The verdict's error is all of 1 - confidence, or four fifths of it where a curve is asked for, which has the rest.
    Where two events are tested they share it: by the union bound both of their bounds hold but with that error.
    """
    candidate, fresh, gamma = found.candidate, request.budget.confirmation, request.verdict_gamma
    errors = {"verdict": gamma} | ({"curve": request.gamma - gamma} if request.curve else {})
    tests = tests_of(request, selected, counts)
    best = max(tests, key=lambda test: test.epsilon_lower)
    sides = (best.hits, fresh, best.neighbour_hits, fresh)
    return request.finding(
        Power.of_test(*_masses(selected), fresh, request.claim, gamma),
        seen,
        refuted=best.epsilon_lower > request.claim.epsilon,
        epsilon_lower=best.epsilon_lower,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=found.pairs,
        events=found.compared + selected.compared,
        witness=Witness.of(candidate.index, candidate.pair, selected.direction, best.event, *sides),
        bound=request.bound.name,
        distinguisher=selected.distinguisher,
        design="fixed",
        budget=request.budget.as_dict(),
        errors=errors,
        scores=tuple(discretizer.name for discretizer in candidate.tried),
        tests=tests,
        curve=curve_of(selected, counts, errors["curve"]) if request.curve else None,
    )


def _masses(selected: SelectedEvent) -> tuple[float, float]:
    """Return the main event's probabilities on the likelier and on the unlikelier side, as the training runs show."""
    likelier, _ = likelier_first(selected.direction, *selected.training)
    return (selected.event.hits(likelier) + 0.5) / (likelier.total() + 1), selected.neighbour_mass
