"""Triangles over a grid, selected privately in the dual plane (KMMS, Section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Hypothesis, Instance, Sample
from learners.arrays import Integers
from learners.geometry.cells import Bits
from learners.parameters import check_run
from learners.regions.kinds import TriangleRegions
from learners.regions.planar.scenes import regular_polygon, uniform_sample
from learners.regions.planar.snapping import check_regions, region_of
from learners.regions.planar.triangle_draws import TupleSampler
from learners.regions.polygon_class import Intersection, Triangles, triangle
from learners.regions.region_selection import ListedSelection
from learners.samples import distinct_points

__all__ = ["LEARNERS", "TriangleSelect"]


def _right(covered: Integers, spoiled: Integers) -> Integers:
    """Return the examples labelled correctly, less all negative ones."""
    return covered - spoiled


@dataclass(frozen=True)
class TriangleSelect(TriangleRegions, ListedSelection):
    """Select an intersection of three halfplanes with density proportional to exp(epsilon q / 2).

    q is the number of examples that the triangle labels correctly; replacing one example moves it by at most 1, so the
    learner is epsilon-differentially private. The three dual points are drawn from Lebesgue measure on both copies of
    [-2 d^2, 2 d^2]^2 each, as in `halfplane-select`; order does not count.

    Outputs do not depend on the sample's own arrangement. For side <= 3 the output is the number of the labelling that
    the triangle gives to the grid, chosen among all of them with their exact measures; see `regions.planar.families`.
    Beyond it is the sorted triple of regions of the full grid that hold the dual points, drawn exactly by adaptive
    refinement and rejection; see `regions.planar.triangle_draws`. The cost grows with the distinct points, not with n.

    Utility. A cell of the sample's arrangement has area at least 1/(2 d^3), so some best triple of cells has measure at
    least (1/(2 d^3))^3, and the worse triples at most (32 d^4)^3: with probability 1 - b over the coins
    q >= max q - (2/epsilon) (3 ln(64 d^7) + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2, below 2^256.
    epsilon : float
        > 0.
    """

    id: ClassVar[str] = "triangle-select"
    _place: ClassVar[str] = "Section 5"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Lem4.6", "Lemma 4.6 for three dual points")
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=3)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({"side": 3, "epsilon": 1.0}, n=3, alpha=0.1, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 12, "epsilon": 0.5}, n=1000)

    @property
    def concepts(self) -> Triangles:
        """The labellings of the grid by triangles; they can be listed for small sides."""
        return Triangles(self.side)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[Any]:
        """Return the outputs of independent runs; one refinement serves them all."""
        if self._family() is not None:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        sampler, resolve, bits = self._sampler(sample), region_of(self.side), Bits(rng)
        return [sampler.draw(bits, resolve) for _ in range(size)]

    def _sampler(self, sample: Sample) -> TupleSampler:
        """Return the exact sampler of triples for a sample."""
        points, weights = distinct_points(sample, 1)
        return TupleSampler(points, weights, self.side, _right, Fraction(self._rate))

    def decode(self, code: Any) -> Hypothesis:
        """Return the triangle."""
        return super().decode(code) if self._family() is not None else triangle(check_regions(code, 3))

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Intersection]:
        """Return the sample of the picture and its target, a triangle in the middle."""
        target = regular_polygon(self.side, 3)
        return uniform_sample(self.side, target, self.pictured.n, rng), target


LEARNERS = (TriangleSelect,)
