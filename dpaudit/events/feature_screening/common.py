"""Features that leaves of several kinds have: the value in cells, values that repeat, categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening.groups import Cells, quantile_cells, quantile_edges
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.readers import WholeValues

__all__ = ["Categorical", "Repeats", "Value"]

REPEATED = 3
"""The least number of training runs with a value that has a cell of its own."""
KNOWN = 48
"""The most of such values."""
SHOWN = 80
"""Characters of a value that are shown."""


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Value:
    """The number itself, in cells of about equal mass.

    Attributes
    ----------
    edges : array
        Cuts between the cells.
    """

    edges: NDArray[np.float64]
    representation: bool = False
    names: Sequence[str] = ("value",)

    @classmethod
    def of(cls, values: Any) -> Value:
        """Return the group for numbers like these."""
        return cls(quantile_edges(_real(values)))

    def real(self, values: Any, j: int) -> NDArray[np.float64]:
        """Return each number."""
        return _real(values)

    def column(self, values: Any, j: int) -> Cells:
        """Return the cell of each number."""
        return quantile_cells(self.edges, _real(values))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        low = "-inf" if code == 0 else f"{self.edges[code - 1]:.6g}"
        high = "inf" if code == len(self.edges) else f"{self.edges[code]:.6g}"
        return f"[{low}, {high})"


def _real(values: Any) -> NDArray[np.float64]:
    """Return integers or floats as floats, NaN below all numbers."""
    real: NDArray[np.float64] = values.real if isinstance(values, WholeValues) else values
    return np.where(np.isnan(real), -np.inf, real)


@dataclass(frozen=True)
class Repeats:
    """Values that training showed several times, each a cell of its own; 0 for all others.

    Attributes
    ----------
    known : tuple of hashables
        The values; of floats their bit patterns, of integers (sign, length, lowest, highest 64 bits).
    """

    known: tuple[Hashable, ...]
    shown: tuple[str, ...]
    representation: bool = False
    names: Sequence[str] = ("repeated value",)

    @classmethod
    def of(cls, values: Any) -> Repeats:
        """Return the group for values like these."""
        counts = Counter(_keys(values))
        known = tuple(key for key, count in counts.most_common(KNOWN) if count >= REPEATED)
        return cls(known, tuple(_shown(key, values) for key in known))

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {key: i + 1 for i, key in enumerate(self.known)}

    def column(self, values: Any, j: int) -> Cells:
        """Return the number of each value."""
        known = self._numbers
        keys = _keys(values)
        return np.fromiter((known.get(key, 0) for key in keys), np.int64, len(keys))

    def cell(self, j: int, code: int) -> str:
        """Return the value."""
        return "another" if code == 0 else self.shown[code - 1]


def _keys(values: Any) -> list[Hashable]:
    """Return a hashable key of each value."""
    if isinstance(values, WholeValues):
        if values.big is not None:
            return list(values.big)
        return list((values.low.astype(np.int64) * values.sign).tolist())
    if isinstance(values, np.ndarray):
        return list(np.ascontiguousarray(values).view(np.int64).tolist())
    return list(values)


def _shown(key: Any, values: Any) -> str:
    """Return a key as the value that it stands for."""
    if isinstance(values, np.ndarray):
        return repr(float(np.array(key, dtype=np.int64).view(np.float64)))
    return stable_repr(key)[:SHOWN]


@dataclass(frozen=True)
class Categorical:
    """The category of a leaf that is one.

    Attributes
    ----------
    known : tuple of hashables
        The categories by number.
    """

    known: tuple[Hashable, ...]
    representation: bool = False
    names: Sequence[str] = ("",)

    def column(self, values: Cells, j: int) -> Cells:
        """Return the categories; 0 for one that training did not show."""
        return values + 1

    def cell(self, j: int, code: int) -> str:
        """Return the category."""
        if code == 0:
            return "another"
        known = self.known[code - 1]
        if isinstance(known, frozenset):  # the keys of a mapping, or the members of a set
            return f"{{{', '.join(sorted(stable_repr(member) for member in known))}}}"[:SHOWN]
        return stable_repr(known)[:SHOWN]
