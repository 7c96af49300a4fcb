r"""Bound the mu of Gaussian privacy by right guesses of the coins of one run, under assumptions on the canaries.

A mechanism can be mu-Gaussian private and let canaries interfere, so that right guesses come together: at mu = 1 there
is one with which 41 of 50 guesses are right with probability .31, where independent ones are with .03. What is here
holds of mechanisms that are mu-Gaussian private and

- "recursion": have the law of right guesses that the recursion of Mahloujifar, Melis and Chaudhuri, Auditing
  f-differential privacy in one run (ICML 2025), supposes, a tail at its least count;
- "independent": let no canary influence another's score (Xiang, Wang et al., Tight privacy audit in one run, 2025,
  arXiv 2509.08704). Then the r surest guesses of m are the best of independent tests of N(mu, 1) against N(0, 1).

**Independent canaries.** With y the observation less mu / 2, the guess is the sign of y, as sure as |y| is large, and

    Pr[|y| >= t] = Phi(mu/2 - t) + Phi(-mu/2 - t),    of which wrong: Phi(-mu/2 - t).

The share W of the law of |y| below the (r+1)-th surest is Beta(m - r, r + 1), and given W the r guesses above it are
independent, each wrong with probability g(W) = Phi(-mu/2 - t) / Pr[|y| >= t], Pr[|y| < t] = W. So

    Pr[at least v of r are right] = E Pr[Bin(r, g(W)) <= r - v].

Where only the highest y are guessed to be in, the share is of the law of y, whose tail is half of that of |y|.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv, ndtr, ndtri

from dpaudit.bounds.guesses import largest_rejected
from dpaudit.contract.curve_claims import MOST

Array = NDArray[np.float64]

_NODES = 128
"""Quantiles of W, each of which stands for as much of its law."""
_GRID, _FAR = 4_001, 9.0
"""Points at which the law of y is known, and standard deviations that they reach to."""
_LEAST = 1e-6
"""A bound on mu below it is 0."""


def independent_p_value(right: int, guesses: int, coins: int, mu: float, *, one_sided: bool = False) -> float:
    """Return Pr[at least v of the r surest guesses of m are right] at mu, of canaries that do not interfere.

    `one_sided` says whether the r highest scores are guessed to be in, and no others.
    """
    wrong = _wrong_share(_thresholds(guesses, coins, mu, one_sided), mu)
    return float(np.minimum(bdtr(guesses - right, guesses, wrong), 1.0).mean())


def _thresholds(guesses: int, coins: int, mu: float, one_sided: bool) -> Array:
    """Return the t of some quantiles of W."""
    if guesses >= coins and not one_sided:
        return np.zeros(1)
    middle = (np.arange(_NODES) + 0.5) / _NODES
    tail = 1 - betaincinv(max(coins - guesses, 1e-9), guesses + 1, middle)
    wanted = tail * (2.0 if one_sided else 1.0)  # of Phi(mu/2 - t) + Phi(-mu/2 - t), which falls from 2 to 0
    t = np.linspace(-mu / 2 - _FAR, mu / 2 + _FAR, _GRID)
    tails = ndtr(mu / 2 - t) + ndtr(-mu / 2 - t)
    return np.asarray(np.interp(wanted, tails[::-1], t[::-1]))


def _wrong_share(t: Array, mu: float) -> Array:
    """Return Phi(-mu/2 - t) / (Phi(mu/2 - t) + Phi(-mu/2 - t))."""
    right, wrong = ndtr(mu / 2 - t), ndtr(-mu / 2 - t)
    return np.asarray(wrong / np.maximum(right + wrong, 1e-300))


def recursion_refutes(
    right: int, guesses: int, coins: int, mu: float, error: float, *, one_sided: bool = False
) -> bool:
    """Say whether the recursion refutes mu-Gaussian privacy with an error, from v of r right guesses of m coins.

    With f the trade-off function of N(0, 1) and N(mu, 1) and F = 1 - f: R = error v / m and H = error (r - v) / m are
    the least shares of right and wrong guesses if the tail has that mass; from i = v - 1 down to 0, H' = max(H,
    F^-1(R)) and R grows by i (H' - H) / (r - i). More than r / m in all cannot be. Guesses of one side alone have m / 2
    coins.
    """
    m = coins / 2 if one_sided else float(coins)
    share, other = error * right / m, error * (guesses - right) / m
    for i in range(right - 1, -1, -1):
        if share + other > guesses / m or share >= 1:
            return True
        more = max(other, _normal(_quantile(share) - mu))
        if guesses > i:
            share += i * (more - other) / (guesses - i)
        other = more
    return share + other > guesses / m


def mu_lower(
    right: int, guesses: int, coins: int, error: float, *, one_sided: bool = False, known: tuple[float, float] = (0, 0)
) -> tuple[float, float]:
    """Return the largest mu that is refuted with an error, by the recursion and of canaries that do not interfere.

    Bounds that are `known` are returned where the counts give none that is larger.
    """
    recursion = partial(recursion_refutes, right, guesses, coins, error=error, one_sided=one_sided)
    independent = partial(independent_p_value, right, guesses, coins, one_sided=one_sided)
    tests: tuple[Callable[[float], bool], ...] = (recursion, lambda mu: independent(mu) <= error)
    found = [
        largest_rejected(test, MOST) if test(max(mu, _LEAST)) else mu for test, mu in zip(tests, known, strict=True)
    ]
    return found[0], found[1]


def detectable_mu(
    guesses: Sequence[int], critical: Sequence[int], coins: int, power: float, *, one_sided: bool = False
) -> tuple[float, int]:
    """Return the least mu of independent canaries at which some count is critical that probably, and its place.

    That is one of v_k of the r_k surest guesses; infinite, and the last place, where no count is critical.
    """
    best, at = math.inf, len(guesses) - 1
    for i, (r, v) in enumerate(zip(guesses, critical, strict=True)):
        if v > r:
            continue
        found = partial(independent_p_value, v, r, coins, one_sided=one_sided)
        if found(min(best, 2 * MOST)) >= power:
            best, at = largest_rejected(lambda mu, found=found: found(mu) < power, 2 * MOST), i  # type: ignore[misc]
    return best, at


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _quantile(p: float) -> float:
    return float(ndtri(p))
