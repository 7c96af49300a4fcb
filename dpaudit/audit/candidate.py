"""Count the cells of a pair that may become the witness, and select the events over them that are to be tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.audit.power import REFUTING_SHARE
from dpaudit.audit.request import Request
from dpaudit.contract import HasLaw, Pair
from dpaudit.errors import InputError
from dpaudit.events.cells import steady
from dpaudit.events.discretizers import CountCells, Discretizer, Identity
from dpaudit.events.event import Tally
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.selection import CellFamilies, SelectedEvent
from dpaudit.running.sampling import Job, Observed, Sampler

__all__ = ["Candidate", "best_event", "by_promise", "count_observed", "event_to_test", "promise", "refuting_event"]

NEVER = -745.0
"""The log-probability of what a law excludes: that of the least positive float."""


def law_ratio(source: Any, pair: Pair) -> Mapping[Any, float] | None:
    """Return ln(Pr[output | data] / Pr[output | neighbour]) by output; None where the law is out of reach."""
    if not isinstance(source, HasLaw):
        return None
    try:
        laws = source.law(pair.data), source.law(pair.neighbour)
    except InputError:  # the law is out of reach at this size; sampling is not
        return None
    p, q = (dict(zip(law.atoms, np.maximum(law.log_prob, NEVER).tolist(), strict=True)) for law in laws)
    return {atom: p.get(atom, NEVER) - q.get(atom, NEVER) for atom in {**p, **q}}


HOPELESS = -2.0
"""An event that would refute the claim only if training were off by more standard errors than this is not tested."""
SLOW_ROWS = 100_000
"""Runs a side on which slow scores are compared: more would take longer than making them."""
MARKDOWN, SLOW_MARKDOWN = 0.75, 2.0
"""Multiples of the markdown of models that bounds are lowered by once more where discretizers are compared: the events
of one are nested and share their luck, those of different ones do not, and a slow score has more ways to be lucky. With
the greater number for all scores that cannot be refitted RAPPOR's bound was a tenth lower (`docs/benchmark.md`)."""
MARGIN = 0.05
"""By which share a slow score must promise more than a quick one, to be worth its time, and a feature that was chosen
among hundreds more than a score of the whole output: without it audits of Laplace noise lost half a percent."""


class Candidate:
    """One pair with the cells counted so far on its two sides, by each of its discretizers.

    Parameters
    ----------
    index : int
        The pair's part of the address of its runs.
    pair : Pair
        The two inputs.
    discretizers : list of Discretizer
        By which to count; none if they have yet to be fitted.
    sampler : Sampler
        Makes its runs; of wide outputs it returns what the training runs had reduced them to.
    phase : int
        The next batch's part of the address.
    """

    def __init__(
        self, index: int, pair: Pair, discretizers: list[Discretizer], sampler: Sampler, phase: int = 0
    ) -> None:
        self.index, self.pair, self.sampler, self.phase = index, pair, sampler, phase
        self.representation: SelectedEvent | None = None
        self._log_ratio: list[Mapping[Any, float] | None] = []
        self.restart(discretizers)

    def log_ratio(self, request: Request) -> Mapping[Any, float] | None:
        """Return the log-likelihood ratios of outputs by the learner's own law, found out once."""
        if not self._log_ratio:
            self._log_ratio.append(law_ratio(request.source, self.pair))
        return self._log_ratio[0]

    def restart(self, discretizers: list[Discretizer]) -> None:
        """Take other discretizers and forget all counts."""
        self.discretizers = self.tried = discretizers
        self.tallies: list[tuple[Tally, Tally]] = [(Counter(), Counter()) for _ in discretizers]
        self._slow_left = [SLOW_ROWS, SLOW_ROWS]

    @property
    def varies(self) -> bool:
        """Whether outputs fall into more than one cell of a discretizer."""
        return any(len(data.keys() | neighbour.keys()) > 1 for data, neighbour in self.tallies)

    def take_slowly(self, side: int, runs: int) -> bool:
        """Say whether slow discretizers count the next runs of a side, and remember them."""
        self._slow_left[side] -= runs
        return self._slow_left[side] + runs > 0

    def count(self, side: int, tallies: Sequence[Tally]) -> None:
        """Add one side's counts by each discretizer."""
        for mine, counted in zip(self.tallies, tallies, strict=True):
            mine[side].update(counted)

    def count_outputs(self, sides: Sequence[Any], start: int, stop: int) -> None:
        """Count some of the outputs of both sides."""
        for side, outputs in enumerate(sides):
            cut = min(stop, start + max(0, self._slow_left[side]))
            for some in (outputs[start:cut], outputs[cut:stop]):
                if len(some):
                    slow = self.take_slowly(side, len(some))
                    self.count(side, CountCells(tuple(self.discretizers), slow)(some))

    def keep(self, which: Sequence[int]) -> None:
        """Drop all discretizers but some, in the order in which they are named first."""
        which = list(dict.fromkeys(which))
        self.discretizers = [self.discretizers[i] for i in which]
        self.tallies = [self.tallies[i] for i in which]


def count_observed(
    sampler: Sampler,
    jobs: Sequence[Sequence[Job]],
    count: Callable[[Any], Sequence[Tally]],
    totals: Sequence[tuple[Tally, Tally]],
    raised: Counter[str],
) -> None:
    """Make the jobs of both sides together, so that no worker waits; add their cells and exceptions to the counts.

    Parameters
    ----------
    jobs : two sequences of Job
        By side.
    count : callable
        Returns of a batch of outputs the cells by each of several discretizers.
    totals : sequence of (Counter, Counter)
        The cells on each side, by discretizer.
    raised : Counter
        Exceptions by type and message.
    """
    listed = [(side, job) for side, made in enumerate(jobs) for job in made]
    found = sampler.reduced([job for _, job in listed], Observed(count))
    for (side, _), (tallies, exceptions) in zip(listed, found, strict=True):
        raised.update(exceptions)
        for total, new in zip(totals, tallies, strict=True):
            total[side].update(new)


def _events_of(request: Request, candidate: Candidate, careful: bool) -> list[SelectedEvent]:
    """Return the best event of each discretizer; the careful models say nothing of p - delta."""
    test = PlannedTest(request.budget.confirmation, request.claim.delta, request.verdict_gamma)
    careful = careful and test.delta == 0
    # All that were tried compete, also those that have been dropped.
    rivals = len(candidate.tried)
    return [_families(request, candidate, i, careful).best(test, rivals) for i in range(len(candidate.discretizers))]


def _families(request: Request, candidate: Candidate, i: int, careful: bool) -> CellFamilies:
    """Return the families of events over the cells of one discretizer."""
    discretizer = candidate.discretizers[i]
    log_ratio = candidate.log_ratio(request) if isinstance(discretizer, Identity) else None
    return CellFamilies.of(discretizer, candidate.tallies[i], log_ratio=log_ratio, careful=careful)


def best_event(request: Request, candidate: Candidate) -> SelectedEvent:
    """Return the most promising event of a candidate over its discretizers."""
    return max(_events_of(request, candidate, careful=False), key=promise)


def event_to_test(request: Request, candidate: Candidate) -> SelectedEvent:
    """Return the most promising event after all training, as the one that fresh runs are to test.

    Where a feature has an event of the same counts as that of a learned score, it is the feature's: a person can read
    it off an output.
    """
    events = _events_of(request, candidate, careful=True)
    best = max(events, key=promise)
    if not best.discretizer.learned:
        return best
    return next((one for one in events if one.discretizer.screened and one.hits == best.hits), best)


def refuting_event(request: Request, candidate: Candidate) -> SelectedEvent | None:
    """Return the event most likely to refute the claim, over all discretizers; None where none could."""
    test = PlannedTest(request.budget.confirmation, request.claim.delta, REFUTING_SHARE * request.verdict_gamma)
    found = [
        _families(request, candidate, i, False).refuting(test, request.claim.epsilon)
        for i in range(len(candidate.discretizers))
    ]
    score, best = max(found, key=lambda one: one[0])
    return best if score > HOPELESS else None


def by_promise(request: Request, candidate: Candidate, *, careful: bool = False) -> list[int]:
    """Return the places of the candidate's discretizers, the most promising first."""
    promises = [promise(event) for event in _events_of(request, candidate, careful)]
    return sorted(range(len(promises)), key=lambda i: promises[i], reverse=True)


def promise(event: SelectedEvent) -> float:
    """Return by what the events of discretizers are compared: the bound expected, marked down for comparing."""
    slow = event.discretizer.slow
    markdown = SLOW_MARKDOWN if slow else MARKDOWN
    margin = MARGIN if slow or event.discretizer.screened else 0.0
    return float(steady(event.expected - markdown * event.markdown - margin * abs(event.expected)))
