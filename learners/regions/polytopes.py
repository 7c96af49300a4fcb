"""Simplices and polytopes over small grids in three dimensions (KMMS, Section 6, the extension to R^d)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, Instance, Law, Sample, UtilityClaim
from learners.citations import KMMS
from learners.covers.accounting import AUDITED
from learners.domains import Grid, grid_rows
from learners.halfspaces.concepts import Halfspace
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_positive, check_probability
from learners.regions.listed_selection import ListedSelection
from learners.regions.planar.families import Family
from learners.regions.planar.polytope_families import (
    DIMENSION,
    HALFSPACE_SIDE,
    SIMPLEX_SIDE,
    halfspace_family,
    simplex_family,
)
from learners.regions.polygon_class import Intersection, Union
from learners.regions.polytope_class import Polytopes, SimplexUnions, polytope
from learners.regions.region_cover import Listed, RegionCover
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "ConvexPolytope", "SimplexSelect", "SimplexUnion", "symmetries_of_the_grid"]


@lru_cache(maxsize=4)
def _listed_halfspaces(side: int) -> Listed:
    family = halfspace_family(side)
    # A halfspace covers the points that it labels 0.
    return Listed(1 - family.labels, np.zeros(len(family)))


EXAMPLE = Instance(
    {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.74, "beta": 0.2}, n=2, alpha=0.9, beta=0.5
)
"""Two rounds, so that all pairs of regions can be listed; with them only the sample's errors can be bounded."""


def symmetries_of_the_grid(side: int) -> list[NDArray[np.int64]]:
    """Return generators of the symmetries of {0 .. side}^3: two permutations of the axes and a reflection.

    They permute the labellings by halfspaces and keep their counting measures.
    """
    points = Grid(side, DIMENSION).points().astype(np.int64)
    reflected = points.copy()
    reflected[:, 0] = side - points[:, 0]
    images = (points[:, [1, 0, 2]], points[:, [1, 2, 0]], reflected)
    return [moving_points(grid_rows(image, side)) for image in images]


@dataclass(frozen=True)
class SimplexSelect(ListedSelection):
    """Select an intersection of four halfspaces over the cube with probability proportional to exp(epsilon q / 2).

    q is the number of examples that it labels correctly. The exponential mechanism runs over all quadruples of the
    N = 104 labellings of the cube by halfspaces, and the output is the number of the labelling that the quadruple
    gives, so that a labelling has as much measure as quadruples make it. Pure epsilon-differential privacy.

    Utility. With probability 1 - b over the coins q >= max q - (2/epsilon) (4 ln N + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^3; 1.
    epsilon : float
        > 0.
    """

    side: int
    epsilon: float

    id: ClassVar[str] = "simplex-select"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)
    _place: ClassVar[str] = "Section 6"

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, SIMPLEX_SIDE)
        check_positive("epsilon", self.epsilon)

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^3."""
        return Grid(self.side, DIMENSION)

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the cube by intersections of at most four halfspaces."""
        return Polytopes(self.side, DIMENSION + 1)

    def _family(self) -> Family:
        return simplex_family(self.side)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Return the numbers of the labellings that independent runs select."""
        check_run(sample, self.domain, size)
        return self._run_listed(self._family(), sample, rng, size)

    def law(self, sample: Sample) -> Law:
        """Return the law on the labellings of the cube."""
        check_sample(sample, self.domain)
        return self._listed_law(self._family(), sample)

    def decode(self, code: int) -> Intersection:
        """Return the simplex."""
        check_integer("code", code, 0, len(self._family()) - 1)
        return polytope(self._family().regions[int(code)])

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil(max((8/alpha) ln(2 |C|/beta), (4/(alpha epsilon)) (4 ln N + ln(2/beta)))).

        The second term makes the empirical error at most alpha/2 with probability 1 - beta/2 over the coins. The first
        excludes, by the multiplicative Chernoff bound, that one of the |C| labellings with error above alpha has
        empirical error at most alpha/2.
        """
        check_probability("alpha", alpha)
        check_probability("beta", beta)
        union = 8 / alpha * (math.log(len(self._family())) + math.log(2 / beta))
        quadruples = 4 * math.log(len(halfspace_family(self.side)))
        return math.ceil(max(union, 4 / (alpha * self.epsilon) * (quadruples + math.log(2 / beta))))

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta in the realizable case; see `sample_size`."""
        size = self.sample_size(alpha, beta)
        place = "Proposition 2.5 over quadruples of halfspaces"
        return UtilityClaim(alpha, beta, size, "realizable", "KMMS-Prop2.5", f"{KMMS}, {place}")

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of the symmetries of the cube."""
        return symmetries_of_the_grid(self.side)


@dataclass(frozen=True)
class _SolidCover(RegionCover):
    """Regions in three dimensions, all listed."""

    instance: ClassVar[Instance] = EXAMPLE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 1, "k": 2}, n=2, alpha=0.2, beta=0.2),)
    _dimension: ClassVar[int] = DIMENSION

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of the symmetries of the grid."""
        return symmetries_of_the_grid(self.side)


@dataclass(frozen=True)
class ConvexPolytope(_SolidCover):
    """Convex polytopes with at most k facets: cover the negatives by complements of halfspaces, spare the positives.

    The halfspaces are the labellings of {0 .. side}^3, side at most 2, with equal measure: a region is the number of
    one. See `covers.regions.RegionCover`.
    """

    id: ClassVar[str] = "convex-polytope"
    _covered_label: ClassVar[int] = 0
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, in three dimensions,")

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, HALFSPACE_SIDE)
        super().__post_init__()

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the grid by intersections of at most k halfspaces."""
        return Polytopes(self.side, self.k)

    @property
    def _log_ratio(self) -> float:
        return math.log(len(halfspace_family(self.side)))

    @property
    def _log_behaviours(self) -> float:
        return math.log(len(halfspace_family(self.side)))

    def listed(self) -> Listed:
        """Return the halfspaces; each covers the points that it labels 0."""
        return _listed_halfspaces(self.side)

    def _member(self, code: int) -> Halfspace:
        ((*normal, threshold),) = halfspace_family(self.side).regions[code]
        return Halfspace(tuple(normal), threshold)

    def _join(self, members: tuple[Hypothesis, ...]) -> Intersection:
        return Intersection(members)


@dataclass(frozen=True)
class SimplexUnion(_SolidCover):
    """Unions of at most k simplices over the cube: cover the positives by simplices, spare the negatives.

    The simplices have the measure of `simplex-select`. A union of polytopes is one of simplices. See
    `covers.regions.RegionCover`.
    """

    id: ClassVar[str] = "simplex-union"
    instance: ClassVar[Instance] = Instance(EXAMPLE.parameters, n=1, alpha=0.9, beta=0.5)
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, in three dimensions,")

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, SIMPLEX_SIDE)
        super().__post_init__()

    @property
    def concepts(self) -> SimplexUnions:
        """The labellings of the cube by unions of at most k simplices."""
        return SimplexUnions(self.side, self.k)

    @property
    def _log_ratio(self) -> float:
        """Return 4 ln N: the least measure is that of one quadruple."""
        return (DIMENSION + 1) * math.log(len(halfspace_family(self.side)))

    @property
    def _log_behaviours(self) -> float:
        return math.log(len(simplex_family(self.side)))

    def listed(self) -> Listed:
        """Return the simplices with their measures."""
        family = simplex_family(self.side)
        return Listed(family.labels, family.log_shares)

    def _member(self, code: int) -> Intersection:
        return polytope(simplex_family(self.side).regions[code])

    def _join(self, members: tuple[Hypothesis, ...]) -> Any:
        return Union(members)


LEARNERS = (SimplexSelect, ConvexPolytope, SimplexUnion)
