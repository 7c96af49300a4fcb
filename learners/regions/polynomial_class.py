"""Regions p(x, y) >= 0 of the grid {0 .. d}^2 for polynomials p of low degree: halfspaces over the monomials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Labels
from learners.domains import grid_rows
from learners.finite.counting import Numbered, check_code
from learners.regions.planar.polynomial_family import check_polynomials, monomials, polynomial_family, powers
from learners.words import linear

__all__ = ["Polynomial", "Polynomials"]


@dataclass(frozen=True)
class Polynomial:
    """f(x, y) = 1 iff p(x, y) >= 0, with the coefficients of p in the order of `monomials(degree)`."""

    coefficients: tuple[int, ...]
    degree: int

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, 2), exactly."""
        values = powers(np.asarray(points).astype(object), self.degree) @ np.array(self.coefficients, dtype=object)
        return np.asarray(values >= 0, dtype=np.uint8)

    def __str__(self) -> str:
        names = [" ".join(filter(None, (_power("x", i), _power("y", j)))) for i, j in monomials(self.degree)]
        return f"{linear(zip(self.coefficients, names, strict=True))} >= 0"


def _power(name: str, exponent: int) -> str:
    return "" if exponent == 0 else name if exponent == 1 else f"{name}^{exponent}"


@dataclass(frozen=True)
class Polynomials(Numbered):
    """The labellings of {0 .. side}^2 by polynomials of at most a degree, in lexicographic order.

    Degree 1 are the halfplanes, degree 2 all discs, ellipses, parabolas and hyperbolas with their complements.
    """

    side: int
    degree: int

    def __post_init__(self) -> None:
        check_polynomials(self.side, self.degree)

    @property
    def size(self) -> int:
        """The number of labellings."""
        return len(polynomial_family(self.side, self.degree))

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, 2) of the grid."""
        return polynomial_family(self.side, self.degree).labels[:, grid_rows(points, self.side)]

    def concept(self, code: int) -> Polynomial:
        """Return the polynomial with that number."""
        check_code(self, code)
        return Polynomial(polynomial_family(self.side, self.degree).regions[int(code)][0], self.degree)
