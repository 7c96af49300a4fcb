"""Unions of polygons by the Set Cover Learner over triangles (KMMS, Section 5 and Theorem 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Instance, Sample
from learners.covers.accounting import AUDITED
from learners.regions.kinds import TriangleRegions
from learners.regions.planar.scenes import regular_polygon, uniform_sample
from learners.regions.planar.snapping import check_regions
from learners.regions.plane_cover import COVERED, INSTANCE, PlaneCover
from learners.regions.polygon_class import Intersection, PolygonUnions, Union, triangle

__all__ = ["LEARNERS", "PolygonUnion"]


@dataclass(frozen=True)
class PolygonUnion(TriangleRegions, PlaneCover):
    """Unions of at most k triangles: cover the positives by triangles, spare the negatives.

    A union of simple polygons with k edges in all is a union of at most k triangles. The triangles have the measure of
    `triangle-select`. For side <= 3 a region is the number of a labelling of the grid by a triangle; beyond, a sorted
    triple of (z, a, b). See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "polygon-union"
    instance: ClassVar[Instance] = INSTANCE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 2, "k": 2}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({**COVERED, "side": 6, "k": 2, "variant": "noiseless"}, n=50_000)
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm5.1", "Theorem 5.1")

    @property
    def concepts(self) -> PolygonUnions:
        """TRIANGLE^{or k} over the grid."""
        return PolygonUnions(self.side, self.k)

    def _drawn(self, regions: Any) -> Intersection:
        return triangle(check_regions(regions, 3))

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Union]:
        """Return the sample of the picture and its target, two triangles (one for k = 1)."""
        parts = (((0.25, 0.3), 0.16, 0.4), ((0.7, 0.7), 0.16, 1.2))[: self.k]
        target = Union(tuple(regular_polygon(self.side, 3, *part) for part in parts))
        return uniform_sample(self.side, target, self.pictured.n, rng), target


LEARNERS = (PolygonUnion,)
