"""Convex polygons by the Set Cover Learner over halfplanes (KMMS, Section 4 and Theorem 4.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Instance, Sample
from learners.covers.accounting import AUDITED
from learners.regions.halfplane_class import Halfplane
from learners.regions.kinds import HalfplaneRegions
from learners.regions.planar.scenes import regular_polygon, uniform_sample
from learners.regions.planar.snapping import check_regions
from learners.regions.plane_cover import COVERED, INSTANCE, PlaneCover
from learners.regions.polygon_class import ConvexPolygons, Intersection

__all__ = ["LEARNERS", "ConvexPolygon"]


@dataclass(frozen=True)
class ConvexPolygon(HalfplaneRegions, PlaneCover):
    """Convex polygons with at most k edges: cover the negatives by complements of halfplanes, spare the positives.

    The halfplanes have Lebesgue measure on both copies of the dual box, as in `halfplane-select`. For side <= 6 a
    region is the number of a labelling of the grid by a halfplane; beyond, ((z, a, b),) for the halfplane that is
    covered, whose complement is a factor of the final intersection. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "convex-polygon"
    instance: ClassVar[Instance] = INSTANCE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 3}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({**COVERED, "side": 12, "k": 4}, n=100_000)
    _covered_label: ClassVar[int] = 0
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm4.7", "Theorem 4.7")

    @property
    def concepts(self) -> ConvexPolygons:
        """CONVEX-k-GON over the grid."""
        return ConvexPolygons(self.side, self.k)

    def _drawn(self, regions: Any) -> Halfplane:
        ((z, a, b),) = check_regions(regions, 1)
        return Halfplane(-z, a, b)

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Intersection]:
        """Return the sample of the picture and its target, k halfplanes around the middle."""
        target = regular_polygon(self.side, self.k)
        return uniform_sample(self.side, target, self.pictured.n, rng), target


LEARNERS = (ConvexPolygon,)
