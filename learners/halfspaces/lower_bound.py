"""Theorem 5.1 of BMNS as an experiment: an algorithm that finds a point in the span of the data gives its points away.

As printed, m = Omega(min{d^2 ln T/epsilon, (d/epsilon) ln(1/delta)}), it is false: a random example is (0, 1/m)-private
and in the span, so that ceil(1/delta) examples are enough at every epsilon, d and T (`random_row`). At epsilon = 1,
delta = 1/100 and T = 2 that is 100 in every dimension, where the bound grows like d.

What holds for every epsilon and delta is stated and proved in docs/research/results.md: for even d >= 6, k = d/2 and
T >= 2, m' = k ceil(m/k) is at least

    min{(d/(2 epsilon)) ((d/2 - 1) ln T - ln(4 d)), (d/(2 epsilon)) W(epsilon/(4 d delta))},  W(x) e^W(x) = x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..arrays import Integers
from ..bisection import last
from ..parameters import check_integer, check_positive, check_probability

Vector = Sequence[int | Fraction]


def theorem_51_slack(dimension: int, side: int) -> Fraction:
    """Return a lower bound on (1 - beta - (d/2) T^(-d/2)) (2/d) - 1/(2 d) for beta = 1/2, T = side + 1, d even or odd.

    The theorem needs it to be >= 0. T^(-d/2) is replaced by 1/floor(T^(d/2)), which is exact for even d.
    """
    check_integer("dimension", dimension, 1)
    check_integer("side", side, 1)
    power = math.isqrt((side + 1) ** dimension)
    return (Fraction(1, 2) - Fraction(dimension, 2 * power)) * Fraction(2, dimension) - Fraction(1, 2 * dimension)


def required_examples(dimension: int, side: int, epsilon: float, delta: float = 0.0, *, literal: bool = False) -> float:
    """Return a lower bound for the m' = (d/2) ceil(2 m/d) of private algorithms that succeed half of the time.

    (d/2) c for the c with 1/(2 d) = e^(c epsilon) (T^(1 - d/2) + c delta), T = side + 1: the last display of the proof,
    with the exponent repaired (`literal=True`: T^(-d/2)). `proved_bound` is what it is simplified to. d >= 6 is even.
    """
    check_integer("dimension", dimension, 1)
    check_integer("side", side, 1)
    check_positive("epsilon", epsilon)
    if delta:
        check_probability("delta", delta)

    exponent = -dimension / 2 if literal else 1 - dimension / 2

    def excess(m: float) -> float:
        # c delta with c = 2 m/d, and c epsilon below: what a group of c examples costs.
        moved = math.log(2 * delta * m / dimension) if delta * m else -math.inf
        log_mass = float(np.logaddexp(exponent * math.log(side + 1), moved))
        return 2 * epsilon * m / dimension + log_mass + math.log(2 * dimension)

    if excess(0.0) >= 0:
        return 0.0
    low = 0.0
    high = 1.0
    while excess(high) < 0:
        low = high
        high = 2 * high
    return last(lambda m: excess(m) < 0, low, high, 200)


def lambert(x: float) -> float:
    """Return W(x) for x >= 0: W e^W = x."""
    high = math.log1p(x)
    if x > 0:
        return last(lambda w: w * math.exp(w) <= x, 0.0, high, 200)
    return 0.0


def proved_bound(dimension: int, values: float, epsilon: float, delta: float) -> float:
    """Return min{(d/(2 epsilon)) ((d/2 - 1) ln T - ln(4 d)), (d/(2 epsilon)) W(epsilon/(4 d delta))}, `values` = T."""
    spanned = (dimension / 2 - 1) * math.log(values) - math.log(4 * dimension)
    named = lambert(epsilon / (4 * dimension * delta)) if delta else math.inf
    return dimension / (2 * epsilon) * min(spanned, named)


def printed_bound(dimension: int, values: float, epsilon: float, delta: float) -> float:
    """Return min{(d^2/epsilon) ln T, (d/epsilon) ln(1/delta)}, as Theorem 5.1 prints, with a constant of 1."""
    return dimension / epsilon * min(dimension * math.log(values), -math.log(delta) if delta else math.inf)


def common_point_examples(dimension: int, side: int, epsilon: float) -> float:
    """Return the m at which a common point is found: one of k = d // 2 equally common points, half of the time.

    By the exponential mechanism over the whole grid, score the number of examples at a point: sensitivity 1. On the
    data of the theorem it answers in the span about as soon as anything can.

    k e^(epsilon m/(2 k)) = T^d - k, T = side + 1: m = (2 k/epsilon) ln(T^d/k - 1), about (d^2/epsilon) ln T.
    """
    check_integer("dimension", dimension, 2)
    check_integer("side", side, 1)
    check_positive("epsilon", epsilon)
    k = dimension // 2
    ratio = dimension * math.log(side + 1) - math.log(k)
    return 2 * k / epsilon * (ratio + math.log1p(-math.exp(-ratio)))


def common_point_in_span(dimension: int, side: int, epsilon: float, m: float) -> float:
    """Return an upper bound on Pr[the answer is in span(S)] for m/k copies of each of k = d // 2 points.

    The mechanism of `common_point_examples` answers with a point of S with mass k e^(epsilon m/(2 k)) beside T^d - k
    other points, T = side + 1, of which at most T^k lie in the span.
    """
    k = dimension // 2
    present = math.exp(epsilon * m / (2 * k) + math.log(k))
    inside = float((side + 1) ** k)
    return (present + inside) / (present + float((side + 1) ** dimension - k))


def points_in_span(vectors: Integers, grid: Integers) -> int:
    """Return the most points of a grid, rows (N, d), in the span of vectors (k, d) and one more vector, exactly.

    Modulo the span a point is its product with an integer basis of the orthogonal complement; one more vector adds the
    points on one line through 0 there.
    """
    # 0 exactly for the points of the span.
    rest = grid @ complement(vectors)
    outside = rest[rest.any(axis=1)]
    if not len(outside):
        return len(grid)
    leading = outside[np.arange(len(outside)), (outside != 0).argmax(axis=1)]
    # Points on one line through 0, to either side, become equal.
    reduced = outside // (np.gcd.reduce(outside, axis=1) * np.sign(leading))[:, None]
    return len(grid) - len(outside) + int(np.unique(reduced, axis=0, return_counts=True)[1].max())


def reduced(rows: Sequence[Vector], columns: int) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced echelon form of rows by their first columns, exactly, and its pivots."""
    table = [[Fraction(v) for v in row] for row in rows]
    pivots = list[int]()
    for column in range(columns):
        at = len(pivots)
        # Any row with an entry in the column; exact numbers need no largest pivot.
        pivot = next((i for i in range(at, len(table)) if table[i][column]), None)
        if pivot is None:
            continue
        table[at], table[pivot] = table[pivot], table[at]
        lead = table[at][column]
        table[at] = [v / lead for v in table[at]]
        for i, row in enumerate(table):
            if i != at and row[column]:
                table[i] = [v - row[column] * w if w else v for v, w in zip(row, table[at], strict=True)]
        pivots.append(column)
    return table, pivots


def complement(vectors: Integers) -> Integers:
    """Return integer columns (d, r) that span the orthogonal complement of vectors (k, d), by exact elimination."""
    width = vectors.shape[1]
    rows, pivots = reduced(vectors.tolist(), width)
    found = []
    for free in sorted(set(range(width)) - set(pivots)):
        # A solution of the homogeneous system with this free variable 1 and the others 0.
        vector = [Fraction(int(column == free)) for column in range(width)]
        for row, column in zip(rows, pivots, strict=False):
            vector[column] = -row[free]
        scale = math.lcm(*(v.denominator for v in vector))
        found.append([int(v * scale) for v in vector])
    return np.array(found, dtype=np.int64).reshape(len(found), width).T


def coefficients(point: Vector, points: Sequence[Vector]) -> list[Fraction] | None:
    """Return the c with point = sum c_j points_j; None unless the points are independent and span the point."""
    k = len(points)
    rows, pivots = reduced([[*column, value] for *column, value in zip(*points, point, strict=True)], k)
    # Dependent points, or a row 0 = 1 below the pivots: no combination, or more than one.
    if len(pivots) < k or any(row[k] for row in rows[k:]):
        return None
    return [rows[i][k] for i in range(k)]


def named_point(point: Vector, points: Sequence[Vector], *, literal: bool = False) -> int | None:
    """Return the procedure B(b, I): the index of the largest coefficient, None where B answers "bottom".

    The largest in absolute value, first one in ties: if b is a combination of some of the points that is not 0, the
    answer is one of them. As printed (`literal=True`) the largest: a point with coefficient 0 beats negative ones.
    """
    found = coefficients(point, points)
    if found is None or not any(found):
        return None
    sizes = found if literal else [abs(c) for c in found]
    return sizes.index(max(sizes))
