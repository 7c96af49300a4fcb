"""Disjunctions of literals over Boolean variables; literals are masked as in `conjunctions.concepts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Labels
from learners.conjunctions.concepts import contradicted
from learners.conjunctions.short_conjunctions import ShortConjunctions
from learners.finite.counting import Numbered
from learners.parameters import check_integer

__all__ = ["Disjunction", "ShortDisjunctions"]


@dataclass(frozen=True)
class Disjunction:
    """The disjunction of the literals in `mask`; empty, it is 0 everywhere, and with v and not v, 1 everywhere."""

    dimension: int
    mask: int

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, dimension)."""
        chosen = [i for i in range(2 * self.dimension) if self.mask >> i & 1]
        return np.asarray((1 - contradicted(points)[:, chosen]).any(axis=1), dtype=np.uint8)

    def __str__(self) -> str:
        literals = [f"{'not ' * (i % 2)}v{i // 2 + 1}" for i in range(2 * self.dimension) if self.mask >> i & 1]
        return " or ".join(literals) or "false"


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

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, dimension)."""
        return np.asarray(1 - self._mirror.evaluate(1 - np.asarray(points, dtype=np.uint8)), dtype=np.uint8)

    def concept(self, code: int) -> Disjunction:
        """Return the disjunction of the same literals."""
        return Disjunction(self.dimension, self._mirror.concept(code).mask)
