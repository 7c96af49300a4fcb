"""Integrals over one Laplace variable: Gauss-Legendre panels between the kinks of the integrand."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from benchmark.noise import Array

__all__ = [
    "exponential_cdf",
    "exponential_density",
    "exponential_log_cdf",
    "laplace_cdf",
    "laplace_density",
    "laplace_log_cdf",
    "nodes",
]

REACH = 45.0
"""Scales beyond the outermost kink that are integrated: a Laplace tail beyond them weighs exp(-45)."""


def laplace_density(x: Array, scale: float) -> Array:
    """Return the density of Laplace noise."""
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def laplace_cdf(x: Array, scale: float) -> Array:
    """Return the distribution function of Laplace noise; a step at 0 where `scale` is 0."""
    if scale == 0:
        return np.where(x >= 0, 1.0, 0.0)
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(x < 0, tail, 1 - tail)


def exponential_density(x: Array, scale: float) -> Array:
    """Return the density of exponential noise."""
    return np.where(x < 0, 0.0, np.exp(-np.maximum(x, 0) / scale) / scale)


def exponential_cdf(x: Array, scale: float) -> Array:
    """Return the distribution function of exponential noise."""
    below: Array = -np.expm1(-np.maximum(x, 0) / scale)
    return below


def laplace_log_cdf(x: Array, scale: float) -> Array:
    """Return the logarithm of `laplace_cdf`, with all digits in both tails."""
    log_tail = -np.abs(x) / scale - np.log(2)
    logs: Array = np.where(x < 0, log_tail, np.log1p(-np.exp(log_tail)))
    return logs


def exponential_log_cdf(x: Array, scale: float) -> Array:
    """Return the logarithm of `exponential_cdf`, -inf where it is 0."""
    tail = np.exp(-np.maximum(x, 0) / scale)
    with np.errstate(divide="ignore"):
        logs: Array = np.where(tail < 0.5, np.log1p(-tail), np.log(exponential_cdf(x, scale)))
    return logs


def nodes(kinks: Iterable[float], scale: float, order: int = 12) -> tuple[Array, Array]:
    """Return nodes and weights, both (panels, order), of the integral over the real line.

    Panels end at every kink and are at most one `scale` wide, so that integrands that are products of
    exponentials between kinks are integrated to rounding error.
    """
    found = sorted(set(kinks))
    edges = np.union1d(np.array(found), np.arange(found[0] - REACH * scale, found[-1] + REACH * scale, scale))
    roots, weights = _rule(order)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    return middle[:, None] + half[:, None] * roots, half[:, None] * weights


@cache
def _rule(order: int) -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(order)
