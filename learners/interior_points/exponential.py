"""An interior point by the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Pair, Supremum
from learners.arrays import Integers
from learners.citations import STE
from learners.interior_points.base import InteriorPoint
from learners.interior_points.solvers import ExponentialSolver
from learners.parameters import check_integer, check_positive, check_probability
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "InteriorPointExponential"]


@dataclass(frozen=True)
class InteriorPointExponential(InteriorPoint):
    """Find an interior point by the exponential mechanism with the score q(x) = min(#{x_i <= x}, #{x_i >= x}). Pure.

    The domain is never listed: between two neighbouring distinct points q is constant, so the choice is among at most
    2 m + 1 runs, exactly (see `mechanisms.equal_scores`), and then uniform within a run: O(n log n) in all.

    With n >= (4/epsilon) ln(domain_size/beta) the point is interior with probability 1 - beta (`points_needed`).

    Parameters
    ----------
    domain_size : int
        How many points there are, 2 .. 2^64. Codes are Python integers from 2^63 points on.
    epsilon : float
        The privacy claim, > 0.
    """

    domain_size: int
    epsilon: float

    id: ClassVar[str] = "interior-point-exponential"
    instance: ClassVar[Instance] = Instance({"domain_size": 5, "epsilon": 1.0}, n=4)
    claim_id: ClassVar[str] = "STE-IPP"
    source: ClassVar[str] = f"{STE}, the interior point problem"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)

    def _solver(self, n: int) -> ExponentialSolver:
        return ExponentialSolver(self.domain_size, Fraction(self.epsilon))

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta."""
        check_probability("beta", beta)
        return self._solver(0).points_needed(beta)

    def supremum(self) -> Supremum:
        """Return the supremum, epsilon, not attained.

        Not above: the claim. Reached: S has 2 points at 0 and t at 1, one of those at 0 becomes 2 in S'. q(0) falls
        from 2 to 1, q(1) = min(#{x <= 1}, #{x >= 1}) grows from t to t + 1, and the law of S tends to the point 1; so
        the loss of 0 tends to epsilon/2 + epsilon/2. With a domain of two points one at 0 becomes 1 instead.
        """
        last = min(2, self.domain_size - 1)

        def ray(t: int) -> Pair:
            left = self.domain.sample([0, 1], [0, 0], [2, t])
            return Pair(left, self.domain.sample([0, 1, last], [0, 0, 0], [1, t, 1]), "a point moves over t others")

        proof = "2 points at 0 and t at 1; one at 0 moves over them: the score falls by 1 at 0 and grows by 1 at 1"
        return Supremum(self.epsilon, proof, ray)

    def symmetries(self) -> list[Integers]:
        """Return the flip of the label of each point, and the reflection of the line."""
        points = np.arange(self.domain_size)
        flips = [moving_points(points, np.asarray(points == x, dtype=np.int64)) for x in points]
        return [*flips, moving_points(points[::-1].copy())]


LEARNERS = (InteriorPointExponential,)
