"""The exact cost of repeating a pure private mechanism: the optimal composition theorem."""

from __future__ import annotations

import math
from functools import lru_cache

from learners.bisection import last

__all__ = ["largest_repeated_epsilon", "repeated_delta"]

SAFETY = 1e-9


def repeated_delta(epsilon: float, share: float, times: int) -> float:
    """Return the least delta for which `times` adaptive share-private calls are (epsilon, delta)-private together.

    With p = 1 / (1 + e^-share) the total loss of the worst case is that of randomised response:

        delta = sum_i C(J, i) p^(J - i) (1 - p)^i (1 - exp(epsilon - (J - 2 i) share))_+.

    Source: Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", IEEE Transactions on
    Information Theory 63 (2017), Theorem 3.3. All terms are positive, so the relative error is that of a term; the
    result is rounded up by a relative 1e-9.
    """
    log_p, log_q = -math.log1p(math.exp(-share)), -share - math.log1p(math.exp(-share))
    terms = []
    for i in range(times + 1):
        excess = (times - 2 * i) * share - epsilon
        if excess <= 0:
            break
        ways = math.lgamma(times + 1) - math.lgamma(i + 1) - math.lgamma(times - i + 1)
        terms.append(math.exp(ways + (times - i) * log_p + i * log_q) * -math.expm1(-excess))
    return math.fsum(terms) * (1 + SAFETY)


@lru_cache(maxsize=256)
def largest_repeated_epsilon(epsilon: float, delta: float, times: int) -> float:
    """Return the largest epsilon per call, rounded down by 2^-40, for which all calls are (epsilon, delta)-private.

    For delta = 0 it is epsilon / times (basic composition).
    """
    low = epsilon / times
    if delta == 0:
        return low
    high = 2 * low
    while repeated_delta(epsilon, high, times) <= delta:
        low, high = high, 2 * high
    return last(lambda share: repeated_delta(epsilon, share, times) <= delta, low, high, 40)
