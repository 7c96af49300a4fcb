"""Counts of grid points below a line, cells and dyadic squares of the full grid."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit_learners.geometry.polygons import UniformPoint, area
from dpaudit_learners.halfspaces.depth.fraction_ranks import floor_sum
from dpaudit_learners.regions.families import halfplane_family
from dpaudit_learners.regions.snapping import columns, count_below, dyadic_square, full_grid


def test_floor_sum_is_the_sum_of_floors() -> None:
    rng = random.Random(0)
    for _ in range(500):
        count, p, r, q = rng.randrange(0, 30), rng.randrange(-40, 40), rng.randrange(-90, 90), rng.randrange(1, 20)
        assert floor_sum(count, p, r, q) == sum((p * x + r) // q for x in range(count))


def test_count_below_is_the_sum_of_columns() -> None:
    rng = random.Random(1)
    for _ in range(3000):
        d, p, r, q = rng.randrange(1, 12), rng.randrange(-30, 30), rng.randrange(-60, 60), rng.randrange(1, 9)
        counts = columns(d, p, r, q)
        assert list(counts) == [sum(q * y <= p * x + r for y in range(d + 1)) for x in range(d + 1)]
        assert count_below(d, p, r, q) == sum(counts)
        assert columns(d, p, r - 1, q) == tuple(sum(q * y < p * x + r for y in range(d + 1)) for x in range(d + 1))


@pytest.mark.parametrize("side", [1, 2, 3, 4])
def test_cells_of_the_full_grid(side: int) -> None:
    grid = full_grid(side)
    assert sum(grid.areas) == (4 * side * side) ** 2
    assert len(grid.index) == len(grid.points) == len(grid.areas)
    rows = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    for cell, (a, b) in enumerate(grid.points):
        assert grid.below[cell].tolist() == [y < a * x + b for x, y in rows]
        q = (a.denominator * b.denominator) << 300
        p, r = int(a * q), int(b * q)
        assert grid.locate((p, p, r, r, q)) == cell
    # A box around the point (0, 0) of the dual plane is met by the line of the grid point (0, 0).
    assert grid.locate((-1, 1, -1, 1, 10**9)) is None


def lines_that_meet(side: int, a: Fraction, b: Fraction, half: Fraction) -> bool:
    """Say whether the closed square meets a line b = y - x a of the full grid, by all lines."""
    return any(
        min(signs) <= 0 <= max(signs)
        for x in range(side + 1)
        for y in range(side + 1)
        if (signs := [b + u - y + x * (a + v) for u in (-half, half) for v in (-half, half)])
    )


def test_dyadic_squares_are_the_largest_free_ones() -> None:
    rng = random.Random(2)
    for _ in range(60):
        side, bits = rng.choice([1, 2, 5, 9]), 256
        width = 2 * side * side
        p, r = (rng.randrange(-width << bits, width << bits) for _ in range(2))
        centre = dyadic_square(side, (p, p + 1, r, r + 1, 1 << bits), bits)
        assert centre is not None
        # The centre is an odd multiple of half the side.
        half = Fraction(centre[0].numerator & -centre[0].numerator, centre[0].denominator)
        a, b = Fraction(p, 1 << bits), Fraction(r, 1 << bits)
        assert abs(a - centre[0]) < half
        assert abs(b - centre[1]) < half
        assert not lines_that_meet(side, *centre, half)
        parent = [value // (4 * half) * 4 * half + 2 * half for value in centre]
        assert lines_that_meet(side, parent[0], parent[1], 2 * half)


def test_a_box_too_large_to_decide_is_not_decided() -> None:
    assert dyadic_square(3, (0, 1 << 255, 0, 1 << 255, 1 << 256), 256) is None


def test_listing_has_a_limit() -> None:
    with pytest.raises(InputError, match="side"):
        full_grid(17)


@pytest.mark.parametrize(("side", "size"), [(1, 14), (2, 58), (3, 174)])
def test_halfplanes_of_the_full_grid(side: int, size: int) -> None:
    family = halfplane_family(side)
    labels = family.labels
    assert len(labels) == len(family) == size
    assert len({row.tobytes() for row in labels}) == size
    assert {row.tobytes() for row in 1 - labels} == {row.tobytes() for row in labels}
    rows = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    for row, ((z, a, b),) in zip(labels, family.regions, strict=True):
        assert row.tolist() == [int(z * y >= z * (a * x + b)) for x, y in rows]


def test_points_of_a_polygon_are_uniform() -> None:
    shape = [(0, 0, 1), (4, 0, 1), (6, 3, 1), (1, 5, 2)]
    uniform = UniformPoint.of(shape)
    assert area(shape) == Fraction(6) + Fraction(27, 4)
    rng = random.Random(3)
    points = []
    for _ in range(20_000):
        box = uniform.box(rng.getrandbits(64), rng.getrandbits(64), rng.getrandbits(64), 64)
        assert box is not None
        points.append((box[0] / box[4], box[2] / box[4]))
    at = np.array(points)
    # Mean of the polygon by its two triangles; the standard error of 20,000 points is below 0.012: 6 deviations.
    triangles = [((0, 0), (4, 0), (6, 3)), ((0, 0), (6, 3), (0.5, 2.5))]
    sizes = [abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) for a, b, c in triangles]
    mean = sum(s * np.mean(t, axis=0) for s, t in zip(sizes, triangles, strict=True)) / sum(sizes)
    assert (np.abs(at.mean(axis=0) - mean) < 0.072).all()
    inside = (at[:, 1] <= 1.5 * (at[:, 0] - 4)).mean()
    assert inside == 0
    low = sizes[0] / sum(sizes)
    # The share of the first triangle, 6 standard deviations: false alarm below 1e-8.
    assert abs((at[:, 1] < at[:, 0] / 2).mean() - low) < 6 * 0.5 / 20_000**0.5
