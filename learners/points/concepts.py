"""Point functions and the constant hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample
from learners.arrays import Integers
from learners.finite.counting import Numbered, check_code, check_listable, excess_of_ones
from learners.parameters import check_integer

__all__ = ["Constant", "Point", "Points"]


@dataclass(frozen=True)
class Constant:
    """The hypothesis that gives every point the same label."""

    label: int

    def __post_init__(self) -> None:
        check_integer("label", self.label, 0, 1)

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the label once for each point."""
        return np.full(len(points), self.label, dtype=np.uint8)

    def __str__(self) -> str:
        return f"always {self.label}"


@dataclass(frozen=True)
class Point:
    """The point function c_j(x) = 1 iff x = j."""

    j: int

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, 1)."""
        return np.asarray(points[:, 0] == self.j, dtype=np.uint8)

    def __str__(self) -> str:
        return f"1 at {self.j} alone"


@dataclass(frozen=True)
class Points(Numbered):
    """The class of the point functions c_0 .. c_{domain_size - 1} on {0 .. domain_size - 1}."""

    domain_size: int

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)

    @property
    def size(self) -> int:
        """The number of concepts, domain_size."""
        return self.domain_size

    @property
    def vc_dimension(self) -> int:
        """1: a point is shattered by itself and any other; two points are never both labelled 1."""
        return 1

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, 1)."""
        check_listable(self)
        return np.asarray(np.arange(self.size)[:, None] == points[None, :, 0], dtype=np.uint8)

    def concept(self, code: int) -> Point:
        """Return c_code."""
        check_code(self, code)
        return Point(int(code))

    def correct(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,).

        c_j is right on every negative example away from j and every positive one at j: N_0 + n_1(j) - n_0(j).
        """
        check_listable(self)
        negatives, excess = excess_of_ones(sample, self.domain_size)
        return np.asarray(negatives + excess, dtype=np.int64)
