"""Count outcome cells, and define events over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.events.event import Cells, ranges_of
from dpaudit.events.rounding import steady
from dpaudit.outputs.canonical import canonical, in_words

__all__ = ["LEAST", "RARE", "CellEvent", "Tally", "separation", "tally"]

LEAST = 5
"""Cells seen fewer times in training are one cell, RARE, which is also that of outputs never seen: a ratio of fewer
counts says next to nothing."""
RARE: Hashable = ("rare",)
"""A cell that no output has."""

Tally = Counter[Hashable]


def tally(cells: Any) -> Tally:
    """Count the cells in a batch of them."""
    if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iu":
        low, high = int(cells.min()), int(cells.max())
        if high - low < 4 * len(cells) + 65536:
            # In narrow types the difference would wrap around.
            wide = cells.astype(np.int64) if cells.dtype.itemsize < 8 else cells
            counts = np.bincount((wide - low).astype(np.int64, copy=False))
            seen = np.flatnonzero(counts)
            return Counter(dict(zip([value + low for value in seen.tolist()], counts[seen].tolist(), strict=True)))
        values, counts = np.unique(cells, return_counts=True)
        return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    return Counter(canonical(value) for value in cells)


@dataclass(frozen=True)
class CellEvent:
    """The event that the cell is in `inside`; a cell in neither set is inside if `rare` says so."""

    inside: frozenset[Hashable]
    outside: frozenset[Hashable]
    rare: bool

    def has(self, cell: Hashable) -> bool:
        """Say whether a cell is in the event."""
        return cell in self.inside or (self.rare and cell not in self.outside)

    def known(self, counts: Tally) -> Tally:
        """Return the counts with all cells in neither set as one, `RARE`."""
        merged: Tally = Counter()
        for cell, count in counts.items():
            merged[cell if cell in self.inside or cell in self.outside else RARE] += count
        return merged

    def hits(self, counts: Tally) -> int:
        """Return how many of the counted outputs are in the event."""
        return sum(count for cell, count in counts.items() if self.has(cell))

    def cells(self, feature: str) -> Cells:
        """Return the event as data, given the feature whose values the cells are."""
        whole = [cell for cell in self.inside if isinstance(cell, int)]
        others = sorted(in_words(cell) for cell in self.inside if not isinstance(cell, int))
        return Cells(feature, ranges_of(whole), tuple(others), self.rare)


def separation(data: Tally, neighbour: Tally) -> float:
    """Return how many standard errors apart the two sides are in the mean rank of their cells, in cell order.

    It is |AUC - 1/2| over its standard error without a signal, for integer cells; 0 for others.
    """
    cells = sorted(cell for cell in data.keys() | neighbour.keys() if isinstance(cell, int))
    x = np.array([data[cell] for cell in cells], dtype=np.float64)
    y = np.array([neighbour[cell] for cell in cells], dtype=np.float64)
    m, k = x.sum(), y.sum()
    if m == 0 or k == 0:
        return 0.0
    both = x + y
    rank = (np.cumsum(both) - both / 2) / both.sum() - 0.5
    spread = float(np.sqrt((both @ rank**2) / both.sum() * (1 / m + 1 / k)))
    return float(steady(abs(x @ rank / m - y @ rank / k) / spread)) if spread > 0 else 0.0
