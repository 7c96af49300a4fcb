"""Numbers without their last digits, so that choices among nearly equal ones are the same on every processor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["steady"]

_SCALE = 2.0**32


def steady(values: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return numbers rounded to multiples of 2^-32.

    Logarithms, and sums whose order the library chooses, differ in their last digits between processors (numpy takes
    other instructions where there are wider ones), and equal promises then rank by noise: without this the choice of
    events was another one on one processor in two. Sums of rounded numbers below 2^20 have no rounding error.
    """
    return np.asarray(np.rint(np.multiply(values, _SCALE)) / _SCALE)
