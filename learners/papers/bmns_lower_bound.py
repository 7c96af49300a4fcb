"""Statements of BMNS on the lower bound, its Section 5."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, HasLaw, Survives, Tools
from dpaudit.contract import Sample as Examples

from ..arrays import Integers
from ..domains import Grid
from ..halfspaces.hull_point import HullPointExponential
from ..halfspaces.hull_point_rec_concave import HullPointRecConcave
from ..halfspaces.lower_bound import (
    common_point_examples,
    common_point_in_span,
    named_point,
    points_in_span,
    printed_bound,
    proved_bound,
    theorem_51_slack,
)
from ..halfspaces.random_row import HullPointRandomRow
from ..mechanisms.exponential import log_law
from .evidence import exceeds, greatest, judged, law_of, learner_data, sample_data, tried
from .sizes import unsolved
from .states import false, gap, states

Answers = Mapping[Hashable, float]
"""The answers of an algorithm, with their probabilities."""

EPSILON = 1.0
DELTA = 1e-6
BETA = 0.1
# The share of the claimed epsilon that that which finds a common point spends: all of it.
BUDGET = 1.0


@states(
    "BMNS-Thm5.1-inequality",
    "(1 - beta - (d/2) T^(-d/2)) 2/d >= 1/(2 d) for beta <= 1/2, T >= 2, d >= 10.",
    "proof of Theorem 5.1, first display",
    short="The inequality of the proof",
    printed="≥ 1/(2 d) from d = 10 on",
    found="{least ratio:.3g} times that at least; right from d = {least d} on",
    best="from d = {least d} on, with equality at T = 2",
    formula="(1 - beta - (d/2) T^(-d/2)) 2/d >= 1/(2 d)",
    conditions="beta <= 1/2, T >= 2, d >= 10",
)
def _inequality(tools: Tools) -> Evidence:
    ratios = {(d, side): 1 + 2 * d * theorem_51_slack(d, side) for d, side in product(range(1, 60), range(1, 49))}
    d, side = min((case for case in ratios if case[0] >= 10), key=lambda case: ratios[case])
    worst = ratios[d, side]
    first = 1 + max((d for (d, _), ratio in ratios.items() if ratio < 1), default=0)
    data = {"d": d, "T": side + 1, "slack": float(theorem_51_slack(d, side))}
    text = (
        f"least quotient of both sides over d = 10 .. 59 and T = 2 .. 49: {float(worst):.4f} (d = {d}, "
        f"T = {side + 1}), and at least 1 from d = {first} on"
    )
    return judged(text, {"least ratio": float(worst), "least d": first}, text, data, failed=worst < 1)


@gap(
    "BMNS-Thm5.1-procedure",
    "If b is in span(S), the point of I with the largest coefficient is in S.",
    "proof of Theorem 5.1",
    short="The point with the largest coefficient is in S",
    printed="0 of {cases} wrong",
    found="{printed} of {cases} wrong",
    formula="b in span(S), I independent => B(b, I) in S, B the x with the largest coefficient",
    argument="Where all coefficients of b are negative, a point with the coefficient 0 has the largest. The largest in "
    "absolute value repairs it.",
)
def _largest_coefficient(tools: Tools) -> Evidence:
    cases = 0
    outside = {"printed": 0, "repaired": 0}
    witness = ""
    data: dict[str, Any] = {}
    # Independent pairs of points.
    pairs = [(p, q) for p, q in permutations(product((1, 2), repeat=2), 2) if p[0] * q[1] != p[1] * q[0]]
    for (one, two), factor in product(pairs, (-2, -1, 1, 2)):
        b = (factor * one[0], factor * one[1])
        cases = cases + 1
        # S = {x_1}; no answer at all is no point of S either.
        outside["repaired"] += named_point(b, [one, two]) != 0
        if named_point(b, [one, two], literal=True) != 0:
            outside["printed"] += 1
            witness = witness or f"x_1 = {one}, x_2 = {two}, b = {b} = {factor} x_1, a combination of S = {{x_1}}"
            data = data or {"x_1": one, "x_2": two, "b": b, "named": 2}
    text = (
        f"{cases} multiples b of x_1, x_1 and x_2 in {{1, 2}}^2: the largest coefficient names another point in "
        f"{outside['printed']} cases, the largest absolute one in {outside['repaired']}"
    )
    return judged(text, {"cases": cases, **outside}, witness, data)


@gap(
    "BMNS-Thm5.1-count",
    "For b a function of the d/2 points I_-i, given these, x_i is in span(I_-i, b) w.p. at most T^(-d/2).",
    "proof of Theorem 5.1, conditional on I_-i",
    short="Given the d/2 points, x is in their span with probability ≤ T^(-d/2)",
    printed="{T^(d/2)} points",
    found="{points in the span} points",
    best="T^(1 + d/2) points, attained",
    formula="Pr[x_i in span(I_-i with b)] <= T^(-d/2), since x_i is independent of I_-i and b",
    argument="The answer b is one vector more than the d/2 of I_-i, and so many independent vectors span up to T^(1 + "
    "d/2) of the T^d points. With T^(1 - d/2) in the display d^2 ln T/epsilon keeps its order.",
)
def _span_count(tools: Tools) -> Evidence:
    d = 10
    # Independent points of {1, 2}^10 whose last five coordinates agree: five of the data. An answer b = (1, .., 2).
    vectors = np.concatenate([1 + np.eye(5, dtype=int), np.ones((5, 5), dtype=int)], axis=1)
    inside = points_in_span(vectors, _grid(d, 2))
    most = 2 ** (d // 2)
    text = (
        f"{inside} of the 2^10 points lie in the span of I_-i and b, where T^(-d/2) of them are {most}: a "
        f"factor of {inside / most:g}, which leaves the rate of growth. This is one I_-i; the display of the proof "
        f"averages over it (BMNS-Thm5.1-display)"
    )
    witness = "d = 10, T = 2: I_-i and b span {x : the last five coordinates agree}"
    data = {"vectors": vectors, "T": 2, "points in the span": inside}
    return tried(text, {"points in the span": inside, "T^(d/2)": most}, witness, data, failed=inside > most)


def _grid(d: int, values: int) -> Integers:
    """Return the points of {1 .. values}^d."""
    return Grid(values - 1, d).points() + 1


@states(
    "BMNS-Thm5.1-display",
    "Averaged over I_-i, for b the worst function of it, x_i is in span(I_-i, b) w.p. at most T^(-d/2), d >= 10.",
    "proof of Theorem 5.1, second display",
    short="On average x is in their span with probability ≤ T^(-d/2)",
    printed="≤ T^(-d/2) from d = 10 on",
    found="{d=10, T=2:.2f} times that at d = 10, T = 2; {d=8, T=2:.2f} at d = 8",
    best="T^(1 - d/2) is proved; T^(-d/2) is computed",
    formula="Pr[x_i in span(I_-i with b)] <= T^(-d/2)",
    conditions="T >= 2, d >= 10",
)
def _display(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    for d, values in ((2, 2), (2, 3), (4, 2)):
        grid = _grid(d, values)
        counts = [points_in_span(np.array(chosen), grid) for chosen in product(grid, repeat=d // 2)]
        numbers[f"d={d}, T={values}"] = sum(counts) / len(counts) / len(grid) * values ** (d // 2)
    shown = []
    for d, draws in ((8, 80), (10, 600)):
        rng = np.random.default_rng(0)
        grid = _grid(d, 2)
        drawn = [points_in_span(grid[rng.integers(len(grid), size=d // 2)], grid) for _ in range(draws)]
        mean = float(np.mean(drawn)) / len(grid)
        power = 2 ** (d // 2)
        # At most T^(1 - d/2) of the points, so the mean is as close as Hoeffding says, with confidence 0.999.
        error = 2.0 ** (1 - d / 2) * math.sqrt(math.log(2000) / (2 * draws))
        numbers |= {f"d={d}, T=2": mean * power, f"its error, d={d}": error * power}
        shown.append(f"{mean * power:.3f} +- {error * power:.2f} at d = {d}")
    # The theorem takes d >= 10.
    witness = f"d = {d}, T = 2: {mean:.4g} +- {error:.2g}"
    data = {"d": d, "T": 2, "average": mean, "error": error, "draws": draws}
    text = (
        f"average over I_-i by T^(-d/2), T = 2: {numbers['d=2, T=2']:.3f} at d = 2 and {numbers['d=4, T=2']:.3f} at "
        f"d = 4, exactly, {' and '.join(shown)}; the theorem takes d >= 10. T^(1 - d/2) is proved"
    )
    return judged(text, numbers, witness, data, failed=(mean - error) * power > 1, grade="statistical")


def named_exactly(law: Callable[[Examples], Answers], domain: Grid, copies: int) -> tuple[float, float]:
    """Return Pr[x_1 is named] on S, `copies` of x_1, and on S', as many of x', d = 2: over all pairs of points.

    `law` maps a sample to the answers with their probabilities.
    """
    points = domain.points()
    answers = [law(domain.sample(points[[i]], [0], [copies])) for i in range(len(points))]
    named = [0.0, 0.0]
    for one, other in product(range(len(points)), repeat=2):
        vectors = (points[[one, other]] + 1).tolist()
        both = {b for b in (*answers[one], *answers[other]) if isinstance(b, tuple)}
        chosen = [b for b in both if named_point([c + 1 for c in b], vectors) == 0]
        for side, source in enumerate((one, other)):
            named[side] += math.fsum(answers[source].get(b, 0.0) for b in chosen)
    return named[0] / len(points) ** 2, named[1] / len(points) ** 2


def _point_law(epsilon: float, domain: Grid, sample: Examples) -> Answers:
    """Return the law of what finds a common point: the exponential mechanism on the grid, by the examples at each."""
    points = [tuple(p) for p in domain.points().tolist()]
    counts = dict(zip(map(tuple, sample.points.tolist()), sample.counts.tolist(), strict=True))
    logs, _ = log_law(np.array([counts.get(p, 0) for p in points]), epsilon / 2)
    return dict(zip(points, np.exp(logs).tolist(), strict=True))


def _learner_law(learner: HasLaw, sample: Examples) -> Answers:
    found = learner.law(sample)
    return dict(zip(found.atoms, np.exp(found.log_prob).tolist(), strict=True))


# The rest of the case, the same in every dimension.
FEW: dict[str, float] = {"values": 2, "epsilon": 1.0, "delta": 0.01}
FAR = (10, 100, 1000, 10_000)


@false(
    "BMNS-Thm5.1",
    "(epsilon, delta)-private algorithms that answer in span(S) half of the time need m = Omega(min{d^2 ln T, d "
    "ln(1/delta)}/epsilon) examples, for every epsilon and delta.",
    "Theorem 5.1; Sections 1.1 and 5",
    short="Examples that a point in the span of the data takes",
    printed="Ω(min(d² ln T, d ln(1/δ))/ε), any ε, δ",
    found="{m} at ε = 1, δ = 0.01, T = 2 in every dimension; printed {printed, d=10000:,.0f} at d = 10⁴",
    best="OURS-SpanBound; ⌈1/δ⌉ by a random example",
    formula="m = Omega(min{(d^2/epsilon) log T, (d/epsilon) log(1/delta)})",
    conditions="T >= 2, d >= 10, A (epsilon, delta)-private with a non-trivial linear combination w.p. >= 1/2",
    survives=Survives.NO,
    argument="A random example is (0, 1/m)-private and a combination of the examples, so that ceil(1/delta) examples "
    "are enough whatever epsilon, d and T are, while the bound grows with d without end. Solving for m drops the "
    "factor m of 2 delta m/d; for delta <= 1/8 and (epsilon/(4 d))^2 its second term keeps its order. "
    "docs/research/results.md proves a bound for all epsilon and delta.",
)
def _theorem(tools: Tools) -> Evidence:
    m = math.ceil(1 / FEW["delta"])
    # Every law of the learner on so many examples looks alike: the audit is made where all samples can be listed.
    small = HullPointRandomRow(1, 2, FEW["epsilon"], 0.25)
    private = law_of(tools, small, n=4)
    sample = small.domain.sample(small.domain.points(), [0] * 4)
    fails = unsolved(small, sample)
    numbers = {"m": m, "delta, n=4": private.delta, "delta claimed, n=4": small.delta, "failure, n=4": fails}
    printed = {d: printed_bound(d, **FEW) for d in FAR}
    numbers |= {f"printed, d={d}": bound for d, bound in printed.items()}
    numbers["printed, epsilon=0.01, d=10, T=1e6"] = one = printed_bound(10, values=1e6, epsilon=0.01, delta=0.01)
    ratios = {d: bound / m for d, bound in printed.items()}
    numbers["growth with d"] = growth = math.log(ratios[FAR[-1]] / ratios[FAR[0]]) / math.log(FAR[-1] / FAR[0])
    text = (
        f"the random example is (0, 1/m)-private and never fails, exactly at m = 4, d = 2: delta "
        f"{private.delta:g}. At epsilon = 1, delta = 0.01, T = 2 it takes {m} examples in every dimension; "
        "the printed bound divided by that is "
        + ", ".join(f"{ratio:.3g} at d = {d}" for d, ratio in ratios.items())
        + f", with a constant of 1: it grows like d^{growth:.2f}. At epsilon = 0.01, d = 10, T = 10^6 it is {one:,.0f}"
    )
    witness = f"the random example at epsilon = 1, delta = 0.01, T = 2: {m} examples are enough in every dimension"
    data = {"learner": learner_data(small), "sample": sample_data(sample), "m": m, "ratios": ratios}
    # One number refutes no Omega: a quotient that keeps growing with d does.
    return judged(text, numbers, witness, data, failed=not private.leaks and fails < 1e-9 and growth > 0.5)


DELTAS = (0.5, 0.05, 1e-3, 1e-6)


def _known() -> list[tuple[float, str, dict[str, Any]]]:
    """Return by how much the proved bound exceeds m' of algorithms that succeed half of the time, each with words.

    The random example at m = ceil(1/delta), the exponential mechanism that finds a common point, and randomised
    response on one example, at m' = d/2.
    """
    found = []
    for d, values, epsilon in product((10, 20, 100), (2, 10, 10**6), (1e-9, 1e-3, 1.0, 8.0)):
        k = d // 2
        response = d * math.log(values)
        ways: list[tuple[str, float, float, float]] = [
            *(("random example", epsilon, delta, k * math.ceil(math.ceil(1 / delta) / k)) for delta in DELTAS),
            ("common point", epsilon, 0.0, common_point_examples(d, values - 1, epsilon)),
            ("randomised response", response, 0.0, k),
        ]
        for algorithm, spent, delta, m in ways:
            case = {"algorithm": algorithm, "d": d, "T": values, "epsilon": spent, "delta": delta, "m'": m}
            words = ", ".join(f"{name} = {value}" for name, value in case.items())
            found.append((proved_bound(d, values, spent, delta) / m, words, case))
    return found


@states(
    "OURS-SpanBound",
    "m' = (d/2) ceil(2 m/d) >= min{(d/(2 epsilon)) ((d/2 - 1) ln T - ln 4 d), (d/(2 epsilon)) W(epsilon/(4 d delta))} "
    "for private algorithms that answer in span(S) half of the time, d >= 6 even; with m copies of x_i alone all obey "
    "Pr[x_i named on S] <= e^(epsilon m) Pr[x_i named on S'] + delta (e^(epsilon m) - 1)/(e^epsilon - 1).",
    "beside BMNS, Theorem 5.1; proof in docs/research/results.md",
    short="The lower bound for every ε and δ, repaired",
    formula="m' >= min{(d/2 epsilon)((d/2 - 1) ln T - ln 4 d), (d/2 epsilon) W(epsilon/(4 d delta))}",
    printed="at most 1",
    found="≤ {greatest share:.2f} m' of what succeeds; {random example:.2f} m' of the random example",
    best="within a factor of 8 for delta far above ε/d, by the random example",
    argument="dpaudit_learners.halfspaces.lower_bound has the proof.",
)
def _experiment(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    shares = {}
    plane = Grid(2, 2)
    corners = HullPointExponential(1, 2, 1.0)
    recursive = HullPointRecConcave(1, 2, 1.0, DELTA, BETA)
    for copies in (1, 2, 8):
        rows = HullPointRandomRow(2, 2, 1.0, 1 / copies if copies > 1 else 0.9)
        algorithms = (
            ("common point", partial(_point_law, BUDGET * 1.0, plane), plane, 0.0),
            ("hull point", partial(_learner_law, corners), corners.concepts.domain, 0.0),
            ("RecConcave", partial(_learner_law, recursive), recursive.concepts.domain, DELTA),
            ("random example", partial(_learner_law, rows), rows.domain, rows.delta),
        )
        for name, law, domain, delta in algorithms:
            on, without = named_exactly(law, domain, copies)
            growth = math.exp(copies)
            # delta (e^(epsilon m) - 1)/(e^epsilon - 1) at epsilon = 1: what a group of m examples costs.
            spill = delta * (growth - 1) / math.expm1(1.0)
            numbers |= {f"{name}, m={copies}: named on S": on, f"{name}, m={copies}: on S'": without}
            shares[f"{name}, m = {copies}"] = on / (growth * without + spill)
    worst = max(shares, key=lambda name: shares[name])
    most = shares[worst]
    known = _known()
    for name in ("random example", "common point", "randomised response"):
        numbers[name] = max(share for share, _, case in known if case["algorithm"] == name)
    share, where, data = greatest(known)
    inside = max(
        common_point_in_span(d, t - 1, BUDGET, proved_bound(d, t, 1.0, 0.0)) for d, t in ((10, 10), (20, 2), (40, 3))
    )
    text = (
        f"exactly, d = 2, epsilon = 1, m = 1, 2, 8 copies: Pr[named on S] is at most {most:.3f} of what privacy "
        f"allows ({worst}). Of algorithms that succeed half of the time, d = 10 to 100, the bound is at most "
        f"{share:.3f} of m' ({where}), {numbers['random example']:.3f} of it for the random example. At the bound the "
        f"common point is in the span with probability at most {inside:.2g}"
    )
    failed = exceeds(most, 1) or exceeds(share, 1) or inside > 0.5
    numbers |= {"greatest share": share, "named, greatest share": most, "in span(S)": inside}
    return judged(text, numbers, worst if exceeds(most, 1) else where, data, failed=failed)
