"""Regions of depth in space by linear programs, and candidates by pairs, against lists on small boxes."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from quick import by_turns

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.depth.depth_regions import DepthRegions, spanned_normals
from dpaudit_learners.halfspaces.depth.level_rings import Ring, Selection
from dpaudit_learners.halfspaces.depth.space_fractions import (
    Pairs,
    SpaceExtents,
    SpaceFractions,
    steps_after,
)
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.hull_point import HullPointExponential

FLATS = {
    "space": np.eye(3, dtype=int),
    "plane": [[1, 0, 1], [0, 1, 2], [0, 0, 0]],
    "line": [[1, 2, 1], [0] * 3, [0] * 3],
}


def multiset(kind: str, seed: int) -> tuple[Any, Any]:
    """Return some weighted points in space, or in a plane or on a line of it."""
    rng = generator(seed, "multiset")
    points = np.unique(rng.integers(0, 4, (int(rng.integers(1, 8)), 3)) @ np.array(FLATS[kind]), axis=0)
    return points, rng.integers(1, 5, len(points))


@pytest.mark.parametrize("kind", FLATS)
@pytest.mark.parametrize("seed", range(4))
def test_extents_are_those_of_the_spanned_planes(kind: str, seed: int) -> None:
    points, weights = multiset(kind, seed)
    extents = SpaceExtents(points, weights)
    regions, total = DepthRegions(points, weights, spanned_normals(points)), int(weights.sum())
    step = Fraction(1, 10**6)
    for level in range(1, extents.deepest() + 1):
        low, high = extents.interval(level, ()) or (0, 0)
        inside, outside = regions.values((), [low, high]), regions.values((), [low - step, high + step])
        assert inside.min() >= level > outside.max()
    assert extents.interval(extents.deepest() + 1, ()) is None
    for x in (Fraction(1), Fraction(3, 2), Fraction(7, 3)):
        step_function = regions.function((x,))
        deepest = extents.deepest_on((x,), 0, total)
        assert deepest == max(step_function.levels, default=0)
        for level in range(1, deepest + 1):
            index = next(i for i, value in enumerate(step_function.levels) if value >= level)
            assert extents.interval(level, (x,)) == (step_function.lower[index], step_function.upper[index])
        for rest in product((Fraction(1), Fraction(2, 3)), (Fraction(2), Fraction(5, 4))):
            assert extents.deepest_on((x, *rest), 0, total) == tukey_depth(points, weights, (x, *rest))
            if ends := extents.interval(1, (x, rest[0])):
                assert all(tukey_depth(points, weights, (x, rest[0], z)) >= 1 for z in ends)


def test_pairs_are_counted_and_uniform() -> None:
    outer, inner = Pairs(5, Fraction(-1, 2), Fraction(9, 4)), Pairs(5, Fraction(1, 3), Fraction(3, 2))
    each = [Fraction(p, q) for q in range(1, 6) for p in range(-9, 40) if outer.start <= Fraction(p, q) <= outer.stop]
    assert outer.size == len(each)
    ring = Ring(outer, inner, 0, 0)
    expected = Counter(x for x in each if not inner.start <= x <= inner.stop)
    size, rng = 400 * ring.size, generator(5, "pairs")
    found = Counter(outer.uniform(ring, rng) for _ in range(size))
    assert ring.size == expected.total()
    assert found.keys() == expected.keys()
    # Six standard deviations of some 20 counts: false-alarm rate below 1e-7.
    assert all(abs(found[x] - 400 * k) <= 6 * math.sqrt(400 * k) for x, k in expected.items())


def test_pairs_are_ranked_by_their_numbers() -> None:
    pairs = Pairs(6, Fraction(-2), Fraction(3))
    each = sorted(Fraction(p, q) for q in range(1, 7) for p in range(-2 * q, 3 * q + 1))
    assert [pairs.at(rank) for rank in range(pairs.size)] == each
    for x in {*each, Fraction(1, 7), Fraction(-3), Fraction(4)}:
        assert pairs.at_most(x) == sum(y <= x for y in each)
        if -2 <= x <= 3:
            assert pairs.below(x) == sum(y < x for y in each)


@pytest.mark.parametrize("kind", FLATS)
def test_steps_by_rank_are_the_depths_of_the_list(kind: str) -> None:
    points, weights = multiset(kind, 11)
    low, high = points.min(axis=0), points.max(axis=0)
    box = SpaceFractions(tuple(low.tolist()), tuple((high + (high == low)).tolist()))
    extents, regions = SpaceExtents(points, weights), DepthRegions(points, weights, spanned_normals(points))
    middle = Fraction(int(low[0] + high[0]), 2)
    for prefix in ((), (middle,), (middle, Fraction(int(low[1] + high[1]), 2))):
        scale, pairs = box.after(prefix)
        # Few denominators are enough for a list, and hold every end as far as they go.
        pairs = Pairs(min(pairs.most, 30), pairs.start, pairs.stop)
        steps = steps_after(extents, pairs, scale, prefix)
        found = np.repeat(steps.values, steps.lengths)
        assert len(found) == pairs.size
        numbers = sorted(set(candidates_of(pairs)))
        depths = dict(zip(numbers, regions.values(prefix, [x / scale for x in numbers]), strict=True))
        assert found.tolist() == [depths[x] for x in sorted(candidates_of(pairs))]


def candidates_of(pairs: Pairs) -> list[Fraction]:
    """Return p/q of all pairs."""
    return [Fraction(p, q) for q in range(1, pairs.most + 1) for p in range(pairs.of(q)[0], pairs.of(q)[1] + 1)]


def candidates(box: SpaceFractions, prefix: tuple[Fraction, ...]) -> Counter[Fraction]:
    """Return the candidates after a prefix, each as often as it is among the pairs."""
    scale, pairs = box.after(prefix)
    return Counter(x / scale for x in candidates_of(pairs))


def test_candidates_hold_the_corners_of_all_regions() -> None:
    box = SpaceFractions((0, 0, 0), (2, 2, 2))
    assert box.denominators == (256, 32, 4)
    assert box.most[0] == sum(2 * q + 1 for q in range(1, 257))
    for seed in range(6):
        rng = generator(seed, "corners")
        points = np.unique(rng.integers(0, 3, (6, 3)), axis=0)
        extents = SpaceExtents(points, rng.integers(1, 4, len(points)))
        for level in range(1, extents.deepest() + 1):
            prefix: tuple[Fraction, ...] = ()
            for axis, most in enumerate(box.denominators):
                x, _ = extents.interval(level, prefix) or (Fraction(0), None)
                scale, _ = box.after(prefix)
                assert (x * scale).denominator <= most, axis
                prefix = (*prefix, x)


@pytest.mark.parametrize("rate", by_turns([0.4, 2.0]))
def test_draws_follow_the_exponential_mechanism_on_pairs(rate: float) -> None:
    box, points, weights = SpaceFractions((0, 0, 0), (1, 1, 1)), *multiset_of_the_cube()
    regions = DepthRegions(points, weights, spanned_normals(points))

    def law(prefix: tuple[Fraction, ...]) -> dict[Fraction, float]:
        found = candidates(box, prefix)
        scores = regions.values(prefix, list(found))
        mass = {x: k * math.exp(rate * int(q)) for (x, k), q in zip(found.items(), scores, strict=True)}
        return {x: m / sum(mass.values()) for x, m in mass.items()}

    expected: dict[tuple[Fraction, ...], float] = {(): 1.0}
    for _ in range(3):
        expected = {(*prefix, x): p * q for prefix, p in expected.items() for x, q in law(prefix).items()}
    size = 6000
    drawn = Counter(Selection(box, SpaceExtents(points, weights), rate).draw(generator(7, "draws"), size))
    assert drawn.keys() <= expected.keys()
    for axis in range(3):
        for x in {point[axis] for point in expected}:
            p = sum(q for point, q in expected.items() if point[axis] == x)
            # Five standard deviations and 3 of some 60 counts: false-alarm rate below 1e-4.
            assert (
                abs(sum(k for point, k in drawn.items() if point[axis] == x) - size * p) <= 5 * math.sqrt(size * p) + 3
            )


def multiset_of_the_cube() -> tuple[Any, Any]:
    """Return weighted corners of the unit cube."""
    return np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]), np.array([2, 3, 1, 2, 2])


def test_deep_points_of_space_are_released_on_large_grids() -> None:
    learner, rng = HullPointExponential(20, 3, 8.0), generator(8, "space")
    points = rng.integers(0, 21, (40, 3))
    sample = learner.domain.sample(points, np.zeros(40, dtype=int), np.full(40, 100))
    found = learner.run(sample, rng, 3)
    assert learner.depth_guarantee(4000, 1e-6) > 0
    assert all(tukey_depth(sample.points, sample.counts, p) >= learner.depth_guarantee(4000, 1e-6) for p in found)
    assert all(learner.solves(p, sample) for p in found)
    assert len(learner.run(learner.domain.empty_sample(), rng, 2)) == 2
    with pytest.raises(InputError, match="side must be at most 1 for the exact law"):
        learner.law(sample)
    many = learner.domain.sample(rng.integers(0, 21, (300, 3)), np.zeros(300, dtype=int))
    with pytest.raises(InputError, match="points of space must be at most 200 distinct ones"):
        learner.run(many, rng, 1)
    with pytest.raises(InputError, match="side must be at most 1000 in dimension 3"):
        HullPointExponential(1001, 3, 1.0)
