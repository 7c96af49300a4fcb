"""Bisection: where a condition begins or ends to hold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

Real = TypeVar("Real", float, Fraction)


def least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return a k in (low, high] with holds(k) and not holds(k - 1), given holds(high) and not holds(low)."""
    # holds(high) and not holds(low) all the time: the k returned is the least if the condition is monotone.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least_beyond(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return `least` where `high` may be too small: it is doubled until the condition holds."""
    while not holds(high):
        low = high
        high = 2 * high
    return least(holds, low, high)


def last(holds: Callable[[Real], bool], low: Real, high: Real, halvings: int) -> Real:
    """Return a number x with holds(x), up to (high - low) 2^-halvings of one without, given holds(low)."""
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
