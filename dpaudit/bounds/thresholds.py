"""Choose on training runs which nested events a privacy curve counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["choose_thresholds"]

Array = NDArray[np.float64]

DEFAULT_THRESHOLDS = 32
"""Events that share the curve's error: a Berk-Jones band over all events was no tighter than the limits of 32 at
10,000 runs a side."""
LEAST_TAIL = 20
"""Training runs in the smallest event that is worth a threshold: the limits of 20 hits err by more than half."""


def choose_thresholds(data: ArrayLike, neighbour: ArrayLike, thresholds: int = DEFAULT_THRESHOLDS) -> NDArray[np.intp]:
    """Return which nested events to count, as ascending numbers of leading atoms, chosen on training runs.

    Half of the events have training false positive rates spaced logarithmically from 20 / n to 1/2, the
    others false negative rates spaced likewise, so that both ends of the trade-off are seen. Event i holds
    the first ``result[i]`` atoms; fewer than `thresholds` are returned where atoms are few.

    Parameters
    ----------
    data, neighbour : array of int, shape (m,)
        Training runs in each atom, atoms ordered from the likeliest to be data's to the likeliest to be
        neighbour's.
    thresholds : int
        How many events at most, at least 2.
    """
    left, right = np.asarray(data, dtype=np.int64), np.asarray(neighbour, dtype=np.int64)
    if len(left) - 1 <= thresholds:
        return np.arange(1, len(left))
    # Prefixes that hold everything or nothing are no tests.
    false_positives = np.cumsum(right)[:-1] / right.sum()
    false_negatives = 1 - np.cumsum(left)[:-1] / left.sum()
    thresholds -= 1
    half = thresholds // 2
    by_positive = _nearest(false_positives, _rates(thresholds - half, int(right.sum())))
    by_negative = _nearest(false_negatives[::-1], _rates(half, int(left.sum())))
    # Where the sides differ most, delta(0) is read off.
    widest = [int(np.argmax(1 - false_negatives - false_positives))]
    return np.unique(np.concatenate([by_positive, len(left) - 2 - by_negative, widest])) + 1


def _rates(number: int, runs: int) -> Array:
    return np.geomspace(min(LEAST_TAIL / runs, 0.5), 0.5, number)


def _nearest(ascending: Array, goals: Array) -> NDArray[np.intp]:
    """Return for each goal the index of the nearest of the ascending values."""
    above = np.clip(np.searchsorted(ascending, goals), 1, len(ascending) - 1)
    return np.where(goals - ascending[above - 1] <= ascending[above] - goals, above - 1, above)
