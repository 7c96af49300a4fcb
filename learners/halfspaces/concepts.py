"""Closed halfspaces, and the class of all of them on a small grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Integers
from learners.domains import Grid, grid_rows
from learners.finite.counting import check_code
from learners.halfspaces.depth.tukey_depth import MAX_DIMENSION
from learners.halfspaces.halfspace_dichotomies import grid_halfspaces
from learners.parameters import check_integer
from learners.words import linear

__all__ = ["Halfspace", "Halfspaces"]


@dataclass(frozen=True)
class Halfspace:
    """The halfspace hs_{w,t}(x) = 1 iff <w, x> >= t, with integer or rational entries.

    Parameters
    ----------
    weights : tuple of int or Fraction, length d
        The normal w; all zero gives a constant.
    threshold : int or Fraction
        The bias t.
    """

    weights: tuple[int | Fraction, ...]
    threshold: int | Fraction

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, d), exactly."""
        normal = np.array(self.weights, dtype=object)
        return np.asarray(np.asarray(points).astype(object) @ normal >= self.threshold, dtype=np.uint8)

    def __str__(self) -> str:
        terms = linear([(w, f"x{i + 1}") for i, w in enumerate(self.weights)])
        return f"{terms} >= {self.threshold}"


@dataclass(frozen=True)
class Halfspaces:
    """HALFSPACE(X): the labellings of the grid {0 .. side}^dimension by closed halfspaces, one representation each.

    Numbers follow the lexicographic order of the labellings of the grid's points.
    """

    side: int
    dimension: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    @property
    def size(self) -> int:
        """The number of labellings; `InputError` if they are too many to list."""
        return len(grid_halfspaces(self.side, self.dimension)[0])

    @property
    def vc_dimension(self) -> int:
        """The dimension plus 1: Radon."""
        return self.dimension + 1

    @property
    def representations(self) -> Integers:
        """The set H of Claim 4.1 of BMNS: rows (w_1, .., w_d, t), shape (size, d + 1)."""
        return grid_halfspaces(self.side, self.dimension)[1]

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, dimension) of the grid."""
        return grid_halfspaces(self.side, self.dimension)[0][:, grid_rows(np.asarray(points), self.side)]

    def concept(self, code: int) -> Halfspace:
        """Return the halfspace with that number."""
        check_code(self, code)
        *weights, threshold = (int(v) for v in self.representations[int(code)])
        return Halfspace(tuple(weights), threshold)

    def domain(self) -> Grid:
        """Return the grid."""
        return Grid(self.side, self.dimension)
