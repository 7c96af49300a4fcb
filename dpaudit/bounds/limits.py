"""Compute one-sided exact (Clopper-Pearson) limits for the probability of an event, from counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

__all__ = ["LEVEL_MARGIN", "lower_limit", "upper_limit"]

Array = NDArray[np.float64]

LEVEL_MARGIN = 1e-6
"""The error probability is lowered by this, relatively: up to 1e8 runs the inversion errs by less than half of it."""

_OUTWARDS = 1e-15
"""Limits move outwards by this, relatively: near 1, where a float is coarse, by more than the level's margin does."""


def lower_limit(hits: ArrayLike, runs: ArrayLike, error: float) -> Array:
    """Return lower limits for p from k hits in n independent runs, each above p with probability at most `error`.

    The limit solves Pr[Bin(n, limit) >= k] = error: it is the error-quantile of Beta(k, n - k + 1), and 0 where k = 0.

    Parameters
    ----------
    hits, runs : array of int
        k and n, 0 <= k <= n, n >= 1, of any shapes that broadcast; the caller has checked them.
    error : float
        In (0, 1).

    References
    ----------
    C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26 (1934).
    """
    k, n = np.asarray(hits, np.float64), np.asarray(runs, np.float64)
    limit = betaincinv(np.maximum(k, 1), n - k + 1, error * (1 - LEVEL_MARGIN))
    return np.where(k == 0, 0.0, limit * (1 - _OUTWARDS))


def upper_limit(hits: ArrayLike, runs: ArrayLike, error: float) -> Array:
    """Return upper limits for p, each below p with probability at most `error`; arguments as for `lower_limit`.

    The limit solves Pr[Bin(n, limit) <= k] = error: it is the (1 - error)-quantile of Beta(k + 1, n - k), and 1 where
    k = n. The complemented quantile takes the small error itself, as 1 - error would lose its digits.
    """
    k, n = np.asarray(hits, np.float64), np.asarray(runs, np.float64)
    limit = betainccinv(k + 1, np.maximum(n - k, 1), error * (1 - LEVEL_MARGIN))
    return np.where(k == n, 1.0, np.minimum(limit * (1 + _OUTWARDS), 1.0))
