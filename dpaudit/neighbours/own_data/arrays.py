"""Datasets that are arrays of NumPy: one value a record, one row a record, or structured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.columns import Column, column_of_array
from dpaudit.neighbours.own_data.tables import Index, NewRow, Table, rows_in, table_of, text_of

__all__ = ["ArrayTable"]


@dataclass(frozen=True, eq=False)
class ArrayTable(Table):
    """An array whose first axis numbers the records.

    Parameters
    ----------
    array : array, shape (n, ...)
        The array.
    """

    array: NDArray[Any]

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.array)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The fields of a structured array, the cells of a row, or the values themselves."""
        names = self.array.dtype.names
        if names:
            return tuple(column_of_array(name, self.array[name].reshape(self.size, -1)[:, 0]) for name in names)
        if self.array.ndim == 1:
            return (column_of_array(None, self.array),)
        flat = _flat(self.array)
        return tuple(column_of_array(str(c), flat[:, c]) for c in range(flat.shape[1]))

    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones."""
        found = np.concatenate([self.array, self.array[rows_in(rows)]])
        names = found.dtype.names
        flat = found if names or found.ndim == 1 else _flat(found)
        for i, row in enumerate(rows, len(self.array)):
            for column, value in row.cells.items():
                if names:
                    found[names[column]][i] = value
                else:
                    flat[i if found.ndim == 1 else (i, column)] = value
        return ArrayTable(found)

    def take(self, index: Index) -> Any:
        """Return a new array of these rows."""
        return self.array[index]

    def content(self) -> Iterator[bytes]:
        """Yield type, shape and bytes; of objects their text."""
        yield f"{self.array.dtype.descr} {self.array.shape}".encode()
        yield text_of(self.array.tolist()) if self.array.dtype.hasobject else self.array.tobytes()


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view with one row a record; a new array of rows is contiguous, so it is a view."""
    return array.reshape(len(array), -1) if len(array) else array.reshape(0, int(np.prod(array.shape[1:])))


@table_of.register(np.ndarray)
def _of_array(data: NDArray[Any]) -> Table:
    """Return the table of an array."""
    if type(data) not in (np.ndarray, np.recarray):
        raise InputError(
            "{data} must be a plain array, got a {kind}: pass np.asarray(data), or say how it is put together again: "
            "dpaudit.register_dataset({kind}, np.asarray, lambda records: ...)",
            names=("data",),
            kind=type(data).__qualname__,
        )
    if data.ndim == 0:
        raise InputError("{data} must be an array of records, got one value: an array of no axes", names=("data",))
    return ArrayTable(data)
