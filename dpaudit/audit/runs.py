"""Make the runs that choose: those of the pilot, and those whose cells are counted on candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dpaudit.audit.candidate import Candidate
from dpaudit.audit.reduction import reduce_outputs
from dpaudit.audit.request import Request
from dpaudit.events.batches import join
from dpaudit.events.discretizers import CountCells
from dpaudit.events.fitting import fitted_discretizers
from dpaudit.events.pilot import Pilot
from dpaudit.running.sampling import Job, Sampler
from dpaudit.running.wide_outputs import held_runs, knowing

__all__ = ["PilotRuns", "count_runs", "run_pilot"]

PILOT_PAIRS = 8
"""The most pairs that the pilot's runs are spread over."""
QUICK_ROWS = 10_000
"""The most runs a side that a quick fit takes: it has only to tell promising pairs from others."""


@dataclass(frozen=True)
class PilotRuns:
    """The pilot's outputs, and what they suggest.

    Attributes
    ----------
    pilot : Pilot
        What they suggest.
    sampler : Sampler
        The audit's, which now knows how wide outputs are.
    sides : mapping
        The outputs of both sides by the index of their pair.
    """

    pilot: Pilot
    sampler: Sampler
    sides: Mapping[int, list[Any]]


def run_pilot(request: Request) -> PilotRuns:
    """Look at some outputs of a few pairs; one run a side of the first pair tells how many numbers they hold."""
    some = range(0, len(request.pairs), -(-len(request.pairs) // PILOT_PAIRS))
    first = request.sampler.sides(request.pairs[0], ("peek",), 1)
    sampler = knowing(request.sampler, first)
    runs = min(request.budget.pilot // len(some), held_runs(sampler))
    sides = {i: sampler.sides(request.pairs[i], ("pilot", i), runs - int(i == 0)) for i in some}
    sides[0] = [join(batches) for batches in zip(first, sides[0], strict=True)]
    return PilotRuns(Pilot.of(join([side for pair in sides.values() for side in pair])), sampler, sides)


def count_runs(request: Request, candidates: Sequence[Candidate], runs: int) -> None:
    """Add runs on each side to each candidate's counts; where one has no discretizers, half of them fit quick ones."""
    work: list[tuple[Job, Candidate, int, bool]] = []
    for candidate in candidates:
        counted = runs
        if not candidate.discretizers:
            fitted = min(QUICK_ROWS, max(1, runs // 2))
            _fit_quickly(request, candidate, fitted)
            counted -= fitted
        for side, data in enumerate(candidate.pair.sides):
            chunks = candidate.sampler.jobs(data, ("select", candidate.index, side, candidate.phase), max(1, counted))
            work += [(job, candidate, side, candidate.take_slowly(side, job.size)) for job in chunks]
        candidate.phase += 1
    # Jobs of candidates that share their discretizers run together, so that no worker waits.
    for (_, slow), group in groupby(work, key=lambda one: (id(one[1].discretizers), one[3])):
        jobs, owners, sides, _ = zip(*group, strict=True)
        counts = owners[0].sampler.reduced(jobs, CountCells(tuple(owners[0].discretizers), slow))
        for candidate, side, tallies in zip(owners, sides, counts, strict=True):
            candidate.count(side, tallies)


def _fit_quickly(request: Request, candidate: Candidate, runs: int) -> None:
    """Fit quick scores on some runs; of wide outputs half of them tell before that which columns to look at."""
    reducer = None
    if request.wide:
        reducer, used = reduce_outputs(candidate, runs)
        runs = max(1, runs - used)
    raw = candidate.sampler.sides(candidate.pair, ("quick", candidate.index), runs)
    candidate.restart(
        fitted_discretizers(
            *raw,
            thorough=False,
            float_bits=request.options.float_bits,
            reducer=reducer,
            confirm=request.budget.confirmation,
            epsilon=request.claim.epsilon,
        )
    )
