"""Rows of numbers with stand-ins for what is missing, infinite or no number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "finite", "interval", "usual"]

Rows = NDArray[np.float64]


def usual(rows: Rows) -> Rows:
    """Return rows with what is missing, infinite or no number as 0."""
    return np.where(np.abs(rows) < 1e300, rows, 0.0)


def finite(values: Rows) -> Rows:
    """Return numbers with stand-ins for NaN and the infinities."""
    return np.nan_to_num(values, nan=-1.2e300, posinf=1.3e300, neginf=-1.3e300)


def interval(edges: Rows, code: int) -> str:
    """Return a cell between cuts as a person would write it."""
    low = "-inf" if code == 0 else f"{edges[code - 1]:.6g}"
    return f"[{low}, {'inf' if code == len(edges) else f'{edges[code]:.6g}'})"
