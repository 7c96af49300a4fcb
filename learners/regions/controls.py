"""Selections and Set Cover Learners of regions with one known leak each; halfplanes have a module of their own."""

from __future__ import annotations

from dpaudit.contract import InputError, Instance
from learners.controls import control
from learners.covers.faults import Greedy, Multiplied, Sparing
from learners.regions.discs import DiscUnion
from learners.regions.polygon_covers import ConvexPolygon, PolygonUnion
from learners.regions.polytopes import ConvexPolytope, SimplexSelect, SimplexUnion
from learners.regions.region_cover import RegionCover
from learners.regions.selection_faults import ConsistentFirst, Unhalved, Unweighted
from learners.regions.triangles import LISTED_TRIANGLES, TriangleSelect

__all__ = ["LEARNERS"]

SELECTION = Instance({"side": 1, "epsilon": 0.5}, n=2)
UNWEIGHTED = Instance({"side": 1, "epsilon": 0.2}, n=2)
PLANE = Instance(
    {"side": 1, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
BARE_PLANE = Instance({**PLANE.parameters, "variant": "noiseless"}, n=2, alpha=0.99, beta=0.5)
SPACE = Instance({**ConvexPolytope.instance.parameters, "epsilon": 0.5}, n=2, alpha=0.9, beta=0.5)
BARE_SPACE = Instance({**SPACE.parameters, "variant": "noiseless"}, n=2, alpha=0.9, beta=0.5)
SIMPLICES = Instance(SPACE.parameters, n=1, alpha=0.9, beta=0.5)
BARE_SIMPLICES = Instance(BARE_SPACE.parameters, n=1, alpha=0.9, beta=0.5)


class _ListedTriangles(TriangleSelect):
    """Controls that change the choice among listed triangles."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side > LISTED_TRIANGLES:
            raise InputError(f"side must be at most {LISTED_TRIANGLES} for this control, got {self.side}")


class _Listed(RegionCover):
    """Controls that change the choice among listed regions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.listed() is None:
            raise InputError(f"side must be small enough to list the regions for this control, got {self.side}")


class _ListedSparing(Sparing, _Listed):
    """The fault of sparing, among listed regions."""


class _ListedGreedy(Greedy, _Listed):
    """The greedy fault, among listed regions."""


TriangleUnhalved = control(TriangleSelect, Unhalved, "broken-triangle-unhalved", "four times the rate", SELECTION)
TriangleConsistentFirst = control(
    _ListedTriangles,
    ConsistentFirst,
    "broken-triangle-consistent-first",
    "only the triangles with the greatest score",
    SELECTION,
)
TriangleUnweighted = control(
    _ListedTriangles,
    Unweighted,
    "broken-triangle-unweighted",
    "labellings of the sample chosen without regard to their measures",
    UNWEIGHTED,
)
ConvexPolygonMultiplied = control(
    ConvexPolygon,
    Multiplied,
    "broken-convex-polygon-multiplied",
    "convex polygons with eps_hat multiplied instead of divided",
    PLANE,
)
ConvexPolygonSparing = control(
    ConvexPolygon,
    _ListedSparing,
    "broken-convex-polygon-sparing",
    "convex polygons from the halfplanes consistent with the positives",
    BARE_PLANE,
)
ConvexPolygonGreedy = control(
    ConvexPolygon, _ListedGreedy, "broken-convex-polygon-greedy", "convex polygons by the greedy algorithm", BARE_PLANE
)
PolygonUnionMultiplied = control(
    PolygonUnion,
    Multiplied,
    "broken-polygon-union-multiplied",
    "unions of polygons with eps_hat multiplied instead of divided",
    PLANE,
)
PolygonUnionSparing = control(
    PolygonUnion,
    _ListedSparing,
    "broken-polygon-union-sparing",
    "unions of triangles consistent with the negatives",
    BARE_PLANE,
)
PolygonUnionGreedy = control(
    PolygonUnion,
    _ListedGreedy,
    "broken-polygon-union-greedy",
    "unions of triangles by the greedy algorithm",
    BARE_PLANE,
)
DiscUnionMultiplied = control(
    DiscUnion,
    Multiplied,
    "broken-disc-union-multiplied",
    "unions of discs with eps_hat multiplied instead of divided",
    PLANE,
)
DiscUnionSparing = control(
    DiscUnion, Sparing, "broken-disc-union-sparing", "unions of discs consistent with the negatives", BARE_PLANE
)
DiscUnionGreedy = control(
    DiscUnion, Greedy, "broken-disc-union-greedy", "unions of discs by the greedy algorithm", BARE_PLANE
)
SimplexUnhalved = control(SimplexSelect, Unhalved, "broken-simplex-unhalved", "four times the rate", SELECTION)
SimplexConsistentFirst = control(
    SimplexSelect,
    ConsistentFirst,
    "broken-simplex-consistent-first",
    "only the simplices with the greatest score",
    SELECTION,
)
SimplexUnweighted = control(
    SimplexSelect,
    Unweighted,
    "broken-simplex-unweighted",
    "labellings of the sample chosen without regard to their measures",
    UNWEIGHTED,
)
ConvexPolytopeMultiplied = control(
    ConvexPolytope,
    Multiplied,
    "broken-convex-polytope-multiplied",
    "convex polytopes with eps_hat multiplied instead of divided",
    SPACE,
)
ConvexPolytopeSparing = control(
    ConvexPolytope,
    Sparing,
    "broken-convex-polytope-sparing",
    "convex polytopes from the halfspaces consistent with the positives",
    BARE_SPACE,
)
ConvexPolytopeGreedy = control(
    ConvexPolytope, Greedy, "broken-convex-polytope-greedy", "convex polytopes by the greedy algorithm", BARE_SPACE
)
SimplexUnionMultiplied = control(
    SimplexUnion,
    Multiplied,
    "broken-simplex-union-multiplied",
    "unions of simplices with eps_hat multiplied instead of divided",
    SIMPLICES,
)
SimplexUnionGreedy = control(
    SimplexUnion,
    Greedy,
    "broken-simplex-union-greedy",
    "unions of simplices by the greedy algorithm",
    BARE_SIMPLICES,
)
SimplexUnionSparing = control(
    SimplexUnion,
    Sparing,
    "broken-simplex-union-sparing",
    "unions of simplices from the simplices consistent with the negatives",
    BARE_SIMPLICES,
)

LEARNERS = (
    TriangleUnhalved,
    TriangleConsistentFirst,
    TriangleUnweighted,
    ConvexPolygonMultiplied,
    ConvexPolygonSparing,
    ConvexPolygonGreedy,
    PolygonUnionMultiplied,
    PolygonUnionSparing,
    PolygonUnionGreedy,
    DiscUnionMultiplied,
    DiscUnionSparing,
    DiscUnionGreedy,
    SimplexUnhalved,
    SimplexConsistentFirst,
    SimplexUnweighted,
    ConvexPolytopeMultiplied,
    ConvexPolytopeSparing,
    ConvexPolytopeGreedy,
    SimplexUnionMultiplied,
    SimplexUnionGreedy,
    SimplexUnionSparing,
)
