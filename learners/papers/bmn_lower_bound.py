"""A lower bound of ours for the learner from mixtures: Theorem 4.9 of BMN is of the right order for its algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from dpaudit.contract import Constants, Evidence, Part, Tools, Verdict

from ..mixtures.halfspace import MixtureHalfspace
from ..mixtures.missed_facets import HardPolytope, cyclic_case, cyclic_facets, dot, facets_of
from .verdicts import judged, statements_in, states

ALPHA, EPSILON, BETA = 1e-4, 0.1, 0.1
DIMENSIONS = (2, 3, 4, 8, 16, 32, 64, 128, 256)
COMPARED = (16, 64, 256)
"""The dimensions whose theorem is computed beside."""


def gale_count(vertices: int, dimension: int) -> int:
    """Return how many d of m points on the moment curve leave an even number of them between any two others."""
    return sum(
        all(sum(i < c < j for c in chosen) % 2 == 0 for i, j in combinations(set(range(vertices)) - set(chosen), 2))
        for chosen in combinations(range(vertices), dimension)
    )


def wrong_geometry() -> Iterator[str]:
    """Yield what of the case is not as the proof has it, exactly, d = 2 to 5."""
    for d, m in ((2, 7), (3, 6), (4, 7), (5, 7)):
        public, private, (*upward, height) = cyclic_case(m, d)
        hull = facets_of(public)
        old = [chosen for chosen in hull if m not in chosen]
        counts = {"formula": cyclic_facets(m, d), "Gale": gale_count(m, d), "hull": len(old) + 1}
        if len(set(counts.values())) > 1:
            yield f"facets of {m} points in R^{d}: {counts}"
        beyond = [[chosen for chosen, row in hull.items() if dot(row[:-1], z) > row[-1]] for z in private]
        if sorted(map(len, beyond)) != [1] * d or len(hull) != len(old) + d:
            yield f"R^{d}, {m} vertices: private points outside of {list(map(len, beyond))} of {len(hull)} facets"
        if max(dot(upward, x) for x in public) > height or min(dot(upward, z) for z in private) <= height:
            yield f"R^{d}, {m} vertices: the target does not part public from private points"


@states(
    "OURS-MixtureBound",
    "On m + 1 public and d private points of R^d the learner from mixtures fails at every n <= d (ln((M - d)/d^2) + "
    "ln ln(1/beta))/(1.001 alpha (e^(epsilon/2) - 1)), but for what is unseen, M the facets of a cyclic polytope with "
    "m vertices, (m + 2.001) alpha < 1.",
    "beside BMN, Theorem 4.9; proof in docs/results.md",
    short="Theorem 4.9 is of the right order for its algorithm",
    printed="n* ≥ {fails at, d=16:.3g} and {fails at, d=256:.3g}",
    found="theorem's n {theorem by that, d=16:.0f} and {theorem by that, d=256:.0f} times that, d = 16, 256",
    best="Ω(d² ln(1/(d alpha))/(ε alpha)), for every d",
    slow=True,
    formula="n* >= (1 - o(1)) d ln(M/d^2)/(alpha (e^(epsilon/2) - 1))",
    conditions="d >= 2, alpha < 1/(d + 3.001); points of R^d, no grid",
    constants=Constants.OURS,
    part=Part.OURS,
    argument="It bounds this algorithm. Whether d^2 is inherent for every learner of the model is open.",
)
def _bound(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    data: dict[str, Any] = {}
    wrong = list(wrong_geometry())
    for d in DIMENSIONS:
        hard = HardPolytope.cyclic(d, ALPHA)
        n = hard.fails_up_to(EPSILON / 2, BETA)
        numbers |= {f"fails at, d={d}": n, f"failure there, d={d}": hard.failure(EPSILON / 2, int(n))}
        if numbers[f"failure there, d={d}"] <= BETA:
            wrong.append(f"d = {d}, n = {n:.4g}: the failure rate is not shown to exceed {BETA}")
        if d in COMPARED:
            theorem = MixtureHalfspace(d, EPSILON).sample_size(ALPHA, BETA)
            numbers |= {f"theorem's n, d={d}": theorem, f"theorem by that, d={d}": theorem / n}
            data = {"d": d, "vertices": hard.vertices, "n": n, "theorem": theorem, "alpha": ALPHA, "epsilon": EPSILON}
            wrong += [f"d = {d}: the theorem's {theorem} examples are not enough"] * (theorem <= n)
    text = (
        f"alpha = {ALPHA:g}, epsilon = {EPSILON:g}, beta = {BETA:g}: fails at "
        + ", ".join(f"{numbers[f'fails at, d={d}']:.3g}" for d in COMPARED)
        + f" examples, d = {', '.join(map(str, COMPARED))}; the theorem's n with our constants is "
        + ", ".join(f"{numbers[f'theorem by that, d={d}']:.1f}" for d in COMPARED)
        + " times as many. Facets, private points and target are as in the proof, exactly, d = 2 to 5"
    )
    return judged(Verdict.HOLDS, text, numbers, "; ".join(wrong), data, grade="numeric")


STATEMENTS = statements_in(globals())
