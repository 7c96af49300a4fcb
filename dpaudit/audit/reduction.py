"""Learn on training runs which few columns of wide outputs to look at, without ever holding the outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpaudit.audit.candidate import Candidate
from dpaudit.events.wide import Reducer, least_dense_shift, least_shift
from dpaudit.running.wide_outputs import learned_reducer, placing_runs

__all__ = ["reduce_outputs", "wide_limits"]

TOLD_SHIFT = 3.0
"""Standard deviations: where all weaker shifts of all numbers of a row escape, the finding says so."""


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
        placing = placing_runs(candidate.sampler, training)
        first = candidate.sampler.sides(candidate.pair, ("place", candidate.index), placing)
        runs = max(0, training // 2 - placing)
    address = ("reduce", candidate.index, candidate.phase)
    reducer = learned_reducer(candidate.sampler, candidate.pair, first, address, runs)
    candidate.sampler = replace(candidate.sampler, view=reducer)
    return reducer, placing + runs


def wide_limits(width: int, runs: int) -> tuple[str, ...]:
    """Return what `runs` runs a side cannot learn of rows of so many numbers; nothing where it is little.

    Width 0 stands for outputs that are not wide.
    """
    dense = least_dense_shift(width, runs) if width else 0.0
    if dense < TOLD_SHIFT:
        return ()
    return (
        f"outputs hold rows of {width} numbers: {runs} runs a side can learn a shift of one number by "
        f"{least_shift(width, runs):.2g} standard deviations, and one of all numbers by unknown signs only if it is "
        f"{dense:.2g} or more in all (Mahalanobis distance)",
    )
