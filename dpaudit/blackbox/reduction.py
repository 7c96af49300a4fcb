"""Learn on training runs which few columns of wide outputs to look at, without ever holding the outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpaudit.blackbox.candidate import Candidate
from dpaudit.distinguish.batches import join
from dpaudit.distinguish.leaves.plan import Plan
from dpaudit.distinguish.reducer import Reducer, SumUp, wide_leaves
from dpaudit.distinguish.wide import Moments
from dpaudit.sampling import Sampler

__all__ = ["reduce_outputs"]

PLACING = 16
"""The most runs a side that tell about where the numbers lie, on a pair that the pilot did not see."""


def reduce_outputs(candidate: Candidate, training: int, pilot: list[Any] | None = None) -> tuple[Reducer, int]:
    """Sum up half of the training runs; from then on the candidate sees the columns that differ most.

    Parameters
    ----------
    candidate : Candidate
        The pair; its sampler is replaced.
    training : int
        Training runs on each side; those summed up must not choose anything else.
    pilot : list of two batches, optional
        Outputs of both sides, beside these runs, which say what the leaves are and about where, and are summed up too.

    Returns
    -------
    reducer : Reducer
        The map to those columns.
    runs : int
        The runs made on each side.
    """
    if pilot:
        first, placing, runs = pilot, 0, max(0, (training - len(pilot[0])) // 2)
    else:
        placing = min(PLACING, max(1, training // 4))
        first = candidate.sampler.sides(candidate.pair, ("place", candidate.index), placing)
        runs = max(0, training // 2 - placing)
    reducer = _learned(candidate, first, runs)
    candidate.sampler = replace(candidate.sampler, view=reducer)
    return reducer, placing + runs


def _learned(candidate: Candidate, first: list[Any], runs: int) -> Reducer:
    """Return the reducer that some outputs and further runs suggest."""
    both = join(first)
    plan = Plan.of(both)
    sum_up = SumUp.around(wide_leaves(plan), both)
    whole: Sampler = replace(candidate.sampler, view=None)
    sums = []
    for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour)):
        total = sum_up(first[side])
        jobs = whole.jobs(data, ("reduce", candidate.index, side, candidate.phase), runs) if runs else []
        for more in whole.reduced(jobs, sum_up):
            _merge(total, more)
        sums.append(total)
    return Reducer.fit(plan, *sums)


def _merge(total: tuple[Moments, ...], more: tuple[Moments, ...]) -> None:
    for mine, other in zip(total, more, strict=True):
        mine.merge(other)
