"""From numbers to outcome cells, and counts of cells: rounding, bins, tallies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array
from dpaudit.events.event import Outputs, Tally
from dpaudit.outputs.canonical import canonical_each

# Numbers of squares that are tried for a grid: the fewer, the better they stay in the cache.
GRIDS = (2**13, 2**16)
# The most cuts in a square that are compared one by one: with more, a binary search is as fast.
CROWDED = 4
# Fewer values than this are looked up by a binary search: making the table would take longer.
FEW_VALUES = 4096


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

    def entries(self, values: Array) -> NDArray[np.intp] | NDArray[np.int32]:
        """Return the entry of each value in a table made by `table_of`."""
        return self(values)

    def table_of(self, numbers: Array) -> Array:
        """Return a table of one number a bin."""
        return numbers


@dataclass(frozen=True)
class GridBins(CutBins):
    """Bins whose cuts are moved down to a grid of equal squares, so that a table by square suffices.

    A value v is in square floor((v - low) * scale). The `table` has the bin of each square, `centres`, shape (size,), a
    value in the middle of each bin.
    """

    low: float
    scale: float
    table: NDArray[np.intp]
    centres: Array

    @classmethod
    def near(cls, cuts: Array, centres: Array) -> GridBins | None:
        """Return bins whose cuts are moved by less than a square, or None if two cuts would meet."""
        span = float(centres[-1] - centres[0])
        if not 0 < span < 1e290 or GRIDS[0] / span > 1e290:
            return None
        squares = GRIDS[0]
        low = float(centres[0]) - 1.5 * span / squares
        scale = (squares - 3) / span
        held = np.bincount(_square(cuts, low, scale, squares), minlength=squares)
        if held.max() > 1 or held[0]:
            return None
        return cls(cuts, low, scale, np.cumsum(held), centres)

    def __call__(self, values: Array) -> NDArray[np.intp]:
        """Return the bin of each value."""
        return self.table[self.entries(values)]

    def entries(self, values: Array) -> NDArray[np.int32]:
        """Return the square of each value."""
        return _square(values, self.low, self.scale, len(self.table))

    def table_of(self, numbers: Array) -> Array:
        """Return a number for each square, linear from one bin's centre to the next."""
        middles = self.low + (np.arange(len(self.table)) + 0.5) / self.scale
        table: Array = np.interp(middles, self.centres, numbers)
        return table


def quantiles_of_sorted(values: Array, shares: Array) -> Array:
    """Return for each share the least of ascending values that at least this share of them does not exceed."""
    return values[np.clip(np.ceil(shares * len(values)).astype(np.intp) - 1, 0, len(values) - 1)]


def commonest(values: Array, counts: NDArray[np.intp], least: float, most: int) -> Array:
    """Return the values with at least `least` counts, the `most` commonest of them, in the order given."""
    often = np.flatnonzero(counts >= least)
    return values[np.sort(often[np.argsort(-counts[often], kind="stable")[:most]])]


def places_of(known: NDArray[np.generic], values: NDArray[np.generic]) -> NDArray[np.intp]:
    """Return the place of each value among ascending known ones, -1 for all others."""
    if not len(known):
        return np.full(len(values), -1)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[at] == values, at, -1)


def bins(cuts: Array, values: Array) -> NDArray[np.intp]:
    """Return how many cuts are at most each value: exactly ``searchsorted(cuts, values, side="right")``.

    Cuts and values are put into equal squares by the same monotone function, rounding included. So the cuts in lower
    squares are below a value, those in higher ones above it, and only those in its own, one as a rule, are compared.

    The cuts, shape (k,), are ascending and finite; none of the values, shape (n,), is NaN.
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
    # No value is above NaN.
    within = np.full((most, squares), np.nan)
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


_SCALE = 2.0**32


def to_grid(values: Array | float) -> Array:
    """Return numbers rounded to multiples of 2^-32.

    Logarithms, and sums whose order the library chooses, differ in their last digits between processors (numpy takes
    other instructions where there are wider ones), and equal promises then rank by noise: without this the choice of
    events was another one on one processor in two. Sums of rounded numbers below 2^20 have no rounding error.
    """
    return np.asarray(np.rint(np.multiply(values, _SCALE)) / _SCALE)


# Cells seen fewer times in training are one cell, `event.RARE`, which is also that of outputs never seen: a ratio of
# fewer counts is mostly noise.
LEAST = 5


def tally(cells: Outputs) -> Tally:
    """Count the cells in a batch of them."""
    if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iu":
        low = int(cells.min())
        high = int(cells.max())
        if high - low < 4 * len(cells) + 65536:
            # In narrow types the difference would wrap around.
            wide = cells.astype(np.int64) if cells.dtype.itemsize < 8 else cells
            counts = np.bincount((wide - low).astype(np.int64, copy=False))
            seen = np.flatnonzero(counts)
            return Counter(dict(zip([value + low for value in seen.tolist()], counts[seen].tolist(), strict=True)))
        values, counts = np.unique(cells, return_counts=True)
        return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    return Counter(canonical_each(cells))


def separation(data: Tally, neighbour: Tally) -> float:
    """Return how many standard errors apart the two sides are in the mean rank of their cells, in cell order.

    It is |AUC - 1/2| over its standard error without a signal, for integer cells; 0 for others.
    """
    cells = sorted(cell for cell in data.keys() | neighbour.keys() if isinstance(cell, int))
    x = np.array([data[cell] for cell in cells], dtype=np.float64)
    y = np.array([neighbour[cell] for cell in cells], dtype=np.float64)
    m = x.sum()
    k = y.sum()
    if m == 0 or k == 0:
        return 0.0
    both = x + y
    rank = (np.cumsum(both) - both / 2) / both.sum() - 0.5
    spread = float(np.sqrt((both @ rank**2) / both.sum() * (1 / m + 1 / k)))
    if spread > 0:
        return float(to_grid(abs(x @ rank / m - y @ rank / k) / spread))
    return 0.0
