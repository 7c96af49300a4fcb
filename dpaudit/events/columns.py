"""Outputs of any type as rows of numbers: the leaves of a plan side by side, cut or padded to a fixed width."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.batches import join
from dpaudit.events.reducer import Reducer
from dpaudit.events.wide import WIDTH
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf
from dpaudit.outputs.plan import Plan
from dpaudit.outputs.readers import MISSING, finite

__all__ = ["Flattener"]

Matrix = NDArray[np.float64]

PLAN_ROWS = 2_000
"""Outputs a side that the plan is made from: a leaf in one of a hundred outputs is met twenty times."""
TEXTS = 64
MOST_KEPT = 6
"""Batches whose matrices are kept: training has two of each side, and parts of them that say where bins are cut."""
KEPT_NUMBERS = 8_000_000
"""Numbers of those matrices at most, beside the last one."""


@dataclass(frozen=True)
class Flattener:
    """Turns a batch of outputs into a matrix, one row an output.

    Attributes
    ----------
    leaves : tuple of Leaf
        Those that are numbers, rows of numbers or categories; of text its length and which known text it is.
    width : int
        Columns of the matrix.
    plan : Plan
        All leaves.
    """

    leaves: tuple[Leaf, ...]
    width: int
    plan: Plan

    @classmethod
    def fit(cls, pilot: Iterable[Any], reducer: Reducer | None = None) -> Flattener:
        """Plan batches of pilot outputs, which a reducer may have returned."""
        some = [batch[:PLAN_ROWS] for batch in pilot]
        rows = join(some)
        plan = Plan.of(rows) if reducer is None else Plan.of_reduced(rows, reducer.names, reducer.columns)
        leaves = tuple(leaf for leaf in plan.leaves if not leaf.in_row)
        flattener = cls(tuple(_numeric(leaf, some) for leaf in leaves), WIDTH, plan)
        found = flattener(some[0][:1]).shape[1] if some and len(some[0]) else 0
        return cls(flattener.leaves, max(1, min(WIDTH, found)), plan)

    @property
    def scalars(self) -> int:
        """The count of numbers in an output, those beyond the width included."""
        return sum(leaf.reader.width if isinstance(leaf.reader, readers.Block) else 1 for leaf in self.leaves)

    def __call__(self, outputs: Any) -> Matrix:
        """Return the matrix, shape (outputs, width), which must not be changed: scores of one batch share it."""
        for flattener, known, matrix in _LAST.known:
            if known is outputs and flattener is self:
                return matrix
        matrix = self._matrix(outputs)
        _LAST.known.append((self, outputs, matrix))
        while len(_LAST.known) > MOST_KEPT or sum(kept.size for *_, kept in _LAST.known[:-1]) > KEPT_NUMBERS:
            del _LAST.known[0]
        return matrix

    def _matrix(self, outputs: Any) -> Matrix:
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb" and len(self.leaves) == 1:
            flat = outputs.reshape(len(outputs), -1).astype(np.float64)
            if flat.shape[1] == self.width:
                return finite(flat)
        columns, left = [], self.width
        for leaf in self.leaves:
            if left <= 0:
                break
            values, where = leaf.read(outputs)
            found = _as_columns(values)[:, :left]
            left -= found.shape[1]
            if where is not None:
                placed = np.full((len(outputs), found.shape[1]), MISSING)
                placed[where] = found
                found = placed
            columns.append(found)
        if not columns:
            return np.zeros((len(outputs), 1))
        return finite(np.concatenate(columns, axis=1))


class _Last(threading.local):
    """The batches that a thread flattened last: each score of several asks for the same ones."""

    def __init__(self) -> None:
        self.known: list[tuple[Flattener, Any, Matrix]] = []


_LAST = _Last()


def _numeric(leaf: Leaf, batches: Sequence[Any]) -> Leaf:
    """Return the leaf with a reader that makes numbers."""
    if leaf.reader not in (readers.text, readers.octets):
        return leaf
    values = [value for batch in batches for value in leaf.read(batch)[0]]
    return Leaf(leaf.path, TextNumbers(readers.Categories.fit(None, values, TEXTS)), leaf.name)


def _hashed(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


@dataclass(frozen=True)
class TextNumbers:
    """Reads which known text or bytes a value is, and its length."""

    known: readers.Categories

    def __call__(self, values: Sequence[Any]) -> Matrix:
        """Return the rows (number of the text, length)."""
        listed = (
            values if type(values) is list and set(map(type, values)) <= {str, bytes} else list(map(_hashed, values))
        )
        return np.stack([self.known(listed), np.fromiter(map(len, listed), np.int64, len(listed))], axis=1).astype(
            np.float64
        )


def _as_columns(values: Any) -> Matrix:
    """Return what a reader returned as columns."""
    if isinstance(values, readers.WholeValues):
        return values.real[:, None]
    array = np.asarray(values, dtype=np.float64)
    return array if array.ndim == 2 else array[:, None]
