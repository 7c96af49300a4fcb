"""Promises of events over the cells of features, by which these are compared before fresh runs confirm them.

The promise of an event with x hits of m training runs on one side and y of k on the other is ln L(x, m) - ln U(y, k),
with L and U one-sided Wilson score limits at effective sizes 1 / (z^2 / m + c^2 / n), n the confirmation runs: the
training runs say little where they are few, and no confirmation shows more than its own runs can. A score bound, unlike
one by the delta method, gives an event with no hits of 200 its due.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Bools
from dpaudit.events.cells import to_grid

TRAINING = 2.0
"""Standard errors of the training runs that a promise is marked down by."""
CONFIRMATION = 2.0
"""The same for the confirmation runs to come."""


def promise(x: Array, m: float | Array, y: Array, k: float | Array, confirm: int, training: float = TRAINING) -> Array:
    """Return the promise of events with x of m and y of k training runs, elementwise."""
    low = _wilson(x / m, 1 / (training**2 / m + CONFIRMATION**2 / confirm), -1.0)
    high = _wilson(y / k, 1 / (training**2 / k + CONFIRMATION**2 / confirm), 1.0)
    return to_grid(np.log(np.maximum(low, 1e-300)) - np.log(high))


def _wilson(p: Array, size: float | Array, side: float) -> Array:
    """Return Wilson's limit one standard error below (side -1) or above (side 1) shares p of `size` runs."""
    centre = p + 0.5 / size
    half = np.sqrt(p * (1 - p) / size + 0.25 / size**2)
    limit: Array = (centre + side * half) / (1 + 1 / size)
    return np.clip(limit, 0.0, 1.0)


def best_events(data: Array, neighbour: Array, confirm: int) -> tuple[Array, Bools, Bools]:
    """Return the best prefix of the cells by likelihood ratio of each of many features, for `confirm` fresh runs.

    Given are the training runs in each cell of each feature, shape (..., parts, cells). With two parts each is ordered
    by the other's counts, so that many cells of few runs promise nothing by luck; the mean promise decides how many
    cells to take of the order by all runs.

    Returned are what the event promises, shape (...), -inf where there is one cell only; whether each cell is in it,
    shape (..., cells); and whether it is data's, shape (...).
    """
    *many, _, cells = data.shape
    if cells < 2:
        return np.full(many, -np.inf), np.zeros((*many, cells), dtype=bool), np.ones(many, dtype=bool)
    order = _order(data[..., ::-1, :], neighbour[..., ::-1, :])
    left, right = (np.take_along_axis(side, order, axis=-1) for side in (data, neighbour))
    mean = np.mean(_promises(left, right, confirm), axis=-2).reshape(*many, -1)
    best = np.argmax(mean, axis=-1)
    direction, length = np.divmod(best, cells - 1)
    place = np.argsort(_order(data.sum(axis=-2), neighbour.sum(axis=-2)), axis=-1)
    forward = direction == 0
    return mean.max(axis=-1), (place <= length[..., None]) == forward[..., None], forward


def best_half_lines(data: Array, neighbour: Array, confirm: int) -> tuple[Array, Bools, Bools]:
    """Return the same of the cells below, or above, one threshold: as few events need no order to be learned.

    All parts are counted together, which leaves less to mark down.
    """
    left, right = (side.sum(axis=-2, keepdims=True) for side in (data, neighbour))
    cells = data.shape[-1]
    below = np.stack([_promises(left, right, confirm), _promises(right, left, confirm)], axis=-4)
    # Of the four a cut has: the lower part on data, the upper on neighbour, the lower on neighbour, the upper on data.
    found = below.reshape(*data.shape[:-2], 4, cells - 1)
    which, cut = np.divmod(np.argmax(found.reshape(*data.shape[:-2], -1), axis=-1), cells - 1)
    lower = np.arange(cells) <= cut[..., None]
    forward: Bools = (which == 0) | (which == 3)
    return found.max(axis=(-2, -1)), lower == (which % 2 == 0)[..., None], forward


def _order(data: Array, neighbour: Array) -> NDArray[np.intp]:
    """Return the cells by descending likelihood ratio, along the last axis."""
    ratio = to_grid(np.log(data + 0.5) - np.log(neighbour + 0.5))
    return np.argsort(-ratio, axis=-1, kind="stable")


def _promises(data: Array, neighbour: Array, confirm: int) -> Array:
    """Return the promises, shape (..., 2, parts, cells - 1), of the prefixes on data and of the rest on neighbour.

    A part without runs on either side promises nothing.
    """
    m, k = (side.sum(axis=-1, keepdims=True) for side in (data, neighbour))
    empty = (m == 0) | (k == 0)
    m, k = np.where(empty, 1.0, m), np.where(empty, 1.0, k)
    x, y = (np.cumsum(side, axis=-1)[..., :-1] for side in (data, neighbour))
    found = [promise(x, m, y, k, confirm), promise(k - y, k, m - x, m, confirm)]
    return np.stack([np.where(empty, -np.inf, one) for one in found], axis=-3)
