"""Names of the types of arrays, and sums by equal rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Exact = NDArray[Any]
"""int64, or Python integers in an object array where products could pass int64."""
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.uint8]
"""Zeros and ones, as of points labelled by a hypothesis."""
Words = NDArray[np.uint64]


def summed(rows: NDArray[Any], weights: Integers) -> tuple[NDArray[Any], Integers]:
    """Return the distinct rows (numbers, or rows of a table) in order, and the sum of the weights of each."""
    # With an axis, integers of Python in an object array cannot be compared.
    distinct, place = np.unique(rows, axis=0 if rows.ndim > 1 else None, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, place.reshape(-1), weights)
    return distinct, sums


def byte_sums(weights: NDArray[Any]) -> NDArray[Any]:
    """Return (bytes * 256,): for each byte of `packbits` and each of its values, the weight of the points it holds."""
    padded = np.concatenate([weights, np.zeros(-len(weights) % 8, dtype=weights.dtype)]).reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(weights.dtype)
    return np.asarray((padded @ bits.T).ravel())


def weighed(packed: Bytes, sums: NDArray[Any]) -> NDArray[Any]:
    """Return the weight of the points that each row of packed points (rows, bytes) holds."""
    found, offsets = np.zeros(len(packed), dtype=sums.dtype), 256 * np.arange(packed.shape[1])
    step = max(1, 2**20 // max(1, packed.shape[1]))
    for start in range(0, len(packed), step):
        found[start : start + step] = np.take(sums, packed[start : start + step] + offsets).sum(axis=1)
    return found
