"""Readers: how the values at the end of a path become an array that features are computed from.

Each reader looks at one value at a time, with widths and categories that training fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.jsonable import stable_repr
from dpaudit.outputs.shared import ObjectRows, counted
from dpaudit.outputs.stand_ins import MISSING
from dpaudit.outputs.whole_values import WholeValues

__all__ = [
    "OTHER",
    "Block",
    "Categories",
    "Octets",
    "Real",
    "Text",
    "Whole",
    "WholeValues",
]

OTHER = -1
"""The code of a category that training did not show."""


@dataclass(frozen=True)
class Whole:
    """Reads integers and Booleans."""

    def __call__(self, values: Sequence[Any] | NDArray[Any]) -> WholeValues:
        """Return the integers as arrays."""
        return WholeValues.of(values)


@dataclass(frozen=True)
class Real:
    """Reads floats."""

    def __call__(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
        """Return the floats."""
        if isinstance(values, np.ndarray):
            return values.astype(np.float64)
        return np.fromiter(values, np.float64, len(values))


@dataclass(frozen=True)
class Text:
    """Reads text as it is."""

    def __call__(self, values: Sequence[Any]) -> list[str]:
        """Return the texts."""
        return values if isinstance(values, list) else list(values)


@dataclass(frozen=True)
class Octets:
    """Reads bytes, from the start and from the end.

    Attributes
    ----------
    width : int
        Bytes that are read from each end.
    """

    width: int

    def __call__(self, values: Sequence[Any]) -> list[bytes]:
        """Return the bytes."""
        return [bytes(value) for value in values]


@dataclass(frozen=True)
class Block:
    """Reads sequences and arrays of numbers as rows of a fixed width; shorter ones are padded with `MISSING`.

    Attributes
    ----------
    width : int
        Numbers in a row.
    names : tuple of str
        What each number is, where they are more than elements.
    """

    width: int
    names: tuple[str, ...] = ()

    def __call__(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
        """Return the rows, shape (len(values), width)."""
        if not len(values):
            return np.zeros((0, self.width))
        if isinstance(values, np.ndarray):
            return self._fitted(values.reshape(len(values), -1).astype(np.float64))
        objects = values.flat if isinstance(values, ObjectRows) else None
        if objects is None and isinstance(values[0], np.ndarray):
            return self._arrays(values)
        try:
            if objects is None and set(map(len, values)) == {self.width}:
                # One after the other: an array of lists takes half as long again.
                return np.fromiter(chain.from_iterable(values), np.float64).reshape(-1, self.width)
            rows = np.array(values if objects is None else objects, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            return self._slowly(values)
        return self._fitted(rows.reshape(len(values), -1))

    def _arrays(self, values: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        kinds = {(value.dtype, value.shape) for value in values}
        if len(kinds) == 1:
            dtype, _ = kinds.pop()
            joined = b"".join([value.tobytes() for value in values])
            return self._fitted(np.frombuffer(joined, dtype).reshape(len(values), -1).astype(np.float64))
        return self._slowly(values)

    def _slowly(self, values: Sequence[Any]) -> NDArray[np.float64]:
        rows = np.full((len(values), self.width), MISSING)
        for i, value in enumerate(values):
            flat = np.array([_number(v) for v in (value.ravel().tolist() if isinstance(value, np.ndarray) else value)])
            rows[i, : min(len(flat), self.width)] = flat[: self.width]
        return rows

    def _fitted(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows cut or padded to the width."""
        if rows.shape[1] >= self.width:
            return rows[:, : self.width]
        return np.pad(rows, ((0, 0), (0, self.width - rows.shape[1])), constant_values=MISSING)


def _number(value: Any) -> float:
    """Return an element as a float; what is no number, or none of its range, is missing."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return MISSING
    except OverflowError:
        return np.inf if value > 0 else -np.inf


@dataclass(frozen=True)
class Categories:
    """Reads a category of each value: a number for each that training showed, `OTHER` for the rest.

    Attributes
    ----------
    of : callable or None
        Maps a value to a hashable category; None where values are categories themselves.
    numbers : mapping
        The number of each known category.
    """

    of: Callable[[Any], Hashable] | None
    numbers: Mapping[Hashable, int]

    @classmethod
    def fit(cls, of: Callable[[Any], Hashable] | None, values: Sequence[Any], most: int) -> Categories:
        """Return a reader that numbers the commonest categories of some values."""
        counts = counted(of, values)
        common = sorted(counts, key=lambda category: (-counts[category], stable_repr(category)))[:most]
        return cls(of, {category: i for i, category in enumerate(common)})

    def __call__(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each value's category."""
        categories = values if self.of is None else map(self.of, values)
        return np.fromiter(map(self.numbers.get, categories, repeat(OTHER)), np.int64, len(values))
