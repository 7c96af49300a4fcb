"""Regions of the plane by polynomials of low degree: halfspaces over the monomials (KMMS, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Distribution, Instance
from learners.arrays import Integers
from learners.domains import grid_rows, moving_points
from learners.parameters import check_positive
from learners.regions.kinds import CountedRegions
from learners.regions.planar.families import Family, Region
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.planar.polynomial_family import check_polynomials, polynomial_family
from learners.regions.polynomial_class import Polynomial, Polynomials
from learners.regions.region_selection import ListedSelection

__all__ = ["LEARNERS", "PolynomialSelect"]


@dataclass(frozen=True)
class PolynomialSelect(CountedRegions, ListedSelection):
    """Select a region p(x, y) >= 0, p of at most a degree t, with probability proportional to exp(epsilon q / 2).

    q is the number of examples that the region labels correctly. Lifted to its monomials x^i y^j, 1 <= i + j <= t, a
    point is labelled by a halfspace, and linearisation learns all of these: the exponential mechanism runs over the N
    labellings of the grid that some polynomial gives, with equal measures. They are listed, in integers; see
    `regions.planar.sign_patterns`. For degree 2 there are 422, 7,760 and 81,500 for side 2, 3 and 4. Pure
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

    @property
    def concepts(self) -> Polynomials:
        """The regions."""
        return Polynomials(self.side, self.degree)

    def _family(self) -> Family:
        return polynomial_family(self.side, self.degree)

    def _region(self, parts: tuple[Region, ...]) -> Polynomial:
        return Polynomial(parts[0], self.degree)

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `regions.planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)

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
