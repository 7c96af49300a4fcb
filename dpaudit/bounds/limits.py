"""Exact one-sided (Clopper-Pearson) limits for a probability, from counts; and a test of the mean of bounded values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from dpaudit.bounds.base import Array, bisect

# The error probability is lowered by this, relatively: far more than tail probabilities err (`tests/oracle`).
LEVEL_MARGIN = 1e-6
# Limits move outwards by this, relatively: near 1, where a float is coarse, by more than the level's margin does.
_OUTWARDS = 1e-15
# Bisections of [0, 1], to the last digit of any limit of counts.
_HALVINGS = 120


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
    k, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(runs, np.float64))
    a = np.asarray(np.maximum(k, 1))
    b = np.asarray(n - k + 1)
    limit = betaincinv(a, b, error * (1 - LEVEL_MARGIN)) * (1 - _OUTWARDS)
    return np.where(k == 0, 0.0, _verified(limit, betainc, a, b, error, safe=0.0))


def upper_limit(hits: ArrayLike, runs: ArrayLike, error: float) -> Array:
    """Return upper limits for p, each below p with probability at most `error`; arguments as for `lower_limit`.

    The limit solves Pr[Bin(n, limit) <= k] = error: it is the (1 - error)-quantile of Beta(k + 1, n - k), and 1 where
    k = n. The complemented quantile takes the small error itself, as 1 - error would lose its digits.
    """
    k, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(runs, np.float64))
    a = np.asarray(k + 1)
    b = np.asarray(np.maximum(n - k, 1))
    limit = np.minimum(betainccinv(a, b, error * (1 - LEVEL_MARGIN)) * (1 + _OUTWARDS), 1.0)
    return np.where(k == n, 1.0, _verified(limit, betaincc, a, b, error, safe=1.0))


def _verified(
    limit: Array, tail: Callable[[Array, Array, Array], Array], a: Array, b: Array, error: float, *, safe: float
) -> Array:
    """Return limits whose tail is at most the error, and near it; `safe` is the end of [0, 1] at which it is 0.

    Inverses of the library are elsewhere at some counts, far away at a few: those limits are found by bisection.
    """
    level = error * (1 - LEVEL_MARGIN / 2)
    found = tail(a, b, limit)
    doubtful = np.logical_not((found <= level) & (found >= error * (1 - 2 * LEVEL_MARGIN)))
    if doubtful.any():
        a = a[doubtful]
        b = b[doubtful]
        ends = np.full(a.shape, safe), np.full(a.shape, 1.0 - safe)
        limit = np.array(limit)
        limit[doubtful] = bisect(*ends, lambda middle: tail(a, b, middle) <= level, _HALVINGS)[0]
    return limit


def wilson_limit(hits: Array, trials: float | Array, z: float) -> Array:
    """Return the Wilson limit of a binomial probability: upper for z > 0, lower for z < 0."""
    centre = hits + z * z / 2
    half = z * np.sqrt(hits * (1 - hits / trials) + z * z / 4)
    return np.maximum(centre + half, 0.0) / (trials + z * z)


# The share of its wealth that a bet may lose at most, so that one unlikely value ends no test.
_CAP = 0.75


class MeanTest:
    """Test on independent values in [0, 1] whether their mean is above or below a number b, value by value.

    Against "mean <= b" the wealth is the product of 1 + l_t (x_t - b) with l_t in [0, 3/(4 b)] chosen before x_t is
    seen; it is a supermartingale where that hypothesis is true, so by Ville's inequality it ever reaches 1/level with
    probability at most `level`. Against "mean >= b" likewise, with 1 - l_t (x_t - b) and l_t in [0, 3/(4 (1 - b))].
    l_t is near the bet of the fastest growth, (m - b)/(v + (m - b)^2) for the mean m and the variance v so far.

    Parameters
    ----------
    threshold : float
        b, in (0, 1).
    level : float
        The probability of error of each of the two answers, in (0, 1).

    References
    ----------
    I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal
    Statistical Society B 86 (2024).
    """

    def __init__(self, threshold: float, level: float) -> None:
        self._b = threshold
        self._needed = math.log(1 / level)
        # One imagined value b with the variance of a coin: the first bets are small.
        self._count = 1.0
        self._sum = threshold
        self._squares = threshold
        self._above = self._below = 0.0
        self.answer = ""
        """"above" or "below" once decided, the first that was; empty before."""

    def take(self, values: Array) -> str:
        """Bet on further values and return the answer, empty while the test is undecided."""
        if self.answer or len(values) == 0:
            return self.answer
        gaps = values - self._b
        counts = self._count + np.arange(len(values))
        sums = self._sum + np.concatenate([[0.0], np.cumsum(values)])
        squares = self._squares + np.concatenate([[0.0], np.cumsum(values**2)])
        self._count = counts[-1] + 1
        self._sum = float(sums[-1])
        self._squares = float(squares[-1])
        # Before each value the mean's distance from b, and the variance.
        means = sums[:-1] / counts
        edge = means - self._b
        spread = np.maximum(squares[:-1] / counts - means**2, 1e-12)
        growth = edge / (spread + edge**2)
        above = self._above + np.cumsum(np.log1p(np.clip(growth, 0, _CAP / self._b) * gaps))
        below = self._below + np.cumsum(np.log1p(-np.clip(-growth, 0, _CAP / (1 - self._b)) * gaps))
        self._above = float(above[-1])
        self._below = float(below[-1])
        # The first value at which either wealth suffices decides.
        reached = {"above": above >= self._needed, "below": below >= self._needed}
        firsts = {name: int(found.argmax()) for name, found in reached.items() if found.any()}
        self.answer = min(firsts, key=firsts.__getitem__, default="")
        return self.answer
