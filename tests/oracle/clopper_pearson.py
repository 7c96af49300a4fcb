"""The slow, obvious twin of the other bounds: one exact binomial limit a side, half the error each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc

from dpaudit.bounds.base import CountArrays
from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.bounds.melded import Melded

__all__ = ["ClopperPearson"]

Array = NDArray[np.float64]

# Above the relative error of scipy's incomplete beta functions at the counts of the tests.
_RAISED = 1 + 1e-7
# More halvings than a double has digits: the ends of the interval are then neighbouring numbers.
_HALVINGS = 90


@dataclass(frozen=True)
class ClopperPearson(Melded):
    r"""Clopper-Pearson limits at gamma / 2 on each side, joined by the union bound.

    .. math:: \epsilon_L = \ln \frac{p_L - \delta}{q_U}, \quad \Pr[\mathrm{Bin}(n_1, p_L) \ge x] =
              \Pr[\mathrm{Bin}(n_2, q_U) \le y] = \gamma / 2 .

    Notes
    -----
    Valid without further argument, and wasteful: where both sides are equally uncertain it needs 2.8 times the
    runs of `Melded`. Tail probabilities are raised by a relative 1e-7, above their numerical error, so that bounds err
    downwards.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26.
    """

    name: ClassVar[str] = "clopper-pearson"

    def _p_values(self, c: CountArrays, ratio: Array, delta: Array) -> Array:
        """Return p-values of H0: p <= exp(epsilon) q + delta.

        The test at gamma rejects if some r has both Pr[Bin(n1, delta + exp(epsilon) r) >= x] and Pr[Bin(n2, r) <= y]
        at most gamma / 2; the first rises in r and the second falls, so the p-value is twice the value at the crossing.
        """
        low = np.zeros(len(ratio))
        high = np.minimum((1 - delta) / ratio, 1)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            above = _upper_tail(c, delta + ratio * middle) >= _lower_tail(c, middle)
            low = np.where(above, low, middle)
            high = np.where(above, middle, high)
        # The crossing lies between the two ends; at either one the greater of the tails bounds the p-value from above.
        at_ends = [np.maximum(_upper_tail(c, delta + ratio * r), _lower_tail(c, r)) for r in (low, high)]
        return np.minimum(2 * np.minimum(*at_ends), 1.0)

    def _epsilons(self, c: CountArrays, delta: Array, gamma: float) -> Array:
        # Each limit fails with probability gamma / 2, so both hold with probability 1 - gamma.
        gain = lower_limit(c.x, c.n1, gamma / 2) - delta
        upper = upper_limit(c.y, c.n2, gamma / 2)
        shown = gain > upper
        return np.where(shown, np.log(np.where(shown, gain, 1) / np.where(shown, upper, 1)), 0.0)


def _upper_tail(c: CountArrays, p: Array) -> Array:
    """Return upper bounds on Pr[Bin(n1, p) >= x]."""
    value = betainc(np.maximum(c.x, 1), c.n1 - c.x + 1, np.clip(p, 0, 1)) * _RAISED
    return np.where(c.x == 0, 1.0, np.minimum(value, 1.0))


def _lower_tail(c: CountArrays, q: Array) -> Array:
    """Return upper bounds on Pr[Bin(n2, q) <= y]."""
    value = betaincc(c.y + 1, np.maximum(c.n2 - c.y, 1), q) * _RAISED
    return np.where(c.y == c.n2, 1.0, np.minimum(value, 1.0))
