"""The least sample size that suffices, where the failure rate is computed for every n."""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.errors import InputError

__all__ = ["exact_size"]

MAX_SIZE = 2**62
"""Counts of samples are 64-bit integers."""


def exact_size(failure: Callable[[int], float], beta: float, near: int) -> int:
    """Return the least n from which on a failure rate that falls with n is at most beta, by bisection.

    Parameters
    ----------
    failure : callable
        The failure rate at n >= 1; it must not increase.
    beta : float
        The rate that is accepted.
    near : int
        A size, >= 1, from which to look upwards if it fails.

    Raises
    ------
    InputError
        If the rate exceeds beta up to 2^62: the message says the least rate.
    """
    low, high = 0, near
    while failure(high) > beta:
        if high >= MAX_SIZE:
            raise InputError.of("beta", beta, f"at least {failure(high):.3g}, the failure rate at every large n")
        low, high = high, min(2 * high, MAX_SIZE)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if failure(middle) > beta else (low, middle)
    return high
