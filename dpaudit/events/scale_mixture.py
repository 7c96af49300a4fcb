"""Shrink the likelihood ratios of atoms without an order as much as all of them together suggest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["ScaleMixture", "fit_scale_mixture"]

Array = NDArray[np.float64]

SCALES = np.geomspace(1e-3, 8.0, 40)
"""Standard deviations that are mixed: from no difference that any audit can see to certainty."""
ITERATIONS = 100
"""Steps of expectation maximisation, which is slow near its end; the weights need not be exact."""


@dataclass(frozen=True)
class ScaleMixture:
    """Posterior mean and variance of each atom's log-likelihood ratio g.

    Attributes
    ----------
    mean, variance : array, shape (m,)
        Of g given the atom's counts.
    """

    mean: Array
    variance: Array

    def prefixes(self, order: NDArray[np.intp], total: Array, offset: float) -> tuple[Array, Array]:
        """Return ln(P_t / Q_t) of each prefix of the atoms in an order, and its standard deviation.

        The pooled mass of an atom is split by its ratio, p_i = w_i s(g_i + c) and q_i = w_i (1 - s(g_i + c)), where s
        is the logistic function and c, the `offset`, the log-ratio of all runs; the deviation is linear in g, and atoms
        are independent.
        """
        share, variance = expit(self.mean[order] + offset), self.variance[order]
        p, q = total[order] * share, total[order] * (1 - share)
        p, q = p / p.sum(), q / q.sum()
        above, below = np.cumsum(p), np.cumsum(q)
        rise, fall = p * (1 - share), q * share
        with np.errstate(divide="ignore", invalid="ignore"):  # a model may be certain: then counts decide
            spread = (
                np.cumsum(rise**2 * variance) / above**2
                + np.cumsum(fall**2 * variance) / below**2
                + 2 * np.cumsum(rise * fall * variance) / (above * below)
            )
            return np.log(above / below), np.sqrt(spread)


def fit_scale_mixture(hits: Array, neighbour_hits: Array) -> ScaleMixture:
    r"""Fit a prior to the log-likelihood ratios of atoms, and return each one's posterior.

    The observed ratio of an atom, g' = ln((x + 1/2) / (y + 1/2)) - c, is normal about g with variance
    1 / (x + 1/2) + 1 / (y + 1/2). The prior of g is a mixture of normal laws with mean 0 and standard deviations
    `SCALES`; its weights are those that make the counts likeliest (expectation maximisation). So a few ratios far from
    0 among many at 0 are believed, and many that are as far from 0 as luck takes them are not.

    Parameters
    ----------
    hits, neighbour_hits : array, shape (m,)
        Counts of the two sides in each atom.

    Returns
    -------
    ScaleMixture
    """
    pairs, back, copies = np.unique(
        np.column_stack([hits, neighbour_hits]), axis=0, return_inverse=True, return_counts=True
    )
    a, b = pairs.T + 0.5
    observed = np.log(a / b) - np.log((hits + 0.5).sum() / (neighbour_hits + 0.5).sum())
    noise = 1 / a + 1 / b
    variance = noise[:, None] + SCALES**2
    likelihood = -0.5 * (np.log(variance) + observed[:, None] ** 2 / variance)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    weights = np.full(len(SCALES), 1 / len(SCALES))
    for _ in range(ITERATIONS):
        part = likelihood * weights
        # One atom's worth of counts for the uniform mixture, so that no scale dies out.
        weights = (copies @ (part / part.sum(axis=1, keepdims=True)) + 1 / len(SCALES)) / (len(hits) + 1)
    part = likelihood * weights
    part /= part.sum(axis=1, keepdims=True)
    kept = SCALES**2 / variance
    mean = (part * kept).sum(axis=1) * observed
    square = (part * (kept * noise[:, None] + np.square(kept * observed[:, None]))).sum(axis=1)
    back = back.ravel()
    return ScaleMixture(mean[back], (square - mean**2)[back])
