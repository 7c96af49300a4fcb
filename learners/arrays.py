"""Names of the types of arrays."""

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
