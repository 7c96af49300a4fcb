"""Compute the power of an audit: the least leaks that it detects with probability about 0.95."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dpaudit.betting.power import detectable_delta_by_bets, detectable_epsilon_by_bets
from dpaudit.bounds.detectable import detectable_delta, detectable_epsilon, least_where
from dpaudit.bounds.melded import Melded
from dpaudit.contract import PrivacyClaim

__all__ = ["LEARNING", "MASSES", "Power"]

MASSES = (0.1, 0.01, 0.001, 0.0001)
"""Probabilities of an event on the unlikelier side at which the frontier is stated."""

LEARNING = 2
"""Runs that are reckoned for an event that has to be learned, as a multiple of those for one that is given. An event
chosen on a quarter as many runs as confirm it loses up to a standard error or so of the three that detection takes,
whatever their number: with these runs learned events detect about as often as stated (`scripts/calibrate.py` measures
it)."""

RARER = 5.0
"""By how much the logarithm of a probability lies below that of one run in all, where the search for a leak ends."""
PRECISION = 1e-3
"""The relative precision of that search: each of its steps takes a tenth of a second."""


@dataclass(frozen=True)
class Power:
    """The least leaks that a budget detects with probability about 0.95, although the event has to be learned.

    They are those that 1 / `LEARNING` of the runs detect when the event is given: the fixed design may choose a worse
    event, and bets on many cells, or on cells that had to be learned, are smaller than bets on one known event.

    Attributes
    ----------
    epsilon : float
        The least true epsilon of an event as likely as the main one tested: on the unlikelier side, or, where it is too
        likely there to show any leak beyond the claim, on the likelier side.
    frontier : tuple of (probability, epsilon)
        The same for events of other probabilities on the unlikelier side.
    delta : float
        The least probability of an event that is impossible on the other side.
    """

    epsilon: float
    frontier: tuple[tuple[float, float], ...]
    delta: float

    @classmethod
    def of_test(cls, likelier: float, unlikelier: float, runs: int, claim: PrivacyClaim, gamma: float) -> Power:
        """Return the power of `runs` confirmation runs a side at error `gamma`, by the melded bound.

        The main event has the probabilities `likelier` and `unlikelier` on the two sides.

        The unconditional bound takes minutes for this and detects within a percent or so what the melded one does, so
        the melded one answers for it.
        """
        test = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
        runs = -(-runs // LEARNING)
        frontier = tuple((q, _detectable_epsilon(q, runs, **test)) for q in MASSES)
        least = _least(lambda q: _detectable_epsilon(q, runs, **test), likelier, unlikelier, runs, claim)
        return cls(least, frontier, detectable_delta(Melded(), runs, runs, **test))

    @classmethod
    @lru_cache(maxsize=256)
    def of_bets(cls, mass: float, runs: int, claim: PrivacyClaim, gamma: float) -> Power:
        """Return the power of bets on `runs` runs of one pair, both sides together, at error `gamma`."""
        test = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
        runs = -(-runs // LEARNING)
        frontier = tuple((q, detectable_epsilon_by_bets(q, runs, **test)) for q in MASSES)
        least = _least(lambda q: detectable_epsilon_by_bets(q, runs, **test), mass, mass, runs, claim)
        return cls(least, frontier, detectable_delta_by_bets(runs, **test))


def _least(
    detectable: Callable[[float], float], likelier: float, unlikelier: float, runs: int, claim: PrivacyClaim
) -> float:
    """Return the least epsilon detected on an event as likely on the unlikelier side, else on the likelier one.

    An event of probability 0.5 on both sides can show no epsilon of 1 by becoming likelier on one of them, but any by
    becoming less likely on the other.
    """
    if math.exp(claim.epsilon) * unlikelier + claim.delta < 1:
        return detectable(unlikelier)
    mass = likelier - claim.delta
    if mass <= 0:
        return math.inf
    # Beyond the last of these an event is not to be expected in any run of the unlikelier side.
    last = max(claim.epsilon, math.log(mass * runs)) + RARER
    return least_where(lambda e: detectable(mass * math.exp(-e)) <= e, claim.epsilon, last, PRECISION)


@lru_cache(maxsize=4096)
def _detectable_epsilon(mass: float, runs: int, *, epsilon: float, delta: float, gamma: float) -> float:
    """Return the detectable epsilon; audits in a series share their budget, and it takes a tenth of a second."""
    return detectable_epsilon(Melded(), mass, runs, runs, epsilon=epsilon, delta=delta, gamma=gamma)
