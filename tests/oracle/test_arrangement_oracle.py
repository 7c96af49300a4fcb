"""The sweep of dual lines against rational clipping: every polygon is cut by every line, in fractions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from dpaudit.contract import InputError
from dpaudit_learners.geometry.arrangement import half_width, sweep
from dpaudit_learners.geometry.polygons import area, polygon

Polygon = list[tuple[Fraction, Fraction]]


def cut(shape: Polygon, x: int, y: int, side: int) -> Polygon:
    """Return the part of a convex polygon on one side of b = y - x a."""
    kept: Polygon = []
    for (a0, b0), (a1, b1) in zip(shape, [*shape[1:], shape[0]], strict=True):
        h0 = side * (b0 - y + x * a0)
        h1 = side * (b1 - y + x * a1)
        if h0 >= 0:
            kept.append((a0, b0))
        # The edge crosses the line: the point where it does is a corner of the part.
        if h0 * h1 < 0:
            t = h0 / (h0 - h1)
            kept.append((a0 + t * (a1 - a0), b0 + t * (b1 - b0)))
    return kept


def shoelace(shape: Polygon) -> Fraction:
    pairs = zip(shape, [*shape[1:], shape[0]], strict=True)
    return abs(sum((a0 * b1 - a1 * b0 for (a0, b0), (a1, b1) in pairs), Fraction(0))) / 2


def clipped(
    points: list[tuple[int, int]], weights: list[tuple[int, int]], side: int
) -> list[tuple[int, int, Fraction]]:
    """Return (weight of 0s below, weight of 1s below, area) of every cell."""
    width = Fraction(half_width(side))
    box = [(-width, -width), (width, -width), (width, width), (-width, width)]
    # The window of all slopes and intercepts that matter, as one cell below which nothing lies yet.
    cells = [(box, 0, 0)]
    for (x, y), (m0, m1) in zip(points, weights, strict=True):
        cells = [
            (part, c0 + m0 * (sign == 1), c1 + m1 * (sign == 1))
            for shape, c0, c1 in cells
            for sign in (1, -1)
            # A line along an edge leaves a part without area: no cell.
            if len(part := cut(shape, x, y, sign)) >= 3 and shoelace(part) > 0
        ]
    return sorted((c0, c1, shoelace(shape)) for shape, c0, c1 in cells)


def instance(seed: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
    """Return a random instance; small sides make parallel and concurrent lines common, some are all on one line."""
    rng = random.Random(seed)
    side = rng.choice([1, 2, 3, 4, 7, 50, 2**32, 2**64])
    n = rng.randrange(0, 8)
    if seed % 5 == 0:  # dual lines through one point, or all parallel
        slope, start = rng.choice([(1, 0), (0, side // 2), (None, side // 2)])
        steps = [rng.randrange(side + 1) for _ in range(n)]
        chosen = [(start, s) if slope is None else (s, min(side, start + slope * s)) for s in steps]
    else:
        chosen = [(rng.randrange(side + 1), rng.randrange(side + 1)) for _ in range(n)]
    points = sorted(set(chosen), key=lambda _: rng.random())
    return points, [(rng.randrange(4), rng.randrange(10**12)) for _ in points], side


@pytest.mark.parametrize("block", range(8))
def test_cells_are_those_of_rational_clipping(block: int) -> None:
    for seed in range(block * 15, block * 15 + 15):
        points, weights, side = instance(seed)
        arrangement = sweep(points, weights, side)
        expected = clipped(points, weights, side)
        assert arrangement.cells == len(expected)
        scale = 1 << arrangement.precision
        keys = [(int(c0), int(c1)) for c0, c1 in arrangement.below]
        assert Counter(keys) == Counter((c0, c1) for c0, c1, _ in expected)
        # Exact areas of polygons, then the rounded ones against them.
        exact = [area(polygon(arrangement, cell)) for cell in range(arrangement.cells)]
        assert sorted((*key, value) for key, value in zip(keys, exact, strict=True)) == expected
        for rounded, value in zip(arrangement.areas, exact, strict=True):
            assert abs(rounded - value * scale) <= arrangement.slack
            assert arrangement.slack < value * scale / 2**100


@pytest.mark.parametrize("side", [1, 2, 3, 5, 2**20, 2**64])
def test_total_area_and_number_of_cells(side: int) -> None:
    rng = random.Random(side)
    points = list({(rng.randrange(side + 1), rng.randrange(side + 1)) for _ in range(40)})
    arrangement = sweep(points, [(1, 0)] * len(points), side)
    total = (2 * half_width(side)) ** 2 << arrangement.precision
    assert abs(sum(arrangement.areas) - total) <= arrangement.slack * arrangement.cells
    # One cell, one more for every line, and m - 1 more for every point strictly inside where m lines meet.
    meets: dict[tuple[Fraction, Fraction], set[int]] = {}
    for i, (x, y) in enumerate(points):
        for j, (u, v) in enumerate(points[:i]):
            if x != u:
                a = Fraction(y - v, x - u)
                meets.setdefault((a, y - x * a), set()).update((i, j))
    assert arrangement.cells == 1 + len(points) + sum(len(lines) - 1 for lines in meets.values())


def test_more_precision_encloses_less() -> None:
    points = [(0, 1), (2, 2), (3, 0), (1, 3)]
    weights = [(1, 0)] * 4
    side = 3
    base = sweep(points, weights, side)
    fine = sweep(points, weights, side, extra_precision=300)
    assert fine.precision == base.precision + 300
    assert (fine.below == base.below).all()
    for low, high in zip(base.areas, fine.areas, strict=True):
        assert abs((low << 300) - high) <= (base.slack << 300)


@pytest.mark.parametrize(
    ("points", "weights", "side", "named"),
    [
        ([(0, 4)], [(1, 0)], 3, "grid"),
        ([(-1, 0)], [(1, 0)], 3, "grid"),
        ([(1, 1), (1, 1)], [(1, 0), (1, 0)], 3, "distinct"),
        ([(1, 1)], [(1, 0), (1, 0)], 3, "one weight each"),
        ([(1, 1)], [(-1, 0)], 3, "weights"),
        ([(1, 1)], [(2**62, 2**62)], 3, "weights"),
        ([(0, 0)], [(1, 0)], 0, "side"),
    ],
)
def test_bad_input(points: list[tuple[int, int]], weights: list[tuple[int, int]], side: int, named: str) -> None:
    with pytest.raises(InputError, match=named):
        sweep(points, weights, side)
