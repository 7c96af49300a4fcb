"""Learn on training runs which few columns of wide outputs to look at, without ever holding the outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpaudit.blackbox.candidate import Candidate
from dpaudit.distinguish.leaves.plan import Plan
from dpaudit.distinguish.reducer import Reducer, SumUp, wide_leaves
from dpaudit.distinguish.wide import Moments
from dpaudit.sampling import Sampler, join

__all__ = ["reduce_outputs"]


def reduce_outputs(candidate: Candidate, first: list[Any], runs: int) -> Reducer:
    """Sum up the coordinates of some runs on both sides; from then on the candidate sees the columns that differ most.

    Parameters
    ----------
    candidate : Candidate
        The pair; its sampler is replaced.
    first : list of two batches
        Outputs of both sides, which say what the leaves are and about where; they are summed up as well.
    runs : int
        Further runs on each side; those chosen by them must not choose anything else.
    """
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
    reducer = Reducer.fit(plan, *sums)
    candidate.sampler = replace(whole, view=reducer)
    return reducer


def _merge(total: tuple[Moments, ...], more: tuple[Moments, ...]) -> None:
    for mine, other in zip(total, more, strict=True):
        mine.merge(other)
