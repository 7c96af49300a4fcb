"""Selections and Set Cover Learners of regions with one known leak each; halfplanes have a module of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.contract import Instance, Sample
from learners.arrays import Floats
from learners.controls import GREEDY, MULTIPLIED, SPARING, control, rate, top
from learners.domains import grid_rows
from learners.regions.convex_polygon import ConvexPolygon
from learners.regions.disc_union import DiscUnion
from learners.regions.planar.families import Family
from learners.regions.polygon_union import PolygonUnion
from learners.regions.polynomial_select import PolynomialSelect
from learners.regions.polytopes import ConvexPolytope, SimplexSelect, SimplexUnion
from learners.regions.region_selection import ListedSelection
from learners.regions.triangle_select import TriangleSelect

__all__ = ["LEARNERS"]

SELECTION = Instance({"side": 1, "epsilon": 0.5}, n=2)
UNWEIGHTED_SELECTION = Instance({"side": 1, "epsilon": 0.2}, n=2)
# By degree 2 all labellings of four points have equal measures: nothing to leave unweighted there.
LINES = Instance({"side": 2, "degree": 1, "epsilon": 0.2}, n=2)
PLANE = Instance(
    {"side": 1, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
SPACE = Instance({**ConvexPolytope.instance.parameters, "epsilon": 0.5}, n=2, alpha=0.9, beta=0.5)
SIMPLICES = replace(SPACE, n=1)


def _bare(instance: Instance) -> Instance:
    """Return an instance without noise."""
    return replace(instance, parameters={**instance.parameters, "variant": "noiseless"})


def _flat_base(self: ListedSelection, family: Family, sample: Sample) -> Floats:
    """Return ln of each region's share in the measure of those that label the sample alike."""
    rows = family.labels[:, grid_rows(sample.points, self.side)]
    _, kinds = np.unique(rows, axis=0, return_inverse=True) if rows.shape[1] else (None, np.zeros(len(rows), int))
    shares = np.exp(family.log_shares)
    kinds = kinds.ravel()
    return np.asarray(family.log_shares - np.log(np.bincount(kinds, weights=shares)[kinds]))


UNHALVED: dict[str, Any] = {
    "fault": "weights exp(2 epsilon q) under a claim of epsilon: four times the rate",
    "_rate": rate(2),
}
CONSISTENT_FIRST: dict[str, Any] = {
    "fault": "chooses among the regions with the greatest score alone: the support shows the sample",
    "check": lambda self: self._listed(),
    "_eligible": lambda self, correct: top(correct),
}
UNWEIGHTED: dict[str, Any] = {
    "fault": "chooses how to label the sample without regard to measures: rare labels show its points",
    "check": lambda self: self._listed(),
    "_log_base": _flat_base,
}

LEARNERS = (
    control(TriangleSelect, "broken-triangle-unhalved", SELECTION, **UNHALVED),
    control(TriangleSelect, "broken-triangle-consistent-first", SELECTION, **CONSISTENT_FIRST),
    control(TriangleSelect, "broken-triangle-unweighted", UNWEIGHTED_SELECTION, **UNWEIGHTED),
    control(SimplexSelect, "broken-simplex-unhalved", SELECTION, **UNHALVED),
    control(SimplexSelect, "broken-simplex-consistent-first", SELECTION, **CONSISTENT_FIRST),
    control(SimplexSelect, "broken-simplex-unweighted", UNWEIGHTED_SELECTION, **UNWEIGHTED),
    control(PolynomialSelect, "broken-polynomial-unhalved", SELECTION, **UNHALVED),
    control(PolynomialSelect, "broken-polynomial-consistent-first", SELECTION, **CONSISTENT_FIRST),
    control(PolynomialSelect, "broken-polynomial-unweighted", LINES, **UNWEIGHTED),
    control(ConvexPolygon, "broken-convex-polygon-multiplied", PLANE, **MULTIPLIED),
    control(ConvexPolygon, "broken-convex-polygon-sparing", _bare(PLANE), **SPARING),
    control(ConvexPolygon, "broken-convex-polygon-greedy", _bare(PLANE), **GREEDY),
    control(PolygonUnion, "broken-polygon-union-multiplied", PLANE, **MULTIPLIED),
    control(PolygonUnion, "broken-polygon-union-sparing", _bare(PLANE), **SPARING),
    control(PolygonUnion, "broken-polygon-union-greedy", _bare(PLANE), **GREEDY),
    control(DiscUnion, "broken-disc-union-multiplied", PLANE, **MULTIPLIED),
    control(DiscUnion, "broken-disc-union-sparing", _bare(PLANE), **SPARING),
    control(DiscUnion, "broken-disc-union-greedy", _bare(PLANE), **GREEDY),
    control(ConvexPolytope, "broken-convex-polytope-multiplied", SPACE, **MULTIPLIED),
    control(ConvexPolytope, "broken-convex-polytope-sparing", _bare(SPACE), **SPARING),
    control(ConvexPolytope, "broken-convex-polytope-greedy", _bare(SPACE), **GREEDY),
    control(SimplexUnion, "broken-simplex-union-multiplied", SIMPLICES, **MULTIPLIED),
    control(SimplexUnion, "broken-simplex-union-sparing", _bare(SIMPLICES), **SPARING),
    control(SimplexUnion, "broken-simplex-union-greedy", _bare(SIMPLICES), **GREEDY),
)
