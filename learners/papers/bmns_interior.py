"""Statements of BMNS on how many examples an interior point of a line takes, whatever the private algorithm."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product

import numpy as np

from dpaudit.contract import Evidence, Tools

from ..halfspaces.sizes import log_star
from ..interior_points.interior_point import InteriorPointExponential
from ..mechanisms.tree_log import TreeLog
from .evidence import judged, learner_data, tried
from .since import THRESHOLDS
from .sizes import unsolved
from .states import derived

EPSILON = 1.0
# The slack of floating-point linear programming.
SLACK = 1e-6


@lru_cache(maxsize=256)
def least_failure(points: int, n: int, epsilon: float, delta: float) -> float:
    """Return the least beta of all (epsilon, delta)-private algorithms that find an interior point of n of the points.

    A linear program over the laws of the answers to all multisets of n of 0 .. T - 1. For every ordered pair of
    neighbours S, S' and every point x, with s(x) >= 0: Pr[A(S) = x] <= e^epsilon Pr[A(S') = x] + s(x), sum s(x) <=
    delta.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    data = list(combinations_with_replacement(range(points), n))
    place = {sample: i * points for i, sample in enumerate(data)}
    # An example that is replaced by another point, both ways.
    pairs = {
        (sample, tuple(sorted((*sample[:i], x, *sample[i + 1 :]))))
        for sample in data
        for i, x in product(range(n), range(points))
        if x != sample[i]
    }
    laws = len(data) * points
    slacks = len(pairs) * points if delta else 0
    beta = laws + slacks
    rows: list[list[tuple[int, float]]] = []
    limits: list[float] = []
    for k, (left, right) in enumerate(sorted(pairs)):
        own = [laws + k * points + x for x in range(points)] if delta else []
        for x in range(points):
            row = [(place[left] + x, 1.0), (place[right] + x, -math.exp(epsilon))]
            rows.append([*row, *[(slack, -1.0) for slack in own[x : x + 1]]])
            limits.append(0.0)
        if own:
            rows.append([(slack, 1.0) for slack in own])
            limits.append(delta)
    for sample in data:
        # Failure: the answer lies outside of the data.
        outside = [x for x in range(points) if not sample[0] <= x <= sample[-1]]
        rows.append([*[(place[sample] + x, 1.0) for x in outside], (beta, -1.0)])
        limits.append(0.0)
    entries = [(i, j, value) for i, row in enumerate(rows) for j, value in row]
    i, j, values = (np.array(part) for part in zip(*entries, strict=True))
    upper = coo_matrix((values, (i, j)), shape=(len(rows), beta + 1)).tocsr()
    whole = coo_matrix(
        (np.ones(laws), (np.arange(laws) // points, np.arange(laws))), shape=(len(data), beta + 1)
    ).tocsr()
    cost = np.zeros(beta + 1)
    cost[beta] = 1.0
    found = linprog(cost, A_ub=upper, b_ub=limits, A_eq=whole, b_eq=np.ones(len(data)), method="highs")
    return float(found.fun)


def packing_failure(points: int, n: int, epsilon: float) -> float:
    """Return (T - 1)/(T - 1 + e^(n epsilon)), below which no pure algorithm fails on n copies of one of T points."""
    return (points - 1) / (points - 1 + math.exp(n * epsilon))


# Points and examples whose linear programs take a second at most.
PURE = ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 2), (4, 3), (5, 2))


@derived(
    "BMNS-Sec5-pure-line",
    "An epsilon-private algorithm with delta = 0 that finds an interior point of T points of a line takes Omega(log T) "
    "examples.",
    "Section 1, lower bounds, on a line",
    short="Pure privacy: examples for an interior point of a line",
    printed="Ω(log T)",
    found="(1/ε) ln((T - 1)(1 - β)/β), {gap:.3g} times fewer than an algorithm takes",
    formula="m = Omega(d log|X|), d = 1",
    argument="n copies of x and n copies of y differ in n examples, and the answers to them must be x and y: with "
    "probability 1 - beta each, and each with e^(-n epsilon) (1 - beta) at least for all T - 1 others, so that "
    "(T - 1) e^(-n epsilon) (1 - beta) <= beta.",
)
def _pure(tools: Tools) -> Evidence:
    wrong = ""
    numbers: dict[str, float] = {}
    for points, n in PURE:
        least = least_failure(points, n, EPSILON, 0.0)
        bound = packing_failure(points, n, EPSILON)
        numbers[f"least failure, T={points}, n={n}"] = least
        if bound > least + SLACK:
            wrong = f"T = {points}, n = {n}: an algorithm fails with probability {least:.4f}, below {bound:.4f}"
    # On larger domains one algorithm, at the greatest n for which the bound promises a failure above beta.
    beta = 0.1
    for points in (16, 256, 4096):
        learner = InteriorPointExponential(points, EPSILON)
        n = math.ceil(math.log((points - 1) * (1 - beta) / beta) / EPSILON) - 1
        failure = unsolved(learner, learner.domain.sample([points // 2], [0], [n]))
        numbers |= {f"failure, T={points}": failure, f"n, T={points}": n}
        if failure <= beta:
            wrong = f"T = {points}: the exponential mechanism fails with {failure:.3g} at n = {n}"
    numbers["gap"] = learner.points_needed(beta) / (n + 1)
    text = (
        f"epsilon = 1, T = 2 .. 5, n = 1 .. 3: the least failure of all pure algorithms, by linear programming, is at "
        f"least (T - 1)/(T - 1 + e^(n epsilon)); on 4,096 points {n} examples fail with probability {failure:.2f}, and "
        f"the exponential mechanism promises {beta} with {numbers['gap']:.2f} times the bound"
    )
    data = {"learner": learner_data(learner), "n": n, "failure": failure, **numbers}
    return judged(text, numbers, wrong, data, failed=bool(wrong), grade="numeric")


# Where log* grows: 2, 2^2, 2^4, 2^16, 2^65536 points.
TOWER = (1, 2, 4, 16, 2**16)


def examples_of_the_best(bits: int, delta: float, beta: float) -> int:
    """Return the fewest examples from which one of our algorithms finds an interior point of 2^bits points."""
    tree = TreeLog.within(2**bits, 1, Fraction(1), Fraction(delta), beta).points_needed
    return min(tree, math.ceil(4 * (bits * math.log(2) - math.log(beta))))


@derived(
    "BMNS-Sec5-log-star",
    "Finding a point of the convex hull takes Omega(log* T) examples, even on a line and with delta > 0.",
    "Section 5, citing Bun et al. 2015",
    short="Approximate privacy: examples for an interior point of a line",
    printed="Ω(log* T)",
    found="≥ {least n, T=6} of T = 6 by linear programming; our algorithms take {ours, 2^65536:,.0f} of 2^(2^16)",
    since=THRESHOLDS,
    formula="m = Omega(log* T)",
    argument="The proof, by induction on log* T, is in the source that is cited. Linear programs over all algorithms "
    "decide small T, where log* is 1 to 3, and no constant follows from these; the algorithms known bound it from "
    "the other side. Neither contradicts log* T with the constant 1 at epsilon = 1.",
)
def _approximate(tools: Tools) -> Evidence:
    beta = 0.2
    delta = 0.01
    numbers: dict[str, float] = {}
    wrong = ""
    for points in (2, 3, 4, 5, 6):
        n = next((n for n in (1, 2, 3) if least_failure(points, n, EPSILON, delta) <= beta + SLACK), 4)
        numbers[f"least n, T={points}"] = n
        if n < log_star(points):
            wrong = f"T = {points}: an algorithm finds an interior point of {n} examples"
    for bits in TOWER:
        ours = examples_of_the_best(bits, 1e-6, beta)
        numbers[f"ours, 2^{bits}"] = ours
        if ours < 1 + log_star(bits):
            wrong = f"2^{bits} points: an algorithm takes {ours} examples"
    least = ", ".join(f"{numbers[f'least n, T={points}']}" for points in (2, 3, 4, 5, 6))
    known = ", ".join(f"{numbers[f'ours, 2^{bits}']:,.0f}" for bits in TOWER)
    text = (
        f"epsilon = 1, beta = {beta}: with delta = {delta} every algorithm takes at least "
        f"{least} examples of T = 2 .. 6 "
        f"points (4: that or more); with delta = 1e-6 our algorithms take {known} "
        "of 2^1, 2^2, 2^4, 2^16, 2^65536"
    )
    return tried(text, numbers, wrong, {"kind": "sizes", **numbers}, failed=bool(wrong), grade="numeric")
