"""Plan a sequential audit: the runs of the pilot, the sizes of batches, and the share of the leading pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["batch_schedule", "batch_size", "first_batch", "leading_pair_runs", "pilot_size"]

Array = NDArray[np.float64]

PILOT = 64
"""Runs a side of the pilot, which is never bet on: enough to see whether outputs repeat."""
FIRST_BATCH = 200
"""Runs of a pair's first batch, on which nothing is known and nothing won."""
BATCH_GROWTH = 0.15
"""The length of a batch as a part of the past: at 0.5 audits took a quarter to a half more runs to refute a claim, at
0.05 up to a fifth fewer in three times as many batches."""


def pilot_size(runs: int) -> int:
    """Return how many runs a side an audit of `runs` runs begins with, on its first pair."""
    return min(PILOT, runs // 8)


def first_batch(runs: int, pairs: int) -> int:
    """Return the size of the first batch of every pair."""
    return min(FIRST_BATCH, max(20, runs // (8 * pairs)))


def batch_size(past: int, first: int) -> int:
    """Return the size of the next batch of a pair after `past` runs of it."""
    return max(first, int(BATCH_GROWTH * past))


def batch_schedule(runs: int) -> tuple[Array, Array]:
    """Return how many runs of its only pair an audit of discrete outputs has made before each batch, and its size."""
    used = 2 * pilot_size(runs)
    past, sizes = [], []
    while used < runs:
        sizes.append(min(runs - used, batch_size(used, first_batch(runs, 1))))
        past.append(used)
        used += sizes[-1]
    return np.array(past, dtype=np.float64), np.array(sizes, dtype=np.float64)


def leading_pair_runs(runs: int, pairs: int) -> int:
    """Return the runs on the pair that promises most from the start: the pairs' shares are as 1 / rank^2."""
    return int(runs / sum(rank**-2 for rank in range(1, pairs + 1)))
