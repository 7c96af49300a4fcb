"""The order in which outcomes (x, y) count as evidence: by the likelihood-ratio lower limit for ln((p - delta) / q).

Write g(q) = min(1, exp(t) q + delta). The deviance of the hypothesis p <= g(q) is

    L_t(x, y) = min over p <= g(q) of n1 KL(x / n1, p) + n2 KL(y / n2, q),

0 where x / n1 <= g(y / n2). It rises in x and falls in y: by the envelope theorem its derivatives are
logit(p^) - logit(p~) >= 0 and logit(q^) - logit(q~) <= 0, since the constrained optimum (p~, q~) has p~ <= p^ and
q~ >= q^ for the estimates p^ = x / n1 and q^ = y / n2. It falls in t, as the hypotheses are nested. So the lower limit
T(x, y) = sup{t : L_t(x, y) >= h}, for a fixed height h, rises in x and falls in y, and

    {(x', y') : T(x', y') >= t} = {(x', y') : L_t(x', y') >= h},

which is what makes regions cheap and their probabilities monotone in p and in q.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["SLACK", "deviance", "epsilon_limit", "region"]

Array = NDArray[np.float64]

SLACK = 1e-9
"""Regions are taken this much larger in deviance than they are, above its rounding error."""

_NEWTON_STEPS = 40
_FAR = 600.0


def deviance(x: Array, n1: float, y: Array, n2: float, ratio: float, delta: float) -> Array:
    """Return L_t(x, y) for ratio = exp(t), never below its true value but for rounding; x and y of one shape."""
    p_hat, q_hat = x / n1, y / n2
    with np.errstate(over="ignore"):
        top = np.minimum((p_hat - delta) / ratio, 1.0)
    against = top > q_hat
    low, high = q_hat, np.where(against, top, q_hat)
    q = 0.5 * (low + high)
    for _ in range(_NEWTON_STEPS):
        p = ratio * q + delta
        value = n1 * ratio * (p_hat - p) * q * (1 - q) + n2 * (q_hat - q) * p * (1 - p)
        slope = n1 * ratio * ((p_hat - p) * (1 - 2 * q) - ratio * q * (1 - q)) + n2 * (
            (q_hat - q) * ratio * (1 - 2 * p) - p * (1 - p)
        )
        low, high = np.where(value >= 0, q, low), np.where(value >= 0, high, q)
        step = np.where(slope < 0, q - value / np.where(slope < 0, slope, -1), np.inf)
        new = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        settled = np.abs(new - q) <= 1e-13 * q
        q = new
        if settled.all():
            break
    total = n1 * _kl(p_hat, ratio * q + delta) + n2 * _kl(q_hat, q)
    return np.asarray(np.where(against, total, 0.0))


def epsilon_limit(x: float, n1: float, y: float, n2: float, delta: float, height: float) -> float:
    """Return t, at most T(x, y) = sup{t : L_t(x, y) >= height} and close to it; -inf where there is no such t."""
    xs, ys = np.array([x]), np.array([y])

    def reached(t: float) -> bool:
        return bool(deviance(xs, n1, ys, n2, math.exp(t), delta)[0] >= height)

    low = high = math.log(max(x / n1 - delta, 0.1 / n1) / ((y + 0.5) / n2))
    step = 1.0
    while not reached(low):
        low, high, step = low - step, low, 2 * step
        if low < -_FAR:
            return -math.inf
    while reached(high):
        low, high, step = high, high + step, 2 * step
    return _last(reached, low, high)


def _last(reached: Callable[[float], bool], low: float, high: float) -> float:
    """Return by bisection a point that is reached, within 1e-10 of the first that is not."""
    while high - low > 1e-10 * max(1.0, abs(low)):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low


def region(ys: Array, n1: float, n2: float, ratio: float, delta: float, height: float) -> Array:
    """Return for every y (ascending) the least x with L(x, y) >= height, n1 + 1 where there is none.

    The region is never too small: heights are lowered by `SLACK`, and the boundary is made to ascend.
    """
    low, high = np.full_like(ys, -1.0), np.full_like(ys, n1 + 1.0)
    for _ in range(math.ceil(math.log2(n1 + 2)) + 1):
        middle = np.clip(np.floor(0.5 * (low + high)), 0, n1)
        open_ = high - low > 1
        inside = deviance(middle, n1, ys, n2, ratio, delta) >= height - SLACK
        high = np.where(open_ & inside, middle, high)
        low = np.where(open_ & ~inside, middle, low)
    return np.asarray(np.minimum.accumulate(high[::-1])[::-1])


def _kl(p_hat: Array, p: Array) -> Array:
    """Return the Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(p_hat); inf where it is singular."""
    gap = p - p_hat
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(p_hat > 0, p_hat * np.log1p(np.where(p_hat > 0, gap / np.maximum(p_hat, 1e-300), 0)), 0)
        miss = np.where(p_hat < 1, (1 - p_hat) * np.log1p(-gap / np.where(p_hat < 1, 1 - p_hat, 1)), 0)
    return np.asarray(np.maximum(-(hit + miss), 0.0))
