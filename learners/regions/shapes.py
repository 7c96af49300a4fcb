"""Halfplanes, their intersections and unions of these, in exact arithmetic: what learners of planar regions answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np

from dpaudit.contract import Hypothesis

from ..arrays import Exact, Labels
from ..geometry.pictures import HasRegion
from ..geometry.polygons import clip, square
from ..words import linear
from .families import Region

Vertices = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class Halfplane:
    """The halfplane f(x, y) = 1 iff z y >= z (a x + b), z = 1 or -1, in exact arithmetic."""

    z: int
    a: Fraction
    b: Fraction

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 2)."""
        # One denominator, so that the comparison is of integers.
        q = self.a.denominator * self.b.denominator
        p = self.a.numerator * self.b.denominator
        r = self.b.numerator * self.a.denominator
        labels = [self.z * (q * y - p * x - r) >= 0 for x, y in points.tolist()]
        return np.array(labels, dtype=np.uint8)

    def __str__(self) -> str:
        return f"y {'>=' if self.z > 0 else '<='} {linear([(self.a, 'x'), (self.b, '')])}"


@dataclass(frozen=True)
class Intersection:
    """The convex polygon that is the intersection of halfplanes; the whole plane where there are none.

    With halfspaces in their place it is a polytope, which has no `region`.
    """

    halfplanes: tuple[Any, ...]

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 2)."""
        return reduce(and_, (part.predict(points) for part in self.halfplanes), np.ones(len(points), dtype=np.uint8))

    def __str__(self) -> str:
        return " and ".join(map(str, self.halfplanes)) or "always 1"

    def region(self, side: int) -> tuple[Vertices, ...]:
        """Return the vertices of the part in the square [0, side]^2, in order around it; nothing if it is empty."""
        corners = square(0, side)
        for halfplane in self.halfplanes:
            z = halfplane.z
            a = halfplane.a
            b = halfplane.b
            corners = clip(corners, [z * (y - a * x - b) for x, y in corners])
        return (tuple(corners),) if len(corners) > 2 else ()


@dataclass(frozen=True)
class Union:
    """The union of regions; empty where there are none."""

    parts: tuple[Hypothesis, ...]

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 2)."""
        return reduce(or_, (part.predict(points) for part in self.parts), np.zeros(len(points), dtype=np.uint8))

    def __str__(self) -> str:
        return " or ".join(f"({part})" for part in self.parts) or "always 0"

    def region(self, side: int) -> tuple[Vertices, ...]:
        """Return the vertices of every part in the square [0, side]^2; the parts may overlap."""
        drawn = [part for part in self.parts if isinstance(part, HasRegion)]
        assert len(drawn) == len(self.parts)  # only unions of regions of the plane are drawn
        return tuple(tuple(vertices) for part in drawn for vertices in part.region(side))


def triangle(regions: Sequence[Region]) -> Intersection:
    """Return the intersection of the halfplanes (z, a, b)."""
    return Intersection(tuple(Halfplane(*region) for region in regions))
