"""Candidates with a common denominator: counts, draws and losses against lists of them all."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import InputError, Pair
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.depth.depth_extents import DepthExtents
from dpaudit_learners.halfspaces.depth.extended_domain import ExtendedDomain
from dpaudit_learners.halfspaces.depth.plane_lattice import LatticeSelection, PlaneLattice, region_polygon
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth, tukey_depths
from dpaudit_learners.halfspaces.hull_point_joint import HullPointJoint
from dpaudit_learners.mechanisms.exponential import pair_laws


def listed(side: int) -> list[tuple[Fraction, Fraction]]:
    """Return all candidates on a grid."""
    pairs = {
        (Fraction(a, q), Fraction(b, q))
        for q in range(1, 2 * side * side + 1)
        for a in range(side * q + 1)
        for b in range(side * q + 1)
    }
    return sorted(pairs)


MULTISETS: list[tuple[int, list[list[int]], list[int]]] = [
    (1, [[0, 0], [1, 0], [0, 1]], [2, 3, 3]),
    (1, [[1, 1]], [2]),
    (2, [[0, 0], [2, 1]], [3, 2]),
    (2, [[1, 0], [1, 1], [1, 2]], [1, 2, 2]),
    (2, [[0, 0], [2, 1], [1, 2], [0, 2]], [2, 3, 1, 3]),
    (2, [[0, 1], [1, 0], [2, 2], [2, 0], [0, 2]], [1, 1, 2, 1, 1]),
]


@pytest.mark.parametrize(("side", "points", "weights"), MULTISETS)
def test_regions_hold_as_many_candidates_as_the_list(side: int, points: Any, weights: Any) -> None:
    points, weights, candidates, rng = np.array(points), np.array(weights), listed(side), generator(1, "regions")
    lattice, extents = PlaneLattice(side), DepthExtents(points, weights, side)
    assert lattice.square.size == len(candidates)
    depths = tukey_depths(points, weights, candidates)
    assert extents.deepest() == depths.max()
    for level in range(1, extents.deepest() + 1):
        polygon = region_polygon(extents, level)
        region = lattice.within(polygon)
        inside = {c for c, depth in zip(candidates, depths, strict=True) if depth >= level}
        assert region.size == len(inside)
        assert {c for c in candidates if polygon.contains(c)} == inside
        assert {region.uniform(rng) for _ in range(20)} <= inside


def test_a_candidate_of_a_region_is_uniform() -> None:
    lattice, rng = PlaneLattice(1), generator(2, "uniform")
    found = Counter(lattice.square.uniform(rng) for _ in range(1800))
    assert found.keys() == set(listed(1))
    assert all(abs(count - 200) <= 5 * math.sqrt(200) for count in found.values())


def test_the_candidates_hold_the_extended_domain() -> None:
    for side in (1, 2):
        inside = {p for p in ExtendedDomain.grid(side, 2).points if all(0 <= c <= side for c in p)}
        corners = {
            corner
            for _, points, weights in MULTISETS
            for extents in [DepthExtents(np.array(points), np.array(weights), 2)]
            for level in range(1, extents.deepest() + 1)
            for corner in region_polygon(extents, level).corners
        }
        assert corners <= set(listed(2))
        assert len(inside) <= PlaneLattice(side).square.size


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_draws_follow_the_exponential_mechanism(rate: float) -> None:
    side, points, weights = 2, np.array([[0, 0], [2, 1], [1, 2], [0, 2]]), np.array([5, 6, 4, 7])
    candidates = listed(side)
    depths = tukey_depths(points, weights, candidates)
    law = np.exp(rate * (depths - depths.max()))
    law /= law.sum()
    size = 1000
    drawn = LatticeSelection(PlaneLattice(side), points, weights, rate).draw(generator(3, "draws"), size)
    assert set(drawn) <= set(candidates)
    places = [candidates.index(p) for p in drawn]
    for groups in (
        depths,
        np.array([int(2 * x) for x, _ in candidates]),
        np.array([int(2 * y) for _, y in candidates]),
    ):
        expected, found = (np.bincount(groups, weights=w) for w in (law, np.bincount(places, minlength=len(law))))
        assert (np.abs(found - size * expected) <= 5 * np.sqrt(size * expected) + 1).all()


def test_cells_are_those_of_the_listed_laws() -> None:
    lattice, candidates, rate = PlaneLattice(2), listed(2), 0.5
    pairs = [
        ([[0, 0], [2, 1], [1, 2]], [2, 2, 2], [[0, 0], [2, 1], [1, 2], [0, 2]], [1, 2, 2, 1]),
        ([[0, 0], [2, 2]], [2, 1], [[0, 0]], [3]),
        ([[0, 0], [2, 0], [0, 2], [2, 2]], [1, 1, 1, 1], [[0, 0], [2, 0], [0, 2], [2, 2]], [1, 0, 2, 1]),
        ([[1, 1], [0, 0]], [1, 1], [[1, 1], [2, 0]], [1, 1]),
        ([[0, 1], [2, 1]], [2, 2], [[0, 1], [2, 1]], [2, 2]),
    ]
    for points, weights, others, other_weights in pairs:
        sides = [(np.array(points), np.array(weights)), (np.array(others), np.array(other_weights))]
        depths = [tukey_depths(xs, ws, candidates) for xs, ws in sides]
        here, there = (LatticeSelection(lattice, xs, ws, rate) for xs, ws in sides)
        cells = {d: Counter(depths[0][depths[0] - depths[1] == d].tolist()) for d in (-1, 0, 1)}
        assert {d: {r: k for r, k in row.items() if k} for d, row in here.shifts(there).items()} == cells
        merged = pair_laws(here.shifts(there), rate)
        logs = [rate * row - np.log(np.exp(rate * row).sum()) for row in depths]
        difference = logs[0] - logs[1]
        cellwise = merged[0].log_prob - merged[1].log_prob
        assert (cellwise.max(), cellwise.min()) == pytest.approx((difference.max(), difference.min()), abs=1e-12)
        found = np.maximum(np.exp(merged[0].log_prob) - np.exp(merged[1].log_prob), 0).sum()
        assert found == pytest.approx(np.maximum(np.exp(logs[0]) - np.exp(logs[1]), 0).sum(), abs=1e-12)


def test_a_large_grid_has_runs_and_laws_of_pairs_but_no_list() -> None:
    learner = HullPointJoint(100, 2, 8.0)
    rng = generator(4, "large")
    points = rng.integers(0, 101, (60, 2))
    sample = learner.domain.sample(points, np.zeros(60, dtype=int))
    least = 60 / 3 - learner._loss(1e-6)
    assert least > 0
    assert all(tukey_depth(sample.points, sample.counts, p) >= least for p in learner.run(sample, rng, 3))
    small = learner.domain.sample([[0, 0], [100, 1], [40, 90]], [0, 0, 0], [2, 1, 2])
    moved = learner.domain.sample([[0, 0], [100, 1], [40, 90]], [0, 0, 0], [2, 2, 1])
    finding = dpaudit.pac.audit_law(learner, samples=[Pair(small, moved)])
    assert finding.verdict == "consistent"
    assert 0 < finding.epsilon <= learner.epsilon
    with pytest.raises(InputError, match="for the exact law"):
        learner.law(sample)
    assert HullPointJoint(1, 2, 1.0).pair_laws(small, moved) is None
    with pytest.raises(InputError, match="side must be at most 100"):
        HullPointJoint(101, 2, 1.0)
