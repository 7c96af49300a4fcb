"""Choosing which nested events a privacy curve counts, on training runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.errors import InputError

__all__ = ["choose_thresholds"]

Array = NDArray[np.float64]

DEFAULT_THRESHOLDS = 32
"""How many events share the curve's error: a Berk-Jones band over all events was no tighter than the limits of 32 at
10,000 runs a side."""
LEAST_TAIL = 20
"""Training runs in the smallest event that is worth a threshold: the limits of smaller ones are mostly error."""


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

    Raises
    ------
    InputError
        If the counts are not two equally long lists of whole numbers with runs on both sides, or atoms are
        fewer than 2.
    """
    if isinstance(thresholds, bool) or not isinstance(thresholds, int) or thresholds < 2:
        raise InputError(f"thresholds must be an integer >= 2, got {thresholds!r}")
    left, right = (_atom_counts(name, v) for name, v in (("data", data), ("neighbour", neighbour)))
    if left.shape != right.shape or len(left) < 2:
        raise InputError(f"data and neighbour must count the same 2 atoms or more, got {len(left)} and {len(right)}")
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
    above = np.clip(np.searchsorted(ascending, goals), 1, max(1, len(ascending) - 1))
    above = np.minimum(above, len(ascending) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(goals - ascending[below] <= ascending[above] - goals, below, above)


def _atom_counts(name: str, value: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array < 0).any() or array.sum() == 0:
        raise InputError(f"{name} must be whole counts >= 0, one for each atom and not all 0, got {value!r:.100}")
    return array.astype(np.int64)
