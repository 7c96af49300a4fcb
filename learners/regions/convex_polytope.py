"""Convex polytopes over a small grid in three dimensions by the Set Cover Learner (KMMS, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance
from learners.covers.accounting import AUDITED
from learners.regions.kinds import HalfspaceRegions
from learners.regions.polytope_class import Polytopes
from learners.regions.region_cover import RegionCover

__all__ = ["LEARNERS", "ConvexPolytope"]


@dataclass(frozen=True)
class ConvexPolytope(HalfspaceRegions, RegionCover):
    """Convex polytopes with at most k facets: cover the negatives by complements of halfspaces, spare the positives.

    The halfspaces are the labellings of {0 .. side}^3, side at most 2, with equal measure: a region is the number of
    one. See `covers.regions.RegionCover`.
    """

    id: ClassVar[str] = "convex-polytope"
    # Two rounds, so that all pairs of regions can be listed; with them only the sample's errors can be bounded.
    instance: ClassVar[Instance] = Instance(
        {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.74, "beta": 0.2}, n=2, alpha=0.9, beta=0.5
    )
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 1, "k": 2}, n=2, alpha=0.2, beta=0.2),)
    _covered_label: ClassVar[int] = 0
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, in three dimensions,")

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the grid by intersections of at most k halfspaces."""
        return Polytopes(self.side, self.k)

    @property
    def _log_measures(self) -> NDArray[np.float64]:
        return np.zeros(self._sets)


LEARNERS = (ConvexPolytope,)
