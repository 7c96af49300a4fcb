"""A leaf: a part of every output that features are computed from, and the walk to it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs import readers
from dpaudit.outputs.shared import Shared, follow
from dpaudit.outputs.steps import Path, Step

__all__ = ["FAMILIES_OF_DTYPES", "Leaf", "listed", "spread", "walk"]

FAMILIES_OF_DTYPES = {"i": "int", "u": "int", "b": "bool", "f": "float"}
"""The families of numbers by the kinds of NumPy's dtypes."""

Reached = tuple[Any, NDArray[np.intp] | None]
"""Values, and the numbers of the rows that have one (None for all)."""


@dataclass(frozen=True)
class Leaf:
    """A part of the outputs that is a number, a text, bytes, a category or a row of numbers.

    Attributes
    ----------
    path : Path
        The steps from an output to the part.
    reader : callable
        Makes an array, or a list of texts or bytes, of the parts of a batch.
    name : str
        The leaf as a person would write it.
    in_row : bool
        Whether fitted scores leave it out: another leaf, a row of numbers, holds it too, or it is no value.
    representation : bool
        Whether it shows how a value is stored rather than which it is.
    """

    path: Path
    reader: Callable[[Any], Any]
    name: str
    in_row: bool = False
    representation: bool = False

    def read(self, rows: Sequence[Any] | NDArray[Any]) -> Reached:
        """Return the parts of a batch of outputs that are there, and their rows' numbers (None where all have one)."""
        if isinstance(rows, np.ndarray):
            direct = self._of_array(rows)
            if direct is not None:
                return direct, None
        values, where = walk(rows, self.path)
        return readers.read(self.reader, values), where

    def _of_array(self, rows: NDArray[Any]) -> Any:
        """Return the parts of outputs that are rows of one array, without making objects; None where they need them."""
        kind = FAMILIES_OF_DTYPES.get(rows.dtype.kind)
        if kind is None or not self.path or self.path[0].name != "family":
            return None
        family, inside = self.path[0].at, self.path[1:]
        if rows.ndim == 1:
            plain = not inside and family == kind and self.reader in (readers.whole, readers.real)
            return self.reader(rows) if plain else None
        if family != "array":
            return None
        if not inside:
            return self.reader(rows) if isinstance(self.reader, readers.Block) else None
        flat, place = rows.reshape(len(rows), -1), inside[0].at
        if inside != (Step("entry", place), Step("family", kind)) or place >= flat.shape[1]:
            return None
        return self.reader(flat[:, place])


def spread(found: NDArray[Any], where: NDArray[np.intp] | None, total: int, absent: float) -> NDArray[Any]:
    """Return what was read of all of so many outputs: `absent` for those that have no such leaf."""
    if where is None:
        return found
    rows = np.full((total, *found.shape[1:]), absent, dtype=found.dtype)
    rows[where] = found
    return rows


class _Last(threading.local):
    """The parts that walks of a thread reached from its last two batches: audits read one of each side by turns."""

    def __init__(self) -> None:
        self.batches: deque[tuple[Any, dict[Path, Reached]]] = deque(maxlen=2)


_LAST = _Last()


def walk(rows: Sequence[Any] | NDArray[Any], path: Path) -> Reached:
    """Return the values at the end of a path, and the numbers of the rows that have one (None for all).

    Parameters
    ----------
    rows : sequence
        Outputs, which must not change between walks.
    path : tuple of Step
        From an output to a part of it.
    """
    known = _known(rows)
    if path not in known:
        known[path] = _after(path[-1], *walk(rows, path[:-1])) if path else (listed(rows), None)
    return known[path]


def _known(rows: Sequence[Any] | NDArray[Any]) -> dict[Path, Reached]:
    """Return what walks from a batch have reached, where each next one is written."""
    for batch, reached in _LAST.batches:
        if batch is rows:
            return reached
    reached = {}
    if type(rows) is np.ndarray and rows.dtype == object and rows.ndim > 1 and rows.size:
        # Arrays in an array of objects are taken apart at once, as `parts` does.
        inside = (Step("family", "array"), Step("parts"), Step("family", "mapping"))
        reached[(*inside, Step("key", "shape"))] = Shared([rows.shape[1:]], np.zeros(len(rows), dtype=np.intp)), None
        values = (*inside, Step("key", "values"))
        reached[values] = reached[(*values, Step("family", "sequence"))] = rows.reshape(len(rows), -1), None
    _LAST.batches.append((rows, reached))
    return reached


def listed(rows: Sequence[Any] | NDArray[Any]) -> list[Any]:
    """Return a batch of outputs as a list, numbers of an array as Python has them."""
    return rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 1 else list(rows)


def _after(step: Step, values: Sequence[Any], where: NDArray[np.intp] | None) -> Reached:
    """Return where one step more leads."""
    if not len(values):
        return values, np.zeros(0, dtype=np.intp) if where is None else where
    found, mask = follow(step, values)
    if mask is None:
        return found, where
    return found, np.flatnonzero(mask) if where is None else where[mask]
