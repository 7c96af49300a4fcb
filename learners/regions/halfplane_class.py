"""Halfplanes over the grid {0 .. d}^2."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.arrays import Labels
from learners.domains import grid_rows
from learners.finite.counting import Numbered, check_code
from learners.parameters import check_integer
from learners.regions.planar.families import Family, halfplane_family
from learners.regions.planar.snapping import LISTED_SIDE
from learners.words import linear

__all__ = ["Halfplane", "Halfplanes"]


@dataclass(frozen=True)
class Halfplane:
    """The halfplane f(x, y) = 1 iff z y >= z (a x + b), z = 1 or -1, in exact arithmetic."""

    z: int
    a: Fraction
    b: Fraction

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, 2)."""
        q = self.a.denominator * self.b.denominator
        p, r = self.a.numerator * self.b.denominator, self.b.numerator * self.a.denominator
        labels = [self.z * (q * y - p * x - r) >= 0 for x, y in points.tolist()]
        return np.array(labels, dtype=np.uint8)

    def __str__(self) -> str:
        return f"y {'>=' if self.z > 0 else '<='} {linear([(self.a, 'x'), (self.b, '')])}"


@dataclass(frozen=True)
class Halfplanes(Numbered):
    """The class of the distinct labellings of {0 .. side}^2 by halfplanes, in lexicographic order of the labels.

    They are listed for side at most 6; a larger class answers only `size_bound`.
    """

    side: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)

    def _listed(self) -> Family:
        if self.side > LISTED_SIDE:
            raise InputError(f"side must be at most {LISTED_SIDE} to list the halfplanes, got {self.side}")
        return halfplane_family(self.side)

    @property
    def size(self) -> int:
        """The number of labellings: 14, 58, 174 for side 1, 2, 3."""
        return len(self._listed())

    @property
    def size_bound(self) -> int:
        """A bound on `size` for any side: m lines cut the plane into at most m (m + 1)/2 + 1 cells, in two copies."""
        lines = (self.side + 1) ** 2
        return int(lines * (lines + 1) + 2)

    def concept(self, code: int) -> Halfplane:
        """Return the halfplane with that number."""
        check_code(self, code)
        return Halfplane(*self._listed().regions[code][0])

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, 2)."""
        return self._listed().labels[:, grid_rows(points, self.side)]
