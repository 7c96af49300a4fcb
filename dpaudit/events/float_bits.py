"""The bits in which floats are stored: exponent, significand, and the zeros at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIGITS", "stored", "trailing_zeros"]

DIGITS = 53
"""Binary digits of a significand."""


def stored(values: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return e, m and z where each value is +-m 2^(e - 53), m has 53 binary digits, and the last z of them are zeros.

    Parameters
    ----------
    values : array of float
        Finite numbers; for zero, e and m are 0 and z is 64.
    """
    mantissa, exponent = np.frexp(values)
    significand = np.abs(np.ldexp(mantissa, DIGITS)).astype(np.int64)
    return exponent, significand, trailing_zeros(significand)


def trailing_zeros(whole: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of zeros that end the binary form of 64-bit integers; 64 for zero."""
    lowest = whole & (~whole + np.ones(1, whole.dtype))
    return np.where(lowest == 0, 64, np.frexp(lowest.astype(np.float64))[1] - 1).astype(np.int64)
