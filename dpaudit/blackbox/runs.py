"""Runs that choose: those of the pilot, and those whose cells are counted on candidates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from dpaudit.blackbox.candidate import Candidate
from dpaudit.blackbox.request import Request
from dpaudit.distinguish.discretizers import CountCells
from dpaudit.distinguish.fitting import fitted_discretizers
from dpaudit.distinguish.pilot import Pilot
from dpaudit.sampling import Job, join

__all__ = ["count_runs", "run_pilot"]

PILOT_RUNS, PILOT_PAIRS = 512, 8
"""Runs a side of all pilot pairs together, and how many pairs: outputs of more than a thousand kinds hardly repeat."""
QUICK_ROWS = 10_000
"""The most runs a side that a quick fit takes: it has only to tell promising pairs from others."""


def run_pilot(request: Request) -> Pilot:
    """Look at some outputs of a few pairs."""
    some = range(0, len(request.pairs), -(-len(request.pairs) // PILOT_PAIRS))
    runs = PILOT_RUNS // len(some)
    sides = [side for i in some for side in request.sampler.sides(request.pairs[i], ("pilot", i), runs)]
    return Pilot.of(join(sides))


def count_runs(request: Request, candidates: Sequence[Candidate], runs: int) -> None:
    """Add `runs` runs on each side to every candidate's counts; one without discretizers gets quick scores first."""
    work: list[tuple[Job, Candidate, int, bool]] = []
    for candidate in candidates:
        if not candidate.discretizers:
            _fit_quickly(request, candidate, min(QUICK_ROWS, max(1, runs // 2)))
        for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour)):
            chunks = request.sampler.jobs(data, ("select", candidate.index, side, candidate.phase), max(1, runs))
            work += [(job, candidate, side, candidate.take_slowly(side, job.size)) for job in chunks]
        candidate.phase += 1
    # Jobs of candidates that share their discretizers run together, so that no worker waits.
    for (_, slow), group in groupby(work, key=lambda one: (id(one[1].discretizers), one[3])):
        jobs, owners, sides, _ = zip(*group, strict=True)
        counts = request.sampler.reduced(jobs, CountCells(tuple(owners[0].discretizers), slow))
        for candidate, side, tallies in zip(owners, sides, counts, strict=True):
            candidate.count(side, tallies)


def _fit_quickly(request: Request, candidate: Candidate, runs: int) -> None:
    raw = request.sampler.sides(candidate.pair, ("quick", candidate.index), runs)
    candidate.restart(
        fitted_discretizers(
            *raw,
            thorough=False,
            float_bits=request.float_bits,
            confirm=request.budget.confirmation,
            epsilon=request.claim.epsilon,
        )
    )
