"""An interior point by RecConcave."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpaudit.contract import InputError, Instance
from learners.citations import BMNS
from learners.interior_points.base import InteriorPoint
from learners.interior_points.solvers import RecConcaveSolver, Solver
from learners.mechanisms.rec_concave import RecConcave
from learners.parameters import check_integer, check_positive, check_probability

__all__ = ["LEARNERS", "InteriorPointRecConcave"]


@dataclass(frozen=True)
class InteriorPointRecConcave(InteriorPoint):
    """Find an interior point by RecConcave with the promise n/2.

    The claim is the sum of the calls made; with 33 points or fewer that is one exponential mechanism and the claim is
    pure. See `mechanisms.rec_concave` for the algorithm, its privacy and its utility.

    Parameters
    ----------
    domain_size : int
        2 .. 2^64.
    epsilon, delta : float
        The budget, epsilon > 0 and delta in (0, 1), divided over the calls.
    alpha : float
        With `points_needed` examples the point has q > (1 - alpha) n/2; in (0, 1/2], a number with few decimals.
    """

    domain_size: int
    epsilon: float
    delta: float
    alpha: float = 0.5

    id: ClassVar[str] = "interior-point-rec-concave"
    instance: ClassVar[Instance] = Instance({"domain_size": 64, "epsilon": 2.0, "delta": 0.01}, n=24, exhaustive=False)
    claim_id: ClassVar[str] = "BMNS-Prop2.11"
    source: ClassVar[str] = f"{BMNS}, Proposition 2.11"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)
        check_probability("delta", self.delta)
        check_probability("alpha", self.alpha)
        if self.alpha > 0.5:
            raise InputError(f"alpha must be in (0, 1/2], got {self.alpha!r}")

    def _concave(self, n: int) -> RecConcave:
        # What the number shows in decimal: 0.1 is 1/10, a score with a small denominator.
        alpha = Fraction(repr(float(self.alpha)))
        return RecConcave.within(self.domain_size - 1, Fraction(n, 2), alpha, Fraction(self.epsilon), self.delta)

    def _solver(self, n: int) -> Solver:
        return RecConcaveSolver(self._concave(n))

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for q >= (1 - alpha) n/2 with probability 1 - beta."""
        check_probability("beta", beta)
        return RecConcaveSolver(self._concave(1)).points_needed(beta)


LEARNERS = (InteriorPointRecConcave,)
