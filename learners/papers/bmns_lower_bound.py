"""Statements of BMNS on the lower bound, its Section 5."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence
from dpaudit.contract import Sample as Examples
from learners.citations import BMNS
from learners.domains import Grid
from learners.halfspaces.hull_point_base import HullPoint
from learners.halfspaces.hull_point_exponential import HullPointExponential
from learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from learners.halfspaces.lower_bound import (
    Reconstruction,
    coefficients,
    common_point,
    common_point_examples,
    named_point,
    reconstruction,
    required_examples,
    theorem_51_slack,
)
from learners.papers.statements import states
from learners.papers.verdicts import judged

__all__ = ["STATEMENTS"]

EPSILON, DELTA, BETA = 1.0, 1e-6, 0.1


@states(
    "BMNS-Thm5.1-inequality",
    "(1 - beta - (d/2) T^(-d/2)) 2/d >= 1/(2 d) for beta <= 1/2, T >= 2, d >= 10.",
    f"{BMNS}, proof of Theorem 5.1",
    short="The inequality of the proof",
    printed="≥ 1/(2 d)",
    found="slack {slack:.2g}",
)
def _inequality(tools: Any) -> Evidence:
    slacks = {(d, side): theorem_51_slack(d, side) for d in range(10, 60) for side in range(1, 49)}
    worst = min(slacks.values())
    text = f"least slack over d = 10 .. 59 and T = 2 .. 49: {float(worst):.5f}"
    return judged("holds", failed=worst < 0, summary=text, numbers={"slack": float(worst)}, witness=text)


@states(
    "BMNS-Thm5.1-procedure",
    "If b is in span(S), the point of I with the largest coefficient is in S.",
    f"{BMNS}, proof of Theorem 5.1",
    short="The point with the largest coefficient is in S",
    printed="0 of {cases} wrong",
    found="{printed} of {cases} wrong",
)
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


@states(
    "BMNS-Thm5.1-count",
    "For b a function of the d/2 points I_-i, given these, x_i is in span(I_-i, b) w.p. at most T^(-d/2).",
    f"{BMNS}, proof of Theorem 5.1",
    short="Given the d/2 points, x is in their span with probability ≤ T^(-d/2)",
    printed="{T^(d/2)} points",
    found="{points in the span} points",
    slow=True,
)
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


def _hull_point(learner: HullPoint) -> Any:
    def release(sample: Examples, rng: np.random.Generator) -> Any:
        return learner.run(sample, rng, 1)[0]

    return release


@states(
    "BMNS-Thm5.1",
    "Private algorithms with fewer than min{d^2 ln T, d ln(1/delta)}/epsilon examples rarely answer in span(S); "
    "all obey Pr[x_i named on S] <= e^(2 epsilon m/d) Pr[x_i named on S'].",
    f"{BMNS}, Theorem 5.1 with the procedure of its proof, run",
    short="Below the bound private algorithms rarely answer in span(S)",
    printed="rarely",
    found="{d = 10, below the bound: in span(S):.0%} at m = {d = 10, below the bound: m}",
    slow=True,
)
def _experiment(tools: Any) -> Evidence:
    plane, space = HullPointExponential(3, 2, EPSILON), HullPointExponential(1, 3, EPSILON)
    recursive = HullPointRecConcave(3, 2, EPSILON, DELTA, BETA)
    bound, enough = required_examples(10, 9, EPSILON), common_point_examples(10, 9, EPSILON)
    cases = (
        ("d = 2", _hull_point(plane), plane.domain, 20, 0.0),
        ("d = 2, RecConcave", _hull_point(recursive), recursive.domain, 400, DELTA),
        ("d = 3", _hull_point(space), space.domain, 20, 0.0),
        ("d = 10, below the bound", common_point(EPSILON), Grid(9, 10), math.ceil(bound / 10), 0.0),
        ("d = 10, common point", common_point(EPSILON), Grid(9, 10), math.ceil(enough / 5) + 10, 0.0),
    )
    numbers: dict[str, float] = {"d = 10: lower bound on m": bound, "d = 10: m of the common point": enough}
    told, failed = [], ""
    for index, (name, release, domain, copies, delta) in enumerate(cases):
        # The cases share 5 %.
        found = reconstruction(release, domain, copies, 150, np.random.default_rng(index), 1 - 0.05 / len(cases))
        m = copies * (domain.dimension // 2)
        told.append(_rates(name, m, found))
        numbers |= {f"{name}: m": m, f"{name}: named on S": found.named, f"{name}: named on S'": found.named_without}
        numbers |= {f"{name}: in span(S)": found.in_span, f"{name}: error of the rates": found.error}
        too_few = m < required_examples(domain.dimension, domain.side, EPSILON, delta)
        if found.refutes(EPSILON, delta, copies) or (too_few and found.in_span - found.error > 0.5):
            failed = failed or name
    text = "; ".join(told)
    witness = f"{failed} in {text}"
    return judged("holds", failed=bool(failed), summary=text, numbers=numbers, grade="statistical", witness=witness)


def _rates(name: str, m: int, found: Reconstruction) -> str:
    return (
        f"{name}, m = {m}: x_i named in {found.named:.2f} on S, {found.named_without:.2f} on S', "
        f"in span(S) {found.in_span:.2f} (+- {found.error:.2f})"
    )


STATEMENTS = (_inequality, _span_count, _largest_coefficient, _experiment)
