"""Convex polygons and unions of polygons by the Set Cover Learner over halfplanes and triangles (KMMS, 4 and 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, Hypothesis, Instance, Picture, Sample
from learners.covers.accounting import AUDITED
from learners.geometry.cells import Bits
from learners.geometry.pictures import plane
from learners.regions.halfplane_class import Halfplane, Halfplanes
from learners.regions.planar.families import halfplane_family, triangle_family
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.planar.scenes import regular_polygon, uniform_sample
from learners.regions.planar.snapping import LISTED_SIDE
from learners.regions.planar.triangle_draws import Region, Resolver, TupleSampler, region_of
from learners.regions.polygon_class import ConvexPolygons, Intersection, Joins, PolygonUnions, Union, triangle
from learners.regions.region_cover import Listed, RegionCover
from learners.regions.triangles import LISTED_TRIANGLES, check_regions

__all__ = ["LEARNERS", "ConvexPolygon", "PolygonUnion"]

EXAMPLE = Instance(
    {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
COVERED = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.2, "beta": 0.2}
"""Parameters of the instances that are pictured."""

Points = list[tuple[int, int]]
Weights = list[tuple[int, int]]


@dataclass(frozen=True)
class _CoverScore:
    """k q = min{k c - b, -k e}: integers."""

    k: int
    b: int

    def __call__(self, covered: NDArray[np.int64], spoiled: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.minimum(self.k * covered - self.b, -self.k * spoiled)


@dataclass(frozen=True)
class _PlaneCover(RegionCover):
    """Regions that are intersections of `_components` halfplanes with Lebesgue measure on their dual points."""

    _components: ClassVar[int]

    @property
    def _log_ratio(self) -> float:
        """Return ln(64 d^7) for each dual point: area 32 d^4 in all, and cells of at least 1/(2 d^3)."""
        return self._components * math.log(64 * self.side**7)

    @property
    def _log_behaviours(self) -> float:
        return self._components * math.log(Halfplanes(self.side).size_bound)

    def picture(self, sample: Sample, codes: Any, target: Hypothesis | None = None) -> Picture:
        """Return what a report draws: the sample, the target and some outputs."""
        return plane(self.side, sample, [self.decode(code) for code in codes], target)

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)

    @property
    def concepts(self) -> Joins:
        """The class that is learned."""
        raise NotImplementedError("a learner says its class")

    def _run_unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Any]:
        """Return tuples of J tuples of regions; without noise all runs share the first round's refinement."""
        bits, resolve = Bits(rng), region_of(self.side)
        points, weights = self._points(sample)
        first = None if self._noise.scale else self._sampler(points, weights, rng)
        return [self._run_once(points, weights, rng, bits, resolve, first) for _ in range(size)]

    def _sampler(self, points: Points, weights: Weights, rng: np.random.Generator) -> TupleSampler:
        """Return the sampler of a round on what is left, with fresh noise."""
        b = sum(wanted for wanted, _ in weights) + int(self._noise.draw(rng, 1)[0])
        rate = Fraction(self._rate) / self.k
        return TupleSampler(points, weights, self.side, _CoverScore(self.k, b), rate, self._components)

    def _points(self, sample: Sample) -> tuple[Points, Weights]:
        """Return the distinct points with the weights to be covered and to be spared."""
        merged: dict[tuple[int, int], list[int]] = {}
        rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True)
        for (x, y), label, count in rows:
            merged.setdefault((x, y), [0, 0])[int(label != self._covered_label)] += count
        return list(merged), [(wanted, other) for wanted, other in merged.values()]

    def _run_once(
        self,
        points: Points,
        weights: Weights,
        rng: np.random.Generator,
        bits: Bits,
        resolve: Resolver,
        first: TupleSampler | None,
    ) -> tuple[tuple[Region, ...], ...]:
        found: list[tuple[Region, ...]] = []
        for _ in range(self.rounds):
            sampler = self._sampler(points, weights, rng) if found or first is None else first
            found.append(sampler.draw(bits, resolve))
            spared = triangle(found[-1]).predict(_array(points)) == 0
            points = [point for point, kept in zip(points, spared, strict=True) if kept]
            weights = [pair for pair, kept in zip(weights, spared, strict=True) if kept]
        return tuple(found)


def _array(points: Points) -> NDArray[Any]:
    return np.array(points, dtype=object).reshape(-1, 2)


@lru_cache(maxsize=16)
def _listed_halfplanes(side: int) -> Listed:
    family = halfplane_family(side)
    # A halfplane covers the points that it labels 0.
    return Listed(1 - family.labels, family.log_shares)


@lru_cache(maxsize=16)
def _listed_triangles(side: int) -> Listed:
    family = triangle_family(side)
    return Listed(family.labels, family.log_shares)


@dataclass(frozen=True)
class ConvexPolygon(_PlaneCover):
    """Convex polygons with at most k edges: cover the negatives by complements of halfplanes, spare the positives.

    The halfplanes have Lebesgue measure on both copies of the dual box, as in `halfplane-select`. For side <= 6 a
    region is the number of a labelling of the grid by a halfplane; beyond, ((z, a, b),) for the halfplane that is
    covered, whose complement is a factor of the final intersection. See `region_cover.RegionCover`.
    """

    id: ClassVar[str] = "convex-polygon"
    instance: ClassVar[Instance] = EXAMPLE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 3}, n=2, alpha=0.2, beta=0.2),)
    pictured: ClassVar[Instance] = Instance({**COVERED, "side": 12, "k": 4}, n=100_000)
    _covered_label: ClassVar[int] = 0
    _components: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm4.7", "Theorem 4.7")

    @property
    def concepts(self) -> ConvexPolygons:
        """CONVEX-k-GON over the grid."""
        return ConvexPolygons(self.side, self.k)

    def listed(self) -> Listed | None:
        """Return the halfplanes of a small grid."""
        return _listed_halfplanes(self.side) if self.side <= LISTED_SIDE else None

    def _member(self, code: int) -> Halfplane:
        return Halfplane(*halfplane_family(self.side).regions[code][0])

    def _unlisted_members(self, code: Any) -> tuple[Hypothesis, ...]:
        regions = [check_regions(part, 1)[0] for part in _sequence(code, self.rounds)]
        return tuple(Halfplane(-z, a, b) for z, a, b in regions)

    def _join(self, members: tuple[Hypothesis, ...]) -> Intersection:
        return Intersection(members)

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Intersection]:
        """Return the sample of the picture and its target, k halfplanes around the middle."""
        target = regular_polygon(self.side, self.k)
        return uniform_sample(self.side, target, self.pictured.n, rng), target


@dataclass(frozen=True)
class PolygonUnion(_PlaneCover):
    """Unions of at most k triangles: cover the positives by triangles, spare the negatives.

    A union of simple polygons with k edges in all is a union of at most k triangles. The triangles have the measure of
    `triangle-select`. For side <= 3 a region is the number of a labelling of the grid by a triangle; beyond, a sorted
    triple of (z, a, b). See `region_cover.RegionCover`.
    """

    id: ClassVar[str] = "polygon-union"
    instance: ClassVar[Instance] = EXAMPLE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 2, "k": 2}, n=2, alpha=0.2, beta=0.2),)
    pictured: ClassVar[Instance] = Instance({**COVERED, "side": 6, "k": 2, "variant": "noiseless"}, n=50_000)
    _covered_label: ClassVar[int] = 1
    _components: ClassVar[int] = 3
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm5.1", "Theorem 5.1")

    @property
    def concepts(self) -> PolygonUnions:
        """TRIANGLE^{or k} over the grid."""
        return PolygonUnions(self.side, self.k)

    def listed(self) -> Listed | None:
        """Return the triangles of a small grid."""
        return _listed_triangles(self.side) if self.side <= LISTED_TRIANGLES else None

    def _member(self, code: int) -> Intersection:
        return triangle(triangle_family(self.side).regions[code])

    def _unlisted_members(self, code: Any) -> tuple[Hypothesis, ...]:
        return tuple(triangle(check_regions(part, 3)) for part in _sequence(code, self.rounds))

    def _join(self, members: tuple[Hypothesis, ...]) -> Union:
        return Union(members)

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Union]:
        """Return the sample of the picture and its target, two triangles (one for k = 1)."""
        parts = (((0.25, 0.3), 0.16, 0.4), ((0.7, 0.7), 0.16, 1.2))[: self.k]
        target = Union(tuple(regular_polygon(self.side, 3, *part) for part in parts))
        return uniform_sample(self.side, target, self.pictured.n, rng), target


def _sequence(code: Any, rounds: int) -> tuple[Any, ...]:
    """Return the code if it is a tuple of `rounds` regions, else something that no region check accepts."""
    return code if isinstance(code, tuple) and len(code) == rounds else (None,)


LEARNERS = (ConvexPolygon, PolygonUnion)
