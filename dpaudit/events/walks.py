"""Fit the random walks of many columns in step, each as `random_walk.fit_walk` does with one step size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from dpaudit.events.step_prior import STEPS
from dpaudit.events.walk_modes import Singular, modes

__all__ = ["fit_walks"]

Array = NDArray[np.float64]


def fit_walks(hits: Array, neighbour_hits: Array) -> Array:
    """Return the log-likelihood ratios, shape (columns, m), of walks with one step size each.

    Parameters
    ----------
    hits, neighbour_hits : array, shape (columns, m)
        Counts of the two sides in each atom of each column, in order; no atom is empty.
    """
    try:
        return _fitted(hits, neighbour_hits) if len(hits) else hits
    except Singular:
        return np.concatenate([_fitted(hits[i : i + 1], neighbour_hits[i : i + 1]) for i in range(len(hits))])


def _fitted(hits: Array, neighbour_hits: Array) -> Array:
    total = hits + neighbour_hits
    sums = total.sum(axis=1, keepdims=True)
    rank = (np.cumsum(total, axis=1) - total / 2) / sums
    gaps = np.maximum(np.diff(logit(rank), axis=1), 1e-3)
    centre = np.log(hits.sum(axis=1, keepdims=True) / neighbour_hits.sum(axis=1, keepdims=True))
    current, best = np.zeros(total.shape), np.zeros(total.shape)
    evidence = np.full(len(total), -np.inf)
    for step in np.square(STEPS):
        current, found, _ = modes(hits, total, centre, 1 / (step * gaps), current)
        better = found > evidence
        best[better], evidence[better] = current[better], found[better]
    return best
