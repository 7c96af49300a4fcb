"""Time arrangements of dual lines, draws of triangles, set covers, depths, hull points and mixtures, on one core.

    python scripts/bench.py geometry

Prints one line a figure: what, seconds of processor time, budget. Exit status: 0 if every figure is within its budget,
1 if not.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

import numpy as np

from benchmarks import depth
from dpaudit.seeding import generator
from dpaudit_learners.conjunctions.concepts import Conjunction
from dpaudit_learners.conjunctions.set_cover import SetCoverConjunction
from dpaudit_learners.geometry.arrangement import sweep
from dpaudit_learners.geometry.polygons import Bits
from dpaudit_learners.regions.discs import DiscUnion, disc_family
from dpaudit_learners.regions.halfplane_select import HalfplaneSelect
from dpaudit_learners.regions.region_cover import ConvexPolygon, PolygonUnion
from dpaudit_learners.regions.region_selection import TriangleSelect
from dpaudit_learners.regions.snapping import region_of

SIDE = 2**64
LARGE = 2**32


def arrangement(n: int) -> float:
    rng = random.Random(n)
    points = [(rng.randrange(SIDE + 1), rng.randrange(SIDE + 1)) for _ in range(n)]
    start = time.process_time()
    sweep(points, [(1, 1)] * n, SIDE)
    return time.process_time() - start


def halfplane_runs(n: int, size: int) -> float:
    rng = random.Random(n)
    points = np.array([(rng.randrange(SIDE + 1), rng.randrange(SIDE + 1)) for _ in range(n)], dtype=object)
    labels = (points[:, 1] > points[:, 0] // 2).astype(np.int64)
    learner = HalfplaneSelect(SIDE, 1.0)
    sample = learner.domain.sample(points, labels, np.full(n, 10**4))
    start = time.process_time()
    learner.run(sample, generator(0, "bench", n), size)
    return time.process_time() - start


def set_cover(distinct: int) -> float:
    learner = SetCoverConjunction(dimension=100, k=5, epsilon=1.0, delta=1e-6, alpha=0.1, beta=0.1)
    rng = generator(0, "bench set cover", distinct)
    points = rng.integers(0, 2, (distinct, 100))
    target = Conjunction(100, sum(1 << 2 * i for i in range(5)))
    sample = learner.domain.sample(points, target.predict(points), np.full(distinct, 10**6 // distinct))
    start = time.process_time()
    learner.run(sample, rng, 1)
    return time.process_time() - start


def triangle_sample(learner: Any, distinct: int, examples: int) -> Any:
    """Random points, labelled by a triangle that holds about a quarter of the grid."""
    rng = random.Random(distinct)
    points = np.array([(rng.randrange(LARGE + 1), rng.randrange(LARGE + 1)) for _ in range(distinct)])
    x, y = points.T / LARGE
    labels = ((y >= 0.2 + 0.1 * x) & (y <= 3 * x - 0.4) & (y <= 1.7 - 1.5 * x)).astype(np.int64)
    return learner.domain.sample(points, labels, np.full(distinct, examples // distinct))


def triangle_draws(distinct: int, further: bool) -> float:
    """Seconds of the first draw with its set-up, or of each of 50 further draws from the same state."""
    learner = TriangleSelect(LARGE, 1.0)
    sample = triangle_sample(learner, distinct, 10**6)
    bits = Bits(generator(0, "bench triangle", distinct))
    resolve = region_of(LARGE)
    start = time.process_time()
    sampler = learner._sampler(sample)
    sampler.draw(bits, resolve)
    first = time.process_time() - start
    if not further:
        return first
    start = time.process_time()
    for _ in range(50):
        sampler.draw(bits, resolve)
    return (time.process_time() - start) / 50


def cover_run(kind: Any, k: int, distinct: int) -> float:
    learner = kind(LARGE, k, 1.0, 1e-6, 0.1, 0.1)
    sample = triangle_sample(learner, distinct, 10**6)
    start = time.process_time()
    learner.run(sample, generator(0, "bench cover", kind.id), 1)
    return time.process_time() - start


def disc_list(side: int) -> float:
    start = time.process_time()
    disc_family(side)
    return time.process_time() - start


def disc_run(side: int) -> float:
    """Seconds of a run once the discs are listed."""
    learner = DiscUnion(side, 1, 1.0, 1e-6, 0.1, 0.1)
    points = learner.domain.points()
    labels = (((2 * points - side) ** 2).sum(axis=1) <= side**2 // 2).astype(np.int64)
    sample = learner.domain.sample(points, labels, np.full(len(points), 10**4))
    learner.listed()
    start = time.process_time()
    learner.run(sample, generator(0, "bench disc"), 1)
    return time.process_time() - start


def main() -> int:
    argparse.ArgumentParser(description="Time arrangements, draws of triangles, set covers and depths.").parse_args()
    rows = [
        ("arrangement, side 2^64, 500 distinct points", lambda: arrangement(500), 3.0),
        ("arrangement, side 2^64, 1000 distinct points", lambda: arrangement(1000), 12.0),
        ("halfplane-select, side 2^64, 100 distinct points, 100 runs", lambda: halfplane_runs(100, 100), 3.0),
        ("set-cover-conjunction, d = 100, k = 5, n = 1e6, 1000 distinct, 1 run", lambda: set_cover(1000), 0.5),
        ("set-cover-conjunction, d = 100, k = 5, n = 1e6, 100000 distinct, 1 run", lambda: set_cover(100_000), 0.5),
        ("triangle-select, d = 2^32, n = 1e6, 300 distinct, first draw", lambda: triangle_draws(300, False), 5.0),
        (
            "triangle-select, d = 2^32, n = 1e6, 300 distinct, each further draw",
            lambda: triangle_draws(300, True),
            0.05,
        ),
        ("triangle-select, d = 2^32, n = 1e6, 1000 distinct, first draw", lambda: triangle_draws(1000, False), 10.0),
        (
            "convex-polygon, d = 2^32, k = 3, n = 1e6, 300 distinct, 1 run",
            lambda: cover_run(ConvexPolygon, 3, 300),
            5.0,
        ),
        ("disc-union, side 8, listing 134,438 discs", lambda: disc_list(8), 20.0),
        ("disc-union, side 8, k = 1, n = 810,000, 1 run", lambda: disc_run(8), 5.0),
        ("polygon-union, d = 2^32, k = 2, n = 1e6, 300 distinct, 1 run", lambda: cover_run(PolygonUnion, 2, 300), 20.0),
    ]
    rows += depth.rows()
    slow = False
    for name, measure, budget in rows:
        seconds = measure()
        slow |= seconds > budget
        print(f"{name}: {seconds:.4f} s (budget {budget:g} s)", flush=True)
    return int(slow)
