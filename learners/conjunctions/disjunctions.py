"""Disjunctions of literals over Boolean variables; literals are masked as in `conjunctions.concepts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.conjunctions.concepts import Conjunctions, contradicted
from learners.finite.counting import Numbered
from learners.parameters import check_integer

__all__ = ["Disjunction", "Disjunctions"]


@dataclass(frozen=True)
class Disjunction:
    """The disjunction of the literals in `mask`; empty, it is 0 everywhere, and with v and not v, 1 everywhere."""

    dimension: int
    mask: int

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, dimension)."""
        chosen = [i for i in range(2 * self.dimension) if self.mask >> i & 1]
        return np.asarray((1 - contradicted(points)[:, chosen]).any(axis=1), dtype=np.uint8)

    def __str__(self) -> str:
        literals = [f"{'not ' * (i % 2)}v{i // 2 + 1}" for i in range(2 * self.dimension) if self.mask >> i & 1]
        return " or ".join(literals) or "false"


@dataclass(frozen=True)
class Disjunctions(Numbered):
    """The class of the 3^d + 1 distinct functions that disjunctions of literals over d variables compute.

    They are numbered as `Conjunctions` numbers the conjunctions of the same literals; number 3^d is the tautology.
    By De Morgan, number c at x is 1 minus conjunction number c at the complement of x.
    """

    dimension: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)

    @property
    def size(self) -> int:
        """3^dimension + 1."""
        return Conjunctions(self.dimension).size

    @property
    def vc_dimension(self) -> int:
        """That of the conjunctions: negating labels and complementing points carries shattered sets over."""
        return Conjunctions(self.dimension).vc_dimension

    def concept(self, code: int) -> Disjunction:
        """Return the disjunction with that number."""
        return Disjunction(self.dimension, Conjunctions(self.dimension).mask(code))

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        complements = 1 - np.asarray(points, dtype=np.uint8)
        return np.asarray(1 - Conjunctions(self.dimension).evaluate(complements), dtype=np.uint8)
