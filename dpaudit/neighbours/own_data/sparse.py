"""Datasets that are sparse matrices of SciPy, whose rows are the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.columns import Column, column_of_array
from dpaudit.neighbours.own_data.tables import Index, NewRow, Table, rows_in, table_of

__all__ = ["SparseTable"]

SHOWN = 8
"""The columns in which new records differ: those that most records have an entry in."""


@dataclass(frozen=True, eq=False)
class SparseTable(Table):
    """A sparse matrix.

    Parameters
    ----------
    matrix : sparse array or matrix in CSR format, shape (n, k)
        Its entries.
    format : str
        The format that was given.
    shown : array of int
        The numbers of the columns that are told apart.
    """

    matrix: Any
    format: str
    shown: Index

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.matrix.shape[0])

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns with most entries."""
        dense = self.matrix[:, self.shown].toarray()
        return tuple(column_of_array(str(c), dense[:, i]) for i, c in enumerate(self.shown.tolist()))

    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones."""
        new = self.matrix[rows_in(rows)].tolil()
        for i, row in enumerate(rows):
            for column, value in row.cells.items():
                new[i, int(self.shown[column])] = value
        both = sparse.vstack([self.matrix, new], format="csr", dtype=self.matrix.dtype)
        return SparseTable(both, self.format, self.shown)

    def take(self, index: Index) -> Any:
        """Return a matrix of these rows in the format given."""
        return self.matrix[index].asformat(self.format)

    def content(self) -> Iterator[bytes]:
        """Yield type, shape and entries, in one order."""
        held = self.matrix.sorted_indices()
        yield f"{held.dtype} {held.shape}".encode()
        for part in (held.indptr.astype(np.int64), held.indices.astype(np.int64), held.data):
            yield part.tobytes()


def _of_sparse(data: Any) -> Table:
    """Return the table of a sparse matrix."""
    if data.ndim != 2:
        raise InputError("{data} must be a sparse matrix of two axes, records and columns", names=("data",))
    matrix = data.tocsr()
    entries = np.asarray(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    return SparseTable(matrix, data.format, np.sort(np.argsort(-entries, kind="stable")[:SHOWN]).astype(np.int64))


for _kind in (sparse.sparray, sparse.spmatrix):
    table_of.register(_kind, _of_sparse)
