"""All labellings of grid points by polynomials of low degree, with one integer polynomial for each."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.domains import Grid
from learners.parameters import check_integer
from learners.regions.planar.families import Family
from learners.regions.planar.sign_patterns import MAX_VECTORS, sign_patterns

__all__ = ["MAX_DEGREE", "MAX_POLYNOMIALS", "check_polynomials", "monomials", "polynomial_family", "powers"]

MAX_DEGREE = 3
MAX_POLYNOMIALS = 2**17
"""The most labellings that the count of cells may allow: side 6 at degree 1, 4 at degree 2, 3 at degree 3."""


def monomials(degree: int) -> list[tuple[int, int]]:
    """Return the exponents (i, j) of x^i y^j, i + j <= degree: the greatest sums first, then the greatest i."""
    return [(i, total - i) for total in range(degree, -1, -1) for i in range(total, -1, -1)]


def powers(points: NDArray[Any], degree: int) -> NDArray[Any]:
    """Return the monomials of points (m, 2) as columns, with the dtype of the points."""
    return np.stack([points[:, 0] ** i * points[:, 1] ** j for i, j in monomials(degree)], axis=1)


def check_polynomials(side: int, degree: int) -> None:
    """Raise `InputError` if the polynomials cannot be listed.

    m hyperplanes through 0 in R^D have at most 2 sum_(i < D) C(m - 1, i) cells (Schlaefli, Cover).
    """
    check_integer("degree", degree, 1, MAX_DEGREE)
    check_integer("side", side, 1)
    points = (side + 1) ** 2
    most = 2 * sum(comb(points - 1, i) for i in range(len(monomials(degree))))
    if points > MAX_VECTORS or most > MAX_POLYNOMIALS:
        raise InputError(
            f"side must be small enough to list the polynomials; {side} at degree {degree} allows up to {most}, more "
            f"than {MAX_POLYNOMIALS}, or more than {MAX_VECTORS} points"
        )


@lru_cache(maxsize=4)
def polynomial_family(side: int, degree: int) -> Family:
    """Return the labellings of {0 .. side}^2 by p(x, y) >= 0, p of at most that degree, with equal measures.

    In lexicographic order. The region of a labelling is (coefficients,), integers in the order of `monomials`; p is 0
    at no point of the grid. Side 4 at degree 2 takes 12 seconds, side 3 at degree 3 seven.
    """
    check_polynomials(side, degree)
    labels, functionals = sign_patterns(powers(Grid(side, 2).points(), degree))
    table = labels.astype(np.uint8)
    return Family(table, (1,) * len(table), tuple((tuple(row),) for row in functionals.tolist()))
