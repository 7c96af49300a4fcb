"""Fit the random walks of many columns in step, as `random_walk.fit_walk` fits one with one step size.

The precisions of all walks stand on the diagonal of one banded matrix: nothing connects them, and each has the very
numbers that it has alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpbtrf, dpbtrs
from scipy.special import expit, log_expit, logit

from dpaudit.distinguish.random_walk import fit_walk
from dpaudit.distinguish.score_line import ITERATIONS, RIDGE
from dpaudit.distinguish.step_prior import STEPS

__all__ = ["fit_walks"]

Array = NDArray[np.float64]


class _Singular(Exception):
    """A precision that rounding has left without a factor, which ends the factors of the walks after it too."""


def fit_walks(hits: Array, neighbour_hits: Array) -> Array:
    """Return the log-likelihood ratios, shape (columns, m), of walks with one step size each.

    Parameters
    ----------
    hits, neighbour_hits : array, shape (columns, m)
        Counts of the two sides in each atom of each column, in order; no atom is empty.
    """
    try:
        return _fitted(hits, neighbour_hits) if len(hits) else hits
    except _Singular:
        return np.stack([fit_walk(a, b, cuts=()).ratio for a, b in zip(hits, neighbour_hits, strict=True)])


def _fitted(hits: Array, neighbour_hits: Array) -> Array:
    total = hits + neighbour_hits
    sums = total.sum(axis=1, keepdims=True)
    rank = (np.cumsum(total, axis=1) - total / 2) / sums
    gaps = np.maximum(np.diff(logit(rank), axis=1), 1e-3)
    centre = np.log(hits.sum(axis=1, keepdims=True) / neighbour_hits.sum(axis=1, keepdims=True))
    current, best = np.zeros(total.shape), np.zeros(total.shape)
    evidence = np.full(len(total), -np.inf)
    for step in np.square(STEPS):
        current, found = _modes(hits, total, centre, 1 / (step * gaps), current)
        better = found > evidence
        best[better], evidence[better] = current[better], found[better]
    return best


def _modes(hits: Array, total: Array, centre: Array, precision: Array, start: Array) -> tuple[Array, Array]:
    """Find the posterior mode and the evidence of each walk by damped Newton steps, until it has converged."""
    band = np.zeros((2, *total.shape))
    band[0, :, 1:] = -precision
    band[1] = RIDGE
    band[1, :, :-1] += precision
    band[1, :, 1:] += precision
    g, left = start.copy(), np.arange(len(start))
    for _ in range(ITERATIONS):
        some = hits[left], total[left], centre[left], band[:, left], g[left]
        factor, slope = _newton(*some)
        step = dpbtrs(factor.reshape(2, -1), slope.ravel())[0].reshape(slope.shape)
        size = np.abs(step).max(axis=1)
        g[left] += step * np.minimum(1.0, 3.0 / np.maximum(size, 1e-12))[:, None]
        left = left[size >= 1e-4]
        if not len(left):
            break
    factor, _ = _newton(hits, total, centre, band, g)
    above, below = log_expit(g + centre), log_expit(-g - centre)
    squares, others = np.square(np.diff(g, axis=1)), total - hits
    volume = 0.5 * np.log(precision).sum(axis=1) - np.log(factor[1]).sum(axis=1)
    # Products of vectors one by one, for those of matrices have another order of their sums.
    fit = [a @ x + b @ y for a, x, b, y in zip(hits, above, others, below, strict=True)]
    penalty = [0.5 * (p @ s + RIDGE * (x @ x)) for p, s, x in zip(precision, squares, g, strict=True)]
    return g, np.array(fit) - np.array(penalty) + volume


def _newton(hits: Array, total: Array, centre: Array, band: Array, g: Array) -> tuple[Array, Array]:
    """Return the factors of the precisions at g, shape (2, columns, m), and the gradients of the log posteriors."""
    share = expit(g + centre)
    pull = band[1] * g
    pull[:, :-1] += band[0, :, 1:] * g[:, 1:]
    pull[:, 1:] += band[0, :, 1:] * g[:, :-1]
    precision = band.copy()
    precision[1] += total * share * (1 - share)
    factor, failed = dpbtrf(precision.reshape(2, -1))
    if failed:
        raise _Singular
    return np.asarray(factor).reshape(precision.shape), hits - total * share - pull
