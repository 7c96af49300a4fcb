"""Selections and Set Cover Learners of regions with one known leak each; halfplanes have a module of their own."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Instance
from learners.controls import control
from learners.covers.faults import cover_controls
from learners.regions.convex_polygon import ConvexPolygon
from learners.regions.disc_union import DiscUnion
from learners.regions.polygon_union import PolygonUnion
from learners.regions.polynomial_select import PolynomialSelect
from learners.regions.polytopes import ConvexPolytope, SimplexSelect, SimplexUnion
from learners.regions.selection_faults import ConsistentFirst, Unhalved, Unweighted
from learners.regions.triangle_select import TriangleSelect

__all__ = ["LEARNERS"]

SELECTION = Instance({"side": 1, "epsilon": 0.5}, n=2)
UNWEIGHTED = Instance({"side": 1, "epsilon": 0.2}, n=2)
PLANE = Instance(
    {"side": 1, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
SPACE = Instance({**ConvexPolytope.instance.parameters, "epsilon": 0.5}, n=2, alpha=0.9, beta=0.5)
SIMPLICES = Instance(SPACE.parameters, n=1, alpha=0.9, beta=0.5)


def _selection_controls(
    base: type[Any], prefix: str, regions: str, unweighted: Instance = UNWEIGHTED
) -> tuple[type[Any], type[Any], type[Any]]:
    """Return the controls of a selection among listed regions: its rate, its choice and its measure at fault."""
    best, flat = f"only the {regions} with the greatest score", "labellings chosen without regard to their measures"
    return (
        control(base, Unhalved, f"{prefix}-unhalved", f"{regions} at four times the rate", SELECTION),
        control(base, ConsistentFirst, f"{prefix}-consistent-first", best, SELECTION),
        control(base, Unweighted, f"{prefix}-unweighted", flat, unweighted),
    )


TRIANGLES = TriangleUnhalved, TriangleConsistentFirst, TriangleUnweighted = _selection_controls(
    TriangleSelect, "broken-triangle", "triangles"
)
SIMPLEX = SimplexUnhalved, SimplexConsistentFirst, SimplexUnweighted = _selection_controls(
    SimplexSelect, "broken-simplex", "simplices"
)
# By degree 2 all labellings of four points have equal measures: nothing to leave unweighted there.
POLYNOMIALS = PolynomialUnhalved, PolynomialConsistentFirst, PolynomialUnweighted = _selection_controls(
    PolynomialSelect, "broken-polynomial", "polynomials", Instance({"side": 2, "degree": 1, "epsilon": 0.2}, n=2)
)
POLYGONS = ConvexPolygonMultiplied, ConvexPolygonSparing, ConvexPolygonGreedy = cover_controls(
    __name__, ConvexPolygon, "convex polygons", "halfplanes", PLANE
)
POLYGON_UNIONS = PolygonUnionMultiplied, PolygonUnionSparing, PolygonUnionGreedy = cover_controls(
    __name__, PolygonUnion, "unions of polygons", "triangles", PLANE
)
DISC_UNIONS = DiscUnionMultiplied, DiscUnionSparing, DiscUnionGreedy = cover_controls(
    __name__, DiscUnion, "unions of discs", "discs", PLANE
)
POLYTOPES = ConvexPolytopeMultiplied, ConvexPolytopeSparing, ConvexPolytopeGreedy = cover_controls(
    __name__, ConvexPolytope, "convex polytopes", "halfspaces", SPACE
)
SIMPLEX_UNIONS = SimplexUnionMultiplied, SimplexUnionSparing, SimplexUnionGreedy = cover_controls(
    __name__, SimplexUnion, "unions of simplices", "simplices", SIMPLICES
)

LEARNERS = (*TRIANGLES, *SIMPLEX, *POLYNOMIALS, *POLYGONS, *POLYGON_UNIONS, *DISC_UNIONS, *POLYTOPES, *SIMPLEX_UNIONS)
