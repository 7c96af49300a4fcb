"""Numbers of claims: what is a number in any library, and rounding of an accountant's probabilities."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real

# By how much computed probabilities may leave their range, or not descend, for rounding. Accountants that compose by
# Fourier transforms have errors of 1e-13 and more; runs see nothing of this size.
ROUNDING = 1e-10


def plain_number(value: object) -> int | float | None:
    """Return a number as one of Python; None for what is no real number, as for a truth value, a text or an array.

    Numbers of NumPy are numbers, also in arrays without dimensions, and so are fractions, decimals, and scalars of
    other libraries (tensors without dimensions).
    """
    # Scalars of other libraries are asked for the number that they hold: what of a text or a truth value?
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    # A truth value is an integer of Python, and no number of a claim.
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if not isinstance(value, Real | Decimal):
        return None
    try:
        return float(value)
    # A fraction that is larger than every float.
    except OverflowError:
        return -math.inf if str(value).startswith("-") else math.inf
    # A signalling NaN of a decimal.
    except ValueError:
        return math.nan


def is_finite(value: int | float) -> bool:
    """Say whether a number of `plain_number` is finite, and a float can hold it."""
    try:
        return math.isfinite(value)
    # An integer that is larger than every float.
    except OverflowError:
        return False


def without_rounding(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return a computed number, moved to the end of its range that it leaves by rounding, if it does."""
    if low - ROUNDING <= value < low:
        return low
    if high < value <= high + ROUNDING:
        return high
    return value
