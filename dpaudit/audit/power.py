"""Compute the power of an audit: the least leaks that it detects with probability about 0.95."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dpaudit.audit.finding import PowerAt
from dpaudit.audit.sequential_power import detectable_delta_by_bets, detectable_epsilon_by_bets
from dpaudit.bounds.detectable import detectable_delta, detectable_epsilon, least_where
from dpaudit.bounds.melded import Melded
from dpaudit.contract import PrivacyClaim
from dpaudit.events.expected_bound import PlannedTest, learnable_delta, learnable_epsilon

__all__ = ["LEARNING", "LEARNING_OF_BETS", "MASSES", "REFUTING_SHARE", "Power"]

REFUTING_SHARE = 0.1
"""Of the verdict's error, for a second opinion where the best event is not expected to refute the claim: the other
events lose a twentieth of a standard error by it."""

MASSES = (0.1, 0.01, 0.001, 0.0001)
"""Probabilities of an event on the unlikelier side at which the frontier is stated."""

RARE = 0.05
"""Events that are likelier than this are met often enough in any training to be chosen by it."""

LEARNING = 3
"""Runs that are reckoned for an event that has to be learned, as a multiple of those for one that is given. An event
chosen on a quarter as many runs as confirm it loses up to a standard error or so of the three that detection takes,
whatever their number. Where all tails of a leak have the same ratio, training often takes a smaller one than the
likeliest: with 2 such shifts were detected in 109 of 120 audits, with 3 in 118 (`docs/promises.md`)."""

LEARNING_OF_BETS = 2
"""The same for bets, which detect more often than that already (`docs/calibration.md`)."""

RARER = 5.0
"""By how much the logarithm of a probability lies below that of one run in all, where the search for a leak ends."""
PRECISION = 1e-3
"""The relative precision of that search: each of its steps takes a tenth of a second."""

Frontier = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Power:
    """The least leaks that a budget detects with probability about 0.95, although the event has to be learned.

    They are those that 1 / `LEARNING` of the runs detect when the event is given, or 1 / `LEARNING_OF_BETS` for bets:
    the fixed design may choose a worse event, and bets on many cells, or on cells that had to be learned, are smaller
    than bets on one known event.

    Attributes
    ----------
    epsilon : float
        The least true epsilon.
    at : PowerAt
        On which event.
    frontier : tuple of (probability, epsilon)
        The same for events of other probabilities on the unlikelier side.
    delta : float
        The least probability of an event that is impossible on the other side.
    """

    epsilon: float
    at: PowerAt
    frontier: Frontier
    delta: float

    @classmethod
    def of_test(
        cls, likelier: float, unlikelier: float, training: int, runs: int, claim: PrivacyClaim, gamma: float
    ) -> Power:
        """Return the power of `runs` confirmation runs a side at error `gamma`, by the melded bound.

        The main event has the probabilities `likelier` and `unlikelier` on the two sides. A rare event has to be met
        in training before it can be tested: what is stated of rare events is the greater of what confirmation detects
        and of what `training` runs a side make the second opinion test. The unconditional bound takes minutes for this
        and detects within a percent or so what the melded one does, so the melded one answers for it.
        """
        test = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
        learned = PlannedTest(runs, claim.delta, REFUTING_SHARE * gamma)
        runs = -(-runs // LEARNING)

        def least(q: float) -> float:
            met = learnable_epsilon(q, training, learned, claim.epsilon) if q < RARE else 0.0
            return max(met, _detectable_epsilon(q, runs, **test))

        delta = max(_detectable_delta(runs, **test), learnable_delta(training, learned, claim.epsilon))
        frontier = tuple((q, least(q)) for q in MASSES)
        return cls(*_reach(least, likelier, unlikelier, runs, claim, frontier), frontier, delta)

    @classmethod
    @lru_cache(maxsize=256)
    def of_bets(cls, mass: float, runs: int, claim: PrivacyClaim, gamma: float) -> Power:
        """Return the power of bets on `runs` runs of one pair, both sides together, at error `gamma`."""
        test = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
        runs = -(-runs // LEARNING_OF_BETS)
        frontier = tuple((q, detectable_epsilon_by_bets(q, runs, **test)) for q in MASSES)
        least = _reach(lambda q: detectable_epsilon_by_bets(q, runs, **test), mass, mass, runs, claim, frontier)
        return cls(*least, frontier, detectable_delta_by_bets(runs, **test))


def _reach(
    detectable: Callable[[float], float],
    likelier: float,
    unlikelier: float,
    runs: int,
    claim: PrivacyClaim,
    frontier: Frontier,
) -> tuple[float, PowerAt]:
    """Return the least epsilon detected, and on which event.

    It is one as likely as the event tested: on the unlikelier side, or, where that is too likely there to show any leak
    beyond the claim, on the likelier one. (An event of probability 0.5 on both sides can show no epsilon of 1 by
    becoming likelier on one of them, but any by becoming less likely on the other.) Where no leak on so rare an event
    is detected, it is the likeliest one of the frontier on which one is: the event tested was the best to be found.
    """
    if math.exp(claim.epsilon) * unlikelier + claim.delta < 1:
        least, at = detectable(unlikelier), PowerAt.UNLIKELIER
    else:
        mass, at = max(likelier - claim.delta, 1 / runs), PowerAt.LIKELIER
        # Beyond the last of these an event is not to be expected in any run of the unlikelier side.
        last = max(claim.epsilon, math.log(mass * runs)) + RARER
        least = least_where(lambda e: detectable(mass * math.exp(-e)) <= e, claim.epsilon, last, PRECISION)
    if math.isfinite(least):
        return least, at
    return next(((epsilon, PowerAt.FRONTIER) for _, epsilon in frontier if math.isfinite(epsilon)), (math.inf, at))


@lru_cache(maxsize=4096)
def _detectable_epsilon(mass: float, runs: int, *, epsilon: float, delta: float, gamma: float) -> float:
    """Return the detectable epsilon; audits in a series share their budget, and it takes a tenth of a second."""
    return detectable_epsilon(Melded(), mass, runs, runs, epsilon=epsilon, delta=delta, gamma=gamma)


@lru_cache(maxsize=256)
def _detectable_delta(runs: int, *, epsilon: float, delta: float, gamma: float) -> float:
    """Return the detectable delta, which audits in a series share too."""
    return detectable_delta(Melded(), runs, runs, epsilon=epsilon, delta=delta, gamma=gamma)
