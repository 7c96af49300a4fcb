"""Groups of features: each maps the values of a leaf to columns of small cells, one value at a time.

What a group needs to know of the data (frequent values, quantiles) is fitted on training runs and then fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["CELLS", "Cells", "Group", "interval", "quantile_cells", "quantile_edges"]

Cells = NDArray[np.int64]

CELLS = 64
"""Into so many cells of equal mass a real feature is cut while features are compared."""


class Group(Protocol):
    """Some features of the values of one leaf."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the features, as "bit 3" or "length"."""

    @property
    def representation(self) -> bool:
        """Whether the features tell how a value is stored rather than which it is."""

    def column(self, values: Any, j: int) -> Cells:
        """Return the cell of each value in feature j."""

    def cell(self, j: int, code: int) -> str | int:
        """Return a cell of feature j as a person would write it."""


def quantile_edges(values: NDArray[np.float64], cells: int = CELLS) -> NDArray[np.float64]:
    """Return cuts that divide values into cells of about equal mass."""
    if not len(values):
        return np.zeros(0)
    return np.unique(np.quantile(values, np.linspace(0, 1, cells + 1)[1:-1], method="lower"))


def quantile_cells(edges: NDArray[np.float64], values: NDArray[np.float64]) -> Cells:
    """Return the number of cuts that are at most each value."""
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def interval(edges: NDArray[np.float64], code: int) -> str:
    """Return a cell between cuts as a person would write it."""
    low = "-inf" if code == 0 else f"{edges[code - 1]:.6g}"
    return f"[{low}, {'inf' if code == len(edges) else f'{edges[code]:.6g}'})"
