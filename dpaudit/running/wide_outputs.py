"""Run mechanisms of wide outputs in bounded memory: hold few of them, learn which columns to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpaudit.contract import Pair
from dpaudit.events.columns import Flattener
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.wide import Reducer, SumUp, wide_leaves
from dpaudit.outputs.plan import Plan
from dpaudit.outputs.shared import join
from dpaudit.running.sampling import CHUNK_NUMBERS, Sampler

__all__ = ["held_runs", "knowing", "learned_reducer", "narrowed", "placing_runs"]

PLACING = 16
"""The most runs a side that tell about where the numbers lie, on a pair of which no outputs are known."""


def knowing(sampler: Sampler, outputs: Sequence[Any]) -> Sampler:
    """Return a sampler that knows from some batches of outputs how many numbers one holds."""
    return replace(sampler, numbers=max(1, Flattener.fit(outputs).scalars))


def held_runs(sampler: Sampler) -> int:
    """Return how many outputs of a side may be held in memory as they are."""
    return max(1, CHUNK_NUMBERS // sampler.numbers)


def placing_runs(sampler: Sampler, training: int) -> int:
    """Return how many of a side's training runs tell about where the numbers of wide outputs lie."""
    return min(PLACING, max(1, training // 4), held_runs(sampler))


def learned_reducer(
    sampler: Sampler, pair: Pair, first: list[Any], address: tuple[str, int, int], runs: int
) -> Reducer:
    """Return the map of wide outputs to the columns that differ most, learned without ever holding the outputs.

    Parameters
    ----------
    sampler : Sampler
        Makes the runs.
    pair : Pair
        On what.
    first : list of two batches
        Outputs of both sides, which say what the leaves are and about where they lie; they are summed up too.
    address : tuple of (str, int, int)
        Of the runs that are summed up: (kind, pair, phase); the number of the side stands before the phase.
    runs : int
        How many there are on each side; they must not choose anything else.
    """
    both = join(first)
    plan = Plan.of(both)
    sum_up = SumUp.around(wide_leaves(plan), both)
    whole: Sampler = replace(sampler, view=None)
    kind, index, phase = address
    sums = []
    for side, data in enumerate((pair.data, pair.neighbour)):
        total = sum_up(first[side])
        jobs = whole.jobs(data, (kind, index, side, phase), runs) if runs else []
        for more in whole.reduced(jobs, sum_up):
            for mine, other in zip(total, more, strict=True):
                mine.merge(other)
        sums.append(total)
    return Reducer.fit(plan, *sums)


def narrowed(sampler: Sampler, discretizers: Sequence[Discretizer]) -> Sampler:
    """Return a sampler that makes no more columns of wide outputs than the discretizers need."""
    columns = [one.columns for one in discretizers]
    if not isinstance(sampler.view, Reducer) or any(some is None for some in columns):
        return sampler
    return replace(sampler, view=sampler.view.keep(j for some in columns for j in some or ()))
