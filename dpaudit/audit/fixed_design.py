"""Audit by a fixed number of runs: choose events on some, confirm them on fresh ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dpaudit.audit.candidate import Candidate, count_observed, event_to_test, refuting_event
from dpaudit.audit.evidence import Observations, different
from dpaudit.audit.finding import EventTest, PrivacyFinding, Witness
from dpaudit.audit.power import REFUTING_SHARE, Power
from dpaudit.audit.request import Request
from dpaudit.audit.training import Found, PilotRuns, run_pilot, search, train, wide_limits
from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.clock import LOOKS, SHARES
from dpaudit.events.cells import tally
from dpaudit.events.event import Tally
from dpaudit.events.families import likelier_first
from dpaudit.events.feature_screening.search import ROWS as SCREENED
from dpaudit.events.selection import SelectedEvent
from dpaudit.running.sampling import narrowed

__all__ = ["Confirmed", "confirm", "curve_of", "fixed_finding", "tests_of"]

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
    """Make the fresh runs and count them, look by look where the time is limited, until it is over."""
    sampler = narrowed(candidate.sampler, [one.discretizer for one in selected])
    sides = [
        sampler.jobs(data, ("confirm", candidate.index, side), request.budget.confirmation)
        for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour))
    ]
    # What training counted stays here: workers need the rule alone.
    count = _CountKnown(tuple(replace(one, training=(Counter(), Counter())) for one in selected))
    totals: list[Counts] = [(Counter(), Counter()) for _ in selected]
    raised: Counter[str] = Counter()
    runs, error = 0, 0.0
    for look, (chunks, share) in enumerate(_looks(len(sides[0]), request.clock is not None), 1):
        error = share
        count_observed(sampler, [made[chunks] for made in sides], count, totals, raised)
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
        budget=asdict(request.budget),
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
