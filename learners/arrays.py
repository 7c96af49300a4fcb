"""Names of the types of arrays, and sums by equal rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
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
