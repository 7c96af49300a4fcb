"""Compute Beta densities with integer parameters, accurate to counts of 1e8, and the window that holds their mass.

With a, b >= 0 the density of Beta(a + 1, b + 1) is v^a (1 - v)^b / B(a + 1, b + 1), with mode m = a / (a + b). All is
written in the deviation d = v - m, because ln v and ln(1 - v) themselves would lose the digits that matter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["DROP", "log_density", "log_fall", "log_peak", "mode", "window"]

Array = NDArray[np.float64]

DROP = 44.0
"""Depth of the logarithm of a density below its peak at the ends of its window: exp(-44) is 1e-19."""

_HALF_LOG_2PI = 0.9189385332046727
_HALVINGS = 34
"""Halvings that find the ends of a window to 1e-10 of it, on the outer side."""


def mode(a: Array, b: Array) -> Array:
    """Return the mode a / (a + b); 1/2 for the uniform density a = b = 0."""
    total = a + b
    return np.where(total > 0, a / np.maximum(total, 1), 0.5)


def log_fall(a: Array, b: Array, dev: Array) -> Array:
    """Return ln f(m + d) - ln f(m) = a ln(1 + d / m) + b ln(1 - d / (1 - m)) for the mode m of Beta(a + 1, b + 1).

    Parameters
    ----------
    a, b : array, broadcastable
        Exponents, >= 0.
    dev : array
        Deviations d in [-m, 1 - m].
    """
    total = np.maximum(a + b, 1)
    up = np.maximum(dev * total / np.maximum(a, 1), -1)
    down = np.maximum(-dev * total / np.maximum(b, 1), -1)
    with np.errstate(divide="ignore"):
        left = np.where(a > 0, a * np.log1p(np.where(a > 0, up, 0)), 0)
        right = np.where(b > 0, b * np.log1p(np.where(b > 0, down, 0)), 0)
    return left + right


def log_peak(a: Array, b: Array) -> Array:
    """Return ln f(m), by Stirling's formula with its correction: ln(n + 1) + ln Pr[Bin(n, a / n) = a], n = a + b."""
    n = a + b
    inner = (a > 0) & (b > 0)
    a1, b1, n1 = (np.where(inner, v, 1) for v in (a, b, n))
    at_mode = 0.5 * np.log(n1 / (a1 * b1)) - _HALF_LOG_2PI + _stirling(n1) - _stirling(a1) - _stirling(b1)
    return np.log(n + 1) + np.where(inner, at_mode, 0)


def log_density(a: Array, b: Array, dev: Array) -> Array:
    """Return ln f(m + d) of Beta(a + 1, b + 1); the error is near 1e-12 at a + b = 1e8 inside the window."""
    return log_peak(a, b) + log_fall(a, b, dev)


def window(a: Array, b: Array) -> tuple[Array, Array]:
    """Return deviations (low <= 0 <= high) outside which Beta(a + 1, b + 1) has mass at most 2.0001 exp(-DROP).

    Let the density have fallen by the factor exp(-K) at distance w from the mode. It is log-concave, so between it lies
    above the chord exp(-K t / w), whence peak * w * (1 - exp(-K)) / K <= 1, and beyond it below the same exponential,
    whence the mass beyond is at most peak * exp(-K) * w / K <= exp(-K) / (1 - exp(-K)). The ends are found by
    bisection and lie on the outer side; an end where the density ends first is that end.
    """
    m = mode(a, b)
    outer = np.stack([-m, 1 - m])
    inner = np.zeros_like(outer)
    whole = log_fall(a, b, outer) >= -DROP
    fall = _inner_fall(a, b) if np.all((a > 0) & (b > 0)) else partial(log_fall, a, b)
    for _ in range(_HALVINGS):
        middle = 0.5 * (outer + inner)
        fallen = fall(middle) < -DROP
        outer = np.where(fallen, middle, outer)
        inner = np.where(fallen, inner, middle)
    ends = np.where(whole, np.stack([-m, 1 - m]), outer)
    return ends[0], ends[1]


def _inner_fall(a: Array, b: Array) -> Callable[[Array], Array]:
    """Return `log_fall` of densities with a, b > 0, by the same operations, at deviations inside the unit interval.

    Most of an audit of few runs is spent there.
    """
    total = a + b

    def fall(dev: Array) -> Array:
        # Rounding may lead a deviation beyond the end of the interval, where the density is 0.
        with np.errstate(divide="ignore"):
            up, down = (np.log1p(np.maximum(part, -1)) for part in (dev * total / a, -dev * total / b))
        return np.asarray(a * up + b * down)

    return fall


def _stirling(k: Array) -> Array:
    """Return ln k! - [(k + 1/2) ln k - k + ln(2 pi) / 2] for k >= 1, to about 1e-15."""
    small = np.minimum(k, 16)
    direct = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - _HALF_LOG_2PI
    r = 1 / np.maximum(k, 16)
    r2 = r * r
    series = r * (1 / 12 - r2 * (1 / 360 - r2 * (1 / 1260 - r2 * (1 / 1680 - r2 / 1188))))
    return np.asarray(np.where(k < 16, direct, series))
