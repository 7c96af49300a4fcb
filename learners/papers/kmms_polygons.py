"""Statements of KMMS on convex polygons and unions of polygons (Sections 4 and 5) that computation can decide."""

from __future__ import annotations

import math
from functools import cmp_to_key
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from dpaudit.contract import Constants, Evidence, Tools, Verdict

from ..covers.game import game_epsilon
from ..geometry.polygons import contains, cross, triangulate
from ..regions.families import triangle_family
from ..regions.region_cover import ConvexPolygon, PolygonUnion
from .evidence import pair_data
from .sizes import judged_sizes
from .verdicts import judged, statements_in, states, tightness

Corner = tuple[int, int]

SMALL: dict[str, Any] = {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}


@states(
    "KMMS-Claim4.3",
    "eps_hat = epsilon/(2 ln(e/delta)) suffices for polygons, at (1, 1e-6), d = 1",
    "Claim 4.3",
    formula="eps_hat = O(epsilon/log(1/delta))",
    constants=Constants.OURS,
    short="The budget of a round, for polygons",
    printed="{eps_hat:.3g} a round: ε ≤ 1 in all",
    found="ε = {exact, convex-polygon:.3g} in all, exactly (k = 1, n = 3)",
    best="ε = {game, k=1, J=3:.3g} at most, by the game (k = 1)",
)
def _claim_43(tools: Tools) -> Evidence:
    share = 1 / (2 * (1 - math.log(1e-6)))
    learners = [kind(**SMALL) for kind in (ConvexPolygon, PolygonUnion)]
    laws = [tools.audit_law(learner, n=3) for learner in learners]
    upper = max(game_epsilon(1, one.rounds, one.selection_epsilon / 2, one.delta, reach=0.4) for one in learners)
    numbers = {"eps_hat": share}
    numbers |= {f"exact, {one.id}": law.epsilon for one, law in zip(learners, laws, strict=True)}
    numbers["game, k=1, J=3"] = upper
    summary = (
        f"eps_hat = epsilon/(2 ln(e/delta)) = {share:.4f} at (1, 1e-6) costs {numbers['exact, convex-polygon']:.3f} "
        f"(convex) and {numbers['exact, polygon-union']:.3f} (unions) exactly at d = 1, k = 1, n = 3, and at most "
        f"{upper:.3f} on any sample by the game, which holds for any measure on the hypotheses"
    )
    leaky = [i for i, law in enumerate(laws) if law.verdict == Verdict.VIOLATION]
    shown = leaky[0] if leaky else -1
    pair, epsilon = laws[shown].worst_pair, laws[shown].epsilon
    data = {**pair_data(learners[shown], pair, epsilon=epsilon), "eps_hat": share}
    # The game bounds the cost from above: it can show the statement; only the exact laws can contradict it.
    verdict = Verdict.UNDECIDED if upper > 1 else tightness(upper, 1)
    return judged(verdict, summary, numbers, repr(pair), data, failed=bool(leaky), grade="numeric")


def random_polygon(rng: np.random.Generator, side: int, corners: int) -> list[Corner] | None:
    """Return a simple polygon seen as a star from the middle of the grid, counter-clockwise, or None if none came up.

    `side` is even. Random corners are sorted by angle; every two neighbours must turn left around the middle.
    """
    middle = (side // 2, side // 2)
    drawn = {(int(x), int(y)) for x, y in rng.integers(0, side + 1, (corners, 2))} - {middle}

    def upper(p: Corner) -> bool:
        return (p[1], p[0]) > (middle[1], middle[0])

    def before(p: Corner, q: Corner) -> int:
        return -1 if upper(p) > upper(q) or (upper(p) == upper(q) and cross(middle, p, q) > 0) else 1

    ordered = sorted(sorted(drawn), key=cmp_to_key(before))
    if len(ordered) < 3 or any(cross(middle, p, q) <= 0 for p, q in pairwise([*ordered, ordered[0]])):
        return None
    return ordered


@states(
    "KMMS-VCtri",
    "a simple polygon with k edges is a union of at most k triangles, each three halfplanes",
    "Section 5",
    formula="k-GON is in TRIANGLE^(or k), in (HALFPLANE^(and 3))^(or k)",
    short="A polygon of k edges is a union of at most k triangles",
    printed="all",
    found="checked: {polygons} star-shaped polygons",
    slow=True,
)
def _triangles(tools: Tools) -> Evidence:
    rng, side = np.random.default_rng(0), 12
    grid = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    polygons, bent, witness = 0, 0, ""
    for attempt in range(150):
        corners = random_polygon(rng, side, 5 + attempt % 8)
        if corners is None:
            continue
        parts = triangulate(corners)
        inside = {p for p in grid if contains(corners, p)}
        union = {p for p in grid if any(contains(list(part), p) for part in parts)}
        if inside != union or len(parts) > len(corners) - 2:
            witness = witness or f"corners {corners}: no union of k - 2 triangles"
        polygons += 1
        ring = [corners[-1], *corners, corners[0]]
        bent += any(cross(*ring[i : i + 3]) < 0 for i in range(len(corners)))
    small = [(x, y) for x in range(4) for y in range(4)]
    known = {row.tobytes() for row in triangle_family(3).labels}
    left = [chosen if cross(*chosen) >= 0 else chosen[::-1] for chosen in combinations(small, 3)]
    shapes = [ears[0] for chosen in left if (ears := triangulate(list(chosen)))]
    for shape in shapes:
        labels = np.array([contains(list(shape), p) for p in small], dtype=np.uint8)
        if labels.tobytes() not in known:
            witness = witness or f"corners {shape}: no three halfplanes make this triangle"
    numbers = {"polygons": polygons, "not convex": bent, "triangles at d=3": len(shapes)}
    summary = (
        f"{polygons} random star-shaped polygons at d = 12 ({bent} of them not convex) are unions of at most k - 2 "
        f"triangles on the grid, and three halfplanes of the box make all {len(shapes)} triangles at d = 3"
    )
    data = {"corners": corners or [], "triangles": triangulate(corners) if corners else []}
    return judged(Verdict.HOLDS, summary, numbers, witness, data)


def _utility(kind: type[ConvexPolygon] | type[PolygonUnion], k: int, tools: Tools) -> Evidence:
    learner = kind(side=2, k=k, epsilon=1.0, delta=1e-6, alpha=0.1, beta=0.05)
    cases = [("d = 2", learner, learner.concepts.size // 2, "uniform")]
    setup = f"side 2, k = {k}, alpha = beta = 0.2, uniform distribution, middle concept"
    return judged_sizes(tools, setup, cases, alpha=0.2, beta=0.2, halvings=6)


_convex_polygon = states(
    "KMMS-Thm4.7",
    "with the explicit sample size convex-polygon is an (alpha, beta)-PAC learner, d = 2",
    "Theorem 4.7",
    formula="n = O~((k/(alpha epsilon)) log d)",
    constants=Constants.OURS,
    short="Examples for convex polygons",
    printed="n = {d = 2: theorem's n:,}",
    found="n = {d = 2: enough:,} is enough",
    best="n = {d = 2: enough:,} on the case tried",
)(lambda tools: _utility(ConvexPolygon, 3, tools))


_polygon_union = states(
    "KMMS-Thm5.1",
    "with the explicit sample size polygon-union is an (alpha, beta)-PAC learner, d = 2",
    "Theorem 5.1",
    formula="n = O~((k/(alpha epsilon)) log d)",
    constants=Constants.OURS,
    short="Examples for unions of polygons",
    printed="n = {d = 2: theorem's n:,}",
    found="n = {d = 2: enough:,} is enough",
    best="n = {d = 2: enough:,} on the case tried",
)(lambda tools: _utility(PolygonUnion, 2, tools))


STATEMENTS = statements_in(globals())
