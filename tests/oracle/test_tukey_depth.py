"""Tukey depth, depth regions and the extended domain against brute force, rational search and linear programs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog

from dpaudit.contract import InputError
from dpaudit_learners.domains import Grid
from dpaudit_learners.halfspaces.depth.depth_regions import DepthRegions, StepFunction, spanned_normals
from dpaudit_learners.halfspaces.depth.extended_domain import ExtendedDomain
from dpaudit_learners.halfspaces.depth.tukey_depth import centerpoint_bound, tukey_depth, tukey_depths

Point = Sequence[Fraction]


def separable(points: Sequence[npt.ArrayLike], query: Point) -> bool:
    """Say whether some u has <u, y - x> >= 1 for all points y: then x is not in their convex hull."""
    if not len(points):
        return True
    rows = -(np.asarray(points, dtype=float) - np.asarray(query, dtype=float))
    found = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return bool(found.status == 0)


def slow_depth(points: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], query: Point) -> int:
    """Return the least weight whose removal takes the query out of the hull (Claim 2.18), over all subsets."""
    best = int(sum(weights))
    # By weight: the first subset whose removal frees the query is a lightest one.
    order = sorted(range(1 << len(points)), key=lambda s: sum(int(w) for i, w in enumerate(weights) if s >> i & 1))
    for removed in order:
        kept = [p for i, p in enumerate(points) if not removed >> i & 1]
        if separable(kept, query):
            best = sum(int(w) for i, w in enumerate(weights) if removed >> i & 1)
            break
    return best


@pytest.mark.parametrize(("dimension", "cases"), [(1, 20), (2, 30), (3, 20)])
def test_depth_is_the_least_weight_that_frees_the_point(dimension: int, cases: int) -> None:
    rng = np.random.default_rng(dimension)
    for case in range(cases):
        side = 2 + case % 3
        points = rng.integers(0, side, (6, dimension))
        weights = rng.integers(1, 5, 6)
        query = [Fraction(int(v), 2) for v in rng.integers(0, 2 * side, dimension)]
        if case % 4 == 0:
            query = [Fraction(int(v)) for v in points[0]]
        assert tukey_depth(points, weights, query) == slow_depth(points, weights, query)


def test_depth_in_flats_and_at_one_repeated_point() -> None:
    rng = np.random.default_rng(4)
    line = np.outer(rng.integers(-3, 4, 6), [1, 2, -1]) + np.array([1, 1, 1])
    plane = np.column_stack([rng.integers(0, 3, (6, 2)), np.zeros((6, 1), dtype=int)])
    for points in (line, plane, line[:, :2], np.tile([[1, 2, 3]], (4, 1))):
        weights = rng.integers(1, 4, len(points))
        on_it = [Fraction(int(v)) for v in points[0]]
        off = [on_it[0] + 1, *on_it[1:]]
        between = [(Fraction(int(a)) + int(b)) / 2 for a, b in zip(points[0], points[-1], strict=True)]
        for query in (on_it, off, between):
            assert tukey_depth(points, weights, query) == slow_depth(points, weights, query)
    assert tukey_depth([[1, 2, 3]] * 4, [1, 2, 3, 4], (1, 2, 3)) == 10
    assert tukey_depth([[1, 2, 3]] * 4, [1, 2, 3, 4], (1, 2, 4)) == 0


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_depth_with_huge_coordinates_equals_that_of_small_ones(dimension: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        points = rng.integers(0, 4, (9, dimension))
        weights = rng.integers(1, 10**12, 9)
        query = [Fraction(int(v), 3) for v in rng.integers(0, 9, dimension)]
        huge = np.array([[int(v) * 2**64 + 5 for v in row] for row in points], dtype=object)
        moved = [q * 2**64 + 5 for q in query]
        assert tukey_depth(huge, weights, moved) == tukey_depth(points, weights, query)


def test_nearly_equal_slopes_are_told_apart() -> None:
    # Two slopes that differ by 2^-60; the origin is inside the triangle, and would not be if they were taken as equal.
    a = 2**30
    b = 2**30 - 1
    points = np.array([[a, b], [a - 1, b - 1], [-(2 * a - 1), -(2 * b - 1)]], dtype=object)
    for weights in ([1, 1, 1], [2, 5, 9]):
        assert tukey_depth(points, weights, (0, 0)) == min(weights)


def test_depth_has_sensitivity_one_and_ignores_the_order() -> None:
    rng = np.random.default_rng(3)
    queries = [tuple(Fraction(int(v), 2) for v in row) for row in itertools.product(range(5), repeat=2)]
    grid = Grid(2, 2).points()
    for _ in range(40):
        weights = rng.multinomial(7, np.ones(9) / 9)
        here = tukey_depths(grid, weights, queries)
        moved = weights.copy()
        moved[rng.choice(np.flatnonzero(weights))] -= 1
        moved[rng.integers(9)] += 1
        assert np.abs(tukey_depths(grid, moved, queries) - here).max() <= 1
        order = rng.permutation(9)
        assert (tukey_depths(grid[order], weights[order], queries) == here).all()
        assert here.max() <= 7


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="dimension must be in"):
        tukey_depth([[0, 0, 0, 0]], [1], (0, 0, 0, 0))
    with pytest.raises(InputError, match="weights"):
        tukey_depth([[0, 0]], [-1], (0, 0))
    with pytest.raises(InputError, match="queries"):
        tukey_depth([[0, 0]], [1], (0, 0, 0))
    assert tukey_depth(np.zeros((0, 2), dtype=int), [], (0, 0)) == 0
    assert [centerpoint_bound(n, 2) for n in (0, 1, 3, 4)] == [0, 1, 1, 2]


def dense(step: StepFunction, breakpoints: list[Fraction]) -> list[Fraction]:
    """Return the breakpoints of a function and the middles between them and beyond."""
    places = sorted({*breakpoints, *step.lower, *step.upper, Fraction(-1), Fraction(6)})
    return sorted({*places, *((a + b) / 2 for a, b in itertools.pairwise(places))})


def test_the_step_function_is_the_greatest_depth_on_every_vertical_line() -> None:
    rng = np.random.default_rng(11)
    grid = Grid(2, 2).points()
    extended = ExtendedDomain.grid(2, 2)
    for case in range(12):
        weights = rng.integers(0, 4, 9) * (rng.random(9) < (0.4 if case % 2 else 1.0))
        regions = extended.regions(grid, weights)
        step = regions.function()
        for x in dense(step, list(extended.coordinates())):
            # On a line depth changes only where it meets lines spanned by points: all its values are met there.
            crossings = [(x, y) for y in extended.coordinates((x,))]
            assert step(x) == tukey_depths(grid, weights, crossings).max()
        assert step(Fraction(-1)) == step(Fraction(6)) == 0


def test_the_step_function_of_few_points_in_a_flat() -> None:
    for points in ([[1, 1]], [[1, 0], [1, 1]], [[0, 0], [2, 2]], [[0, 1], [2, 1], [1, 1]], [[1, 0], [1, 2]]):
        xs = np.array(points)
        weights = np.arange(2, 2 + len(xs))
        step = DepthRegions(xs, weights, spanned_normals(xs)).function()
        ends = [(Fraction(a) + b) / 2 for a in range(-1, 4) for b in range(-1, 4)]
        for x in sorted(set(ends)):
            values = tukey_depths(xs, weights, [(x, Fraction(k, 4)) for k in range(-4, 13)])
            assert step(x) == values.max()


def test_slices_in_space_meet_the_greatest_depth_of_the_extended_domain() -> None:
    rng = np.random.default_rng(5)
    cube = Grid(1, 3).points()
    extended = ExtendedDomain.grid(1, 3)
    for _ in range(4):
        weights = rng.integers(0, 5, 8)
        regions = extended.regions(cube, weights)
        for x in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)):
            tops = [regions.values((x,), [y])[0] for y in extended.coordinates((x,))]
            assert regions.values((), [x])[0] == max(tops)
            for y in extended.coordinates((x,))[::4]:
                found = regions.values((x, y), extended.coordinates((x, y)))
                assert regions.values((x,), [y])[0] == found.max()


def test_q_is_quasi_concave_with_sensitivity_one_on_every_small_multiset() -> None:
    grid = Grid(1, 2).points()
    extended = ExtendedDomain.grid(1, 2)
    xs = extended.coordinates()
    tables = {}
    for counts in itertools.product(range(5), repeat=4):
        if sum(counts) == 4:
            regions = extended.regions(grid, np.array(counts))
            tables[counts] = [
                regions.values((), xs),
                *(regions.values((x,), extended.coordinates((x,))) for x in xs),
            ]
    for counts, functions in tables.items():
        for q in functions:
            assert all(q[j] >= min(q[i], q[k]) for i, j, k in itertools.combinations(range(len(q)), 3))
        for other, functions_too in tables.items():
            if sum(abs(a - b) for a, b in zip(counts, other, strict=True)) == 2:
                assert all(np.abs(a - b).max() <= 1 for a, b in zip(functions, functions_too, strict=True))


def test_the_extended_domain_has_its_known_sizes_and_attains_the_centerpoint() -> None:
    for side, size, conditional, union in ((1, 3, 3, 3), (2, 17, 15, 51), (3, 99, 56, 701)):
        extended = ExtendedDomain.grid(side, 2)
        assert extended.sizes == (size, conditional)
        assert len(extended.union(2)) == union <= extended.bound()
    rng = np.random.default_rng(8)
    extended = ExtendedDomain.grid(2, 2)
    grid = Grid(2, 2).points()
    for n in range(1, 12):
        weights = rng.multinomial(n, rng.dirichlet(np.ones(9) * 0.5))
        assert extended.regions(grid, weights).values((), extended.coordinates()).max() >= centerpoint_bound(n, 2)


def median(
    extended: ExtendedDomain, points: npt.NDArray[np.int64], weights: npt.NDArray[np.int64]
) -> tuple[tuple[Fraction, ...], int]:
    """Return a Tukey median and its depth: coordinate by coordinate, the first candidate of greatest Q."""
    regions = extended.regions(points, weights)
    depth = 0
    point: tuple[Fraction, ...] = ()
    for _ in range(extended.dimension):
        candidates = extended.coordinates(point)
        values = regions.values(point, candidates)
        depth = int(values.max())
        point = (*point, candidates[int(values.argmax())])
    return point, depth


def test_the_median_is_as_deep_as_any_point() -> None:
    rng = np.random.default_rng(9)
    for side, dimension in ((5, 1), (2, 2), (1, 3)):
        extended = ExtendedDomain.grid(side, dimension)
        grid = Grid(side, dimension).points()
        for _ in range(4):
            weights = rng.multinomial(9, rng.dirichlet(np.ones(len(grid)) * 0.5))
            point, depth = median(extended, grid, weights)
            assert tukey_depth(grid, weights, point) == depth >= centerpoint_bound(9, dimension)
            # No point of the space is deeper than the deepest of the extended domain, nor any of a fine lattice.
            assert depth == max(tukey_depths(grid, weights, extended.points))
            rows = rng.integers(0, 6 * side + 1, (40, dimension)).tolist()
            lattice = [tuple(Fraction(v, 6) for v in row) for row in rows]
            assert max(tukey_depths(grid, weights, lattice)) <= depth


def test_bounds_on_the_candidates_of_a_large_grid_are_bounds() -> None:
    extended = ExtendedDomain.grid(4, 2)
    first = extended.coordinates()
    assert extended.most[0] == len(first) == 353
    assert max(len(extended.coordinates((x,))) for x in first[::9]) <= extended.most[1]
    assert ExtendedDomain.grid(3, 2).most == ExtendedDomain.grid(3, 2).sizes


def test_the_literal_extended_domain_misses_the_square_s_centre() -> None:
    corners = Grid(1, 2).points()
    ones = np.ones(4, dtype=int)
    # The centre of the square has depth 2: the literal rule has no candidate there.
    half = Fraction(1, 2)
    assert tukey_depth(corners, ones, (half, half)) == 2
    literal = ExtendedDomain.grid(1, 2, literal=True)
    assert max(tukey_depths(corners, ones, literal.points)) == 1 < centerpoint_bound(4, 2)
    assert (half, half) in ExtendedDomain.grid(1, 2).points
    with pytest.raises(InputError, match="literal"):
        ExtendedDomain.grid(1, 3, literal=True)
    with pytest.raises(InputError, match="side must be at most"):
        ExtendedDomain.grid(2, 3)
    with pytest.raises(InputError, match="prefix"):
        literal.coordinates((0, 0))
    with pytest.raises(InputError, match="prefix"):
        ExtendedDomain.grid(1, 3).regions(Grid(1, 3).points(), np.ones(8, dtype=int)).function()
