"""Features of pairs of numbers of a row: differences, sums, products, quotients and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening.groups import Cells, interval, quantile_cells, quantile_edges
from dpaudit.outputs.stand_ins import Rows, finite, usual

__all__ = ["Relations"]

MOST_RELATED = 6


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Relations:
    """Differences, sums, products and order of pairs of numbers.

    Attributes
    ----------
    pairs : tuple of (int, int)
        Which.
    edges : tuple of array
        Cuts of each feature.
    """

    pairs: tuple[tuple[int, int], ...]
    edges: tuple[NDArray[np.float64], ...]
    representation: bool = False

    @classmethod
    def of(cls, rows: Rows) -> Relations:
        """Return the group for rows like these."""
        width = min(rows.shape[1], MOST_RELATED)
        pairs = tuple((i, j) for i in range(width) for j in range(i + 1, width))
        found = [quantile_edges(finite(_related(rows, pair, kind))) for pair in pairs for kind in range(len(_KINDS))]
        return cls(pairs, tuple(found))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [kind.format(i, j) for i, j in self.pairs for kind in _KINDS]

    def real(self, rows: Rows, j: int) -> NDArray[np.float64]:
        """Return the relation of each row."""
        pair, kind = divmod(j, len(_KINDS))
        return finite(_related(rows, self.pairs[pair], kind))

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the cell of each row's relation."""
        return quantile_cells(self.edges[j], self.real(rows, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return interval(self.edges[j], code)


_KINDS = ("element {0} - element {1}", "element {0} + element {1}", "element {0} * element {1}",
          "element {0} / element {1}", "order of elements {0} and {1}")  # fmt: skip


def _related(rows: Rows, pair: tuple[int, int], kind: int) -> NDArray[np.float64]:
    x, y = usual(rows[:, list(pair)]).T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray((x - y, x + y, x * y, x / y, np.sign(x - y))[kind], dtype=np.float64)
