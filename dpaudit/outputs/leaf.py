"""A leaf: a part of every output that features are computed from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs import readers
from dpaudit.outputs.derived_values import Entry
from dpaudit.outputs.shared import read
from dpaudit.outputs.steps import Family, Path, walk

__all__ = ["FAMILIES_OF_DTYPES", "Leaf"]

FAMILIES_OF_DTYPES = {"i": "int", "u": "int", "b": "bool", "f": "float"}
"""The families of numbers by the kinds of NumPy's dtypes."""


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
        Whether it tells how a value is stored rather than which it is.
    """

    path: Path
    reader: Callable[[Any], Any]
    name: str
    in_row: bool = False
    representation: bool = False

    def read(self, rows: Sequence[Any] | NDArray[Any]) -> tuple[Any, NDArray[np.intp] | None]:
        """Return the parts of a batch of outputs that are there, and their rows' numbers (None where all have one)."""
        if isinstance(rows, np.ndarray):
            direct = self._of_array(rows)
            if direct is not None:
                return direct, None
        values, where = walk(rows, self.path)
        return read(self.reader, values), where

    def _of_array(self, rows: NDArray[Any]) -> Any:
        """Return the parts of outputs that are rows of one array, without making objects; None where they need them."""
        kind = FAMILIES_OF_DTYPES.get(rows.dtype.kind)
        if kind is None or not self.path or not isinstance(self.path[0], Family):
            return None
        name, *inside = (self.path[0].name, *self.path[1:])
        if rows.ndim == 1:
            plain = not inside and name == kind and isinstance(self.reader, readers.Whole | readers.Real)
            return self.reader(rows) if plain else None
        if name != "array":
            return None
        if not inside:
            return self.reader(rows) if isinstance(self.reader, readers.Block) else None
        place, *last = inside
        flat = rows.reshape(len(rows), -1)
        if not isinstance(place, Entry) or last != [Family(kind)] or place.place >= flat.shape[1]:
            return None
        return self.reader(flat[:, place.place])
