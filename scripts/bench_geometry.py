"""Time the arrangement of dual lines and a run of the Set Cover Learner, on one core.

    python scripts/bench_geometry.py

Prints one line a figure: what, seconds, budget. Exit status: 0 if every figure is within its budget, 1 if not.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np

from dpaudit.seeding import generator
from learners.concepts.conjunctions import Conjunction
from learners.geometry.arrangement import sweep
from learners.polygons import HalfplaneSelect
from learners.set_cover import SetCoverConjunction

SIDE = 2**64


def arrangement(n: int) -> float:
    rng = random.Random(n)
    points = [(rng.randrange(SIDE + 1), rng.randrange(SIDE + 1)) for _ in range(n)]
    start = time.perf_counter()
    sweep(points, [(1, 1)] * n, SIDE)
    return time.perf_counter() - start


def halfplane_runs(n: int, size: int) -> float:
    rng = random.Random(n)
    points = np.array([(rng.randrange(SIDE + 1), rng.randrange(SIDE + 1)) for _ in range(n)], dtype=object)
    labels = (points[:, 1] > points[:, 0] // 2).astype(np.int64)
    learner = HalfplaneSelect(SIDE, 1.0)
    sample = learner.domain.sample(points, labels, np.full(n, 10**4))
    start = time.perf_counter()
    learner.run(sample, generator(0, "bench", n), size)
    return time.perf_counter() - start


def set_cover(distinct: int) -> float:
    learner = SetCoverConjunction(dimension=100, k=5, epsilon=1.0, delta=1e-6, alpha=0.1, beta=0.1)
    rng = generator(0, "bench set cover", distinct)
    points = rng.integers(0, 2, (distinct, 100))
    target = Conjunction(100, sum(1 << 2 * i for i in range(5)))
    sample = learner.domain.sample(points, target.predict(points), np.full(distinct, 10**6 // distinct))
    start = time.perf_counter()
    learner.run(sample, rng, 1)
    return time.perf_counter() - start


def main() -> int:
    rows = [
        ("arrangement, side 2^64, 500 distinct points", lambda: arrangement(500), 3.0),
        ("arrangement, side 2^64, 1000 distinct points", lambda: arrangement(1000), 12.0),
        ("halfplane-select, side 2^64, 100 distinct points, 100 runs", lambda: halfplane_runs(100, 100), 3.0),
        ("set-cover-conjunction, d = 100, k = 5, n = 1e6, 1000 distinct, 1 run", lambda: set_cover(1000), 0.5),
        ("set-cover-conjunction, d = 100, k = 5, n = 1e6, 100000 distinct, 1 run", lambda: set_cover(100_000), 0.5),
    ]
    slow = False
    for name, measure, budget in rows:
        seconds = measure()
        slow |= seconds > budget
        print(f"{name}: {seconds:.2f} s (budget {budget:g} s)", flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
