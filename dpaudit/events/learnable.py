"""Say how large a leak in a rare event must be for training to meet it and have it tested."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv

from dpaudit.events.events import PlannedTest, refutation_score

__all__ = ["POWER", "learnable_delta", "learnable_epsilon"]

POWER, QUANTILE = 0.95, 2.0
"""With which probability, and the normal quantile of it, with a third of a standard error for the luck of other events
that are compared."""
HALVINGS = 40
MOST_MET = 400
"""Counts that are tried: an event that needs more of them is none that a claim makes impossible."""


@lru_cache(maxsize=4096)
def learnable_delta(training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the least probability of an event, impossible on the other side, that training has tested.

    Training meets it x times with probability `POWER`, where x is the least count whose `refutation_score` is positive;
    infinite if none is.

    Parameters
    ----------
    training : int
        Runs on each side that learn.
    test : PlannedTest
        The test to come.
    epsilon : float
        The claim.
    """
    met = np.arange(1, min(training, MOST_MET) + 1)
    enough = np.flatnonzero([_score(x, 0.0, training, test, epsilon) > 0 for x in met.tolist()])
    if not len(enough):
        return math.inf
    least = int(met[enough[0]])
    return float(betaincinv(least, training - least + 1, POWER))


@lru_cache(maxsize=4096)
def learnable_epsilon(mass: float, training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the least ln((p - delta) / q) of an event of probability q = `mass` that training has tested.

    It is where the `refutation_score` of the counts expected is 2: training then errs to a score of a third or less
    with probability 0.05. Infinite where no p <= 1 reaches it.

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
    return _score(training * p, training * mass, training, test, epsilon) > QUANTILE


def _score(x: float, y: float, training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the score of an event, alone beside its complement."""
    both = np.array([x, max(0.0, training - x)]), np.array([y, training - y])
    return float(refutation_score(*both, test, epsilon, ordered=False)[0])
