"""Time runs at the sizes of real samples, beside those of another commit, on one core.

    python scripts/bench.py real_sizes [--baseline CHECKOUT] [--limit SECONDS]

Each row is one first run in a process of its own, and the figure its seconds of processor time. With a checkout of
another commit the same rows run on its learners, alternately, and the ratio is printed; a row that takes longer than
the limit there, or is refused, is shown as that. Exit status: 0 if every row is within its budget, 1 if not.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace
from dpaudit_learners.regions.discs import DiscUnion
from dpaudit_learners.regions.halfplane_select import HalfplaneSelect
from dpaudit_learners.regions.polytopes import SimplexUnion
from dpaudit_learners.regions.region_cover import PolygonUnion

BENCH = str(Path(__file__).resolve().parents[1] / "bench.py")
"""Each measurement is made in a process of its own, by the same entry point."""
LARGE = 2**32


def timed(action: Callable[[], object]) -> float:
    """Return the seconds of processor time of an action."""
    start = time.process_time()
    action()
    return time.process_time() - start


def mixture(dimension: int, public: int, private: int, side: int = 1000) -> float:
    """Time a run on distinct examples on both sides of a halfspace through the middle, the public ones in it."""
    rng = generator(0, "bench mixture", dimension, public, private)
    points = np.unique(rng.integers(0, side + 1, (4 * (public + private), dimension)), axis=0)
    points = rng.permutation(points)
    outside = points @ np.array([3, 2, 2])[:dimension] * 2 >= [3, 5, 7][dimension - 1] * side
    rows = np.concatenate([np.flatnonzero(~outside)[:public], np.flatnonzero(outside)[:private]])
    learner = MixtureHalfspace(dimension, 1.0, side)
    sample = learner.domain.sample(points[rows], outside[rows].astype(np.int64), np.ones(len(rows), dtype=np.int64))
    return timed(lambda: learner.run(sample, generator(0, "bench mixture"), 1))


def polygons(distinct: int) -> float:
    """Time a run with k = 2 on 10^6 examples, positive in a triangle that holds about a quarter of the grid."""
    rng = random.Random(distinct)
    points = np.array([(rng.randrange(LARGE + 1), rng.randrange(LARGE + 1)) for _ in range(distinct)])
    x, y = points.T / LARGE
    labels = ((y >= 0.2 + 0.1 * x) & (y <= 3 * x - 0.4) & (y <= 1.7 - 1.5 * x)).astype(np.int64)
    learner = PolygonUnion(LARGE, 2, 1.0, 1e-6, 0.1, 0.1)
    sample = learner.domain.sample(points, labels, np.full(distinct, 10**6 // distinct))
    return timed(lambda: learner.run(sample, generator(0, "bench cover", PolygonUnion.id), 1))


def halfplane(distinct: int, side: int = 2**64) -> float:
    """Time the first draw of a halfplane on distinct points that one parts."""
    rng = random.Random(distinct)
    points = np.array([(rng.randrange(side + 1), rng.randrange(side + 1)) for _ in range(distinct)], dtype=object)
    labels = (points[:, 1] > points[:, 0] // 2).astype(np.int64)
    learner = HalfplaneSelect(side, 1.0)
    sample = learner.domain.sample(points, labels, np.ones(distinct, dtype=np.int64))
    return timed(lambda: learner.run(sample, generator(0, "bench halfplane", distinct), 1))


def union(kind: Any, side: int, step: int = 1) -> float:
    """Time a run of a union with k = 1, lists included, on every `step`-th point; positive are those in the middle."""
    learner = kind(side, 1, 1.0, 1e-6, 0.1, 0.1)
    points = learner.domain.points()[::step]
    middle = 2 * points.astype(np.int64) - side
    labels = ((middle * middle).sum(axis=1) <= side * side).astype(np.int64)
    sample = learner.domain.sample(points, labels, np.full(len(points), 10**4))
    return timed(lambda: learner.run(sample, generator(0, "bench union", kind.id), 1))


ROWS: dict[str, tuple[Callable[[], float], float]] = {
    "mixture-halfspace, plane, 50 public, 10,000 private": (lambda: mixture(2, 50, 10_000), 0.6),
    "mixture-halfspace, plane, 200 public, 10,000 private": (lambda: mixture(2, 200, 10_000), 2.0),
    "mixture-halfspace, space, 20 public, 1,000 private": (lambda: mixture(3, 20, 1000), 0.3),
    "mixture-halfspace, space, 50 public, 1,000 private": (lambda: mixture(3, 50, 1000), 1.5),
    "polygon-union, side 2^32, k = 2, n = 1e6, 300 distinct": (lambda: polygons(300), 3.0),
    "halfplane-select, side 2^64, 1,000 distinct": (lambda: halfplane(1000), 2.0),
    "halfplane-select, side 2^64, 10,000 distinct": (lambda: halfplane(10_000), 2.0),
    "simplex-union, side 2, k = 1, 14 distinct": (lambda: union(SimplexUnion, 2, 2), 20.0),
    "disc-union, side 10, k = 1": (lambda: union(DiscUnion, 10), 60.0),
}
"""Of each row, what returns its seconds, and its budget on a machine of today."""


def measured(row: int, checkout: Path, limit: float) -> float | str:
    """Return the seconds of a row on the learners of a checkout, or why there are none."""
    paths = os.pathsep.join([str(checkout), str(checkout / "scripts")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, BENCH, "real_sizes", "--row", str(row)]
    try:
        done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return f"> {limit:g} s"
    last = done.stdout.splitlines()[-1]
    return last if last.startswith("refused") else float(last)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time runs at the sizes of real samples.")
    parser.add_argument("--baseline", type=Path, metavar="CHECKOUT", help="the root of another commit's files")
    parser.add_argument("--limit", type=float, default=120.0, help="the most seconds of a row")
    parser.add_argument("--only", default="", metavar="WORD", help="rows that contain a word")
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.row is not None:
        try:
            print(list(ROWS.values())[options.row][0]())
        except InputError as error:
            print(f"refused: {error}")
        return 0
    slow = False
    for row, (name, (_, budget)) in enumerate(ROWS.items()):
        if options.only not in name:
            continue
        now = measured(row, Path(__file__).resolve().parents[2], options.limit)
        slow |= isinstance(now, str) or now > budget
        line = f"{name}: {now if isinstance(now, str) else f'{now:.2f} s'} (budget {budget:g} s)"
        if options.baseline is not None:
            before = measured(row, options.baseline.resolve(), options.limit)
            line += f"; before {before if isinstance(before, str) else f'{before:.2f} s'}"
            if isinstance(before, float) and isinstance(now, float):
                line += f", {before / now:.1f} times"
        print(line, flush=True)
    return int(slow)
