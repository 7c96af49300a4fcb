"""Names of the types of arrays."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Integers", "Labels", "Words"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.uint8]
"""Zeros and ones, as of points labelled by a hypothesis."""
Words = NDArray[np.uint64]
