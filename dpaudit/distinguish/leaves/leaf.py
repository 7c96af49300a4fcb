"""A leaf: a part of every output that features are computed from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.leaves import readers
from dpaudit.distinguish.leaves.aspects import Entry
from dpaudit.distinguish.leaves.steps import Family, Key, Memo, Part, Path, walk

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

    def read(self, rows: Sequence[Any] | NDArray[Any], memo: Memo | None = None) -> tuple[Any, NDArray[np.intp] | None]:
        """Return the parts that are there, and the numbers of their rows (None where every row has one).

        Parameters
        ----------
        rows : batch
            Outputs.
        memo : dict, optional
            Where the walks of other leaves from the same outputs got to; see `walk`.
        """
        if isinstance(rows, np.ndarray):
            direct = self._of_array(rows)
            if direct is not None:
                return direct, None
            if type(rows) is np.ndarray and rows.dtype == object and rows.ndim > 1:
                memo = {} if memo is None else memo
                _take_apart(rows, self.path, memo)
            rows = list(rows) if rows.ndim > 1 else rows.tolist()
        values, where = walk(rows, self.path, memo)
        return self.reader(values), where

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


def _take_apart(rows: NDArray[Any], path: Path, memo: Memo) -> None:
    """Remember what `parts` makes of every array in an array of objects, without taking them apart one by one."""
    shape, values = path[:4] == _SHAPE, path[:4] == _VALUES
    if shape and _SHAPE not in memo:
        memo[_SHAPE] = [rows.shape[1:]] * len(rows), None
    if values and _VALUES not in memo:
        memo[_VALUES] = list(map(tuple, rows.reshape(len(rows), -1).tolist())), None


_SHAPE, _VALUES = ((Family("array"), Part(), Family("mapping"), Key(key)) for key in ("shape", "values"))
"""The ways to the parts of an array of objects."""
