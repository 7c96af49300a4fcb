"""Discs over the grid {0 .. d}^2, their complements and halfplanes: halfspaces over the lifted points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Shape
from learners.arrays import Labels
from learners.domains import grid_rows
from learners.finite.counting import Numbered, check_code
from learners.geometry.clipping import clip, square
from learners.parameters import check_integer
from learners.regions.planar.disc_family import disc_family, lifted
from learners.words import linear

__all__ = ["MAX_DISC_SIDE", "Disc", "Discs"]

MAX_DISC_SIDE = 8
"""The largest side whose labellings by discs are listed: 134,438 of them, in a few seconds."""


@dataclass(frozen=True)
class Disc:
    """f(x, y) = 1 iff u x + v y + w (x^2 + y^2) >= t: a disc for w < 0, its complement for w > 0, else a halfplane."""

    u: int
    v: int
    w: int
    t: int

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, 2), exactly."""
        normal = np.array([self.u, self.v, self.w], dtype=object)
        heights = lifted(np.asarray(points).astype(object)) @ normal
        return np.asarray(heights >= self.t, dtype=np.uint8)

    def __str__(self) -> str:
        terms = [(self.u, "x"), (self.v, "y"), (self.w, "(x^2 + y^2)")]
        return f"{linear(terms)} >= {self.t}"

    def shape(self, side: int, tone: str, label: str) -> Shape:
        """Return the disc, dashed where the outside is labelled 1, or the part of [0, side]^2 in the halfplane."""
        shade = 0.14 if tone == "blue" and self.w <= 0 else 0.0
        if self.w:
            x, y = -self.u / (2 * self.w), -self.v / (2 * self.w)
            # A disc without points of the plane, as for t > max f, is drawn as small as can be.
            radius = math.sqrt(max(self.t / self.w + x * x + y * y, 1e-6))
            return Shape("disc", ((x, y),), tone, shade, radius=radius, dashed=self.w > 0, label=label)
        corners = square(0, side)
        kept = clip(corners, [self.u * x + self.v * y - self.t for x, y in corners])
        return Shape("polygon", tuple((float(x), float(y)) for x, y in kept), tone, shade, label=label)


@dataclass(frozen=True)
class Discs(Numbered):
    """The labellings of {0 .. side}^2 by halfspaces over the lifted points, in lexicographic order; side at most 8.

    These are discs, their complements, and halfplanes: linearisation learns all of them together.
    """

    side: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, MAX_DISC_SIDE)

    @property
    def size(self) -> int:
        """The number of labellings."""
        return len(disc_family(self.side))

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, 2) of the grid."""
        return disc_family(self.side).labels[:, grid_rows(points, self.side)]

    def concept(self, code: int) -> Disc:
        """Return the disc with that number."""
        check_code(self, code)
        return Disc(*disc_family(self.side).regions[int(code)][0])
