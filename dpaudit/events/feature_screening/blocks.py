"""Features of rows of numbers: sums, extremes, orders, counts, and each number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.binning import commonest
from dpaudit.events.feature_screening.common import KNOWN, REPEATED
from dpaudit.events.feature_screening.groups import CELLS, Cells, interval, quantile_cells, quantile_edges
from dpaudit.outputs.stand_ins import MISSING, Rows, finite, usual

__all__ = ["Entries", "RepeatedEntries", "Summaries"]

MOST_ENTRIES = 128


def _steps(ordered: Rows) -> NDArray[np.float64]:
    """Return how often a number of each row differs from the one before it; differences of infinities are none."""
    found: NDArray[np.float64] = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1).astype(np.float64)
    return found


_SUMMARIES: tuple[tuple[str, Callable[[Rows], NDArray[np.float64]]], ...] = (
    ("sum", lambda rows: usual(rows).sum(axis=1)),
    ("sum of squares", lambda rows: np.einsum("ij,ij->i", usual(rows), usual(rows))),
    ("sum of magnitudes", lambda rows: np.abs(usual(rows)).sum(axis=1)),
    ("least", lambda rows: np.where(rows == MISSING, np.inf, rows).min(axis=1)),
    ("greatest", lambda rows: rows.max(axis=1)),
    ("greatest magnitude", lambda rows: np.abs(usual(rows)).max(axis=1)),
    ("place of the least", lambda rows: np.where(rows == MISSING, np.inf, rows).argmin(axis=1).astype(np.float64)),
    ("place of the greatest", lambda rows: rows.argmax(axis=1).astype(np.float64)),
    ("ascents", lambda rows: (rows[:, 1:] > rows[:, :-1]).sum(axis=1).astype(np.float64)),
    ("equal neighbours", lambda rows: (rows[:, 1:] == rows[:, :-1]).sum(axis=1).astype(np.float64)),
    ("zeros", lambda rows: (rows == 0).sum(axis=1).astype(np.float64)),
    ("median", lambda rows: np.median(rows, axis=1)),
    ("NaNs", lambda rows: np.isnan(rows).sum(axis=1).astype(np.float64)),
    ("infinities", lambda rows: np.isposinf(rows).sum(axis=1).astype(np.float64)),
    ("negative infinities", lambda rows: np.isneginf(rows).sum(axis=1).astype(np.float64)),
    ("negative zeros", lambda rows: ((rows == 0) & np.signbit(rows)).sum(axis=1).astype(np.float64)),
    ("different numbers", lambda rows: _steps(np.sort(rows, axis=1))),
    ("sum of neighbours' products", lambda rows: (usual(rows)[:, 1:] * usual(rows)[:, :-1]).sum(axis=1)),
    ("sum of the first half", lambda rows: usual(rows)[:, : rows.shape[1] // 2].sum(axis=1)),
    ("sum with alternating signs", lambda rows: usual(rows)[:, ::2].sum(axis=1) - usual(rows)[:, 1::2].sum(axis=1)),
)


def _summary(rows: Rows, j: int) -> NDArray[np.float64]:
    """Return the number that sums up each row; sums and products beyond floats are infinities like any other."""
    with np.errstate(over="ignore", invalid="ignore"):
        return finite(_SUMMARIES[j][1](rows))


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
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
        return cls(tuple(quantile_edges(_summary(rows, j)) for j in range(len(_SUMMARIES))))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [name for name, _ in _SUMMARIES]

    def real(self, rows: Rows, j: int) -> NDArray[np.float64]:
        """Return the number that sums up each row."""
        return _summary(rows, j)

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the cell of each row."""
        return quantile_cells(self.edges[j], self.real(rows, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return interval(self.edges[j], code)


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
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
        return cls(tuple(quantile_edges(finite(column)) for column in rows.T[:MOST_ENTRIES]), columns)

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return self.columns[: len(self.edges)] or [f"element {j}" for j in range(len(self.edges))]

    def real(self, rows: Rows, j: int) -> NDArray[np.float64]:
        """Return each row's element."""
        return finite(rows[:, j])

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the cell of each row's element."""
        return quantile_cells(self.edges[j], self.real(rows, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return interval(self.edges[j], code)


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class RepeatedEntries:
    """Numbers of a row that training showed several times at one place, each a cell of its own; 0 for all others.

    Attributes
    ----------
    places : tuple of int
        The places with such numbers among more than `Entries` tell apart.
    known : tuple of array
        The numbers of each place, ascending.
    """

    places: tuple[int, ...]
    known: tuple[NDArray[np.float64], ...]
    representation: bool = False

    @classmethod
    def of(cls, rows: Rows) -> RepeatedEntries:
        """Return the group for rows like these."""
        found = {j: _repeated(finite(column)) for j, column in enumerate(rows.T[:MOST_ENTRIES])}
        return cls(tuple(j for j, known in found.items() if len(known)), tuple(k for k in found.values() if len(k)))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"repeated value of element {j}" for j in self.places]

    def column(self, rows: Rows, j: int) -> Cells:
        """Return the number of each row's element."""
        values, known = finite(rows[:, self.places[j]]), self.known[j]
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(known[at] == values, at + 1, 0)

    def cell(self, j: int, code: int) -> str:
        """Return the value."""
        return "another" if code == 0 else repr(float(self.known[j][code - 1]))


def _repeated(column: Rows) -> Rows:
    """Return the commonest of the values that repeat; none where quantiles tell all values apart."""
    values, counts = np.unique(column, return_counts=True)
    return commonest(values, counts, REPEATED, KNOWN) if len(values) > CELLS else values[:0]
