"""Triangles over a grid, selected privately in the dual plane (KMMS, Section 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, Hypothesis, InputError, Instance, Law, Picture, Sample, UtilityClaim
from learners.citations import KMMS
from learners.domains import Grid
from learners.geometry.cells import Bits
from learners.geometry.pictures import plane
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_positive, check_probability
from learners.regions.halfplane_class import Halfplanes
from learners.regions.halfplanes import distinct_points
from learners.regions.listed_selection import ListedSelection
from learners.regions.planar.families import Family, triangle_family
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.planar.scenes import regular_polygon, uniform_sample
from learners.regions.planar.triangle_draws import Region, TupleSampler, region_of
from learners.regions.polygon_class import Intersection, Triangles, triangle

__all__ = ["LEARNERS", "LISTED_TRIANGLES", "TriangleSelect", "check_regions"]

LISTED_TRIANGLES = 3
"""The largest side at which outputs are the labellings of the grid by triangles."""

Code = int | tuple[Region, Region, Region]


def check_regions(regions: Any, count: int) -> tuple[Region, ...]:
    """Return `regions` if they are `count` halfplanes (z, a, b), else raise `InputError`."""
    good = isinstance(regions, tuple) and len(regions) == count
    if not good or not all(isinstance(r, tuple) and len(r) == 3 and r[0] in (-1, 1) for r in regions):
        raise InputError(f"code must hold {count} halfplanes (z, a, b) with z = 1 or -1, got {regions!r:.200}")
    if not all(isinstance(value, Fraction | int) for region in regions for value in region[1:]):
        raise InputError(f"code must hold rational a and b, got {regions!r:.200}")
    return tuple(regions)


def _right(covered: NDArray[np.int64], spoiled: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the examples labelled correctly, less all negative ones."""
    return covered - spoiled


@dataclass(frozen=True)
class TriangleSelect(ListedSelection):
    """Select an intersection of three halfplanes with density proportional to exp(epsilon q / 2).

    q is the number of examples that the triangle labels correctly; replacing one example moves it by at most 1, so the
    learner is epsilon-differentially private. The three dual points are drawn from Lebesgue measure on both copies of
    [-2 d^2, 2 d^2]^2 each, as in `halfplane-select`; order does not count.

    Outputs do not depend on the sample's own arrangement. For side <= 3 the output is the number of the labelling that
    the triangle gives to the grid, chosen among all of them with their exact measures (`planar.families`). Beyond it
    is the sorted triple of regions of the full grid that hold the dual points, drawn exactly by adaptive refinement and
    rejection (`planar.triangle_draws`): the cost grows with the distinct points, not with n.

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

    side: int
    epsilon: float

    id: ClassVar[str] = "triangle-select"
    _place: ClassVar[str] = "Section 5"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=3)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({"side": 3, "epsilon": 1.0}, n=3, alpha=0.1, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 12, "epsilon": 0.5}, n=1000)

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, 2**256 - 1)
        check_positive("epsilon", self.epsilon)

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^2."""
        return Grid(self.side, 2)

    @property
    def concepts(self) -> Triangles:
        """The labellings of the grid by triangles; they can be listed for small sides."""
        return Triangles(self.side)

    def _family(self) -> Family | None:
        """Return the listed triangles, None where they are too many."""
        return triangle_family(self.side) if self.side <= LISTED_TRIANGLES else None

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[Code]:
        """Return the outputs of independent runs; one refinement serves them all."""
        check_run(sample, self.domain, size)
        family = self._family()
        if family is None:
            sampler, resolve, bits = self._sampler(sample), region_of(self.side), Bits(rng)
            return [sampler.draw(bits, resolve) for _ in range(size)]  # type: ignore[misc]
        return self._run_listed(family, sample, rng, size)

    def _sampler(self, sample: Sample) -> TupleSampler:
        """Return the exact sampler of triples for a sample."""
        points, weights = distinct_points(sample)
        swapped = [(positive, negative) for negative, positive in weights]
        return TupleSampler(points, swapped, self.side, _right, Fraction(self._rate))

    def law(self, sample: Sample) -> Law:
        """Return the law on the labellings of the grid by triangles, side at most 3."""
        check_sample(sample, self.domain)
        family = self._family()
        if family is None:
            raise InputError(f"side must be at most {LISTED_TRIANGLES} for the exact law, got {self.side}; "
                             "run has no limit")  # fmt: skip
        return self._listed_law(family, sample)

    def decode(self, code: Any) -> Intersection:
        """Return the triangle."""
        family = self._family()
        if family is None:
            return triangle(check_regions(code, 3))
        check_integer("code", code, 0, len(family) - 1)
        return triangle(family.regions[int(code)])

    def picture(self, sample: Sample, codes: Any, target: Hypothesis | None = None) -> Picture:
        """Return what a report draws: the sample, the target and the triangles of some outputs."""
        return plane(self.side, sample, [self.decode(code) for code in codes], target)

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Intersection]:
        """Return the sample of the picture and its target, a triangle in the middle."""
        target = regular_polygon(self.side, 3)
        return uniform_sample(self.side, target, self.pictured.n, rng), target

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil(max((8/alpha) ln(2 |C|/beta), (4/(alpha epsilon)) (3 ln(64 d^7) + ln(2/beta)))).

        The second term makes the empirical error at most alpha/2 with probability 1 - beta/2 over the coins. The first
        excludes, by the multiplicative Chernoff bound, that one of the at most |H|^3 labellings of the grid with error
        above alpha has empirical error at most alpha/2.
        """
        check_probability("alpha", alpha)
        check_probability("beta", beta)
        union = 8 / alpha * (3 * math.log(Halfplanes(self.side).size_bound) + math.log(2 / beta))
        coins = 2 / (alpha * self._rate) * (3 * math.log(64 * self.side**7) + math.log(2 / beta))
        return math.ceil(max(union, coins))

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta in the realizable case; see `sample_size`."""
        size = self.sample_size(alpha, beta)
        return UtilityClaim(alpha, beta, size, "realizable", "KMMS-Lem4.6", f"{KMMS}, Lemma 4.6 for three dual points")


LEARNERS = (TriangleSelect,)
