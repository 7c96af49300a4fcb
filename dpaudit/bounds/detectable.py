"""Compute the power of a test: the least leak that it detects with a given probability.

All probabilities are exact sums over the test's rejection region {(x, y) : x >= least(y)}, whose boundary ascends in y
because p-values fall in x and rise in y. What is left out is left out on the safe side: no leak is called detectable
that is not.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from dpaudit.arguments import read_number
from dpaudit.bounds import POWER
from dpaudit.bounds.base import MAX_RUNS, Array
from dpaudit.bounds.melded import Melded, log_density, mode
from dpaudit.errors import InputError

# Standard deviations of Y on either side that are summed: 2e-9 of its mass is left out, on the safe side.
_REACH = 6.0
# Counts at which the boundary is computed where there are more than `_ALL`: the rest costs up to 2 % of the excess.
_NODES = 17
# Up to so many counts the boundary is computed at each of them.
_ALL = 100
# Groups of neighbouring y that share a boundary.
_GROUPS = 400
# Bisections at most: they reach the precision of any bracket.
_HALVINGS = 48
# Of the answer of a bisection, relative to 1 + its size.
_PRECISION = 1e-9
# Steps at most that bracket an answer before its bisection; they decide nothing but how long that takes.
_CLOSING = 20
# More than six times the halvings of MAX_RUNS, so that the search always ends at its answer.
_MOST_STEPS = 400


def rejection_boundary(
    bound: Melded, ys: Array, n1: int, n2: int, *, epsilon: float, delta: float, gamma: float
) -> Array:
    """Return for each y the least x whose p-value is at most gamma; n1 + 1 where there is none.

    `ys`, of shape (m,), are hits among n2 runs on the unlikelier side, x those among n1 on the other; epsilon, delta
    and gamma are the claim and the level.
    """
    ratio = math.exp(epsilon)
    centre = np.minimum(n1 * (ratio * (ys + 1) / n2 + delta), n1)
    width = np.sqrt(centre * (1 - centre / n1) + (n1 / n2 * ratio) ** 2 * (ys + 1) * (1 - ys / n2)) + 1
    low = np.full(len(ys), -1.0)
    high = np.full(len(ys), n1 + 1.0)
    x = np.clip(np.ceil(centre - ndtri(gamma) * width), 0, n1)
    for step in range(_MOST_STEPS):
        i = np.flatnonzero(high - low > 1)
        if not len(i):
            break
        p = bound.p_value(x[i], n1, ys[i], n2, epsilon=epsilon, delta=delta)
        rejected = p <= gamma
        high[i] = np.where(rejected, x[i], high[i])
        low[i] = np.where(rejected, low[i], x[i])
        # A p-value is nearly normal in x, so its quantile shows how far the boundary is; every sixth step halves.
        missing = (ndtri(np.clip(p, 1e-300, 1 - 1e-16)) - ndtri(gamma)) * width[i]
        aimed = x[i] + np.where(rejected, np.floor(missing), np.ceil(missing))
        aimed = np.where(step % 6 == 5, np.floor(0.5 * (low[i] + high[i])), aimed)
        x[i] = np.clip(aimed, low[i] + 1, np.maximum(high[i] - 1, low[i] + 1))
    return high


def detectable_epsilon(
    bound: Melded, q: float, n1: int, n2: int, *, epsilon: float, delta: float = 0.0, gamma: float, power: float = POWER
) -> float:
    """Return the least true epsilon of an event that the test detects with probability at least `power`.

    Parameters
    ----------
    bound : Melded
        The test, which rejects the claim where its p-value is at most gamma.
    q : float
        The event's probability on the unlikelier side.
    n1, n2 : int
        Runs on the two sides.
    epsilon, delta : float
        The claim.
    gamma, power : float
        The level, and the probability of detection.

    Returns
    -------
    float
        The least e >= epsilon such that with p = exp(e) q + delta the claim is rejected with probability `power`;
        inf if there is none (p would exceed 1, or q = 0: see `detectable_delta`).

    Notes
    -----
    The sum runs over y within 6 standard deviations of n2 q. Where these are many, the boundary is computed at some of
    them and interpolated, raised by what it can bend between them, max(1, largest second difference / 8), and up to a
    fortieth of a standard deviation of neighbouring y share the highest boundary among them.
    """
    _check(n1, n2, epsilon, delta, gamma, power)
    if not 0 <= q <= 1:
        raise InputError.of("q", q, "in [0, 1]")
    if q == 0 or math.exp(epsilon) * q + delta >= 1:
        return math.inf
    # The y that carry the mass of Bin(n2, q), and for each the least x rejected (or a little more).
    spread = _REACH * math.sqrt(n2 * q * (1 - q))
    first = math.floor(n2 * q - spread - 1)
    last = math.ceil(n2 * q + spread + 0.5 * _REACH**2)
    ys = np.arange(max(first, 0), min(last, n2) + 1, dtype=np.float64)
    exact = len(ys) <= _ALL
    at = ys if exact else np.rint(np.linspace(ys[0], ys[-1], _NODES, dtype=np.float64))
    least = rejection_boundary(bound, at, n1, n2, epsilon=epsilon, delta=delta, gamma=gamma)
    if not exact:
        bend = max(1.0, float(np.abs(np.diff(least, 2)).max()) / 8)
        least = np.minimum(np.ceil(np.interp(ys, at, least) + bend), n1 + 1)
    weight = np.exp(log_density(ys, n2 - ys, q - mode(ys, n2 - ys))) / (n2 + 1)
    # Neighbouring y share the last one's boundary, the highest: a fraction of a percent too little power.
    starts = np.arange(0, len(ys), -(-len(ys) // _GROUPS))
    weight = np.add.reduceat(weight, starts)
    least = np.maximum.reduceat(least, starts)

    def detection(e: float) -> float:
        p = min(math.exp(e) * q + delta, 1.0)
        tail = np.where(least > n1, 0.0, betainc(np.maximum(least, 1), np.maximum(n1 - least + 1, 1), p))
        return float((weight * np.where(least <= 0, 1.0, tail)).sum())

    return _least_reaching(power, detection, epsilon, math.log((1 - delta) / q))


def detectable_delta(
    bound: Melded, n1: int, n2: int, *, epsilon: float, delta: float = 0.0, gamma: float, power: float = POWER
) -> float:
    """Return the least probability of an event impossible on the other side that is detected with probability `power`.

    With q = 0 always y = 0, so the claim is rejected where x >= k for one k, and the answer solves
    Pr[Bin(n1, p) >= k] = power. It is inf where even x = n1 detects nothing.
    """
    _check(n1, n2, epsilon, delta, gamma, power)
    k = float(rejection_boundary(bound, np.zeros(1), n1, n2, epsilon=epsilon, delta=delta, gamma=gamma)[0])
    if k > n1:
        return math.inf
    return max(float(betaincinv(k, n1 - k + 1, power)) * (1 + 1e-9), delta)


@lru_cache(maxsize=256)
def trials_needed(bound: Melded, *, epsilon: float, delta: float = 0.0, gamma: float) -> int:
    """Return the least number of runs a side with which any leak could be detected at all.

    With fewer, even an event that occurred in every run on one side and in none on the other proves nothing. An audit
    asks twice, and a test suite asks for the same few claims again and again: answers are kept.

    Raises
    ------
    InputError
        If no number of runs that the bound takes is enough.
    """
    _check(1, 1, epsilon, delta, gamma, 0.5)

    def enough(n: int) -> bool:
        return bool(bound.p_value(n, n, 0, n, epsilon=epsilon, delta=delta) <= gamma)

    high = 1
    while not enough(high):
        if high == MAX_RUNS:
            leak = f"epsilon = {epsilon!r}, delta = {delta!r}"
            raise InputError(f"no audit of {MAX_RUNS:g} runs a side could detect a leak of more than {leak}")
        high = min(2 * high, MAX_RUNS)
    least = high // 2 + 1
    return least + bisect_left(range(least, high), True, key=enough)


def _least_reaching(goal: float, rising: Callable[[float], float], low: float, high: float) -> float:
    """Return `least_where` of rising(point) >= goal, a probability that rises.

    Its normal quantile is nearly linear, so that a few steps of regula falsi decide most of what the bisection asks.
    """
    failed = -math.inf
    held = math.inf

    def excess(point: float) -> float:
        nonlocal failed, held
        value = rising(point)
        if value >= goal:
            held = min(held, point)
        else:
            failed = max(failed, point)
        return float(ndtri(min(max(value, 1e-300), 1 - 1e-16)) - ndtri(goal))

    def holds(point: float) -> bool:
        if failed < point < held:
            excess(point)
        return point >= held

    if not holds(high):
        return math.inf
    a = low
    below = excess(low)
    b = high
    above = excess(high)
    last = 0.0
    for _ in range(_CLOSING):
        least = _PRECISION / 8 * (1 + abs(b))
        if below >= 0 or b - a <= 4 * least:
            break
        x = min(max(b - above * (b - a) / (above - below), a + least), b - least)
        found = excess(x)
        # An end that stays a second time counts half, by which it moves as well.
        share = 0.5 if found * last > 0 else 1.0
        if found >= 0:
            b = x
            above = found
            below *= share
        else:
            a = x
            below = found
            above *= share
        last = found
    return least_where(holds, low, high)


def least_where(holds: Callable[[float], bool], low: float, high: float, precision: float = _PRECISION) -> float:
    """Return the least point of [low, high] where a monotone condition holds, from above; inf if none."""
    if not holds(high):
        return math.inf
    for _ in range(_HALVINGS):
        if high - low <= precision * (1 + abs(high)):
            break
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _check(n1: int, n2: int, epsilon: float, delta: float, gamma: float, power: float) -> None:
    for name, runs in (("n1", n1), ("n2", n2)):
        if isinstance(runs, bool) or int(runs) != runs or not 1 <= runs <= MAX_RUNS:
            raise InputError.of(name, runs, f"an integer in [1, {MAX_RUNS:g}]")
    if not 0 <= epsilon < math.inf:
        raise InputError.of("epsilon", epsilon, "a finite number >= 0")
    if not 0 <= delta < 1:
        raise InputError.of("delta", delta, "in [0, 1)")
    read_number("gamma", gamma, 0, 1)
    read_number("power", power, 0, 1)
