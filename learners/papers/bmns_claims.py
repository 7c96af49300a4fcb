"""Statements of BMNS on quasi-concave functions, on the depth along lines, and on where depth regions have corners."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Tools

from ..domains import Grid
from ..halfspaces.depth.extended_domain import ExtendedDomain
from ..halfspaces.depth.tukey_depth import tukey_depths
from .bmns_depth import Point, in_hull, multisets
from .evidence import tried
from .sizes import compositions
from .states import Answers, Cases, always, at_most, misprint, states

Place = tuple[Fraction, ...]
Line = tuple[int, int, int]


def dip(values: Sequence[int]) -> tuple[int, int, int] | None:
    """Return i < l < j with values[l] < min(values[i], values[j]); None if the sequence is quasi-concave."""
    moves = [b > a for a, b in pairwise(values) if a != b]
    triples = combinations(range(len(values) if moves != sorted(moves, reverse=True) else 0), 3)
    return next((ilj for ilj in triples if values[ilj[1]] < min(values[ilj[0]], values[ilj[2]])), None)


def lowest(one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Return the least of two functions at each index."""
    return [min(a, b) for a, b in zip(one, two, strict=True)]


@states(
    "BMNS-Clm2.12",
    "The least of finitely many quasi-concave functions is quasi-concave.",
    "Claim 2.12",
    short="The least of quasi-concave functions is quasi-concave",
    printed="quasi-concave",
    found="checked on {pairs:,} pairs",
    formula="f(x) = min_t f_t(x) is quasi-concave",
    argument="f(l) >= min_t min(f_t(i), f_t(j)) = min(f(i), f(j)) for i <= l <= j.",
)
@always("all {pairs} pairs of quasi-concave functions on 5 indices with values 0, 1, 2: {wrong} dips", "pairs")
def _least() -> Answers:
    concave = [f for f in product(range(3), repeat=5) if dip(f) is None]
    for one, two in combinations(concave, 2):
        least = lowest(one, two)
        yield dip(least) is None, {"functions": [one, two], "least": least}


def depths(points: Sequence[Point], where: Sequence[Place]) -> list[int]:
    """Return the Tukey depths of places in a multiset that is listed with repetitions."""
    table = np.array(points, dtype=np.int64)
    return [int(v) for v in tukey_depths(table, np.ones(len(table), dtype=np.int64), list(where))]


# All multisets of 4 of 2 x 2 points, and every ninth of 4 of 3 x 3 points.
FOURS = multisets(1, 4) + multisets(2, 4)[::9]


@states(
    "BMNS-Obs2.16",
    "The Tukey depth of a point is of sensitivity 1.",
    "Observation 2.16",
    short="The sensitivity of the Tukey depth",
    printed="1",
    found="{sensitivity}",
    formula="|td_S(x) - td_S'(x)| <= 1 for neighbours S, S'",
    argument="A replaced point moves the count of each halfspace by at most 1, and so their minimum.",
)
@at_most(
    1,
    "{cases} pairs of neighbours, 4 points of the grids of side 1 and 2, 25 places: moves by at most {sensitivity}",
    "sensitivity",
)
def _sensitivity() -> Cases:
    where = [(Fraction(x, 2), Fraction(y, 2)) for x, y in product(range(5), repeat=2)]
    for points, moved in product(FOURS, ((0, 0), (1, 0), (1, 1))):
        neighbour = [*points[1:], moved]
        move = max(abs(a - b) for a, b in zip(depths(points, where), depths(neighbour, where), strict=True))
        yield move, {"points": points, "neighbour": neighbour, "sensitivity": move}


@states(
    "BMNS-Clm3.2",
    "w -> min(#{<a, y> >= w}, #{<a, y> <= w}) is quasi-concave for every direction a.",
    "Claim 3.2",
    short="The lesser count over a line is quasi-concave",
    printed="quasi-concave",
    found="checked on {cases:,} multisets and directions",
    formula="t_a(w) is quasi-concave",
    argument="One count falls with w, the other rises: both are quasi-concave, and so is the lesser by Claim 2.12.",
)
@always("{cases} multisets of 4 points and directions, w in steps of 1/2: {wrong} dips")
def _lesser() -> Answers:
    for points, a in product(FOURS, ((1, 0), (1, 1), (2, -1), (-3, 1), (0, 0))):
        heights = [2 * (a[0] * x + a[1] * y) for x, y in points]
        counts = [(sum(h >= w for h in heights), sum(h <= w for h in heights)) for w in range(-15, 16)]
        yield dip([min(pair) for pair in counts]) is None, {"points": points, "a": a}


def along(points: Sequence[Point], start: tuple[int, int], step: tuple[int, int]) -> list[int]:
    """Return the depths at start + t step / 4, t = -4 .. 12."""
    return depths(
        points, [(start[0] + Fraction(t * step[0], 4), start[1] + Fraction(t * step[1], 4)) for t in range(-4, 13)]
    )


@states(
    "BMNS-Clm3.3",
    "The Tukey depth along a line is quasi-concave.",
    "Claim 3.3",
    short="The depth along a line is quasi-concave",
    printed="quasi-concave",
    found="checked on {lines:,} multisets and lines",
    formula="t -> td(alpha t + beta) is quasi-concave",
    argument="A direction that gives the depth at the middle gives at least the depth at one of the ends there, by "
    "Claim 3.2. The function that maps t to the height need not be increasing or decreasing, it may be constant as "
    "well.",
)
@always("{lines} multisets of 4 points and lines, 17 places on each: {wrong} dips", "lines")
def _along() -> Answers:
    # The last one stays at a point: the map of the claim may be constant.
    lines = (((0, 0), (1, 1)), ((0, 1), (1, 0)), ((2, 0), (-1, 2)), ((1, 1), (0, 0)))
    for points, (start, step) in product(FOURS, lines):
        yield dip(along(points, start, step)) is None, {"points": points, "start": start, "step": step}


@misprint(
    "BMNS-Clm3.3-line",
    "min(td at t_0, td at t_2) = min(td at t_0, td at t_1) for t_0 < t_1 < t_2.",
    "proof of Claim 3.3, last line",
    short="The last line of the proof on depth along a line",
    printed="t_1",
    found="{with t_1} where t_2 gives {with t_2}",
    best="t_2 in the place of t_1",
    formula="min{td(alpha t_0 + beta), td(alpha t_2 + beta)} = min{tdl(t_0), tdl(t_1)}",
    argument="The line before has t_2, and the claim is about t_0 and t_2.",
)
def _last_line(tools: Tools) -> Evidence:
    points = [(0, 0), (2, 0), (2, 2), (0, 2)]
    first, middle, end = found = depths(points, [(Fraction(t), Fraction(t)) for t in (0, 1, 3)])
    numbers = {"with t_1": min(first, middle), "with t_2": min(first, end)}
    text = (
        f"the corners of a square, along its diagonal: depths {first}, {middle}, {end} at a corner, the centre, outside"
    )
    data = {"points": points, "places": [[t, t] for t in (0, 1, 3)], "depths": found}
    return tried(text, numbers, text, data, failed=numbers["with t_1"] != numbers["with t_2"])


def lines_through(points: Iterable[Point]) -> set[Line]:
    """Return the lines (a, b, t), a x + b y = t in lowest terms, through two distinct points."""
    found = set()
    for (x, y), (u, v) in combinations(sorted(set(points)), 2):
        a = v - y
        b = x - u
        # Lowest terms with one sign, so that a line found by several pairs is found once.
        scale = math.gcd(a, b) * (1 if (a, b) > (0, 0) else -1)
        found.add((a // scale, b // scale, (a * x + b * y) // scale))
    return found


def corners(points: Sequence[Point]) -> set[Place]:
    """Return the points of a multiset, and where two lines through two of them meet in one point."""
    found: set[Place] = {(Fraction(x), Fraction(y)) for x, y in points}
    for (a, b, s), (c, d, t) in combinations(lines_through(points), 2):
        if det := a * d - b * c:
            found.add((Fraction(s * d - b * t, det), Fraction(a * t - s * c, det)))
    return found


@states(
    "BMNS-Fact2.20",
    "T(r) is the convex hull of common points of affine subspaces that points of S span, for every r > 0.",
    "Fact 2.20",
    short="Where depth regions have their corners",
    printed="spanned by points of S",
    found="checked on {cases:,} multisets and places",
    formula="the faces of the polytope T(r) = {x : td(x) >= r} lie in subspaces that points of S span",
)
@always(
    "{cases} multisets of 4 points with places of positive depth, in steps of 1/3: {wrong} outside of the hull of the "
    "corners that are at least as deep"
)
def _regions() -> Answers:
    where = [(Fraction(x, 3), Fraction(y, 3)) for x, y in product(range(7), repeat=2)]
    for points in FOURS[::3]:
        spots = sorted(corners(points))
        found = dict(zip(spots, depths(points, spots), strict=True))
        shown = {"points": points, "corners": [[str(c) for c in spot] for spot in spots]}
        for x, r in zip(where, depths(points, where), strict=True):
            deep: Any = frozenset(spot for spot in spots if found[spot] >= r)
            if r > 0:
                right = in_hull(deep, x)
                yield right, shown if right else {"points": points, "x": [str(c) for c in x], "depth": r}


def deepest(points: Sequence[Point], x: Fraction) -> int:
    """Return max over real y of the depth of (x, y): it changes only where a line through two points meets x."""
    stops = {Fraction(y) for u, y in points if u == x}
    stops |= {(t - a * x) / b for a, b, t in lines_through(points) if b}
    order = sorted(stops)
    # Between neighbouring lines the depth is constant, and at most that at either end: any point of a gap shows it.
    between = [(low + high) / 2 for low, high in pairwise(order)]
    return max(depths(points, [(x, y) for y in (*order, *between)]), default=0)


@states(
    "BMNS-Clm3.5-prefixes",
    "After every prefix in X~ the greatest depth over the reals is attained on X~, with d - i + 1 subspaces.",
    "Claim 3.5, equation (5), with d - i + 1 subspaces",
    short="Q attains its maximum on the candidates after every prefix",
    printed="attained",
    found="attained in {cases:,} cases",
    formula="max over real x_(i+1) .. x_d of td(x*_1 .. x*_(i-1), x_i .. x_d) = td(x*_1 .. x*_(i-1), x^m_i .. x^m_d)",
)
@always(
    "{cases} multisets (4 of 2 x 2, some of 3 of 3 x 3 points) and prefixes, the empty one included: the maximum over "
    "the reals is missed {wrong} times"
)
def _prefixes() -> Answers:
    for side, n, step in ((1, 4, 1), (2, 3, 16)):
        extended = ExtendedDomain.grid(side, 2)
        grid = Grid(side, 2).points()
        for counts in list(compositions(n, len(grid)))[::step]:
            regions = extended.regions(grid, np.array(counts))
            points = list(map(tuple, np.repeat(grid, counts, axis=0).tolist()))
            truths: dict[Place, int] = {(): max(depths(points, sorted(corners(points))))}
            truths |= {(x,): deepest(points, x) for x in extended.coordinates()}
            for prefix, truth in truths.items():
                attained = int(regions.values(prefix, extended.coordinates(prefix)).max())
                missed = {"attained": attained} if attained < truth else {}
                yield not missed, {"points": points, "prefix": list(map(str, prefix)), **missed, "depth": truth}
