"""Claims of "Private center points and learning of halfspaces" (BMNS) that computation decides."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from dpaudit.contract import Claim, Evidence
from learners.broken.halfspaces import HalfspaceRefusing
from learners.concepts.halfspaces import Halfspaces
from learners.convex_hull_point import SOURCE, HullPointExponential, HullPointRecConcave, figure_1_share
from learners.domains import Grid
from learners.geometry.depth_regions import DepthRegions, spanned_normals
from learners.geometry.extended_domain import ExtendedDomain
from learners.geometry.tukey_depth import centerpoint_bound, tukey_depth, tukey_depths
from learners.halfspaces import HalfspaceTukey
from learners.lower_bounds import coefficients, named_point, theorem_51_slack
from learners.mechanisms.composition import Cost, advanced

__all__ = ["CLAIMS"]


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
    if best < centre:
        return Evidence("refuted", text, numbers, "exact", "the four corners of the unit square, one example each")
    return Evidence("holds", text, numbers, "exact")


def _extended(tools: Any) -> Evidence:
    misses = 0
    sizes: dict[str, float] = {}
    for side, n in ((1, 4), (2, 3)):
        extended, grid = ExtendedDomain.grid(side, 2), Grid(side, 2).points()
        for counts in _multisets(len(grid), n):
            found = extended.regions(grid, np.array(counts)).values((), extended.coordinates())
            misses += int(found.max() < centerpoint_bound(n, 2))
        sizes[f"|X~_1| of the grid of side {side}"] = extended.sizes[0]
        sizes[f"log10 of the bound, side {side}"] = math.log10(extended.bound())
    verdict = "loose" if not misses else "refuted"
    text = f"with d - i + 1 subspaces {misses} multisets lack a centerpoint; " + ", ".join(
        f"{k}: {v:.0f}" for k, v in sizes.items()
    )
    return Evidence(verdict, text, sizes, "exact", "" if not misses else f"{misses} multisets without a centerpoint")


def _printed_promise(tools: Any) -> Evidence:
    ratios = {}
    for d in (2, 3):
        learner = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1, literal=True)
        repaired = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1)
        n = 12 * d * (d + 1)
        target = Fraction(n, 2 * (d + 1))
        ratios[f"printed, d={d}"] = float(learner.guaranteed_depth(n) / target)
        ratios[f"repaired, d={d}"] = float(repaired.guaranteed_depth(n) / target)
    text = "share of n/(2(d+1)) that the last promise guarantees: " + ", ".join(
        f"{k}: {v:.3f}" for k, v in ratios.items()
    )
    failed = min(v for k, v in ratios.items() if k.startswith("printed")) < 1
    return Evidence(
        "refuted" if failed else "holds",
        text,
        ratios,
        "exact",
        "d = 2: (1 - 1/4)(n/3 - n/6) = n/8 < n/6" if failed else "",
    )


def _figure_1_share(tools: Any) -> Evidence:
    delta, slack = 1e-6, Fraction(1, 10**6) / 2
    for d in (1, 2, 3, 10, 100, 200):
        share = Cost(Fraction(figure_1_share(1.0, delta, d)), Fraction(delta) / (2 * d))
        if advanced([share] * d, slack).epsilon > 1:
            return Evidence("undecided", f"advanced composition gives more than 1 at d = {d}", {"d": d}, "numeric")
    first = next(d for d in range(1, 10**4) if figure_1_share(1.0, delta, d) > 1 / d)
    text = f"private by advanced composition; but epsilon_0 exceeds epsilon/d only from d = {first} on (delta = 1e-6)"
    return Evidence("loose", text, {"first d": first, "8 ln(2/delta)": 8 * math.log(2 / delta)}, "numeric")


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
    failed = top == 1 and max(on) < 3
    return Evidence(
        "refuted" if failed else "holds",
        text,
        {"points on a facet": max(on), "d + 1": 3},
        "exact",
        "the corners (0, 0), (3, 0), (1, 2), one example each" if failed else "",
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
    learner = HullPointExponential(1, 2, 1.0)
    finding = tools.audit_law(learner, n=4)
    text = f"worst epsilon over all samples of 4 corners: {finding.epsilon:.4f} of {learner.epsilon}"
    good = finding.verdict == "consistent"
    return Evidence("holds" if good else "refuted", text, {"epsilon": finding.epsilon}, "exact", "" if good else text)


def _aggregate(tools: Any) -> Evidence:
    learner = HalfspaceTukey(1, 1, 1.0)
    finding = tools.audit_law(learner, n=3)
    text = f"worst epsilon over all samples of 3 examples: {finding.epsilon:.4f} of {learner.epsilon}"
    good = finding.verdict == "consistent"
    return Evidence("holds" if good else "refuted", text, {"epsilon": finding.epsilon}, "exact", "" if good else text)


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
    points, b = [(1, 2), (2, 1)], (-1, -2)
    printed, repaired = named_point(b, points, literal=True), named_point(b, points)
    names = [0 if index is None else index + 1 for index in (printed, repaired)]
    text = f"b = -x_1: the largest coefficient names x_{names[0]}, the largest absolute one x_{names[1]}"
    failed = printed == 1 and repaired == 0
    numbers = {"printed": names[0], "repaired": names[1]}
    return Evidence(
        "refuted" if failed else "holds",
        text,
        numbers,
        "exact",
        "x_1 = (1, 2), x_2 = (2, 1), b = (-1, -2), a combination of S = {x_1}" if failed else "",
    )


def _span_count(tools: Any) -> Evidence:
    d = 10
    # Independent points of {1, 2}^10 whose last five coordinates agree: five of the data, and the answer b.
    vectors = [[1 + (j == i) for j in range(5)] + [1] * 5 for i in range(5)] + [[1] * 5 + [2] * 5]
    inside = sum(coefficients(point, vectors) is not None for point in product((1, 2), repeat=d))
    text = f"{inside} of the 2^10 points lie in the span: 2^(1 - d/2) of them, not 2^(-d/2); the rate of growth stays"
    failed = inside > 2 ** (d // 2)
    return Evidence(
        "refuted" if failed else "holds",
        text,
        {"points in the span": inside, "T^(d/2)": 2 ** (d // 2)},
        "exact",
        "d = 10, T = 2: I_-i and b span {x : the last five coordinates agree}" if failed else "",
    )


def _claim(id: str, place: str, statement: str, check: Any) -> Claim:
    return Claim(id, statement, f"{SOURCE}, {place}", check)


CLAIMS = (
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
