"""Features of rows of numbers: sums, extremes, orders and relations of neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.leaves.readers import MISSING, Whole, WholeValues
from dpaudit.distinguish.screen.groups import Cells, quantile_cells, quantile_edges

__all__ = ["Entries", "Relations", "Summaries", "parities"]

Rows = NDArray[np.float64]
MOST_ENTRIES = 128
MOST_RELATED = 6


def _usual(rows: Rows) -> Rows:
    """Return rows with what is missing, infinite or no number as 0."""
    return np.where(np.abs(rows) < 1e300, rows, 0.0)


_SUMMARIES: tuple[tuple[str, Callable[[Rows], NDArray[np.float64]]], ...] = (
    ("sum", lambda rows: _usual(rows).sum(axis=1)),
    ("sum of squares", lambda rows: np.einsum("ij,ij->i", _usual(rows), _usual(rows))),
    ("sum of magnitudes", lambda rows: np.abs(_usual(rows)).sum(axis=1)),
    ("least", lambda rows: np.where(rows == MISSING, np.inf, rows).min(axis=1)),
    ("greatest", lambda rows: rows.max(axis=1)),
    ("greatest magnitude", lambda rows: np.abs(_usual(rows)).max(axis=1)),
    ("place of the least", lambda rows: np.where(rows == MISSING, np.inf, rows).argmin(axis=1).astype(np.float64)),
    ("place of the greatest", lambda rows: rows.argmax(axis=1).astype(np.float64)),
    ("ascents", lambda rows: (rows[:, 1:] > rows[:, :-1]).sum(axis=1).astype(np.float64)),
    ("equal neighbours", lambda rows: (rows[:, 1:] == rows[:, :-1]).sum(axis=1).astype(np.float64)),
    ("zeros", lambda rows: (rows == 0).sum(axis=1).astype(np.float64)),
    ("median", lambda rows: np.median(rows, axis=1)),
    ("numbers that are not finite", lambda rows: (~(np.abs(rows) < 1e300)).sum(axis=1).astype(np.float64)),
    ("sum of neighbours' products", lambda rows: (_usual(rows)[:, 1:] * _usual(rows)[:, :-1]).sum(axis=1)),
    ("sum of the first half", lambda rows: _usual(rows)[:, : rows.shape[1] // 2].sum(axis=1)),
    ("sum with alternating signs", lambda rows: _usual(rows)[:, ::2].sum(axis=1) - _usual(rows)[:, 1::2].sum(axis=1)),
)


@dataclass(frozen=True)
class Summaries:
    """Numbers that sum up a row.

    Attributes
    ----------
    edges : tuple of array
        Cuts of each.
    """

    edges: tuple[NDArray[np.float64], ...]
    representation: bool = False

    @classmethod
    def of(cls, rows: Rows) -> Summaries:
        """Return the group for rows like these."""
        return cls(tuple(quantile_edges(_finite(of(rows))) for _, of in _SUMMARIES))

    @cached_property
    def names(self) -> Sequence[str]:
        """What each feature is."""
        return [name for name, _ in _SUMMARIES]

    def real(self, rows: Rows, j: int) -> NDArray[np.float64]:
        """Return the number that sums up each row."""
        return _finite(_SUMMARIES[j][1](rows))

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the cell of each row."""
        return quantile_cells(self.edges[j], self.real(rows, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return _interval(self.edges[j], code)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.nan_to_num(values, nan=-1.2e300, posinf=1.3e300, neginf=-1.3e300)


def _interval(edges: NDArray[np.float64], code: int) -> str:
    low = "-inf" if code == 0 else f"{edges[code - 1]:.6g}"
    return f"[{low}, {'inf' if code == len(edges) else f'{edges[code]:.6g}'})"


@dataclass(frozen=True)
class Entries:
    """Each number of a row, in cells of about equal mass.

    Attributes
    ----------
    edges : tuple of array
        Cuts of each.
    """

    edges: tuple[NDArray[np.float64], ...]
    columns: tuple[str, ...] = ()
    representation: bool = False

    @classmethod
    def of(cls, rows: Rows, columns: tuple[str, ...] = ()) -> Entries:
        """Return the group for rows like these, whose columns may have names of their own."""
        return cls(tuple(quantile_edges(_finite(column)) for column in rows.T[:MOST_ENTRIES]), columns)

    @cached_property
    def names(self) -> Sequence[str]:
        """What each feature is."""
        return self.columns[: len(self.edges)] or [f"element {j}" for j in range(len(self.edges))]

    def real(self, rows: Rows, j: int) -> NDArray[np.float64]:
        """Return each row's element."""
        return _finite(rows[:, j])

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the cell of each row's element."""
        return quantile_cells(self.edges[j], self.real(rows, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return _interval(self.edges[j], code)


@dataclass(frozen=True)
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
        found = [quantile_edges(_finite(_related(rows, pair, kind))) for pair in pairs for kind in range(len(_KINDS))]
        return cls(pairs, tuple(found))

    @cached_property
    def names(self) -> Sequence[str]:
        """What each feature is."""
        return [kind.format(i, j) for i, j in self.pairs for kind in _KINDS]

    def real(self, rows: Rows, j: int) -> NDArray[np.float64]:
        """Return the relation of each row."""
        pair, kind = divmod(j, len(_KINDS))
        return _finite(_related(rows, self.pairs[pair], kind))

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the cell of each row's relation."""
        return quantile_cells(self.edges[j], self.real(rows, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return _interval(self.edges[j], code)


_KINDS = ("element {0} - element {1}", "element {0} + element {1}", "element {0} * element {1}",
          "element {0} / element {1}", "order of elements {0} and {1}")  # fmt: skip


def _related(rows: Rows, pair: tuple[int, int], kind: int) -> NDArray[np.float64]:
    x, y = _usual(rows[:, list(pair)]).T
    if kind == 4:
        return np.sign(x - y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return (x - y, x + y, x * y, x / y)[kind]


def parities(rows: Rows) -> WholeValues | None:
    """Return the sums of rows of whole numbers, whose bits and digits are features of their own; None for others."""
    usual = _usual(rows)
    if (usual != np.round(usual)).any() or np.abs(usual).sum(axis=1).max(initial=0) > 2**53:
        return None
    return Whole()(usual.sum(axis=1).astype(np.int64))
