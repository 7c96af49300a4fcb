"""Bin many values by few cuts: the same as a binary search, several times as fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CutBins", "GridBins", "bins", "commonest", "quantiles_of_sorted"]

Array = NDArray[np.float64]

GRIDS = (2**13, 2**16)
"""Numbers of squares that are tried for a grid: the fewer, the better they stay in the cache."""
CROWDED = 4
"""The most cuts in a square that are compared one by one: with more, a binary search is as fast."""
FEW_VALUES = 4096
"""Fewer values than this are looked up by a binary search: making the table would take longer."""


@dataclass(frozen=True)
class CutBins:
    """Bins between ascending cuts, which belong to the bin above them."""

    cuts: Array

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.cuts) + 1

    def __call__(self, values: Array) -> NDArray[np.intp]:
        """Return the bin of each value."""
        return bins(self.cuts, values)

    def table_of(self, numbers: Array) -> Array:
        """Return the table for `gather`, of one number a bin."""
        return numbers

    def gather(self, table: Array, values: Array) -> Array:
        """Return each value's entry of a table made by `table_of`."""
        return table[self(values)]


@dataclass(frozen=True)
class GridBins:
    """Bins whose cuts are moved down to a grid of equal squares, so that a table by square says all.

    Attributes
    ----------
    low, scale : float
        A value v is in square floor((v - low) * scale).
    table : array of int, shape (squares,)
        The bin of each square.
    centres : array, shape (size,)
        A value in the middle of each bin.
    """

    low: float
    scale: float
    table: NDArray[np.intp]
    centres: Array

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.centres)

    @classmethod
    def near(cls, cuts: Array, centres: Array) -> GridBins | None:
        """Return bins whose cuts are moved by less than a square; None where two cuts would meet."""
        span = float(centres[-1] - centres[0])
        if not 0 < span < 1e290 or GRIDS[0] / span > 1e290:
            return None
        squares = GRIDS[0]
        low, scale = float(centres[0]) - 1.5 * span / squares, (squares - 3) / span
        held = np.bincount(_square(cuts, low, scale, squares), minlength=squares)
        return None if held.max() > 1 or held[0] else cls(low, scale, np.cumsum(held), centres)

    def __call__(self, values: Array) -> NDArray[np.intp]:
        """Return the bin of each value."""
        return self.table[_square(values, self.low, self.scale, len(self.table))]

    def table_of(self, numbers: Array) -> Array:
        """Return the table for `gather`, of one number a bin: linear from one bin's centre to the next."""
        middles = self.low + (np.arange(len(self.table)) + 0.5) / self.scale
        table: Array = np.interp(middles, self.centres, numbers)
        return table

    def gather(self, table: Array, values: Array) -> Array:
        """Return each value's entry of a table made by `table_of`."""
        return table[_square(values, self.low, self.scale, len(self.table))]


def quantiles_of_sorted(values: Array, shares: Array) -> Array:
    """Return for each share the least of ascending values that at least this share of them does not exceed."""
    return values[np.clip(np.ceil(shares * len(values)).astype(np.intp) - 1, 0, len(values) - 1)]


def commonest(values: Array, counts: NDArray[np.intp], least: float, most: int) -> Array:
    """Return the values of which there are enough, at most so many, the commonest ones, in the order given."""
    often = np.flatnonzero(counts >= least)
    return values[np.sort(often[np.argsort(-counts[often], kind="stable")[:most]])]


def bins(cuts: Array, values: Array) -> NDArray[np.intp]:
    """Return how many cuts are at most each value: exactly ``searchsorted(cuts, values, side="right")``.

    Cuts and values are put into equal squares by the same monotone function, rounding included. So the cuts in lower
    squares are below a value, those in higher ones above it, and only those in its own, one as a rule, are compared.

    Parameters
    ----------
    cuts : array, shape (k,)
        Ascending, finite.
    values : array, shape (n,)
        No NaN.
    """
    if len(values) >= FEW_VALUES and (cuts[1:] == cuts[:-1]).any():
        # Equal cuts share a square however fine the squares are.
        distinct, copies = np.unique(cuts, return_counts=True)
        places: NDArray[np.intp] = np.concatenate([[0], np.cumsum(copies)])
        return places[bins(distinct, values)]
    span = float(cuts[-1]) - float(cuts[0]) if len(cuts) else 0.0
    if len(values) < FEW_VALUES or not 0 < span < 1e290 or GRIDS[-1] / span > 1e290:
        return np.searchsorted(cuts, values, side="right")
    low = float(cuts[0])
    for squares in GRIDS:
        scale = squares / span
        own = _square(cuts, low, scale, squares)
        counts = np.bincount(own, minlength=squares)
        most = int(counts.max())
        if most <= CROWDED:
            break
    else:
        return np.searchsorted(cuts, values, side="right")
    below = np.cumsum(counts) - counts
    within = np.full((most, squares), np.nan)  # no value is above NaN
    within[np.arange(len(cuts)) - below[own], own] = cuts
    square = _square(values, low, scale, squares)
    found: NDArray[np.intp] = below[square]
    for row in within:
        found += values >= row[square]
    return found


def _square(values: Array, low: float, scale: float, squares: int) -> NDArray[np.int32]:
    with np.errstate(over="ignore"):
        place = values - low
        place *= scale
    return np.clip(place, 0, squares - 1, out=place).astype(np.int32)
