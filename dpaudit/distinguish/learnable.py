"""Say how large a leak in a rare event must be for training to meet it and have it tested."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv

from dpaudit.distinguish.events import PlannedTest, hopeful_bound

__all__ = ["POWER", "learnable_delta", "learnable_epsilon"]

POWER, QUANTILE = 0.95, 1.645
"""With which probability, and the normal quantile of it."""
HALVINGS = 40


@lru_cache(maxsize=4096)
def learnable_delta(training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the least probability of an event, impossible on the other side, that training has tested.

    Training meets it x times with probability `POWER`, where x is the least count whose `hopeful_bound` exceeds the
    claim; infinite if none does.

    Parameters
    ----------
    training : int
        Runs on each side that learn.
    test : PlannedTest
        The test to come.
    epsilon : float
        The claim.
    """
    met = np.arange(1, training + 1)
    enough = np.flatnonzero(_hopeful(met.astype(np.float64), np.zeros(training), training, test) > epsilon)
    if not len(enough):
        return math.inf
    least = int(met[enough[0]])
    return float(betaincinv(least, training - least + 1, POWER))


@lru_cache(maxsize=4096)
def learnable_epsilon(mass: float, training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the least ln((p - delta) / q) of an event of probability q = `mass` that training has tested.

    It is where the `hopeful_bound` of the counts expected, less 1.645 standard errors of training, meets the claim;
    infinite where no p <= 1 does.

    Parameters
    ----------
    mass : float
        The event's probability q on the unlikelier side.
    training, test, epsilon
        As for `learnable_delta`.
    """
    low, high = epsilon, math.log((1 - test.delta) / mass)
    if high <= low or not _is_learned(high, mass, training, test, epsilon):
        return math.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_learned(middle, mass, training, test, epsilon) else (middle, high)
    return high


def _is_learned(ratio: float, mass: float, training: int, test: PlannedTest, epsilon: float) -> bool:
    p = math.exp(ratio) * mass + test.delta
    x, y = training * p, training * mass
    error = QUANTILE * math.sqrt((1 - p) / x + (1 - mass) / (y + 0.25))
    return bool(_hopeful(np.array([x]), np.array([y]), training, test)[0] - error > epsilon)


def _hopeful(hits: np.ndarray, others: np.ndarray, training: int, test: PlannedTest) -> np.ndarray:
    """Return the bound of each event, alone beside its complement."""
    return np.array([
        hopeful_bound(np.array([x, max(0.0, training - x)]), np.array([y, training - y]), test, ordered=False)[0]
        for x, y in zip(hits, others, strict=True)
    ])  # fmt: skip
