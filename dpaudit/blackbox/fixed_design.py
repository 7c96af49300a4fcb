"""The fixed-size design: choose one event or two on some runs, confirm them on a fixed number of fresh ones."""

from __future__ import annotations

from dpaudit.blackbox.candidate import best_event
from dpaudit.blackbox.confirmation import confirm, curve_of, tests_of
from dpaudit.blackbox.finding import PrivacyFinding, Witness
from dpaudit.blackbox.power import Power
from dpaudit.blackbox.request import Request
from dpaudit.blackbox.runs import run_pilot
from dpaudit.blackbox.search import Found, search
from dpaudit.blackbox.training import train
from dpaudit.contract import PrivacyVerdict
from dpaudit.distinguish.histogram import Tally
from dpaudit.distinguish.selected_event import SelectedEvent

__all__ = ["fixed_finding"]


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned."""
    pilot = run_pilot(request)
    found = search(request, pilot)
    candidate = train(request, pilot, found.candidate)
    selected = best_event(request, candidate, careful=True)
    return _finding(request, found, selected, confirm(request, candidate, selected))


def _finding(request: Request, found: Found, selected: SelectedEvent, counts: tuple[Tally, Tally]) -> PrivacyFinding:
    """Return the finding of the fresh runs' counts.

    The verdict's error is all of 1 - confidence, or four fifths of it where a curve is asked for, which has the rest.
    Where two events are tested they share it: by the union bound both of their bounds hold but with that error.
    """
    claim, candidate, fresh = request.claim, found.candidate, request.budget.confirmation
    errors = {"verdict": request.verdict_gamma}
    if request.curve:
        errors["curve"] = request.gamma - request.verdict_gamma
    tests = tests_of(request, selected, counts)
    best = max(tests, key=lambda test: test.epsilon_lower)
    power = Power.of_test(selected.neighbour_mass, fresh, claim, errors["verdict"])
    return PrivacyFinding(
        verdict=PrivacyVerdict.VIOLATION if best.epsilon_lower > claim.epsilon else PrivacyVerdict.CONSISTENT,
        epsilon=claim.epsilon,
        delta=claim.delta,
        epsilon_lower=best.epsilon_lower,
        detectable_epsilon=power.epsilon,
        detectable_delta=power.delta,
        frontier=power.frontier,
        confidence=request.confidence,
        trials=request.trials,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=found.pairs,
        events=found.compared + selected.compared,
        witness=Witness.of(
            candidate.index,
            candidate.pair,
            selected.direction,
            best.event,
            best.hits,
            fresh,
            best.neighbour_hits,
            fresh,
        ),
        bound=request.bound.name,
        distinguisher=selected.distinguisher,
        relation=request.relation,
        seed=request.sampler.seed,
        design="fixed",
        budget=request.budget.as_dict(),
        errors=errors,
        scores=tuple(discretizer.name for discretizer in candidate.tried),
        origins=tuple(pair.origin for pair in request.pairs),
        tests=tests,
        curve=curve_of(selected, counts, errors["curve"]) if request.curve else None,
        claim_id=claim.claim_id,
        warnings=request.warnings,
    )
