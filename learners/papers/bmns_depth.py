"""Statements of BMNS on the Tukey depth, on center points, and on the depth that the release may lose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Pair, Tools

from ..arrays import Integers
from ..domains import Grid
from ..geometry.polygons import cross
from ..halfspaces.depth.depth_regions import DepthRegions, spanned_normals
from ..halfspaces.depth.extended_domain import ExtendedDomain
from ..halfspaces.depth.tukey_depth import centerpoint_bound, tukey_depth, tukey_depths
from ..halfspaces.hull_point import HullPointExponential
from ..halfspaces.hull_point_joint import HullPointJoint
from ..halfspaces.sizes import measured_examples
from .evidence import judged, judged_law, law_of, learner_data, listed, sample_data, tightness, tried
from .sizes import compositions
from .states import Cases, at_least, false, misprint, states


def _deepest(side: int, n: int) -> Iterator[tuple[Integers, tuple[int, ...], int]]:
    """Yield the points of a grid, each multiset of n of them as counts, and the depth of its deepest candidate."""
    extended = ExtendedDomain.grid(side, 2)
    grid = Grid(side, 2).points()
    for counts in compositions(n, len(grid)):
        yield grid, counts, int(extended.regions(grid, np.array(counts)).values((), extended.coordinates()).max())


@states(
    "BMNS-Clm2.19",
    "Every multiset of n points has a point of depth n/(d + 1).",
    "Claim 2.19",
    short="Every multiset has a point of depth n/(d + 1)",
    printed="depth ≥ n/(d + 1)",
    found="{least ratio:.3g} times that at least",
    formula="td(x) >= |S|/(d + 1) for some x",
    argument="By Helly: any d + 1 closed halfspaces with more than d n/(d + 1) of the n points each share a point of "
    "S, so all of them share a point, and it is that deep.",
)
@at_least(
    1,
    "least (d + 1) max depth / n over all multisets of n <= 6 on 2 x 2 and n <= 3 on 3 x 3 points: {least ratio:.3f}",
    "least ratio",
)
def _centerpoint() -> Cases:
    # All multisets that can be listed in seconds.
    for side, n in [(1, n) for n in range(1, 7)] + [(2, n) for n in range(1, 4)]:
        for grid, counts, found in _deepest(side, n):
            yield 3 * found / n, {"side": side, "points": grid, "counts": counts, "depth": found}


@false(
    "BMNS-Fact2.20-remark",
    "If the set of Tukey medians has dimension d, each facet's hyperplane passes through d + 1 points of S.",
    "remark after Fact 2.20",
    short="A facet of the deepest set passes through d + 1 points",
    printed="{d + 1} points",
    found="{points on a facet} points",
    best="d points",
    formula="the hyperplane of a facet of the set of Tukey medians passes through d + 1 points of S",
    conditions="the set of Tukey medians is d-dimensional",
    argument="d points span a hyperplane. Nothing is built on the remark; Fact 2.20 itself is right.",
)
def _facets(tools: Tools) -> Evidence:
    triangle = np.array([[0, 0], [3, 0], [1, 2]])
    ones = np.ones(3, dtype=np.int64)
    regions = DepthRegions(triangle, ones, spanned_normals(triangle))
    top = max(level for level in regions.levels if regions.function()(Fraction(1)) >= level)
    on = [sum(cross(a, b, p) == 0 for p in triangle.tolist()) for a, b in combinations(triangle.tolist(), 2)]
    text = f"the Tukey medians of a triangle (depth {top}) are the triangle; its edges pass through {on} of the points"
    data = {"points": triangle, "counts": ones, "points on a facet": min(on)}
    numbers = {"points on a facet": min(on), "d + 1": 3}
    failed = top == 1 and min(on) < 3
    return tried(text, numbers, "the corners (0, 0), (3, 0), (1, 2), one example each", data, failed=failed)


@states(
    "BMNS-Lem3.4",
    "Q is quasi-concave and has sensitivity 1.",
    "Lemma 3.4",
    short="Q is quasi-concave and of sensitivity 1",
    printed="1",
    found="{sensitivity}; {dips} dips",
    formula="Q is quasi-concave, of sensitivity 1",
    argument="Claim 3.3 on the line through two maximizers; a maximum of functions of sensitivity 1 has it too.",
)
def _quasi_concave(tools: Tools) -> Evidence:
    grid = Grid(1, 2).points()
    extended = ExtendedDomain.grid(1, 2)
    prefixes = [(), *((x,) for x in extended.coordinates())]
    tables = {}
    for counts in compositions(4, 4):
        regions = extended.regions(grid, np.array(counts))
        tables[counts] = [regions.values(prefix, extended.coordinates(prefix)) for prefix in prefixes]
    dips = sum(
        int(q[j] < min(q[i], q[k])) for t in tables.values() for q in t for i, j, k in combinations(range(len(q)), 3)
    )
    most, one, two = max(
        (int(np.abs(p - q).max()), a, b)
        for a, b in product(tables, repeat=2)
        # Neighbours: one example moves from one point to another.
        if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2
        for p, q in zip(tables[a], tables[b], strict=True)
    )
    text = f"all 35 multisets of 4 corners: {dips} dips in Q, and Q moves by at most {most} between neighbours"
    data = {"points": grid, "counts": one, "neighbouring counts": two, "sensitivity": most}
    return judged(text, {"dips": dips, "sensitivity": most}, text, data, failed=dips > 0 or most > 1)


@states(
    "BMNS-Clm3.5",
    "X~ holds a point of depth n/(d + 1), and has at most (d |X|^(d^2 (d+1)))^(2^d) coordinates an axis.",
    "Claim 3.5, the size, with d - i + 1 subspaces",
    short="Size of the candidate set on an axis",
    printed="10^{log10 of the bound, side 1:.0f}",
    found="{|X~_1| of the grid of side 1} (side 1)",
    best="{|X~_1| of the grid of side 1} and {|X~_1| of the grid of side 2}, sides 1 and 2, by listing",
    formula="|X~_i| <= (d T^(d^2 (d + 1)))^(2^d)",
    argument="The size is compared with a listing in the plane, and depths with n/(d + 1) at the empty prefix; "
    "BMNS-Clm3.5-prefixes has the maximum after every prefix.",
)
def _extended(tools: Tools) -> Evidence:
    misses = 0
    witness = ""
    share = 0.0
    sizes: dict[str, float] = {}
    data: dict[str, Any] = {}
    for side, n in ((1, 4), (2, 3)):
        extended = ExtendedDomain.grid(side, 2)
        for grid, counts, found in _deepest(side, n):
            if found < centerpoint_bound(n, 2):
                misses += 1
                witness = f"counts {counts} on the grid of side {side}: depth {found}"
                data = {"points": grid, "counts": counts, "depth": found}
        # The bound holds for the union over all prefixes, which is the larger set.
        bound = extended.bound()
        for axis in (1, 2):
            size = len(extended.union(axis))
            sizes[f"|X~_{axis}| of the grid of side {side}"] = size
            if size / bound > share:
                share = size / bound
                data = {**data, "side": side, "axis": axis, "size": size, "bound": str(bound)}
            if size > bound:
                witness = f"the grid of side {side}: {size} candidates on axis {axis}, bound {bound}"
        sizes[f"log10 of the bound, side {side}"] = math.log10(bound)
    text = f"with d - i + 1 subspaces {misses} multisets lack a centerpoint; {listed(sizes, '.0f')}"
    return judged(text, sizes, witness, data, otherwise=tightness(share, 1))


@misprint(
    "BMNS-Clm3.5-literal",
    "Intersections with d - i subspaces contain a point of depth n/(d + 1) for every multiset.",
    "proof of Claim 3.5",
    short="Intersections with d - i subspaces hold a point of depth n/(d + 1)",
    printed="depth ≥ {n/(d+1):.3g}",
    found="depth {depth on the literal domain}",
    best="d - i + 1 subspaces",
    formula="x_j of the only point with x_1 = x*_1, .., x_(i-1) = x*_(i-1) of d - i subspaces in L",
    argument="A point of the flat x_1 = x*_1, .., of dimension d - i + 1, is cut out by d - i + 1 hyperplanes. The "
    "size of X~_1 in the same proof, C(|L|, d), counts d of them, and for i = 2 it has d - 1.",
)
def _extended_literal(tools: Tools) -> Evidence:
    corners = Grid(1, 2).points()
    ones = np.ones(4, dtype=np.int64)
    best = int(tukey_depths(corners, ones, ExtendedDomain.grid(1, 2, literal=True).points).max())
    centre = tukey_depth(corners, ones, (Fraction(1, 2), Fraction(1, 2)))
    numbers = {"depth on the literal domain": best, "depth of (1/2, 1/2)": centre, "n/(d+1)": 4 / 3}
    text = f"with d - i subspaces the deepest point has depth {best}; (1/2, 1/2) has {centre} and n/(d + 1) = 4/3"
    witness = "the four corners of the unit square, one example each"
    data = {"points": corners, "counts": ones, "depth": best, "depth of (1/2, 1/2)": centre}
    return tried(text, numbers, witness, data, failed=best < centerpoint_bound(4, 2))


Point = tuple[int, int]


def multisets(side: int, n: int) -> list[list[Point]]:
    """Return the multisets of n points of the grid of that side, each listed with repetitions."""
    grid = product(range(side + 1), range(side + 1))
    return [list(chosen) for chosen in combinations_with_replacement(grid, n)]


def depth_by_projections(points: list[Point], x: Point) -> int:
    """Return the least of min{#<a, y> >= <a, x>, #<a, y> <= <a, x>} over directions a of the plane.

    The counts change only at directions orthogonal to a vector from x to a point; those, and directions close to them
    on both sides, give all values.
    """
    away = [(p[0] - x[0], p[1] - x[1]) for p in points]
    least = len(points)
    for dx, dy in away:
        # 1000 (-dy, dx) -+ (dx, dy) is closer to the normal than any other normal of these few small vectors.
        for tilt in (-1, 0, 1):
            a = (-1000 * dy + tilt * dx, 1000 * dx + tilt * dy)
            heights = [a[0] * u + a[1] * v for u, v in away]
            least = min(least, sum(h >= 0 for h in heights), sum(h <= 0 for h in heights))
    return least


@cache
def in_hull(points: frozenset[Point], x: Point) -> bool:
    """Return whether x lies in the convex hull of points of the plane: of one, of two or of three of them."""
    if x in points:
        return True
    for p, q in combinations(sorted(points), 2):
        between = min(p[0], q[0]) <= x[0] <= max(p[0], q[0]) and min(p[1], q[1]) <= x[1] <= max(p[1], q[1])
        if between and cross(p, q, x) == 0:
            return True
    for p, q, r in combinations(sorted(points), 3):
        sides = {np.sign(cross(*edge, x)) for edge in ((p, q), (q, r), (r, p))}
        if cross(p, q, r) and not {-1, 1} <= sides:
            return True
    return False


def depth_by_removal(points: list[Point], x: Point) -> int:
    """Return the size of the smallest part of a multiset without which x is not in the convex hull of the rest."""
    sizes = range(len(points) + 1)
    rests = ((size, frozenset(kept)) for size in sizes for kept in combinations(points, len(points) - size))
    return next(size for size, rest in rests if not in_hull(rest, x))


def _same_depth(other: Callable[[list[Point], Point], int], name: str) -> Evidence:
    """Return the evidence that another definition gives the Tukey depth."""
    cases: list[dict[str, Any]] = []
    for side, n in ((2, 3), (1, 5)):
        for points, (x,) in product(multisets(side, n), multisets(side, 1)):
            depth = tukey_depth(np.array(points), np.ones(n, dtype=np.int64), x)
            cases.append({"points": points, "x": x, "depth": depth, "other": other(points, x)})
    misses = [case for case in cases if case["depth"] != case["other"]]
    data = misses[0] if misses else max(cases, key=lambda case: case["depth"])
    text = (
        f"{len(cases)} pairs of a multiset (3 of 3 x 3 points, 5 of 2 x 2 points) and a point: {name} is the depth "
        f"of {'some only' if misses else 'all'}"
    )
    return judged(text, {"cases": len(cases)}, f"{listed(data)}, {name} being the other", data, failed=bool(misses))


states(
    "BMNS-Clm2.17",
    "The Tukey depth is the least, over directions, of the smaller of the two closed sides' counts.",
    "Claim 2.17",
    short="The depth by projections",
    printed="equal",
    found="checked on {cases:,} cases",
    formula="td(x) = min_a t_a(<a, x>)",
    argument="A halfspace that holds x can be moved in parallel until x is on its boundary, and holds no more points "
    "then; t_a takes both sides.",
)(lambda tools: _same_depth(depth_by_projections, "the least count over directions"))


states(
    "BMNS-Clm2.18",
    "The Tukey depth of x is the size of the smallest A with x outside of the convex hull of S without A.",
    "Claim 2.18",
    short="The depth by removal",
    printed="equal",
    found="checked on {cases:,} cases",
    formula="td(x) = min |A|, A of S, with x outside of conv(S \\ A)",
    argument="x is outside of a convex hull if and only if some halfspace holds x and no point of it.",
)(lambda tools: _same_depth(depth_by_removal, "the least number to remove"))


@misprint(
    "BMNS-Thm4.2-rank",
    "The released point has a Tukey rank of at most r, r = m/(2 (d + 1)), with the probability that the proof needs.",
    "proof of Theorem 4.2, utility",
    short="The released point has rank at most r",
    printed="rank at most r",
    found="probability {probability:.2g}; at least r with {at least r:.3f}",
    best="at least r",
    formula="td <= r",
    argument="The same proof, two sentences before, has a Tukey depth of at least r, and needs it in the next line.",
)
def _rank(tools: Tools) -> Evidence:
    learner: Any = HullPointExponential(1, 2, 1.0)
    sample = learner.domain.sample(learner.domain.points(), [0] * 4, [60] * 4)
    law = learner.law(sample)
    # m/(2 (d + 1)) with d = 2.
    r = sample.n / 6
    depths = np.array([tukey_depth(sample.points, sample.counts, atom) for atom in law.atoms])
    low, high = (float(np.exp(law.log_prob)[kept].sum()) for kept in (depths <= r, depths >= r))
    text = (
        f"60 examples at each corner of the unit square, epsilon = 1: the depth is at most r = {r:g} with "
        f"probability {low:.3g}, and at least r with {high:.4f}: 'at least' is meant"
    )
    witness = f"60 examples at each corner of the unit square: depth at most {r:g} with probability {low:.3g}"
    data = {"learner": learner_data(learner), "sample": sample_data(sample), "r": r, "probability": low}
    # Of the two readings one is meant: the other one.
    return tried(text, {"probability": low, "at least r": high}, witness, data, failed=low < 0.5 < high)


@states(
    "BMNS-Joint",
    "One exponential mechanism over the extended domain, score the Tukey depth, is epsilon-private and needs no more "
    "examples for a point of depth n/(2 (d + 1)) than one a coordinate with epsilon/d each.",
    "Section 1.1",
    short="One exponential mechanism over all points, its ε and examples",
    printed="ε = 1, n ≤ {by coordinates, side 2} (side 2)",
    found="ε = {epsilon:.3g}, n = {joint, side 2} (side 2)",
    best="n = {joint, side 2} for {by coordinates, side 2} by coordinates (d = 2, side 2)",
    formula="O(d^3 log |X|), epsilon-private",
    argument="The depth has sensitivity 1, and X~ does not depend on the sample.",
)
def _joint(tools: Tools) -> Evidence:
    learner = HullPointJoint(1, 2, 1.0)
    corners = learner.domain.sample
    # The ray on which a corner's depth leaves 0 against every other's, and all samples of 3 corners.
    far = Pair(corners([[0, 0], [1, 1]], [0, 0], [200, 1]), corners([[0, 0]], [0], [201]), "(1, 1) replaced by (0, 0)")
    laws = law_of(tools, learner, n=3), law_of(tools, learner, samples=[far])
    worst = max(laws, key=lambda law: law.epsilon)
    examples: dict[str, float] = {}
    for side in (1, 2):
        examples[f"joint, side {side}"] = measured_examples(HullPointJoint(side, 2, 1.0), 0.1)
        examples[f"by coordinates, side {side}"] = measured_examples(HullPointExponential(side, 2, 1.0), 0.1)
    # The statement compares the two at the same promise and the same probability.
    more = any(examples[f"joint, side {side}"] > examples[f"by coordinates, side {side}"] for side in (1, 2))
    text = (
        f"d = 2, epsilon = 1: exact epsilon {worst.epsilon:.4f} over all samples of 3 corners and on a ray; n "
        f"for depth n/6 with probability 0.9 on the hardest of a few samples: {listed(examples)}"
    )
    numbers = {"epsilon": worst.epsilon, **examples}
    leaks = any(law.leaks for law in laws)
    return judged_law(worst, text, numbers, leaks=leaks, failed=more, witness=listed(examples))
