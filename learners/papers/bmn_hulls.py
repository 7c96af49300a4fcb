"""Statements of BMN on convex sets: hulls of public points as intersections of halfspaces, and Helly's theorem."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np

from dpaudit.contract import Evidence, Tools

from ..domains import Grid
from ..halfspaces.concepts import grid_halfspaces
from ..halfspaces.lower_bound import coefficients
from ..mixtures.missed_facets import Point, cyclic_facets, dot, facets_of
from .bmns_claims import Place, corners, lines_through
from .bmns_depth import in_hull
from .evidence import judged, listed, tightness
from .states import Answers, always, states

Halfplane = tuple[int, int, int]
"""(a, b, t) of the closed halfplane a x + b y <= t."""
GridPoint = tuple[int, int]
Case = tuple[frozenset[GridPoint], frozenset[GridPoint], Halfplane]
"""Public points, those of them outside of a halfplane {a x + b y >= t}, and (a, b, t)."""

SIDE = 2


def public_cases(points: int) -> Iterator[Case]:
    """Yield all sets of so many public points of 3 x 3 that are not on a line, and all halfplanes that miss some."""
    grid = list(map(tuple, Grid(SIDE, 2).points().tolist()))
    # The listed halfplanes pass through no point of the grid, so that closed and open ones are alike.
    halfplanes = [tuple(row) for row in grid_halfspaces(SIDE, 2)[1].tolist() if any(row[:2])]
    for public in map(frozenset, combinations(grid, points)):
        if len(lines_through(public)) > 1:
            for a, b, t in halfplanes:
                outside = frozenset((x, y) for x, y in public if a * x + b * y < t)
                if outside:
                    yield public, outside, (a, b, t)


def supported(public: Iterable[GridPoint], kept: frozenset[GridPoint]) -> list[Halfplane]:
    """Return the halfplanes beside lines through two public points that contain all points that are `kept`."""
    found = []
    for line in lines_through(public):
        for sign in (1, -1):
            a, b, t = (sign * entry for entry in line)
            if all(a * x + b * y <= t for x, y in kept):
                found.append((a, b, t))
    return found


# Places in steps of 1/2 around the grid of side 2.
PLACES = [(Fraction(x, 2), Fraction(y, 2)) for x, y in product(range(-1, 2 * SIDE + 2), repeat=2)]


def hull_places(points: frozenset[GridPoint]) -> frozenset[Place]:
    """Return the places in the hull of some points."""
    exact = frozenset((Fraction(x), Fraction(y)) for x, y in points)
    return frozenset(place for place in PLACES if in_hull(exact, place))


def cut_out(public: frozenset[GridPoint], kept: frozenset[GridPoint]) -> frozenset[Place]:
    """Return the places that all halfplanes contain which public points support and which contain what is `kept`."""
    sides = supported(public, kept)
    return frozenset((x, y) for x, y in PLACES if all(a * x + b * y <= t for a, b, t in sides))


@states(
    "BMN-Obs4.2",
    "Halfspaces that public points support, with Aff, intersect in the hull of the public points outside of the best "
    "halfspace, which is disjoint from that halfspace.",
    "Observation 4.2",
    short="Supported halfspaces cut out a hull that misses the best halfspace",
    printed="the hull, disjoint",
    found="checked on {cases:,} sets and halfplanes",
    slow=True,
    formula="(h_1 and .. and h_v) and Aff = V(S_pub - h_ERM), and its intersection with h_ERM is empty",
    conditions="not all public points are in h_ERM",
)
@always("{cases} sets of 4 public points of 3 x 3, not on a line, and halfplanes, 49 places: {wrong} wrong")
def _cut_out() -> Answers:
    # Many cases share their points; remembered for this check alone.
    sides_of = cache(cut_out)
    places_of = cache(hull_places)
    for public, outside, (a, b, t) in list(public_cases(4))[::2]:
        kept = sides_of(public, outside)
        right = kept == places_of(outside) and all(a * x + b * y < t for x, y in kept)
        yield right, {"public": sorted(public), "outside": sorted(outside), "halfplane": (a, b, t)}


def missing(sides: list[Halfplane], halfplane: Halfplane, most: int) -> list[Halfplane] | None:
    """Return at most so many of the sides whose intersection misses {a x + b y >= t}; None if there are none.

    The sides have a point in common. a x + b y is at most sum l_i s_i on independent ones (u_i, v_i, s_i) if (a, b) =
    sum l_i (u_i, v_i), l_i >= 0, and reaches that; otherwise it is unbounded. Of dependent normals fewer are as good.
    """
    a, b, t = halfplane
    for count in range(1, most + 1):
        for chosen in combinations(sides, count):
            parts = coefficients([a, b], [side[:2] for side in chosen])
            if parts and min(parts) >= 0 and dot(parts, [Fraction(side[2]) for side in chosen]) < t:
                return list(chosen)
    return None


# The dimension d of the plane, of which Helly's number is d + 1.
DIMENSION = 2


@states(
    "BMN-Cor4.4",
    "At most d of these halfspaces and Aff intersect in a set that misses the best halfspace.",
    "Corollary 4.4",
    short="d of the supported halfspaces miss the best halfspace",
    printed="≤ d",
    found="{cases:,} sets and halfplanes, d = 2",
    slow=True,
    formula="|T| <= d, and (intersection of T) and h_ERM = {}",
    conditions="not all public points are in h_ERM",
    argument="Of d + 1 convex sets that Helly's theorem leaves with no point in common h_ERM is one, since the others "
    "contain the hull.",
)
@always(
    "{cases} sets of 4 or 5 public points of 3 x 3, not on a line, and halfplanes: {wrong} times no two of the "
    "supported halfplanes miss it"
)
def _few_sides() -> Answers:
    for public, outside, halfplane in [*public_cases(4), *public_cases(5)][::3]:
        found = missing(supported(public, outside), halfplane, DIMENSION)
        data = {"public": sorted(public), "outside": sorted(outside), "halfplane": halfplane, "sides": found}
        yield found is not None, data


# Random families of triangles.
FAMILIES = 100
Triangle = tuple[GridPoint, GridPoint, GridPoint]


def in_triangle(triangle: Triangle, place: Place) -> bool:
    """Return whether a place is in a closed triangle, whose corners are not on a line."""
    turns = []
    for (x, y), (u, v) in zip(triangle, (*triangle[1:], triangle[0]), strict=True):
        turns.append((u - x) * (place[1] - y) - (v - y) * (place[0] - x))
    return min(turns) >= 0 or max(turns) <= 0


def in_common(triangles: Iterable[Triangle], places: Iterable[Place]) -> bool:
    """Return whether triangles share a point: then a corner, or a place where the lines of two edges meet, is one."""
    family = list(triangles)
    return any(all(in_triangle(triangle, place) for triangle in family) for place in places)


@states(
    "BMN-Lem4.3",
    "Of finitely many convex sets of R^d without a common point at most d + 1 have none either.",
    "Lemma 4.3, Helly's theorem",
    short="Helly's theorem",
    printed="d + 1 sets",
    found="checked on {families:,} families of intervals and triangles",
    slow=True,
    formula="K <= d + 1",
    argument="The row checks families in which every d + 1 sets meet, and looks for a point of all of them.",
)
@always(
    "{families} families, all of 4 intervals of 0 .. 4 and some of 4 triangles: {wrong} have no common point though "
    "every d + 1 of the sets have one",
    "families",
)
def _helly() -> Answers:
    intervals = list(combinations(range(5), 2))
    for family in combinations(intervals, 4):
        groups = combinations(family, DIMENSION)
        met = all(max(low for low, _ in group) <= min(high for _, high in group) for group in groups)
        right = not met or max(low for low, _ in family) <= min(high for _, high in family)
        yield right, {"intervals": family}
    grid = list(map(tuple, Grid(4, 2).points().tolist()))
    corner = [three for three in combinations(grid, 3) if len(lines_through(three)) == 3]
    rng = np.random.default_rng(0)
    for _ in range(FAMILIES):
        triangles = [corner[i] for i in rng.integers(len(corner), size=4)]
        places = sorted(corners([point for triangle in triangles for point in triangle]))
        met = all(in_common(group, places) for group in combinations(triangles, DIMENSION + 1))
        yield not met or in_common(triangles, places), {"triangles": triangles}


@states(
    "BMN-VT",
    "The hull of a finite set T of R^d is the intersection of O(|T|^d) halfspaces.",
    "before Observation 4.2",
    short="Halfspaces that cut out a hull",
    printed="O(|T|^d)",
    found="|T|^{growth, d=4:.2f} at d = 4, {facets, d=8:,.0f} for 100 points of R⁸",
    best="Θ(|T|^⌊d/2⌋), by the upper bound theorem",
    formula="V(T) is the intersection of at most O(|T|^d) halfspaces",
    argument="A facet is spanned by d of the points. By McMullen's theorem no hull has more facets than that of the "
    "cyclic polytope.",
)
def _facets(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    wrong = ""
    for d in (2, 3, 4, 6, 8):
        facets = cyclic_facets(100, d)
        growth = math.log2(cyclic_facets(2**13, d) / cyclic_facets(2**12, d))
        numbers |= {f"facets, d={d}": facets, f"growth, d={d}": growth}
        if facets > math.comb(100, d) or growth > d:
            wrong = f"the cyclic polytope with 100 vertices in R^{d} has {facets} facets"
    rng = np.random.default_rng(0)
    for d, size in ((2, 12), (3, 10), (4, 9)):
        points: list[Point] = [tuple(Fraction(int(x)) for x in row) for row in rng.integers(1, 1000, (size, d))]
        found = len(facets_of(points))
        numbers |= {f"random, d={d}": found}
        if found > cyclic_facets(size, d):
            wrong = f"{size} points of R^{d} have {found} facets: {[list(map(int, point)) for point in points]}"
    share = max(numbers[f"growth, d={d}"] / d for d in (2, 3, 4, 6, 8))
    text = f"facets of cyclic polytopes with 100 vertices, their growth, and of random hulls: {listed(numbers, '.4g')}"
    return judged(text, numbers, wrong, {"kind": "sizes", **numbers}, otherwise=tightness(share, 1), grade="numeric")
