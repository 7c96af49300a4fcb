"""The melded bound: one joint confidence statement on ln((p - delta) / q), without splitting the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, ndtri

from dpaudit.bounds.base import Bound
from dpaudit.bounds.beta_density import log_density, mode, window
from dpaudit.bounds.counts import Counts
from dpaudit.bounds.inversion import last_rejected

__all__ = ["RELATIVE_ERROR", "Melded", "first_guess"]

Array = NDArray[np.float64]

RELATIVE_ERROR = 1e-7
"""By how much p-values are raised: above the error of the tails (measured 3e-9 at 1e8 runs) and of the quadrature."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(72)
_MISSED = 1e-17


@dataclass(frozen=True)
class _Sides:
    """What does not depend on the parameter sought: exponents, modes and windows of both Beta densities, stacked."""

    counts: Counts
    a: Array
    b: Array
    mode: Array
    low: Array
    high: Array
    spread: Array

    @classmethod
    def of(cls, c: Counts) -> _Sides:
        """Return the densities of B1 ~ Beta(x, n1 - x + 1) and B2 ~ Beta(y + 1, n2 - y), rows 0 and 1."""
        a = np.stack([np.maximum(c.x - 1, 0), c.y])
        b = np.stack([c.n1 - c.x, np.maximum(c.n2 - c.y - 1, 0)])
        low, high = window(a, b)
        n = a + b + 2
        return cls(c, a, b, mode(a, b), low, high, np.sqrt((a + 1) * (b + 1) / (n * n * (n + 1))))

    def take(self, i: NDArray[np.intp]) -> _Sides:
        """Return the events with those indices."""
        arrays = (self.a, self.b, self.mode, self.low, self.high, self.spread)
        return _Sides(self.counts.take(i), *(v[:, i] for v in arrays))


@dataclass(frozen=True)
class Melded(Bound):
    r"""The melded confidence bound for one event fixed in advance.

    Let B1 ~ Beta(x, n1 - x + 1) (the point 0 if x = 0) and B2 ~ Beta(y + 1, n2 - y) (the point 1 if y = n2) be
    independent: the distributions whose quantiles are the lower limits for p and the upper limits for q. Then

    .. math:: p(\epsilon, \delta) = \Pr[B_1 \le \delta + e^{\epsilon} B_2], \qquad
              \epsilon_L = \inf\{\epsilon \ge 0 : p(\epsilon, \delta) > \gamma\}.

    At epsilon = delta = 0 it is Fisher's exact one-sided test, whose error is proved to be at most gamma. Elsewhere
    that rests on exact enumeration (`tests/calibration`), not on a proof; `Unconditional` is proved.

    Notes
    -----
    The integral runs over the narrower of B1 and e^epsilon B2 by Gauss-Legendre quadrature on the window that holds
    all but 1e-18 of its mass, cut where the other factor stops being analytic; the piece beyond has a closed form.
    p-values are raised by a relative 1e-7 and an absolute 1e-17, above every error measured (relative 3e-9 down to
    p = 1e-9 and up to 1e8 runs), so that bounds err downwards.

    References
    ----------
    Fay, Proschan and Brittain (2015), Combining one-sample confidence procedures for inference in the two-sample
    case, Biometrics 71.
    """

    name: ClassVar[str] = "melded"

    def _p_values(self, c: Counts, ratio: Array, delta: Array, gamma: float | None) -> Array:
        return _tail(_Sides.of(c), ratio, delta)

    def _epsilons(self, c: Counts, delta: Array, gamma: float) -> Array:
        sides = _Sides.of(c)

        def tail(t: Array, i: NDArray[np.intp]) -> Array:
            return _tail(sides.take(i), np.exp(t), delta[i])

        return last_rejected(tail, gamma, *first_guess(c, delta, gamma), self.max_epsilon)


def first_guess(c: Counts, delta: Array, gamma: float) -> tuple[Array, Array]:
    """Return the normal approximation to the bound on epsilon and its width: where a search starts, never a result."""
    p, q = (c.x + 0.5) / (c.n1 + 1), (c.y + 0.5) / (c.n2 + 1)
    gain = np.maximum(p - delta, 0.1 * p)
    width = np.sqrt(p * (1 - p) / c.n1 / gain**2 + (1 - q) / (q * c.n2))
    return np.log(gain / q) + ndtri(gamma) * width, width


def _tail(s: _Sides, ratio: Array, delta: Array) -> Array:
    """Return upper bounds on Pr[B1 <= delta + ratio B2], tight to `RELATIVE_ERROR`; shape (m,)."""
    over_first = s.spread[0] <= ratio * s.spread[1]
    p = np.empty(len(ratio))
    for chosen, integral in ((over_first, _over_first), (~over_first, _over_second)):
        i = np.flatnonzero(chosen)
        if len(i):
            p[i] = integral(s.take(i), ratio[i], delta[i])
    certain = (s.counts.x == 0) | (s.counts.y == s.counts.n2)
    return np.where(certain, 1.0, np.minimum(p * (1 + RELATIVE_ERROR) + _MISSED, 1.0))


def _over_first(s: _Sides, ratio: Array, delta: Array) -> Array:
    """Integrate over B1: Pr[B1 <= delta] + E[Pr[B2 >= (B1 - delta) / ratio]; B1 > delta]."""
    c = s.counts
    low, high = np.maximum(s.low[0], delta - s.mode[0]), s.high[0]
    dev, weight = _nodes(low, high, s.a[0], s.b[0])
    needed = np.clip(((s.mode[0] - delta)[:, None] + dev) / ratio[:, None], 0, 1)
    inner = betaincc((c.y + 1)[:, None], np.maximum(c.n2 - c.y, 1)[:, None], needed)
    return np.asarray(betainc(np.maximum(c.x, 1), c.n1 - c.x + 1, delta) + (weight * inner).sum(axis=1))


def _over_second(s: _Sides, ratio: Array, delta: Array) -> Array:
    """Integrate over B2: E[Pr[B1 <= delta + ratio B2]; B2 <= cut] + Pr[B2 > cut] with delta + ratio cut = 1."""
    c = s.counts
    cut = np.minimum((1 - delta) / ratio, 1)
    low, high = s.low[1], np.minimum(s.high[1], cut - s.mode[1])
    dev, weight = _nodes(low, high, s.a[1], s.b[1])
    reach = np.clip(delta[:, None] + ratio[:, None] * (s.mode[1][:, None] + dev), 0, 1)
    inner = betainc(np.maximum(c.x, 1)[:, None], (c.n1 - c.x + 1)[:, None], reach)
    return np.asarray(betaincc(c.y + 1, np.maximum(c.n2 - c.y, 1), cut) + (weight * inner).sum(axis=1))


def _nodes(low: Array, high: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Return deviations and density-weighted quadrature weights on [low, high], shape (m, nodes); none if empty."""
    half = 0.5 * np.maximum(high - low, 0)
    dev = (low + half)[:, None] + half[:, None] * _NODES
    return dev, half[:, None] * _WEIGHTS * np.exp(log_density(a[:, None], b[:, None], dev))
