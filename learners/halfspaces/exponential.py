"""Halfspaces over a grid by the exponential mechanism over all of their labellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.finite.exponential import ExponentialLearner
from learners.halfspaces.concepts import Halfspaces

__all__ = ["LEARNERS", "HalfspaceExponential"]


@dataclass(frozen=True)
class HalfspaceExponential(ExponentialLearner):
    """Learn halfspaces on the grid by the exponential mechanism over all labellings, one representation each.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension, dimension 1, 2 or 3, with at most 2^21 >= 2 |X|^(d + 1).
    epsilon : float
        The privacy claim.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "halfspace-exponential"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.concepts.size

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)


LEARNERS = (HalfspaceExponential,)
