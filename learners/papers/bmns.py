"""Claims of "Private center points and learning of halfspaces" (BMNS) that computation decides."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Statement
from learners.citations import BMNS
from learners.domains import Grid
from learners.halfspaces.concepts import Halfspaces
from learners.halfspaces.controls import HalfspaceRefusing
from learners.halfspaces.depth.depth_regions import DepthRegions, spanned_normals
from learners.halfspaces.depth.extended_domain import ExtendedDomain
from learners.halfspaces.depth.tukey_depth import centerpoint_bound, tukey_depth, tukey_depths
from learners.halfspaces.hull_point_exponential import HullPointExponential
from learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from learners.halfspaces.lower_bound import coefficients, named_point, theorem_51_slack
from learners.halfspaces.sizes import figure_1_share
from learners.halfspaces.tukey import HalfspaceTukey
from learners.papers.optimal_composition import composed_delta, greatest_share
from learners.papers.verdicts import exceeds, judged, tightness

__all__ = ["STATEMENTS"]


def _multisets(size: int, n: int) -> list[tuple[int, ...]]:
    """Return all count vectors of n examples on `size` points."""
    found = []
    for bars in combinations(range(n + size - 1), size - 1):
        edges = [-1, *bars, n + size - 1]
        found.append(tuple(b - a - 1 for a, b in pairwise(edges)))
    return found


def _extended_literal(tools: Any) -> Evidence:
    corners, ones = Grid(1, 2).points(), np.ones(4, dtype=np.int64)
    half = Fraction(1, 2)
    best = int(tukey_depths(corners, ones, ExtendedDomain.grid(1, 2, literal=True).points).max())
    centre = tukey_depth(corners, ones, (half, half))
    numbers = {"depth on the literal domain": best, "depth of (1/2, 1/2)": centre, "n/(d+1)": 4 / 3}
    text = f"with d - i subspaces the deepest point has depth {best}; (1/2, 1/2) has {centre} and n/(d + 1) = 4/3"
    return judged(
        "undecided",
        failed=best < centerpoint_bound(4, 2),
        summary=text,
        numbers=numbers,
        witness="the four corners of the unit square, one example each",
    )


def _extended(tools: Any) -> Evidence:
    misses, witness, share = 0, "", 0.0
    sizes: dict[str, float] = {}
    for side, n in ((1, 4), (2, 3)):
        extended, grid = ExtendedDomain.grid(side, 2), Grid(side, 2).points()
        for counts in _multisets(len(grid), n):
            found = extended.regions(grid, np.array(counts)).values((), extended.coordinates())
            if found.max() < centerpoint_bound(n, 2):
                misses, witness = misses + 1, f"counts {counts} on the grid of side {side}: depth {found.max()}"
        bound = extended.bound()
        for axis in (1, 2):
            size = len(extended.union(axis))
            sizes[f"|X~_{axis}| of the grid of side {side}"] = size
            share = max(share, size / bound)
            if size > bound:
                witness = f"the grid of side {side}: {size} candidates on axis {axis}, bound {bound}"
        sizes[f"log10 of the bound, side {side}"] = math.log10(bound)
    text = f"with d - i + 1 subspaces {misses} multisets lack a centerpoint; " + ", ".join(
        f"{k}: {v:.0f}" for k, v in sizes.items()
    )
    return judged(tightness(share, 1), failed=bool(witness), summary=text, numbers=sizes, witness=witness)


def _printed_promise(tools: Any) -> Evidence:
    ratios, least, witness = {}, Fraction(1), ""
    for d in (2, 3):
        learner = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1, literal=True)
        repaired = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1)
        n = 12 * d * (d + 1)
        target = Fraction(n, 2 * (d + 1))
        depth = learner.guaranteed_depth(n)
        if depth / target < least:
            least = depth / target
            witness = f"d = {d}, n = {n}: the last promise guarantees depth {depth}, not {target}"
        ratios[f"printed, d={d}"] = float(depth / target)
        ratios[f"repaired, d={d}"] = float(repaired.guaranteed_depth(n) / target)
    text = "share of n/(2(d+1)) that the last promise guarantees: " + ", ".join(
        f"{k}: {v:.3f}" for k, v in ratios.items()
    )
    return judged("holds", failed=bool(witness), summary=text, numbers=ratios, witness=witness)


def _figure_1_share(tools: Any) -> Evidence:
    delta, most, witness = 1e-6, 0.0, ""
    for d in (1, 2, 3, 10, 100, 200):
        share, each = figure_1_share(1.0, delta, d), delta / (2 * d)
        most = max(most, share / greatest_share(d, each, 1.0, delta))
        if exceeds(cost := composed_delta(d, share, each, 1.0), delta):
            witness = f"d = {d} calls that are randomised response: delta {cost:.3g} at epsilon = 1, not {delta:g}"
    first = next((d for d in range(1, 10**4) if figure_1_share(1.0, delta, d) > 1 / d), math.inf)
    text = (
        f"at (1, 1e-6) and d up to 200 epsilon_0 is at most {most:.2f} of what exact composition allows, and exceeds "
        f"epsilon/d only from d = {first} on"
    )
    numbers = {"first d": first, "8 ln(2/delta)": 8 * math.log(2 / delta), "share of the allowed epsilon_0": most}
    verdict = tightness(most, 1)
    return judged(verdict, failed=bool(witness), summary=text, numbers=numbers, grade="numeric", witness=witness)


def _centerpoint(tools: Any) -> Evidence:
    least = math.inf
    for side, sizes in ((1, (1, 2, 3, 4, 5, 6)), (2, (1, 2, 3))):
        extended, grid = ExtendedDomain.grid(side, 2), Grid(side, 2).points()
        for n in sizes:
            for counts in _multisets(len(grid), n):
                found = int(extended.regions(grid, np.array(counts)).values((), extended.coordinates()).max())
                least = min(least, 3 * found / n)
    text = f"least (d + 1) max depth / n over all multisets of n <= 6 on 2 x 2 and n <= 3 on 3 x 3 points: {least:.3f}"
    return Evidence(
        "holds" if least >= 1 else "refuted", text, {"least ratio": least}, "exact", "" if least >= 1 else text
    )


def _dichotomies(tools: Any) -> Evidence:
    numbers, holds = {}, True
    for side, d in ((1, 1), (7, 1), (1, 2), (2, 2), (3, 2), (1, 3)):
        size, points = Halfspaces(side, d).size, (side + 1) ** d
        numbers[f"side {side}, d={d}"] = size
        holds &= size <= 2 * points ** (d + 1)
    text = "|HALFSPACE(X)|: " + ", ".join(f"{k}: {v}" for k, v in numbers.items())
    return Evidence("holds" if holds else "refuted", text, numbers, "exact", "" if holds else text)


def _facets(tools: Any) -> Evidence:
    triangle, ones = np.array([[0, 0], [3, 0], [1, 2]]), np.ones(3, dtype=np.int64)
    regions = DepthRegions(triangle, ones, spanned_normals(triangle))
    top = max(level for level in regions.levels if regions.function()(Fraction(1)) >= level)
    on = [int((_side(triangle, a, b) == 0).sum()) for a, b in combinations(triangle, 2)]
    text = f"the Tukey medians of a triangle (depth {top}) are the triangle; its edges pass through {on} of the points"
    return judged(
        "undecided",
        failed=top == 1 and min(on) < 3,
        summary=text,
        numbers={"points on a facet": min(on), "d + 1": 3},
        witness="the corners (0, 0), (3, 0), (1, 2), one example each",
    )


def _side(points: Any, a: Any, b: Any) -> Any:
    """Return on which side of the line through a and b the points lie."""
    return (b[0] - a[0]) * (points[:, 1] - a[1]) - (b[1] - a[1]) * (points[:, 0] - a[0])


def _quasi_concave(tools: Any) -> Evidence:
    grid, extended = Grid(1, 2).points(), ExtendedDomain.grid(1, 2)
    xs = extended.coordinates()
    tables = {}
    for counts in _multisets(4, 4):
        regions = extended.regions(grid, np.array(counts))
        tables[counts] = [regions.values((), xs), *(regions.values((x,), extended.coordinates((x,))) for x in xs)]
    dips = sum(
        int(q[j] < min(q[i], q[k])) for t in tables.values() for q in t for i, j, k in combinations(range(len(q)), 3)
    )
    moves = [
        int(np.abs(p - q).max())
        for a, b in product(tables, repeat=2)
        if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2
        for p, q in zip(tables[a], tables[b], strict=True)
    ]
    text = f"all 35 multisets of 4 corners: {dips} dips in Q, and Q moves by at most {max(moves)} between neighbours"
    good = dips == 0 and max(moves) <= 1
    numbers = {"dips": dips, "sensitivity": max(moves)}
    return Evidence("holds" if good else "refuted", text, numbers, "exact", "" if good else text)


def _pure_hull_point(tools: Any) -> Evidence:
    return _private(tools, HullPointExponential(1, 2, 1.0), 4, "corners")


def _aggregate(tools: Any) -> Evidence:
    return _private(tools, HalfspaceTukey(1, 1, 1.0), 3, "examples")


def _private(tools: Any, learner: Any, n: int, what: str) -> Evidence:
    """Compare a learner's exact epsilon on all samples of n with its claim."""
    finding = tools.audit_law(learner, n=n)
    return judged(
        "holds",
        failed=finding.verdict == "violation",
        summary=f"worst epsilon over all samples of {n} {what}: {finding.epsilon:.4f} of {learner.epsilon}",
        numbers={"epsilon": finding.epsilon},
        witness=repr(finding.worst_pair),
    )


def _unrealizable(tools: Any) -> Evidence:
    finding = tools.audit_law(HalfspaceRefusing(1, 1, 1.0), n=3)
    delta = finding.delta_at_claim
    text = f"if step 3 stops where a subsample is inconsistent, delta at epsilon = 1 is {delta:.4f} instead of 1e-6"
    failed = finding.verdict == "violation"
    witness = f"{finding.worst_pair.data!r} against {finding.worst_pair.neighbour!r}" if failed else ""
    return Evidence("refuted" if failed else "holds", text, {"delta": delta}, "exact", witness)


def _inequality(tools: Any) -> Evidence:
    slacks = {(d, side): theorem_51_slack(d, side) for d in range(10, 60) for side in range(1, 49)}
    worst = min(slacks.values())
    text = f"least slack over d = 10 .. 59 and T = 2 .. 49: {float(worst):.5f}"
    good = worst >= 0
    return Evidence("holds" if good else "refuted", text, {"slack": float(worst)}, "exact", "" if good else text)


def _largest_coefficient(tools: Any) -> Evidence:
    tried, outside, witness = 0, {"printed": 0, "repaired": 0}, ""
    for one, two in permutations(product((1, 2), repeat=2), 2):
        if one[0] * two[1] == one[1] * two[0]:
            continue
        for factor in (-2, -1, 1, 2):
            b, tried = (factor * one[0], factor * one[1]), tried + 1
            # S = {x_1}; no answer at all is no point of S either.
            outside["repaired"] += named_point(b, [one, two]) != 0
            if named_point(b, [one, two], literal=True) != 0:
                outside["printed"] += 1
                witness = witness or f"x_1 = {one}, x_2 = {two}, b = {b} = {factor} x_1, a combination of S = {{x_1}}"
    text = (
        f"{tried} multiples b of x_1, x_1 and x_2 in {{1, 2}}^2: the largest coefficient names another point in "
        f"{outside['printed']} cases, the largest absolute one in {outside['repaired']}"
    )
    return judged("holds", failed=bool(witness), summary=text, numbers={"cases": tried, **outside}, witness=witness)


def _span_count(tools: Any) -> Evidence:
    d = 10
    # Independent points of {1, 2}^10 whose last five coordinates agree: five of the data, and the answer b.
    vectors = [[1 + (j == i) for j in range(5)] + [1] * 5 for i in range(5)] + [[1] * 5 + [2] * 5]
    inside = sum(coefficients(point, vectors) is not None for point in product((1, 2), repeat=d))
    most = 2 ** (d // 2)
    return judged(
        "undecided",
        failed=inside > most,
        summary=f"{inside} of the 2^10 points lie in the span of I_-i and b, where T^(-d/2) of them are {most}: a "
        f"factor of {inside / most:g}, which leaves the rate of growth",
        numbers={"points in the span": inside, "T^(d/2)": most},
        witness="d = 10, T = 2: I_-i and b span {x : the last five coordinates agree}",
    )


def _claim(id: str, place: str, statement: str, check: Any) -> Statement:
    return Statement(id, statement, f"{BMNS}, {place}", check)


STATEMENTS = (
    _claim("BMNS-Clm2.19", "Claim 2.19", "Every multiset of n points has a point of depth n/(d + 1).", _centerpoint),
    _claim(
        "BMNS-Fact2.20-remark",
        "remark after Fact 2.20",
        "If the set of Tukey medians has dimension d, each facet's hyperplane passes through d + 1 points of S.",
        _facets,
    ),
    _claim("BMNS-Lem3.4", "Lemma 3.4", "Q is quasi-concave and has sensitivity 1.", _quasi_concave),
    _claim(
        "BMNS-Clm3.5",
        "Claim 3.5, with d - i + 1 subspaces",
        "Q attains its maximum over X~, of size at most (d |X|^(d^2 (d+1)))^(2^d) an axis.",
        _extended,
    ),
    _claim(
        "BMNS-Clm3.5-literal",
        "proof of Claim 3.5",
        "Intersections with d - i subspaces contain a point of depth n/(d + 1) for every multiset.",
        _extended_literal,
    ),
    _claim(
        "BMNS-Fig1-r",
        "Figure 1",
        "With r = n/(d+1) - (i-1) n/(d (d+1)) the last promise guarantees depth n/(2 (d+1)).",
        _printed_promise,
    ),
    _claim(
        "BMNS-Fig1-epsilon",
        "Figure 1",
        "epsilon_0 = epsilon/(2 sqrt(2 d ln(2/delta))) a coordinate gives (epsilon, delta)-privacy.",
        _figure_1_share,
    ),
    _claim(
        "BMNS-Exponential",
        "Section 1.1",
        "The exponential mechanism with Tukey depth, epsilon/d a coordinate, is epsilon-private.",
        _pure_hull_point,
    ),
    _claim("BMNS-Clm4.1", "Claim 4.1", "|HALFSPACE(X)| <= 2 |X|^(d + 1).", _dichotomies),
    _claim(
        "BMNS-Thm4.2",
        "Theorem 4.2, privacy",
        "LearnHalfSpace, with a default where a subsample is inconsistent, is as private as the release it calls.",
        _aggregate,
    ),
    _claim(
        "BMNS-Fig2-step3",
        "Figure 2, step 3",
        "Step 3 may be left undefined on subsamples that no halfspace fits, without loss of privacy.",
        _unrealizable,
    ),
    _claim(
        "BMNS-Thm5.1-inequality",
        "proof of Theorem 5.1",
        "(1 - beta - (d/2) T^(-d/2)) 2/d >= 1/(2 d) for beta <= 1/2, T >= 2, d >= 10.",
        _inequality,
    ),
    _claim(
        "BMNS-Thm5.1-count",
        "proof of Theorem 5.1",
        "For b a function of the d/2 points I_-i, given these, x_i is in span(I_-i, b) w.p. at most T^(-d/2).",
        _span_count,
    ),
    _claim(
        "BMNS-Thm5.1-procedure",
        "proof of Theorem 5.1",
        "If b is in span(S), the point of I with the largest coefficient is in S.",
        _largest_coefficient,
    ),
)
