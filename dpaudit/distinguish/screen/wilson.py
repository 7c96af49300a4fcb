r"""Which of many features promises the greatest bound, judged on few training runs.

The promise of an event with x hits of m training runs on one side and y of k on the other is

.. math:: \ln L(x, m) - \ln U(y, k),

with L and U one-sided Wilson score limits at effective sizes 1 / (z^2 / m + c^2 / n), n the confirmation runs: the
training runs say little where they are few, and no confirmation shows more than its own runs can. A score bound, unlike
one by the delta method, gives an event with no hits of 200 its due.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_promise", "promise"]

Floats = NDArray[np.float64]

TRAINING = 2.0
"""Standard errors of the training runs that a promise is marked down by."""
CONFIRMATION = 2.0
"""The same for the confirmation runs to come."""


def promise(x: Floats, m: float, y: Floats, k: float, confirm: int, training: float = TRAINING) -> Floats:
    """Return the promise of events with x of m and y of k training runs, elementwise."""
    low = _wilson(x / m, 1 / (training**2 / m + CONFIRMATION**2 / confirm), -1.0)
    high = _wilson(y / k, 1 / (training**2 / k + CONFIRMATION**2 / confirm), 1.0)
    return np.log(np.maximum(low, 1e-300)) - np.log(high)


def _wilson(p: Floats, size: float, side: float) -> Floats:
    """Return Wilson's limit one standard error below (side -1) or above (side 1) shares p of `size` runs."""
    centre = p + 0.5 / size
    half = np.sqrt(p * (1 - p) / size + 0.25 / size**2)
    limit: Floats = (centre + side * half) / (1 + 1 / size)
    return np.clip(limit, 0.0, 1.0)


def best_promise(data: Floats, neighbour: Floats, confirm: int, training: float = TRAINING) -> float:
    """Return the greatest promise of the prefixes of cells ordered by their likelihood ratio, in both directions.

    Parameters
    ----------
    data, neighbour : array, shape (cells,)
        Training runs in each cell.
    confirm : int
        Fresh runs a side to come.
    training : float
        Standard errors to mark down by.
    """
    m, k = float(data.sum()), float(neighbour.sum())
    order = np.argsort(-(np.log((data + 0.5) / (m + 1)) - np.log((neighbour + 0.5) / (k + 1))), kind="stable")
    x, y = np.cumsum(data[order])[:-1], np.cumsum(neighbour[order])[:-1]
    if not len(x):
        return -np.inf
    forward = promise(x, m, y, k, confirm, training).max()
    backward = promise(k - y, k, m - x, m, confirm, training).max()
    return float(max(forward, backward))
