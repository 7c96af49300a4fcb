"""Optimal composition: the exact worst-case cost of several calls, which the papers' theorems bound from above."""

from __future__ import annotations

import math

from learners.bisection import last

__all__ = ["composed_delta", "greatest_share"]


def composed_delta(calls: int, share: float, each: float, epsilon: float) -> float:
    """Return the least delta for which any `calls` calls, each (share, each)-private, are (epsilon, delta)-private.

    delta = 1 - (1 - each)^k (1 - r), r = sum_i C(k, i) (e^((k - i) share) - e^(epsilon + i share))_+ / (1 + e^share)^k.
    Calls that show the input with probability `each`, and are randomised response otherwise, attain it.

    Source: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy" (2015), Theorem 3.3.
    """
    truth = 1 / (1 + math.exp(-share))
    lost = 0.0
    for lies in range(calls + 1):
        if (gain := -math.expm1(min(0.0, epsilon - (calls - 2 * lies) * share))) > 0:
            lost += math.comb(calls, lies) * truth ** (calls - lies) * (1 - truth) ** lies * gain
    shown = -math.expm1(calls * math.log1p(-each))
    return shown + (1 - shown) * lost


def greatest_share(calls: int, each: float, epsilon: float, delta: float) -> float:
    """Return the greatest share, rounded down, for which such calls are (epsilon, delta)-private; 0 if none is.

    At most 2 epsilon is tried, far above what a small delta allows a single call.
    """
    return last(lambda share: composed_delta(calls, share, each, epsilon) <= delta, 0.0, 2 * epsilon, 50)
