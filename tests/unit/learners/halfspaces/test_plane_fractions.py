"""Candidates that are numbered and not listed: ranks, extents of regions, and draws, against lists of them all."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from quick import by_turns

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.depth.depth_extents import DepthExtents
from dpaudit_learners.halfspaces.depth.depth_regions import DepthRegions, spanned_normals
from dpaudit_learners.halfspaces.depth.extended_domain import ExtendedDomain
from dpaudit_learners.halfspaces.depth.fraction_ranks import FractionRanks, PlaneFractions, Span, rank_within
from dpaudit_learners.halfspaces.depth.level_rings import Ring, Selection, draw, rings
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth, tukey_depths
from dpaudit_learners.halfspaces.hull_point import HullPointExponential


def listed(most: int, top: int) -> list[Fraction]:
    """Return all p/q in [0, top] with q <= most, in order."""
    return sorted({Fraction(p, q) for q in range(1, most + 1) for p in range(top * q + 1)})


@pytest.mark.parametrize(("most", "top"), [(1, 3), (2, 0), (5, 3), (18, 2)])
def test_ranks_are_those_of_the_list(most: int, top: int) -> None:
    ranks, every = FractionRanks(most, top), listed(most, top)
    assert [ranks.at(rank) for rank in range(ranks.size)] == every
    for numerator in np.random.default_rng(most).integers(-1, top * most**2 + 2, 30).tolist():
        x = Fraction(numerator, most**2)
        assert ranks.at_most(x) == sum(value <= x for value in every)
        assert ranks.below(x) == sum(value < x for value in every)
    with pytest.raises(InputError, match="rank"):
        ranks.at(ranks.size)


def test_ranks_among_many_fractions_are_inverted() -> None:
    ranks = FractionRanks(2 * 10**6, 1000)
    for rank in (0, 1, 10**9, ranks.size // 3, ranks.size - 1):
        assert ranks.at_most(ranks.at(rank)) == rank + 1
    with pytest.raises(InputError, match="most and top"):
        FractionRanks(3 * 10**6, 1000)


def multisets(cases: int) -> Any:
    """Yield random multisets of few points of small grids, some of them on one line."""
    rng = np.random.default_rng(21)
    for case in range(cases):
        side = int(rng.integers(1, 9))
        points = rng.integers(0, side + 1, (int(rng.integers(1, 12)), 2))
        if case % 4 == 0:
            points = points[:, [0, 0]] if case % 8 else points * [0, 1]
        points = np.unique(points, axis=0)
        yield side, points, rng.integers(1, 5, len(points))


def test_extents_are_those_of_all_spanned_lines() -> None:
    rng = np.random.default_rng(22)
    for side, points, weights in multisets(24):
        extents, regions = (
            DepthExtents(points, weights, side),
            DepthRegions(points, weights, spanned_normals(points)),
        )
        step = regions.function()
        assert extents.deepest() == step.levels[-1]
        for level in range(1, step.levels[-1] + 2):
            ends = next((e for r, *e in zip(step.levels, step.lower, step.upper, strict=True) if r >= level), None)
            assert extents.interval(level) == (None if ends is None else tuple(ends))
            if ends is None:
                continue
            x = ends[0] + (ends[1] - ends[0]) * Fraction(int(rng.integers(0, 4)), 3)
            slice_ = regions.function((x,))
            inside = next(e for r, *e in zip(slice_.levels, slice_.lower, slice_.upper, strict=True) if r >= level)
            assert extents.interval(level, (x,)) == tuple(inside)
            assert extents.deepest_on((x,), 0, extents.total) == slice_.levels[-1]
            assert extents.depth((x, inside[0])) == tukey_depth(points, weights, (x, inside[0]))


def test_the_candidates_hold_those_of_the_extended_domain() -> None:
    for side in (1, 2, 3):
        extended, fractions = ExtendedDomain.grid(side, 2), PlaneFractions(side)
        firsts = set(listed(2 * side**2, side))
        assert {x for x in extended.coordinates() if 0 <= x <= side} <= firsts
        assert fractions.firsts.size == len(firsts)
        for x in extended.coordinates()[::7]:
            if 0 <= x <= side:
                seconds = {z / x.denominator for z in listed(side, side * x.denominator)}
                assert {y for y in extended.coordinates((x,)) if 0 <= y <= side} <= seconds
                assert fractions.after((x,))[1].size == len(seconds) <= fractions.most[1]


def test_rings_hold_every_candidate_once_with_its_score() -> None:
    side, points, weights = 2, np.array([[0, 0], [2, 1], [1, 2]]), np.array([5, 9, 6])
    extents, ranks = DepthExtents(points, weights, side), PlaneFractions(side).firsts
    values = DepthRegions(points, weights, spanned_normals(points)).values((), listed(8, side))
    found = rings(lambda r: ranks.between(extents.interval(r) if r else None), extents.deepest(), 0.3)
    places = [(rank_within(ring, index), ring) for ring in found for index in range(ring.size)]
    assert sorted(rank for rank, _ in places) == list(range(ranks.size))
    assert all(ring.least <= values[rank] <= ring.most for rank, ring in places)
    assert any(ring.least < ring.most for ring in found)


@pytest.mark.parametrize("step_rate", [0.12, 0.4, 2.0])
def test_draws_from_rings_of_several_levels_follow_the_law(step_rate: float) -> None:
    scores = np.minimum(np.arange(100), 99 - np.arange(100)) // 3
    found = rings(lambda level: Span(3 * level, 100 - 3 * level), int(scores.max()), step_rate)
    rng, size = generator(7, "rings"), 4000

    def pick(ring: Ring[Span]) -> int:
        return rank_within(ring, int(rng.integers(ring.size)))

    drawn = draw(found, pick, lambda x, least, most: int(scores[x]), step_rate, rng, size)
    law = np.exp(step_rate * (scores - scores.max()))
    law = np.bincount(scores, weights=law / law.sum())
    counts = np.bincount(scores[drawn], minlength=len(law))
    assert (np.abs(counts - size * law) <= 5 * np.sqrt(size * law) + 1).all()


@pytest.mark.parametrize("rate", by_turns([0.3, 0.6]))
def test_draws_follow_the_exponential_mechanism_on_the_listed_candidates(rate: float) -> None:
    points, weights = np.array([[0, 1], [2, 2], [1, 0], [2, 0]]), np.array([7, 5, 9, 3])
    law: dict[Any, float] = {}
    slices = {x: [(x, z / x.denominator) for z in listed(2, 2 * x.denominator)] for x in listed(8, 2)}
    depths = {x: tukey_depths(points, weights, slices[x]) for x in slices}
    whole = sum(math.exp(rate * int(d.max())) for d in depths.values())
    for x, d in depths.items():
        here = sum(math.exp(rate * int(v)) for v in d)
        law |= {y: math.exp(rate * int(d.max() + v)) / whole / here for y, v in zip(slices[x], d, strict=True)}
    size = 1000
    selection = Selection(PlaneFractions(2), DepthExtents(points, weights, 2), rate)
    found = Counter(selection.draw(generator(3, "draws"), size))
    assert found.keys() <= law.keys()
    # By depth, and by the first coordinate: within 5 deviations.
    for group in (lambda y: tukey_depth(points, weights, y), lambda y: int(2 * y[0])):
        expected: defaultdict[int, float] = defaultdict(float)
        drawn: Counter[int] = Counter()
        for y, p in law.items():
            expected[group(y)] += p
            drawn[group(y)] += found[y]
        assert all(abs(drawn[g] - size * p) <= 5 * math.sqrt(size * p) + 1 for g, p in expected.items())


def test_a_large_grid_is_learned_from_and_its_law_refused() -> None:
    learner = HullPointExponential(1000, 2, 8.0)
    rng = generator(5, "large")
    points = rng.integers(0, 1001, (300, 2))
    sample = learner.domain.sample(points, np.zeros(300, dtype=int))
    least = learner.depth_guarantee(300, 1e-6)
    assert least > 0
    found = learner.run(sample, rng, 3)
    assert all(tukey_depth(sample.points, sample.counts, point) >= least for point in found)
    assert len(learner.run(learner.domain.empty_sample(), rng, 3)) == 3
    with pytest.raises(InputError, match="side must be at most 16 for the exact law"):
        learner.law(sample)
