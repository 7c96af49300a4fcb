"""The sample on which the exponential mechanism finds an interior point least often.

The proof is in docs/results.md, "Sample complexities that are known".
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import CaseFamily, WorstFailure

_PROOF = (
    "two points of the data have the scores g and n - g at least, 0 < g <= n/2, and exp(g epsilon/2) + exp((n - g) "
    "epsilon/2) is least for g = n/2; all of the domain but two points is outside then"
)


def interior_point_failure(domain_size: int, rate: float, n: int) -> WorstFailure:
    """Return the greatest probability of a point outside of the data, over all samples of n points, which is attained.

    Two neighbouring points with n/2 examples each, one of them more for odd n, leave T - 2 points outside, with weight
    1 each against exp(rate floor(n/2)) + exp(rate ceil(n/2)); n examples at one point, T - 1 against exp(rate n).
    `domain_size` is T.
    """
    size, halves = domain_size, np.array([n // 2, n - n // 2], dtype=np.float64)
    two = _share(size - 2, float(np.logaddexp(*(rate * halves)))) if n > 1 else 0.0
    one = _share(size - 1, rate * n)
    middle = size // 2
    places = (middle - 1, middle) if two >= one else (middle,)
    case = "equal shares on two neighbouring points" if two >= one else "all on one point"
    rate_of_failure = max(one, two)
    return WorstFailure(
        rate_of_failure, rate_of_failure, CaseFamily.INTERIOR_POINTS, {"domain_size": size, "rate": rate}, _PROOF, "",
        0, tuple((x,) for x in places), (1 / len(places),) * len(places), case,
    )  # fmt: skip


def _share(outside: int, log_inside: float) -> float:
    """Return outside/(outside + inside)."""
    from scipy.special import expit

    return float(expit(math.log(outside) - log_inside)) if outside else 0.0
