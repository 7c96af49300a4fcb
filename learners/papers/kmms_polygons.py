"""Statements of KMMS on polygons and other regions (Sections 4 to 6)."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, StatementVerdict, Tools

from ..covers.accounting import game_epsilon, paper_share
from ..geometry.polygons import contains, cross, triangulate
from ..regions.families import triangle_family
from ..regions.polynomials import PolynomialSelect
from ..regions.polytopes import SimplexSelect
from ..regions.region_cover import ConvexPolygon, PolygonUnion
from .evidence import judged, judged_law, judged_loss, law_of, losses_of, tightness
from .sizes import judged_sizes
from .states import derived, states

Corner = tuple[int, int]

SMALL: dict[str, Any] = {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}


@derived(
    "KMMS-Claim4.3",
    "eps_hat = epsilon/(2 ln(e/delta)) suffices for polygons, at (1, 1e-6), d = 1",
    "Claim 4.3",
    formula="eps_hat = O(epsilon/log(1/delta))",
    short="The budget of a round, for polygons",
    printed="{eps_hat:.3g} a round: ε ≤ 1 in all",
    found="ε = {exact, convex-polygon:.3g} in all, exactly (k = 1, n = 3)",
    best="ε = {game, k=1, J=3:.3g} at most, by the game (k = 1)",
)
def _claim_43(tools: Tools) -> Evidence:
    share = paper_share(1.0, 1e-6)
    laws = [law_of(tools, kind(**SMALL), n=3) for kind in (ConvexPolygon, PolygonUnion)]
    convex, union = (law.epsilon for law in laws)
    learners = (law.learner for law in laws)
    upper = max(game_epsilon(1, one.rounds, one.selection_epsilon / 2, one.delta, reach=0.4) for one in learners)
    numbers = {"eps_hat": share, "exact, convex-polygon": convex, "exact, polygon-union": union}
    numbers["game, k=1, J=3"] = upper
    law = next((law for law in laws if law.leaks), laws[-1])
    return judged_law(
        law,
        f"eps_hat = epsilon/(2 ln(e/delta)) = {share:.4f} at (1, 1e-6) costs {convex:.3f} "
        f"(convex) and {union:.3f} (unions) exactly at d = 1, k = 1, n = 3, and at most "
        f"{upper:.3f} on any sample by the game, which holds for any measure on the hypotheses",
        numbers,
        # The game bounds the cost from above: it can show the statement; only the exact laws can contradict it.
        otherwise=StatementVerdict.UNDECIDED if upper > 1 else tightness(upper, 1),
        data={**law.data, "eps_hat": share},
        grade="numeric",
    )


def random_polygon(rng: np.random.Generator, side: int, corners: int) -> list[Corner] | None:
    """Return a simple polygon seen as a star from the middle of the grid, counter-clockwise, or None if none came up.

    `side` is even. Random corners are sorted by angle; every two neighbours must turn left around the middle.
    """
    m = side // 2
    drawn = {(int(x), int(y)) for x, y in rng.integers(0, side + 1, (corners, 2))} - {(m, m)}
    ordered = sorted(drawn, key=lambda p: math.atan2(p[1] - m, p[0] - m) % (2 * math.pi))
    if len(ordered) < 3 or any(cross((m, m), p, q) <= 0 for p, q in pairwise([*ordered, ordered[0]])):
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
    rng = np.random.default_rng(0)
    side = 12
    grid = list(product(range(side + 1), range(side + 1)))
    polygons = 0
    bent = 0
    witness = ""
    for attempt in range(150):
        corners = random_polygon(rng, side, 5 + attempt % 8)
        if corners is None:
            continue
        parts = triangulate(corners)
        inside = {p for p in grid if contains(corners, p)}
        union = {p for p in grid if any(contains(list(part), p) for part in parts)}
        # The union is compared on the grid, on which alone the learner's regions are told apart.
        if inside != union or len(parts) > len(corners) - 2:
            witness = witness or f"corners {corners}: no union of k - 2 triangles"
        polygons += 1
        ring = [corners[-1], *corners, corners[0]]
        bent += any(cross(*ring[i : i + 3]) < 0 for i in range(len(corners)))
    small = list(product(range(4), range(4)))
    known = {row.tobytes() for row in triangle_family(3).labels}
    # Counter-clockwise, as the triangulation asks for.
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
    return judged(summary, numbers, witness, data)


def _state_size(theorem: str, id: str, k: int, short: str) -> None:
    """State that the explicit sample size of the learner of that id is enough."""

    def check(tools: Tools) -> Evidence:
        kind: type[ConvexPolygon | PolygonUnion] = ConvexPolygon if id == "convex-polygon" else PolygonUnion
        learner = kind(side=2, k=k, epsilon=1.0, delta=1e-6, alpha=0.1, beta=0.05)
        cases = [("d = 2", learner, learner.concepts.size // 2, "uniform")]
        setup = f"side 2, k = {k}, alpha = beta = 0.2, uniform distribution, middle concept"
        return judged_sizes(tools, setup, cases, alpha=0.2, beta=0.2, halvings=6)

    derived(
        f"KMMS-Thm{theorem}",
        f"with the explicit sample size {id} is an (alpha, beta)-PAC learner, d = 2",
        f"Theorem {theorem}",
        formula="n = O~((k/(alpha epsilon)) log d)",
        short=short,
        printed="n = {d = 2: theorem's n:,}",
        found="n = {d = 2: enough:,} is enough",
        best="n = {d = 2: enough:,} on the case tried",
    )(check)


_state_size("4.7", "convex-polygon", 3, "Examples for convex polygons")
_state_size("5.1", "polygon-union", 2, "Examples for unions of polygons")


@derived(
    "KMMS-Sec6",
    "The selection extends to space, by halfspaces and simplices, and to regions of polynomials of low degree: each is "
    "epsilon-private.",
    "Section 6",
    short="Selection among simplices in space and among polynomials",
    printed="extends",
    found="ε = {simplices:.3g} of 1 for simplices, {polynomials:.3g} of 1 for polynomials of degree 2",
    argument="The exponential mechanism does not look at what its hypotheses are; by linearization regions of "
    "polynomials are halfspaces of a space of monomials.",
)
def _section_6(tools: Tools) -> Evidence:
    losses, worst = losses_of(tools, (SimplexSelect(1, 1.0), PolynomialSelect(1, 1.0)))
    numbers = {"simplices": losses[0].value, "polynomials": losses[1].value}
    text = f"side 1: exact loss of simplices in space {losses[0]}, of polynomials of degree 2 in the plane {losses[1]}"
    return judged_loss(worst, 1.0, text, numbers, otherwise=StatementVerdict.HOLDS)
