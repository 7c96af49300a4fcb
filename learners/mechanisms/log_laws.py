"""Laws as logarithms of probabilities: tails, where they put mass, mixtures, and what rounding does to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Bools, Floats, Integers

T = TypeVar("T")


class Field(Protocol[T]):
    """The numbers in which an exact law is asked for; `+ - * /` work on them as well."""

    def number(self, value: int | float | Fraction) -> T:
        """Return a number of the field that encloses the value."""

    def exp(self, value: T) -> T:
        """Return the exponential of a number of the field."""

    def log(self, value: T) -> T:
        """Return the natural logarithm of a number of the field."""


ULP = 2.0**-52
# The largest domain on which exact laws of points are computed.
LAW_SIZE = 4096


def check_size(size: int, most: int = LAW_SIZE) -> None:
    """Raise `InputError` if a domain of that size is too large for the exact law."""
    if size > most:
        raise InputError(
            f"the domain must have at most {most} points for the exact law, got {size}; run has no such limit"
        )


def placed(
    size: int, where: int | slice | Sequence[int] | Integers | Bools, logs: float | Sequence[float] | Floats
) -> Floats:
    """Return the log-probabilities (size,) that are `logs` at the indices `where` and -inf everywhere else."""
    everywhere = np.full(size, -np.inf)
    everywhere[where] = logs
    return everywhere


def greatest(logs: Sequence[float] | Floats) -> float:
    """Return the greatest absolute value of the finite entries, 0 if there are none."""
    values = np.asarray(logs)
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def log_softmax(logs: Floats) -> Floats:
    """Return the logarithms of exp(logs) divided by their sum over the last axis."""
    # The greatest logarithm becomes 0, so that no exponential overflows and at least one term of the sum is 1.
    shifted = logs - logs.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)), dtype=np.float64)


def log_sum(logs: Floats) -> Floats:
    """Return the logarithm of the sum of exp(logs) over the first axis."""
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)), dtype=np.float64)


def log_mixture(log_weights: Sequence[float], laws: Sequence[Floats], error: float) -> tuple[Floats, float]:
    """Return the logarithms of sum over i of e^w_i e^law_i, and a bound on their error.

    If each w_i + law_i is within `error` of the truth, so is the logarithm of the sum of their exponentials. Relative
    to the greatest of k terms, subtracting it, exponentials (4 ulp) and the sum add at most 5 k ulp; the logarithm and
    adding the greatest term back add 2 (|result| + ln k + 1) ulp.
    """
    # A part of weight 0 would bring -inf + -inf, or -inf - -inf, into the sum.
    kept = [(w, law) for w, law in zip(log_weights, laws, strict=True) if w > -math.inf]
    terms = np.stack([w + law for w, law in kept])
    peak = terms.max(axis=0)
    # An atom that no part can give has the peak -inf, which must not be subtracted from itself.
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(terms - safe).sum(axis=0)) + safe
    return total, error + ULP * (6 * len(kept) + 3 * greatest(total) + 4)


def log_above(z: Floats) -> Floats:
    """Return ln Pr[L > z] for L ~ Lap(1): -z - ln 2 for z >= 0, else ln(1 - e^z / 2).

    For the z given, the error is at most 2^-52 (|z| + 8): the exponential and log1p are good to 4 ulp, and the
    argument of log1p stays in [-1/2, 0]. An error of z moves the result by no more than itself, the slope lying in
    [-1, 0].
    """
    # The tail beyond |z| is computed on either side; log1p keeps the digits of a probability near 1.
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
    # An interval on one side of 0 is e^-(its nearer end) (1 - e^-width) / 2, whose logarithm cancels nowhere.
    if end <= 0:
        return end - math.log(2) + math.log(-math.expm1(-width))
    if z >= 0:
        return -z - math.log(2) + math.log(-math.expm1(-width))
    return math.log(-0.5 * math.expm1(z) - 0.5 * math.expm1(-end))
