"""Disjunctions of at most k literals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.conjunctions.disjunctions import Disjunction
from learners.conjunctions.short_conjunctions import ShortConjunctions
from learners.finite.counting import Numbered
from learners.parameters import check_integer

__all__ = ["ShortDisjunctions"]


@dataclass(frozen=True)
class ShortDisjunctions(Numbered):
    """Disjunctions of at most k literals: number c at x is 1 minus conjunction number c at the complement of x."""

    dimension: int
    k: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_integer("k", self.k, 1, self.dimension)

    @property
    def _mirror(self) -> ShortConjunctions:
        return ShortConjunctions(self.dimension, self.k)

    @property
    def size(self) -> int:
        """As many as conjunctions."""
        return self._mirror.size

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, dimension)."""
        return np.asarray(1 - self._mirror.evaluate(1 - np.asarray(points, dtype=np.uint8)), dtype=np.uint8)

    def concept(self, code: int) -> Disjunction:
        """Return the disjunction of the same literals."""
        return Disjunction(self.dimension, self._mirror.concept(code).mask)
