"""Statements of BMNS on center points: depth, the functions Q and the domain of candidates."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Tools
from learners.citations import BMNS
from learners.domains import Grid
from learners.halfspaces.depth.depth_regions import DepthRegions, spanned_normals
from learners.halfspaces.depth.extended_domain import ExtendedDomain
from learners.halfspaces.depth.tukey_depth import centerpoint_bound, tukey_depth, tukey_depths
from learners.papers.evidence import judged, states, tightness
from learners.papers.sizes import compositions

__all__ = ["STATEMENTS"]


@states(
    "BMNS-Clm2.19",
    "Every multiset of n points has a point of depth n/(d + 1).",
    f"{BMNS}, Claim 2.19",
    short="Every multiset has a point of depth n/(d + 1)",
    printed="depth ≥ n/(d + 1)",
    found="{least ratio:.3g} times that at least",
)
def _centerpoint(tools: Tools) -> Evidence:
    least = math.inf
    data: dict[str, Any] = {}
    for side, sizes in ((1, (1, 2, 3, 4, 5, 6)), (2, (1, 2, 3))):
        extended, grid = ExtendedDomain.grid(side, 2), Grid(side, 2).points()
        for n in sizes:
            for counts in compositions(n, len(grid)):
                found = int(extended.regions(grid, np.array(counts)).values((), extended.coordinates()).max())
                if 3 * found / n < least:
                    least, data = 3 * found / n, {"side": side, "points": grid, "counts": counts, "depth": found}
    text = f"least (d + 1) max depth / n over all multisets of n <= 6 on 2 x 2 and n <= 3 on 3 x 3 points: {least:.3f}"
    return judged("holds", text, {"least ratio": least}, text, data, failed=least < 1)


@states(
    "BMNS-Fact2.20-remark",
    "If the set of Tukey medians has dimension d, each facet's hyperplane passes through d + 1 points of S.",
    f"{BMNS}, remark after Fact 2.20",
    short="A facet of the deepest set passes through d + 1 points",
    printed="{d + 1} points",
    found="{points on a facet} points",
)
def _facets(tools: Tools) -> Evidence:
    triangle, ones = np.array([[0, 0], [3, 0], [1, 2]]), np.ones(3, dtype=np.int64)
    regions = DepthRegions(triangle, ones, spanned_normals(triangle))
    top = max(level for level in regions.levels if regions.function()(Fraction(1)) >= level)
    on = [int((_side(triangle, a, b) == 0).sum()) for a, b in combinations(triangle, 2)]
    text = f"the Tukey medians of a triangle (depth {top}) are the triangle; its edges pass through {on} of the points"
    return judged(
        "undecided",
        text,
        {"points on a facet": min(on), "d + 1": 3},
        "the corners (0, 0), (3, 0), (1, 2), one example each",
        {"points": triangle, "counts": ones, "points on a facet": min(on)},
        failed=top == 1 and min(on) < 3,
    )


def _side(points: Any, a: Any, b: Any) -> Any:
    """Return on which side of the line through a and b the points lie."""
    return (b[0] - a[0]) * (points[:, 1] - a[1]) - (b[1] - a[1]) * (points[:, 0] - a[0])


@states(
    "BMNS-Lem3.4",
    "Q is quasi-concave and has sensitivity 1.",
    f"{BMNS}, Lemma 3.4",
    short="Q is quasi-concave and of sensitivity 1",
    printed="1",
    found="{sensitivity}; {dips} dips",
)
def _quasi_concave(tools: Tools) -> Evidence:
    grid, extended = Grid(1, 2).points(), ExtendedDomain.grid(1, 2)
    xs = extended.coordinates()
    tables = {}
    for counts in compositions(4, 4):
        regions = extended.regions(grid, np.array(counts))
        tables[counts] = [regions.values((), xs), *(regions.values((x,), extended.coordinates((x,))) for x in xs)]
    dips = sum(
        int(q[j] < min(q[i], q[k])) for t in tables.values() for q in t for i, j, k in combinations(range(len(q)), 3)
    )
    moves = [
        (int(np.abs(p - q).max()), a, b)
        for a, b in product(tables, repeat=2)
        if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2
        for p, q in zip(tables[a], tables[b], strict=True)
    ]
    most, one, two = max(moves)
    text = f"all 35 multisets of 4 corners: {dips} dips in Q, and Q moves by at most {most} between neighbours"
    numbers = {"dips": dips, "sensitivity": most}
    data = {"points": grid, "counts": one, "neighbouring counts": two, "sensitivity": most}
    return judged("holds", text, numbers, text, data, failed=dips > 0 or most > 1)


@states(
    "BMNS-Clm3.5",
    "Q attains its maximum over X~, of size at most (d |X|^(d^2 (d+1)))^(2^d) an axis.",
    f"{BMNS}, Claim 3.5, with d - i + 1 subspaces",
    short="Size of the candidate set on an axis",
    printed="10^{log10 of the bound, side 1:.0f}",
    found="{|X~_1| of the grid of side 1} (side 1)",
    best="{|X~_1| of the grid of side 1} and {|X~_1| of the grid of side 2}, sides 1 and 2, by listing",
)
def _extended(tools: Tools) -> Evidence:
    misses, witness, share = 0, "", 0.0
    sizes: dict[str, float] = {}
    data: dict[str, Any] = {}
    for side, n in ((1, 4), (2, 3)):
        extended, grid = ExtendedDomain.grid(side, 2), Grid(side, 2).points()
        for counts in compositions(n, len(grid)):
            found = extended.regions(grid, np.array(counts)).values((), extended.coordinates())
            if found.max() < centerpoint_bound(n, 2):
                misses, witness = misses + 1, f"counts {counts} on the grid of side {side}: depth {found.max()}"
                data = {"points": grid, "counts": counts, "depth": int(found.max())}
        bound = extended.bound()
        for axis in (1, 2):
            size = len(extended.union(axis))
            sizes[f"|X~_{axis}| of the grid of side {side}"] = size
            if size / bound > share:
                share, data = size / bound, {**data, "side": side, "axis": axis, "size": size, "bound": str(bound)}
            if size > bound:
                witness = f"the grid of side {side}: {size} candidates on axis {axis}, bound {bound}"
        sizes[f"log10 of the bound, side {side}"] = math.log10(bound)
    text = f"with d - i + 1 subspaces {misses} multisets lack a centerpoint; " + ", ".join(
        f"{k}: {v:.0f}" for k, v in sizes.items()
    )
    return judged(tightness(share, 1), text, sizes, witness, data)


@states(
    "BMNS-Clm3.5-literal",
    "Intersections with d - i subspaces contain a point of depth n/(d + 1) for every multiset.",
    f"{BMNS}, proof of Claim 3.5",
    short="Intersections with d - i subspaces hold a point of depth n/(d + 1)",
    printed="depth ≥ {n/(d+1):.3g}",
    found="depth {depth on the literal domain}",
)
def _extended_literal(tools: Tools) -> Evidence:
    corners, ones = Grid(1, 2).points(), np.ones(4, dtype=np.int64)
    half = Fraction(1, 2)
    best = int(tukey_depths(corners, ones, ExtendedDomain.grid(1, 2, literal=True).points).max())
    centre = tukey_depth(corners, ones, (half, half))
    numbers = {"depth on the literal domain": best, "depth of (1/2, 1/2)": centre, "n/(d+1)": 4 / 3}
    text = f"with d - i subspaces the deepest point has depth {best}; (1/2, 1/2) has {centre} and n/(d + 1) = 4/3"
    return judged(
        "undecided",
        text,
        numbers,
        "the four corners of the unit square, one example each",
        {"points": corners, "counts": ones, "depth": best, "depth of (1/2, 1/2)": centre},
        failed=best < centerpoint_bound(4, 2),
    )


STATEMENTS = (_centerpoint, _facets, _quasi_concave, _extended, _extended_literal)
