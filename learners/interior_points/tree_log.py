"""An interior point by TreeLog."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpaudit.contract import InputError, Instance
from learners.citations import STE
from learners.interior_points.base import InteriorPoint
from learners.interior_points.solvers import Solver
from learners.mechanisms.tree_log import TreeLog
from learners.parameters import check_integer, check_positive, check_probability

__all__ = ["LEARNERS", "InteriorPointTreeLog"]


@dataclass(frozen=True)
class InteriorPointTreeLog(InteriorPoint):
    """Find an interior point by TreeLog, every call charged; see `mechanisms.tree_log` for the proof of privacy.

    The claim is the sum of the calls of all levels. Fewer than `points_needed` examples may get the exponential
    mechanism at some level, which costs less.

    Parameters
    ----------
    domain_size : int
        2 .. 2^64.
    epsilon, delta : float
        The budget, epsilon > 0 and delta in (0, 1), divided over the calls.
    beta : float
        With `points_needed` examples the point is interior with probability 1 - beta; in (0, 1).
    """

    domain_size: int
    epsilon: float
    delta: float
    beta: float

    id: ClassVar[str] = "interior-point-tree-log"
    # More points than these answer the crafted samples always in the same way, which shows nothing.
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 2.0, "delta": 0.01, "beta": 0.1}, n=130, exhaustive=False
    )
    claim_id: ClassVar[str] = "STE-TreeLog"
    source: ClassVar[str] = f"{STE}, the interior point problem; proof in mechanisms.tree_log"

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2, 2**64)
        check_positive("epsilon", self.epsilon)
        check_probability("delta", self.delta)
        check_probability("beta", self.beta)

    def _solver(self, n: int) -> Solver:
        return self._tree(n)

    def _tree(self, n: int) -> TreeLog:
        return TreeLog.within(self.domain_size, n, Fraction(self.epsilon), self.delta, self.beta)

    def points_needed(self, beta: float | None = None) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta (by default its own)."""
        wanted = self.beta if beta is None else beta
        check_probability("beta", wanted)
        if wanted < self.beta:
            raise InputError(f"beta must be at least {self.beta!r}, for which this learner is built; got {beta!r}")
        return self._tree(0).points_needed


LEARNERS = (InteriorPointTreeLog,)
