"""What an audit could not have seen: the honest half of every finding without a violation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dpaudit.contract import PrivacyClaim
from dpaudit.privacy.bounds import Bound, Melded, Unconditional, get_bound
from dpaudit.privacy.detectable import detectable_delta, detectable_epsilon
from dpaudit.privacy.prospect import delta_by_bets, epsilon_by_bets

__all__ = ["MASSES", "Unseen"]

MASSES = (0.1, 0.01, 0.001, 0.0001)
"""Probabilities of an event on the unlikelier side at which the frontier is stated."""


@dataclass(frozen=True)
class Unseen:
    """The least leaks that a budget convicts with probability 0.95 when the event is given.

    Nothing is said of the event's being found: the fixed design spends other runs on that and may choose a worse one,
    and bets on many labels, or on labels that had to be learned, are smaller than bets on one known event. How often
    learned events convict is measured by `scripts/calibrate.py`.

    Attributes
    ----------
    epsilon : float
        The least true epsilon of an event as likely as the one tested.
    frontier : tuple of (probability, epsilon)
        The same for events of other probabilities on the unlikelier side.
    delta : float
        The least probability of an event that is impossible on the other side.
    """

    epsilon: float
    frontier: tuple[tuple[float, float], ...]
    delta: float

    @classmethod
    def by(cls, bound: Bound, mass: float, runs: int, claim: PrivacyClaim, gamma: float) -> Unseen:
        """Return what `runs` confirmation runs a side could not have seen at error `gamma`.

        The strict bound takes minutes for this and detects within a percent or so what the melded one does, so the
        melded one answers for it.
        """
        bound = Melded() if isinstance(bound, Unconditional) else bound
        test = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
        frontier = tuple((q, _detectable(bound.name, q, runs, **test)) for q in MASSES)
        epsilon = _detectable(bound.name, mass, runs, **test)
        return cls(epsilon, frontier, detectable_delta(bound, runs, runs, **test))

    @classmethod
    @lru_cache(maxsize=256)
    def by_bets(cls, mass: float, runs: int, claim: PrivacyClaim, gamma: float) -> Unseen:
        """Return what bets on `runs` runs of one pair, both sides together, could not have seen at error `gamma`."""
        test = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
        frontier = tuple((q, epsilon_by_bets(q, runs, **test)) for q in MASSES)
        return cls(epsilon_by_bets(mass, runs, **test), frontier, delta_by_bets(runs, **test))


@lru_cache(maxsize=4096)
def _detectable(bound: str, mass: float, runs: int, *, epsilon: float, delta: float, gamma: float) -> float:
    """Return the detectable epsilon; audits in a series share their budget, and it takes a tenth of a second."""
    return detectable_epsilon(get_bound(bound), mass, runs, runs, epsilon=epsilon, delta=delta, gamma=gamma)
