"""Binning many values by few cuts: the same as a binary search, several times as fast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bins"]

CELLS = 8192
CROWDED = 4
FEW_VALUES = 4096


def bins(cuts: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many cuts are at most each value: exactly ``searchsorted(cuts, values, side="right")``.

    Cuts and values are put into equal cells by the same monotone function, rounding included. So the cuts in lower
    cells are below a value, those in higher ones above it, and only those in its own, one as a rule, are compared.

    Parameters
    ----------
    cuts : array, shape (k,)
        Ascending, finite.
    values : array, shape (n,)
        No NaN.
    """
    span = float(cuts[-1] - cuts[0]) if len(cuts) else 0.0
    if len(values) < FEW_VALUES or not 0 < span < 1e290 or CELLS / span > 1e290:
        return np.searchsorted(cuts, values, side="right")
    low, scale = float(cuts[0]), CELLS / span
    own = _cells(cuts, low, scale)
    counts = np.bincount(own, minlength=CELLS)
    most = int(counts.max())
    if most > CROWDED:
        return np.searchsorted(cuts, values, side="right")
    below = np.cumsum(counts) - counts
    within = np.full((most, CELLS), np.nan)  # no value is above NaN
    within[np.arange(len(cuts)) - below[own], own] = cuts
    cell = _cells(values, low, scale)
    found: NDArray[np.intp] = below[cell]
    for row in within:
        found += values >= row[cell]
    return found


def _cells(values: NDArray[np.float64], low: float, scale: float) -> NDArray[np.int32]:
    with np.errstate(over="ignore"):
        return np.clip((values - low) * scale, 0, CELLS - 1).astype(np.int32)
