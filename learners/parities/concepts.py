"""Parity functions on the Boolean cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Labels
from learners.finite.counting import Numbered, check_code, check_listable
from learners.parameters import check_integer
from learners.parities.gf2 import MAX_DIMENSION, pack, parity

__all__ = ["Parities", "Parity"]


@dataclass(frozen=True)
class Parity:
    """The parity c_r(x) = <r, x> mod 2, with r_i the bit i of `code`."""

    dimension: int
    code: int

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, dimension)."""
        return parity(pack(points) & np.uint64(self.code), self.dimension).astype(np.uint8)

    def __str__(self) -> str:
        names = [f"x{i + 1}" for i in range(self.dimension) if self.code >> i & 1]
        return f"parity of {' and '.join(names)}" if names else "always 0"


@dataclass(frozen=True)
class Parities(Numbered):
    """The class of all parities c_r, r in {0, 1}^dimension, numbered by the integer with bit i = r_i."""

    dimension: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    @property
    def size(self) -> int:
        """2^dimension."""
        return int(2**self.dimension)

    @property
    def vc_dimension(self) -> int:
        """The dimension: the unit vectors are shattered, and there are only 2^dimension concepts."""
        return self.dimension

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        check_listable(self)
        codes = np.arange(self.size, dtype=np.uint64)
        return parity(codes[:, None] & pack(points)[None, :], self.dimension).astype(np.uint8)

    def concept(self, code: int) -> Parity:
        """Return c_r for the r that `code` packs."""
        check_code(self, code)
        return Parity(self.dimension, int(code))
