"""Discs drawn from Lebesgue measure on their dual points, against volumes that SciPy finds for every labelling."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.spatial
import scipy.stats

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit.utility.audit import audit_utility
from dpaudit_learners.domains import Grid
from dpaudit_learners.geometry.polygons import Bits
from dpaudit_learners.geometry.solids import UniformSolidPoint, cuboid, cut, tetrahedra, vertices, volume
from dpaudit_learners.regions.disc_draws import DualCubes, SolidPieces, log_labellings, log_measures
from dpaudit_learners.regions.discs import Disc, DiscUnion, disc_count, disc_family, dual_disc
from dpaudit_learners.regions.shapes import Union
from dpaudit_learners.regions.tuple_draws import TupleSampler

LEVEL = 1e-6


def covering(covered: Any, spoiled: Any) -> Any:
    return np.minimum(2 * covered - 5, -2 * spoiled)


@cache
def dual_volumes(side: int) -> dict[tuple[int, bytes], float]:
    """Volumes of the cells of all planes of the grid in the box, by copy and labels: linear programs and hulls."""
    points = Grid(side, 2).points().astype(float)
    ends = np.array([8 * side**3, 8 * side**3, 16 * side**4], dtype=float)
    planes = np.column_stack([points, np.ones(len(points))])
    lift = (points**2).sum(axis=1)
    box = np.vstack([np.eye(3), -np.eye(3)])
    found = {}
    for labels in disc_family(side).labels:
        for z in (1, -1):
            # z (lift - plane) >= 0 where the label is 1.
            signs = np.where(labels == 1, z, -z)[:, None]
            rows = np.vstack([signs * planes, box])
            right = np.concatenate([signs[:, 0] * lift, ends, ends])
            size = np.linalg.norm(rows, axis=1)
            best = scipy.optimize.linprog(
                [0, 0, 0, -1], A_ub=np.column_stack([rows, size]), b_ub=right, bounds=[(None, None)] * 4
            )
            if best.status == 0 and best.x[3] > 1e-9:
                cell = scipy.spatial.HalfspaceIntersection(np.column_stack([rows, -right]), best.x[:3])
                found[z, labels.tobytes()] = scipy.spatial.ConvexHull(cell.intersections, qhull_options="QJ").volume
    return found


@pytest.mark.parametrize("side", [1, 2])
def test_every_labelling_has_a_cell_and_the_cells_fill_the_box(side: int) -> None:
    volumes = dual_volumes(side)
    assert {labels for _, labels in volumes} == {row.tobytes() for row in disc_family(side).labels}
    whole = 2 * (16 * side**3) ** 2 * 32 * side**4
    assert sum(volumes.values()) == pytest.approx(whole, rel=1e-6)
    # V and D bound what they say they bound.
    assert math.log(whole / min(volumes.values())) <= log_measures(side)
    assert math.log(disc_count(side)) <= log_labellings(side)


@pytest.mark.parametrize(("side", "rate", "runs"), [(1, Fraction(1, 2), 3000), (2, Fraction(1, 8), 4000)])
def test_draws_follow_the_volumes(side: int, rate: Fraction, runs: int) -> None:
    rng = generator(1, "disc draws", side)
    grid = list(itertools.product(range(side + 1), repeat=2))
    points = grid[: 5 + side]
    weights = [(int(a), int(b)) for a, b in rng.integers(0, 5, (len(points), 2))]
    sampler = TupleSampler(points, weights, side, covering, rate, 1, pieces=SolidPieces(points, side))
    bits, cubes = Bits(generator(2, "disc draws", side)), DualCubes(side)
    places = {key: i for i, key in enumerate(dual_volumes(side))}
    counts = np.zeros(len(places))
    for _ in range(runs):
        (drawn,) = sampler.draw(bits, cubes.resolve)
        labels = dual_disc((drawn,)).predict(np.array(grid))
        counts[places[drawn[0], labels.tobytes()]] += 1
    rows = np.array([np.frombuffer(labels, dtype=np.uint8)[: len(points)] for _, labels in places], dtype=np.int64)
    # The points come first in the grid, as do their labels.
    scores = covering(*(rows @ np.array(weights)).T)
    logs = np.log(list(dual_volumes(side).values())) + float(rate) * scores
    shares = np.exp(logs - logs.max())
    expected = runs * shares / shares.sum()
    large = expected >= 10
    seen = np.append(counts[large], counts[~large].sum())
    due = np.append(expected[large], expected[~large].sum())
    assert large.sum() > 5
    assert scipy.stats.chisquare(seen[due > 5], due[due > 5] * seen[due > 5].sum() / due[due > 5].sum()).pvalue > LEVEL


def test_solids_are_cut_exactly() -> None:
    solid = cuboid(4, 4, 8)
    assert volume(solid) == 8 * 8 * 16
    rng = generator(3, "solids")
    parts = [solid]
    for _ in range(12):
        x, y = (int(v) for v in rng.integers(0, 4, 2))
        plane = (x, y, x * x + y * y)
        halves = []
        for part in parts:
            heights = [t + x * p + y * r - plane[2] * q for p, r, t, q in vertices(part)]
            if min(heights) < 0 < max(heights):
                two = [cut(part, plane, side) for side in (-1, 1)]
                assert sum(map(volume, two)) == volume(part)
                # Euler's formula, each edge being of two faces.
                for half in two:
                    assert len(vertices(half)) - sum(map(len, half)) // 2 + len(half) == 2
                halves += two
            else:
                halves.append(part)
        parts = halves
    assert sum(map(volume, parts)) == volume(solid)
    assert len(parts) > 20
    # The middle of the three numbers is on the diagonal where they are equal: that is left open.
    uniform = UniformSolidPoint.of(parts[0])
    assert uniform.box(0, 5, 5, 9, 8) is None
    assert len(uniform.corners) == len(list(tetrahedra(parts[0])))


def test_points_of_a_solid_are_uniform() -> None:
    # Of a tetrahedron, the share of the volume below a plane through a third of each edge at one corner is 1/27.
    corner = [[(0, 0, 0, 1), (9, 0, 0, 1), (0, 9, 0, 1)], [(0, 0, 0, 1), (9, 0, 0, 1), (0, 0, 9, 1)],
              [(0, 0, 0, 1), (0, 9, 0, 1), (0, 0, 9, 1)], [(9, 0, 0, 1), (0, 9, 0, 1), (0, 0, 9, 1)]]  # fmt: skip
    uniform, bits = UniformSolidPoint.of(corner), Bits(generator(4, "tetrahedron"))
    inner = outer = 0
    for _ in range(4000):
        box = uniform.box(*(bits.take(64) for _ in range(4)), 64)
        assert box is not None
        a, _, b, _, c, _, q = box
        assert min(a, b, c) >= 0
        inner += a + b + c <= 3 * q
        outer += a >= 3 * q
    # The part beyond a third of one edge has (2/3)^3 of the volume.
    assert scipy.stats.binomtest(inner, 4000, 1 / 27).pvalue > LEVEL
    assert scipy.stats.binomtest(outer, 4000, 8 / 27).pvalue > LEVEL


def test_discs_of_a_large_grid_are_learned_where_the_theorem_speaks() -> None:
    learner: Any = DiscUnion(100, 2, 1.0, 1e-6, 0.05, 0.05)
    ((target, law, _),) = learner.concepts.hard_targets(0.1)
    finding = audit_utility(learner, target, law, alpha=0.1, beta=0.1, trials=3)
    assert (finding.failures, finding.n) == (0, learner.utility(0.1, 0.1).sample_size)
    assert learner.concepts.has(target)
    assert not learner.concepts.has(Union((*target.parts, target.parts[0])))
    scene, pictured = DiscUnion(20, 1, 1.0, 1e-6, 0.2, 0.2).scene(generator(5, "scene"))
    assert isinstance(pictured, Disc)
    assert 0 < scene.counts[scene.labels == 1].sum() < scene.n


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="side"):
        _ = DiscUnion(11, 1, 1.0, 1e-6, 0.2, 0.2).concepts.size
    with pytest.raises(InputError, match="all points of the grid"):
        DiscUnion(1001, 1, 1.0, 1e-6, 0.2, 0.2)
    for code in (((2, 0, 0, 0),), ((1, 0, 0),), ((1, 0, 0, 0.5),), 3):
        with pytest.raises(InputError, match="code"):
            dual_disc(code)
