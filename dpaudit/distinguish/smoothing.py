"""Borrowing strength along a score: a smooth likelihood ratio instead of each event's own noisy count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, expit, ndtri

__all__ = ["SmoothRatio", "smooth_ratio"]

Array = NDArray[np.float64]

KNOTS = (0.00002, 0.0002, 0.002, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.998, 0.9998, 0.99998)
"""Ranks at which the slope of the log-likelihood ratio may change."""

LEAST_FIT = 1e-3
ROUNDS = 30


@dataclass(frozen=True)
class SmoothRatio:
    """ln(p/q) of each prefix of the atoms by the fitted ratio, and its standard error from training."""

    log_ratio: Array
    error: Array


def smooth_ratio(hits: Array, neighbour_hits: Array) -> SmoothRatio | None:
    """Fit a log-likelihood ratio that is piecewise linear in the normal score of the atoms' ranks.

    A binomial regression of the side on the atom is a model of the likelihood ratio alone. A prefix's ln(p/q) is then
    ln of the mean of exp(ratio) over its atoms under the neighbour's law; its error follows from the fit's covariance.

    Parameters
    ----------
    hits, neighbour_hits : array, shape (m,)
        Training counts of the two sides in each atom, in the order of the score.

    Returns
    -------
    SmoothRatio or None
        None where there are too few atoms or the model does not fit (deviance p-value below 0.001): then a prefix's own
        counts are all there is.
    """
    total = hits + neighbour_hits
    if (total >= 5).sum() < 3 * len(KNOTS):
        return None
    rank = (np.cumsum(total) - total / 2) / total.sum()
    design = _hinges(ndtri(np.clip(rank, 1e-9, 1 - 1e-9)))
    offset = float(np.log(hits.sum() / neighbour_hits.sum()))
    fit = _regress(design, hits, total, offset)
    if fit is None:
        return None
    ratio, covariance = fit
    expected = total * expit(ratio + offset)
    if _fit_p_value(hits, total, expected, design.shape[1]) < LEAST_FIT:
        return None
    # The fitted masses of the two sides: the pooled mass, split by the fitted ratio.
    p, q = expected / expected.sum(), (total - expected) / (total - expected).sum()
    above, below = np.cumsum(p), np.cumsum(q)
    inner = np.cumsum(total[:, None] * design, axis=0) / np.cumsum(total)[:, None]
    error = np.sqrt(np.einsum("ij,jk,ik->i", inner, covariance, inner))
    # Beyond the data the fit extrapolates with more confidence than it has.
    own = np.sqrt(1 / (np.cumsum(hits) + 0.5) + 1 / (np.cumsum(neighbour_hits) + 0.5))
    return SmoothRatio(np.log(above / below), np.maximum(error, own / 2))


def _hinges(score: Array) -> Array:
    knots = ndtri(np.array(KNOTS))
    return np.column_stack([np.ones_like(score), score, *(np.maximum(score - knot, 0.0) for knot in knots)])


def _regress(design: Array, hits: Array, total: Array, offset: float) -> tuple[Array, Array] | None:
    """Return the fitted linear predictor and the parameters' covariance; None without convergence."""
    beta = np.zeros(design.shape[1])
    ridge = 1e-2 * np.eye(len(beta))
    for _ in range(ROUNDS):
        mean = expit(design @ beta + offset)
        weight = total * mean * (1 - mean)
        information = design.T @ (design * weight[:, None]) + ridge
        step = np.linalg.solve(information, design.T @ (hits - total * mean) - ridge @ beta)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            return design @ beta, np.linalg.inv(information)
    return None


def _fit_p_value(hits: Array, total: Array, expected: Array, parameters: int) -> float:
    """Return the p-value of Pearson's statistic over atoms with enough counts."""
    enough = (expected >= 5) & (total - expected >= 5)
    variance = expected * (1 - expected / np.maximum(total, 1))
    statistic = float(((hits - expected)[enough] ** 2 / variance[enough]).sum())
    freedom = int(enough.sum()) - parameters
    return float(chdtrc(freedom, statistic)) if freedom > 0 else 0.0
