"""Halfspaces over a grid by the exponential mechanism over all of their labellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance
from learners.domains import Grid
from learners.finite.generic import ExponentialLearner
from learners.halfspaces.concepts import Halfspaces
from learners.parameters import check_positive
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "HalfspaceExponential"]


def _moved(images: NDArray[np.int64], side: int, flips: int = 0) -> NDArray[np.int64]:
    """Return the permutation of examples by a map of the grid's points, given by their images."""
    rows = np.zeros(len(images), dtype=np.int64)
    for column in images.T:
        rows = rows * (side + 1) + column
    return moving_points(rows, flips)


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
        check_positive("epsilon", self.epsilon)
        _ = self.concepts.size

    @property
    def domain(self) -> Grid:
        """The grid."""
        return Grid(self.side, self.dimension)

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators: reflection and permutation of the axes, and flipping all labels (H is closed under it)."""
        points = self.domain.points()
        reflected = points.copy()
        reflected[:, 0] = self.side - points[:, 0]
        images = [reflected, points[:, [*range(1, self.dimension), 0]], points[:, [1, 0, 2][: self.dimension]]]
        generators = [_moved(image, self.side) for image in images[: 1 if self.dimension == 1 else 3]]
        return [*generators, _moved(points, self.side, 1)]


LEARNERS = (HalfspaceExponential,)
