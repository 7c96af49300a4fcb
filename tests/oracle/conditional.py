"""The conditional exact binomial bound: for designs in which a coin decides each run's side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from dpaudit.bounds.base import MAX_EPSILON, CountArrays
from dpaudit.bounds.melded import RELATIVE_ERROR, Melded, first_guess, last_rejected
from dpaudit.errors import InputError

__all__ = ["Conditional"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Conditional(Melded):
    r"""The binomial test of the side given a hit, when each run's side is drawn at random.

    Parameters
    ----------
    share : float
        The probability with which a run is made on the first side (the x side), fixed in advance.
    excess_error : float
        The part of the error that pays for delta; unused at delta = 0.

    Notes
    -----
    Design: every run tosses a coin, Pr[first side] = share, so n1 is random. For fixed n1 and n2 the law given the
    total is not binomial but non-central hypergeometric in the odds ratio, and the argument below does not apply.

    delta = 0. Given N = x + y hits, x ~ Bin(N, rho) with odds rho / (1 - rho) = share p / ((1 - share) q). Under H0
    these odds are at most exp(epsilon) share / (1 - share) =: odds of rho0, so Pr[Bin(N, rho0) >= x] is a p-value.

    delta > 0. Under H0, p = p' + r with p' <= exp(epsilon) q and r <= delta. Call a hit on the first side *excess*
    with probability r / p; there are E of these, and given n1, E ~ Bin(n1, r). The remaining hits are a sample of the
    case delta = 0, so T(E) with T(k) = Pr[Bin(x + y - k, rho0) >= x - k] is a p-value; T increases in k, as a hit taken
    from both counts does more to the right side. With S(k) = Pr[Bin(n1, delta) > k] and excess_error = theta,

    .. math:: p = \min_k \max\{ S(k) / \theta,\; T(k) / (1 - \theta) \}

    is a p-value: if it is at most gamma, then T(k0) <= (1 - theta) gamma for the least k0 with S(k0) <= theta gamma,
    which depends on n1 alone. Then E > k0, or T(E) <= T(k0); and Pr[E > k0] + Pr[T(E) <= (1 - theta) gamma] <= gamma.
    """

    share: float = 0.5
    excess_error: float = 0.1
    name: ClassVar[str] = "conditional"

    def __post_init__(self) -> None:
        for field in ("share", "excess_error"):
            value = getattr(self, field)
            if not (math.isfinite(value) and 0 < value < 1):
                raise InputError(f"{field} must be in (0, 1), got {value!r}")

    def _p_values(self, c: CountArrays, ratio: Array, delta: Array) -> Array:
        return self._tail(c, ratio, delta)

    def _epsilons(self, c: CountArrays, delta: Array, gamma: float) -> Array:
        def tail(t: Array, i: NDArray[np.intp]) -> Array:
            return self._tail(c.take(i), np.exp(t), delta[i])

        return last_rejected(tail, gamma, *first_guess(c, delta, gamma), MAX_EPSILON)

    def _tail(self, c: CountArrays, ratio: Array, delta: Array) -> Array:
        """Return the p-values, raised by their numerical error."""
        # The greatest chance under H0 that a hit is on the first side, given that it is a hit.
        rho = self.share * ratio / (self.share * ratio + 1 - self.share)
        plain = _regular_tail(c, np.zeros_like(c.x), rho)
        excess = np.where(delta > 0, self._with_excess(c, rho, delta), plain)
        return np.minimum(excess * (1 + RELATIVE_ERROR), 1.0)

    def _with_excess(self, c: CountArrays, rho: Array, delta: Array) -> Array:
        """Return min over k of max(S(k) / theta, T(k) / (1 - theta)), by bisection for where they cross."""
        # k = -1 is no value of k: its S is 1 / theta, above any T, so the bisection starts with an end on either side.
        low = np.full_like(c.x, -1.0)
        high = c.x.copy()
        for _ in range(math.ceil(math.log2(float(c.x.max(initial=1)) + 2)) + 1):
            middle = np.floor((low + high) / 2)
            crossed = self._excess_term(c, middle, delta) <= _regular_tail(c, middle, rho) / (1 - self.excess_error)
            open_ = high - low > 1
            high = np.where(open_ & crossed, middle, high)
            low = np.where(open_ & ~crossed, middle, low)
        # S falls and T rises in k: the least maximum is S just before the crossing or T just after it.
        return np.minimum(self._excess_term(c, low, delta), _regular_tail(c, high, rho) / (1 - self.excess_error))

    def _excess_term(self, c: CountArrays, k: Array, delta: Array) -> Array:
        """Return Pr[Bin(n1, delta) > k] / theta."""
        inside = (k >= 0) & (k < c.n1)
        value = betainc(np.where(inside, k + 1, 1), np.where(inside, c.n1 - k, 1), delta) / self.excess_error
        return np.where(k < 0, 1 / self.excess_error, np.where(inside, value, 0.0))


def _regular_tail(c: CountArrays, k: Array, rho: Array) -> Array:
    """Return T(k) = Pr[Bin(x + y - k, rho) >= x - k] for 0 <= k <= x; 1 at k = x."""
    left = c.x - k
    return np.where(left <= 0, 1.0, betainc(np.maximum(left, 1), c.y + 1, rho))
