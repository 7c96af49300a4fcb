"""The fixed-size design: choose one event or two on some runs, confirm them on a fixed number of fresh ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.blackbox.finding import EventTest, PrivacyFinding, Witness
from dpaudit.blackbox.power import Power
from dpaudit.blackbox.request import LawRatios, Request
from dpaudit.blackbox.search import ChosenEvent, select
from dpaudit.blackbox.training import Trainer
from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.contract import Direction, PrivacyVerdict
from dpaudit.distinguish.histogram import Tally, tally
from dpaudit.sampling import chunk_jobs, run_jobs

__all__ = ["fixed_finding"]


def fixed_finding(request: Request) -> PrivacyFinding:
    """Run the audit and return what it learned.

    The verdict's error is all of 1 - confidence, or four fifths of it where a curve is asked for, which has the rest.
    Where two events are tested they share it: by the union bound both of their bounds hold but with that error.
    """
    errors = {"verdict": request.verdict_gamma}
    if request.curve:
        errors["curve"] = request.gamma - request.verdict_gamma
    chosen = _choose(request, errors["verdict"])
    counts = _confirm(request, chosen)
    claim, fresh = request.claim, request.budget.confirmation
    tests = _tests(request, chosen, counts, errors["verdict"])
    best = max(tests, key=lambda test: test.epsilon_lower)
    lower = best.epsilon_lower
    unseen = Power.by(request.bound, chosen.neighbour_mass, fresh, claim, errors["verdict"])
    return PrivacyFinding(
        verdict=PrivacyVerdict.VIOLATION if lower > claim.epsilon else PrivacyVerdict.CONSISTENT,
        epsilon=claim.epsilon,
        delta=claim.delta,
        epsilon_lower=lower,
        detectable_epsilon=unseen.epsilon,
        detectable_delta=unseen.delta,
        frontier=unseen.frontier,
        confidence=request.confidence,
        trials=request.trials,
        selection_trials=request.budget.selection,
        confirmation_trials=fresh,
        pairs=chosen.pairs,
        events=chosen.compared,
        witness=_witness(chosen, best, fresh),
        bound=request.bound.name,
        distinguisher=chosen.distinguisher,
        relation=request.relation,
        seed=request.seed,
        design="fixed",
        budget=request.budget.as_dict(),
        errors=errors,
        scores=chosen.tried,
        origins=tuple(pair.origin for pair in request.pairs),
        tests=tests,
        curve=_curve(chosen, counts, errors["curve"]) if request.curve else None,
        claim_id=claim.claim_id,
        # A histogram of few outputs leaves nothing for a score to find.
        warnings=request.warnings,
    )


def _choose(request: Request, gamma: float) -> ChosenEvent:
    trainer = Trainer(
        request.mechanism,
        request.budget.confirmation,
        request.claim.delta,
        gamma,
        LawRatios(request.source),
        request.float_bits,
        request.seed,
        request.n_jobs,
        request.backend,
    )
    return select(trainer, request.pairs, request.budget, request.moves)


@dataclass(frozen=True)
class _KnownLabels:
    """Counts the labels of a batch, those that the chosen event does not know as one."""

    chosen: ChosenEvent

    def __call__(self, outputs: Any) -> Tally:
        return self.chosen.event.known(tally(self.chosen.labeller(outputs)))


def _confirm(request: Request, chosen: ChosenEvent) -> list[Tally]:
    """Return the labels of the fresh runs on each side; both sides are made together, so that no worker waits."""
    inputs = (chosen.pair.data, chosen.pair.neighbour)
    jobs = [
        (side, job)
        for side, data in enumerate(inputs)
        for job in chunk_jobs(request.mechanism, data, ("confirm", chosen.index, side), request.budget.confirmation)
    ]
    counted = run_jobs(
        request.mechanism,
        [job for _, job in jobs],
        _KnownLabels(chosen),
        seed=request.seed,
        n_jobs=request.n_jobs,
        backend=request.backend,
    )
    totals: list[Tally] = [Counter(), Counter()]
    for (side, _), counts in zip(jobs, counted, strict=True):
        totals[side].update(counts)
    return totals


def _tests(request: Request, chosen: ChosenEvent, counts: list[Tally], gamma: float) -> tuple[EventTest, ...]:
    """Bound epsilon by each event to test, with its share of the error: all of the bounds hold with error gamma."""
    fresh = request.budget.confirmation
    sides = counts if chosen.forward else counts[::-1]
    tests = []
    for event, share in chosen.choice.tests:
        error, (hits, others) = share * gamma, [event.hits(side) for side in sides]
        lower = request.bound.epsilon_lower(hits, fresh, others, fresh, delta=request.claim.delta, gamma=error)
        tests.append(EventTest(chosen.describe(event), error, hits, others, float(lower)))
    return tuple(tests)


def _curve(chosen: ChosenEvent, counts: list[Tally], gamma: float) -> Curve | None:
    """Return the curve over nested events in the order that chose the event; None where there is one atom only."""
    atoms = chosen.choice.ranking
    if len(atoms) < 2:
        return None
    training = [chosen.event.known(side) for side in chosen.training]
    data, neighbour = ([side[atom] for atom in atoms] for side in training)
    cuts = choose_thresholds(data, neighbour)
    fresh = [np.cumsum([side[atom] for atom in atoms])[cuts - 1] for side in counts]
    return fit_curve(fresh[0], counts[0].total(), fresh[1], counts[1].total(), gamma)


def _witness(chosen: ChosenEvent, best: EventTest, fresh: int) -> Witness:
    return Witness(
        pair=chosen.index,
        origin=chosen.pair.origin,
        data=f"{chosen.pair.data!r:.300}",
        neighbour=f"{chosen.pair.neighbour!r:.300}",
        direction=Direction(chosen.choice.direction),
        event=best.event,
        hits=best.hits,
        trials=fresh,
        neighbour_hits=best.neighbour_hits,
        neighbour_trials=fresh,
    )
