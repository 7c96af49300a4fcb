"""Sparse matrices as rows of numbers, made by chunk, and what such rows do not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs.readers import Block
from dpaudit.outputs.stand_ins import MISSING

__all__ = ["ExplicitZeros", "SparseRows", "Stored", "entries"]


def entries(value: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the places in the flattened matrix of the stored entries, ascending, and their values."""
    if value.format == "csr" and value.has_canonical_format:  # ten times as fast as by coordinates
        starts = value.indptr.astype(np.int64)
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return rows * value.shape[-1] + value.indices[: starts[-1]], value.data[: starts[-1]]
    found = value.tocoo(copy=True)
    found.sum_duplicates()
    places = found.coords if hasattr(found, "coords") else (found.row, found.col)
    flat = np.ravel_multi_index(tuple(np.asarray(place, dtype=np.int64) for place in places), value.shape)
    order = np.argsort(flat, kind="stable")
    return flat[order], np.asarray(found.data)[order]


@dataclass(frozen=True)
class SparseRows(Block):
    """Reads sparse matrices of one shape as rows of all their numbers."""

    def __call__(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
        """Return the rows, shape (len(values), width); of a matrix of more numbers the first."""
        rows = np.zeros((len(values), self.width))
        for row, value in zip(rows, values, strict=True):
            places, held = entries(value)
            if prod(value.shape) != self.width:
                row[prod(value.shape) :] = MISSING
                held, places = held[places < self.width], places[places < self.width]
            row[places] = held
        return rows


@dataclass(frozen=True)
class Stored:
    """The number of stored entries of each sparse matrix."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the numbers."""
        return [int(value.nnz) for value in values], None

    def words(self, path: str) -> str:
        """Return the path as a count."""
        return f"stored entries of {path}"


@dataclass(frozen=True)
class ExplicitZeros:
    """The places of the zeros that each sparse matrix stores."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the places, ascending, as tuples."""
        return [_zeros(value) for value in values], None

    def words(self, path: str) -> str:
        """Return the path of the zeros."""
        return f"places of the zeros stored in {path}"


def _zeros(value: Any) -> tuple[int, ...]:
    places, held = entries(value)
    return tuple(places[held == 0].tolist())
