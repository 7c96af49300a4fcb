"""Conjunctions of literals over Boolean variables.

The literals are v_1, not v_1, v_2, not v_2, ... in this order; a set of literals is a mask with bit 2 i for v_{i+1} and
bit 2 i + 1 for not v_{i+1}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Labels
from learners.finite.counting import Numbered, check_code, check_listable
from learners.parameters import check_integer

__all__ = ["MAX_DIMENSION", "Conjunction", "Conjunctions", "contradicted"]

MAX_DIMENSION = 31
"""The largest dimension whose 2 d literals fit a mask of type int64."""


def contradicted(points: NDArray[Any]) -> Labels:
    """Return which of the 2 d literals each point (m, d) makes false, (m, 2 d): v_i if x_i = 0, else not v_i."""
    values = np.asarray(points, dtype=np.uint8)
    return np.stack([1 - values, values], axis=2).reshape(len(values), 2 * values.shape[1])


@dataclass(frozen=True)
class Conjunction:
    """The conjunction of the literals in `mask`; empty, it is 1 everywhere, and with v and not v, 0 everywhere."""

    dimension: int
    mask: int

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, dimension)."""
        chosen = [i for i in range(2 * self.dimension) if self.mask >> i & 1]
        return np.asarray(1 - contradicted(points)[:, chosen].any(axis=1), dtype=np.uint8)

    def __str__(self) -> str:
        literals = [f"{'not ' * (i % 2)}v{i // 2 + 1}" for i in range(2 * self.dimension) if self.mask >> i & 1]
        return " and ".join(literals) or "true"


@dataclass(frozen=True)
class Conjunctions(Numbered):
    """The class of the 3^d + 1 distinct functions that conjunctions of literals over d variables compute.

    Number c < 3^d has in base 3 the digits t_1 t_2 .. t_d (t_1 the lowest): t_i = 0 if variable i is absent, 1 if v_i
    stands in the conjunction, 2 if not v_i does. Number 3^d is the contradiction, 0 everywhere, with all literals.
    """

    dimension: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)

    @property
    def size(self) -> int:
        """3^dimension + 1."""
        return int(3**self.dimension) + 1

    @property
    def vc_dimension(self) -> int:
        """The dimension for 2 variables or more; 2 for one variable, where all four functions are there.

        For d >= 2 the lower bound comes from the points with a single 0; the upper bound is Natschlaeger and Schmitt,
        "Exact VC-dimension of Boolean monomials", Information Processing Letters 59 (1996).
        """
        return max(2, self.dimension)

    def mask(self, code: int) -> int:
        """Return the mask of the literals of the conjunction with that number."""
        check_code(self, code)
        if code == 3**self.dimension:
            return int(4**self.dimension) - 1
        digits = [int(code) // 3**i % 3 for i in range(self.dimension)]
        return sum(digit << 2 * i for i, digit in enumerate(digits))

    def concept(self, code: int) -> Conjunction:
        """Return the conjunction with that number."""
        return Conjunction(self.dimension, self.mask(code))

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        check_listable(self)
        values = np.asarray(points, dtype=np.uint8)
        # Numbers below 3^(i+1) are three copies of those below 3^i: variable i absent, positive, negated.
        rows = np.ones((1, len(values)), dtype=np.uint8)
        for column in values.T:
            rows = np.concatenate([rows, rows * column, rows * (1 - column)])
        return np.concatenate([rows, np.zeros((1, len(values)), dtype=np.uint8)])
