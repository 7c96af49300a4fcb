"""Halfspaces over a grid by the exponential mechanism over all of their labellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance
from learners.arrays import Integers
from learners.domains import grid_rows, moving_points
from learners.finite.exponential import ExponentialLearner
from learners.halfspaces.concepts import HalfspacesOnAGrid
from learners.parameters import check_positive

__all__ = ["LEARNERS", "HalfspaceExponential"]


@dataclass(frozen=True)
class HalfspaceExponential(HalfspacesOnAGrid, ExponentialLearner):
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
        check_positive("epsilon", self.epsilon)
        _ = self.concepts.size

    def symmetries(self) -> list[Integers]:
        """Return generators: reflection and permutation of the axes, and flipping all labels (H is closed under it)."""
        points = self.domain.points()
        reflected = points.copy()
        reflected[:, 0] = self.side - points[:, 0]
        axes = list(range(self.dimension))
        orders = ([*axes[1:], 0], [1, 0, *axes[2:]]) if self.dimension > 1 else ()
        images = [reflected, *(points[:, order] for order in orders)]
        generators = [moving_points(grid_rows(image, self.side)) for image in images]
        return [*generators, moving_points(np.arange(len(points)), 1)]


LEARNERS = (HalfspaceExponential,)
