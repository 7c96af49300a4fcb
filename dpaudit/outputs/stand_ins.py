"""Finite numbers that stand for what is missing, infinite or no number, so that every column sorts and bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "Rows", "finite", "is_usual", "usual"]

Rows = NDArray[np.float64]

MISSING = -1.1e300
"""Stands for an element that a shorter output does not have."""
NAN, PLUS, MINUS = -1.2e300, 1.3e300, -1.3e300
LIMIT = 1e300
"""Numbers of this magnitude and above are stand-ins."""


def finite(values: Rows) -> Rows:
    """Return numbers with stand-ins for NaN and the infinities; the same array if there are none."""
    if np.isfinite(values).all():
        return values
    found: Rows = np.nan_to_num(values, nan=NAN, posinf=PLUS, neginf=MINUS)
    return found


def is_usual(values: Rows) -> NDArray[np.bool_]:
    """Say which numbers are numbers, neither missing nor infinite nor NaN."""
    return np.abs(values) < LIMIT


def usual(rows: Rows) -> Rows:
    """Return rows with 0 for what is missing, infinite or no number; the same array if nothing is."""
    # A maximum that is NaN is not below the limit.
    return rows if np.abs(rows).max(initial=0) < LIMIT else np.where(is_usual(rows), rows, 0.0)
