"""Tails of the Laplace distribution, with bounds on their floating-point error."""

from __future__ import annotations

import math

import numpy as np

from learners.arrays import Floats

__all__ = ["log_above", "log_below", "log_between"]


def log_above(z: Floats) -> Floats:
    """Return ln Pr[L > z] for L ~ Lap(1): -z - ln 2 for z >= 0, else ln(1 - e^z / 2).

    For the z given, the error is at most 2^-52 (|z| + 8): the exponential and log1p are good to 4 ulp, and the
    argument of log1p stays in [-1/2, 0]. An error of z moves the result by no more than itself, the slope lying in
    [-1, 0].
    """
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z >= 0, -z - math.log(2), np.log1p(-tail))


def log_below(z: Floats) -> Floats:
    """Return ln Pr[L <= z] for L ~ Lap(1), with the error of `log_above`."""
    return log_above(-z)


def log_between(z: float, width: float) -> float:
    """Return ln Pr[z < L <= z + width] for L ~ Lap(1) and width > 0, without cancellation.

    Given z and width, the relative error of the probability is a few ulp if both ends lie on one side of 0. If they
    straddle it, the probability (1 - e^z) / 2 + (1 - e^-(z + width)) / 2 is at least (1 - e^-width) / 2, and an error
    eta in z moves it by at most eta.
    """
    end = z + width
    if end <= 0:
        return end - math.log(2) + math.log(-math.expm1(-width))
    if z >= 0:
        return -z - math.log(2) + math.log(-math.expm1(-width))
    return math.log(-0.5 * math.expm1(z) - 0.5 * math.expm1(-end))
