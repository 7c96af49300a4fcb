"""Time the interior point learners on 10^5 distinct examples over 2^64 points, after the sample has been sorted.

    python scripts/bench.py interior_point [--n N] [--repeat K] [--json]

Every figure is also given as a ratio to a baseline measured in the same run: sorting the same points.
Exit status: 1 if a run of interior-point-exponential takes a second or more, else 0.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from dpaudit.seeding import generator
from dpaudit_learners.domains import Interval
from dpaudit_learners.interior_points.interior_point import (
    InteriorPointExponential,
    InteriorPointRecConcave,
    InteriorPointTreeLog,
)

LIMIT = 1.0
SIZE = 2**64


def seconds(action: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, default=100_000, help="distinct examples")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; the median counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rng = generator(0, "bench", "interior-point")
    drawn = rng.integers(0, SIZE - 1, options.n, dtype=np.uint64, endpoint=True)
    points = [int(x) for x in drawn]
    base = seconds(lambda: sorted(points), options.repeat)
    sample = Interval(SIZE).sample(np.array(sorted(set(points)), dtype=object), np.zeros(len(set(points)), np.uint8))
    figures = {"sorting (baseline)": base}
    for learner in (
        InteriorPointExponential(SIZE, 1.0),
        InteriorPointTreeLog(SIZE, 1.0, 1e-6, 0.1),
        InteriorPointRecConcave(SIZE, 1.0, 1e-6),
    ):
        for runs in (1, 100):
            figures[f"{learner.id}, {runs} run(s)"] = seconds(partial(learner.run, sample, rng, runs), options.repeat)
    if options.json:
        print(json.dumps({"n": sample.n, "seconds": figures}, indent=2))
    else:
        print(f"{sample.n} distinct examples over 2^64 points")
        for name, value in figures.items():
            print(f"{name:38s} {value:8.3f} s {value / base:8.1f} x sorting")
    return 1 if figures["interior-point-exponential, 1 run(s)"] >= LIMIT else 0
