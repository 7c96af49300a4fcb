"""Time Tukey depth, the functions Q, and the mixture learner, and compare with the limits that are asked for.

    python scripts/bench_depth.py

Exit status: 0 if every limit is met on this machine, 1 if not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from learners.domains import Grid
from learners.geometry.extended_domain import ExtendedDomain
from learners.geometry.tukey_depth import tukey_depth
from learners.mixtures import MixtureHalfspace


def best(action: Callable[[], object], repeat: int = 5) -> float:
    """Return the least of some wall times, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    rng = np.random.default_rng(0)
    plane, space = rng.integers(0, 1000, (1000, 2)), rng.integers(0, 1000, (60, 3))
    weights = rng.integers(1, 10**9, 1000)
    grid, extended = Grid(6, 2).points(), ExtendedDomain.grid(6, 2)
    xs = extended.coordinates()
    heavy = rng.multinomial(10**12, rng.dirichlet(np.ones(49)))
    learner = MixtureHalfspace(2, 1.0, side=2**18 - 1)
    points = rng.integers(0, 2**18, (10_050, 2))
    sample = learner.domain.sample(points, np.arange(len(points)) >= 50)
    rows = [
        ("depth, d = 2, 1,000 points", 0.002, best(lambda: tukey_depth(plane, weights, (500, 500)))),
        ("depth, d = 3, 60 points", 0.05, best(lambda: tukey_depth(space, weights[:60], (500, 500, 500)))),
        ("Q on the 7 x 7 grid, n = 1e12", 1.0, best(lambda: extended.regions(grid, heavy).values((), xs), 3)),
        ("mixture-halfspace, 50 + 10,000", 5.0, best(lambda: learner.run(sample, rng, 1), 1)),
        ("its next 1e5 draws", 1.0, best(lambda: learner.run(sample, rng, 100_000), 3)),
    ]
    for name, limit, seconds in rows:
        verdict = "ok" if seconds <= limit else "SLOW"
        print(f"{name:34} {1000 * seconds:10.2f} ms   limit {1000 * limit:8.0f} ms   {verdict}")
    return int(any(seconds > limit for _, limit, seconds in rows))


if __name__ == "__main__":
    sys.exit(main())
