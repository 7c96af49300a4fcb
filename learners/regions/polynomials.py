"""Regions p(x, y) >= 0 of a grid for polynomials p of low degree: halfspaces over the monomials (KMMS, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError, Instance
from learners.arrays import Integers, Labels
from learners.domains import Grid, grid_rows, moving_points
from learners.parameters import check_integer, check_positive
from learners.regions.concepts import Listed
from learners.regions.families import Family, Regions
from learners.regions.region_selection import ListedSelection
from learners.regions.sign_patterns import MAX_VECTORS, sign_patterns
from learners.regions.targets import plane_targets
from learners.words import linear

__all__ = ["LEARNERS", "Polynomial", "PolynomialSelect", "Polynomials", "monomials", "polynomial_family", "powers"]

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
class Polynomials(Listed):
    """The labellings of {0 .. side}^2 by polynomials of at most a degree, in lexicographic order.

    Degree 1 are the halfplanes, degree 2 all discs, ellipses, parabolas and hyperbolas with their complements.
    """

    side: int
    degree: int

    def __post_init__(self) -> None:
        check_polynomials(self.side, self.degree)

    @property
    def _regions(self) -> Regions:
        listing = partial(polynomial_family, self.side, self.degree)
        return Regions(self.side, 2, listing, lambda parts: Polynomial(parts[0], self.degree))


@dataclass(frozen=True)
class PolynomialSelect(ListedSelection):
    """Select a region p(x, y) >= 0, p of at most a degree t, with probability proportional to exp(epsilon q / 2).

    q is the number of examples that the region labels correctly. Lifted to its monomials x^i y^j, 1 <= i + j <= t, a
    point is labelled by a halfspace, and linearisation learns all of these: the exponential mechanism runs over the N
    labellings of the grid that some polynomial gives, with equal measures. They are listed, in integers; see
    `regions.sign_patterns`. For degree 2 there are 422, 7,760 and 81,500 for side 2, 3 and 4. Pure
    epsilon-differential privacy.

    Utility. With probability 1 - b over the coins q >= max q - (2/epsilon) (ln N + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2: at most 6, 4 and 3 for degree 1, 2 and 3, where the list ends.
    epsilon : float
        > 0.
    degree : int
        t = 1, 2 or 3.
    """

    degree: int = 2

    id: ClassVar[str] = "polynomial-select"
    instance: ClassVar[Instance] = Instance({"side": 2, "epsilon": 1.0}, n=2)
    _place: ClassVar[str] = "Section 6, linearisation"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Prop2.5", "Proposition 2.5 over the labellings by polynomials")
    _most_side: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        check_polynomials(self.side, self.degree)
        check_positive("epsilon", self.epsilon)

    hard_targets = plane_targets

    @property
    def concepts(self) -> Polynomials:
        """The regions."""
        return Polynomials(self.side, self.degree)

    @property
    def _regions(self) -> Regions:
        return self.concepts._regions

    def symmetries(self) -> list[Integers]:
        """Return generators: a reflection and the exchange of the axes, and flipping all labels.

        A polynomial after an affine map of the plane, and its negative, are polynomials of that degree.
        """
        points = self.domain.points().astype(np.int64)
        reflected = points.copy()
        reflected[:, 0] = self.side - points[:, 0]
        moved = [moving_points(grid_rows(image, self.side)) for image in (reflected, points[:, ::-1])]
        return [*moved, moving_points(np.arange(len(points)), 1)]


LEARNERS = (PolynomialSelect,)
