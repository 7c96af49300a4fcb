"""Find the posterior modes of many random walks at once.

The precisions of all walks stand on the diagonal of one banded matrix: nothing connects them, and each has the very
numbers that it has alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpbtrf, dpbtrs
from scipy.special import expit, log_expit

from dpaudit.events.score_line import ITERATIONS, RIDGE

__all__ = ["Singular", "modes"]

Array = NDArray[np.float64]


class Singular(Exception):
    """A precision that rounding has left without a factor, which ends the factors of the walks after it too."""


def modes(hits: Array, total: Array, centre: Array, precision: Array, start: Array) -> tuple[Array, Array, Array]:
    """Find the posterior mode of each walk's deviations from a centre by damped Newton steps.

    Each walk takes steps until its own has converged; those of walks that have are not taken any more.

    Parameters
    ----------
    hits, total : array, shape (walks, m)
        Counts of the first side, and of both, in each atom.
    centre : array, shape (walks, m) or (walks, 1)
        The log-ratio that a walk deviates from.
    precision : array, shape (walks, m - 1)
        The inverse variances of the differences between neighbouring atoms.
    start : array, shape (walks, m)
        Where to begin.

    Returns
    -------
    mode : array, shape (walks, m)
        The deviations.
    evidence : array, shape (walks,)
        The logarithm of the marginal likelihood, up to a constant, by Laplace's approximation.
    factor : array, shape (2, walks, m)
        The banded Cholesky factor of each precision, as LAPACK stores it (upper).

    Raises
    ------
    Singular
        If one of several precisions has no factor.
    """
    band = np.zeros((2, *total.shape))
    band[0, :, 1:] = -precision
    band[1] = RIDGE
    band[1, :, :-1] += precision
    band[1, :, 1:] += precision
    g = start.copy()
    left: slice | NDArray[np.intp] = slice(None)
    for _ in range(ITERATIONS):
        factor, slope = _newton(hits[left], total[left], centre[left], band[:, left], g[left])
        step = dpbtrs(factor.reshape(2, -1), slope.ravel())[0].reshape(slope.shape)
        size = np.abs(step).max(axis=1)
        g[left] += step * np.minimum(1.0, 3.0 / np.maximum(size, 1e-12))[:, None]
        small = size < 1e-4
        if small.all():
            break
        if small.any():
            left = (np.arange(len(g)) if isinstance(left, slice) else left)[~small]
    factor, _ = _newton(hits, total, centre, band, g)
    above, below = log_expit(g + centre), log_expit(-g - centre)
    squares, others = np.square(g[:, 1:] - g[:, :-1]), total - hits
    volume = 0.5 * np.log(precision).sum(axis=1) - np.log(factor[1]).sum(axis=1)
    # Products of vectors one by one, for those of matrices have another order of their sums.
    fit = [a @ x + b @ y for a, x, b, y in zip(hits, above, others, below, strict=True)]
    penalty = [0.5 * (p @ s + RIDGE * (x @ x)) for p, s, x in zip(precision, squares, g, strict=True)]
    return g, np.array(fit) - np.array(penalty) + volume, factor


def _newton(hits: Array, total: Array, centre: Array, band: Array, g: Array) -> tuple[Array, Array]:
    """Return the factors of the precisions at g, shape (2, walks, m), and the gradients of the log posteriors."""
    share = expit(g + centre)
    pull = band[1] * g
    pull[:, :-1] += band[0, :, 1:] * g[:, 1:]
    pull[:, 1:] += band[0, :, 1:] * g[:, :-1]
    precision = band.copy()
    precision[1] += total * share * (1 - share)
    factor, failed = dpbtrf(precision.reshape(2, -1))
    if failed and len(g) > 1:
        raise Singular
    return np.asarray(factor).reshape(precision.shape), hits - total * share - pull
