"""Time the learners of the two lectures: exact audits of their examples, and four runs at scale.

    python scripts/bench.py learners [--json]

Every speed stands beside a plain baseline timed in the same process, so that ratios can be compared between machines.
Exit status: 0 if every target is met, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpaudit.evidence.perform import perform
from dpaudit.evidence.tasks import exact_task
from dpaudit.registry import get_learner, list_learners
from dpaudit.seeding import generator

FAMILIES = ("points", "parities", "conjunctions", "interior_points", "boxes")
"""Those of the two lectures; set covers are of a paper."""


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the least wall-clock time of an action."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def exact_audits() -> dict[str, Any]:
    """Return the time of the exact audit of every learner's instance, together and for the slowest.

    As `dpaudit run` makes them: of all samples, or of crafted ones where the example says that all cannot be listed.
    """
    times = {}
    for entry in list_learners():
        if entry.learner.__module__.split(".")[1] not in FAMILIES or "cover" in entry.id:
            continue
        task = exact_task(entry.build(**entry.instance.parameters), entry.instance)
        times[entry.id] = seconds(partial(perform, task, seed=0), repeats=1)
    slowest = max(times, key=times.__getitem__)
    total = sum(times.values())
    return {"name": f"exact audits of {len(times)} learners", "value": total, "unit": "s", "target": "< 60",
            "met": total < 60, "baseline": f"slowest: {slowest}", "ratio": times[slowest] / total}  # fmt: skip


def scalar_parity(points: Any, labels: Any, keep: float, rng: np.random.Generator) -> int:
    """Return the answer of one run of the private parity learner, eliminated row by row with Python integers."""
    if rng.random() < 0.5:
        return -1
    dimension = points.shape[1]
    rows = {}
    for i in np.flatnonzero(rng.random(len(points)) < keep).tolist():
        row = int("".join(map(str, points[i, ::-1].tolist())), 2) | int(labels[i]) << dimension
        while row & (1 << dimension) - 1 and (low := row & -row) in rows:
            row ^= rows[low]
        if row == 1 << dimension:
            return -1
        if row:
            rows[row & -row] = row
    solution = int(rng.integers(0, 2**dimension))
    for low in sorted(rows, reverse=True):
        value = (rows[low] & solution & ~low).bit_count() + (rows[low] >> dimension)
        solution = solution & ~low | low * (value & 1)
    return solution


def private_parity() -> dict[str, Any]:
    """Return runs a second of `parity-private` at dimension 32 on 10,000 distinct examples."""
    rng = generator(0, "bench", "parity")
    points = rng.integers(0, 2, (10_000, 32))
    target = rng.integers(0, 2, 32)
    labels = points @ target % 2
    learner = get_learner("parity-private", dimension=32, epsilon=1.0)
    sample = learner.domain.sample(points, labels)
    fast = 4000 / seconds(lambda: learner.run(sample, rng, 4000))
    slow = 10 / seconds(lambda: [scalar_parity(points, labels, 0.25, rng) for _ in range(10)])
    return {"name": "parity-private, dimension 32, n = 1e4", "value": fast, "unit": "runs/s", "target": ">= 2000",
            "met": fast >= 2000, "baseline": f"row by row: {slow:.0f} runs/s", "ratio": fast / slow}  # fmt: skip


def scalar_greedy(learner: Any, points: Any, labels: Any, rng: np.random.Generator) -> int:
    """Return the answer of one run of the greedy learner that counts anew in every round."""
    rounds = learner.rounds_at(len(points))
    mask = 0
    rate = learner.share(rounds) / 2
    for _ in range(rounds):
        ones = np.stack([points[labels == y].sum(axis=0) for y in (0, 1)])
        totals = np.array([(labels == 0).sum(), (labels == 1).sum()])
        refuted = np.stack([totals[:, None] - ones, ones], axis=2).reshape(2, -1)
        scores = np.append(np.minimum(refuted[0] - totals[0] / learner.k, -refuted[1]), -totals[0] / learner.k)
        weights = np.exp(rate * (scores - scores.max()))
        chosen = int(rng.choice(len(weights), p=weights / weights.sum()))
        if chosen < len(scores) - 1:
            mask |= 1 << chosen
            left = points[:, chosen // 2] != chosen % 2
            points = points[left]
            labels = labels[left]
    return mask


def greedy_conjunctions() -> dict[str, Any]:
    """Return milliseconds a run of `conjunction-greedy` with 100 variables, k = 5, 100,000 examples."""
    rng = generator(0, "bench", "greedy")
    points = (rng.random((100_000, 100)) < 0.87).astype(np.int64)
    labels = points[:, :5].all(axis=1).astype(np.int64)
    learner = get_learner("conjunction-greedy", dimension=100, k=5, epsilon=1.0)
    sample = learner.domain.sample(points, labels)
    fast = seconds(lambda: learner.run(sample, rng, 20)) / 20 * 1e3
    single = seconds(lambda: learner.run(sample, rng, 1)) * 1e3
    slow = seconds(lambda: scalar_greedy(learner, points, labels, rng), repeats=1) * 1e3
    return {"name": "conjunction-greedy, dimension 100, k = 5, n = 1e5", "value": fast, "unit": "ms/run",
            "target": "< 50", "met": fast < 50, "ratio": slow / fast,
            "baseline": f"counting anew: {slow:.0f} ms; a single run: {single:.0f} ms"}  # fmt: skip


def huge_thresholds() -> dict[str, Any]:
    """Return seconds a run of `threshold-exponential` over 2^64 points on 100,000 distinct examples."""
    rng = generator(0, "bench", "thresholds")
    points = [int(v) for v in rng.integers(0, 2**64 - 1, 100_000, dtype=np.uint64)]
    labels = [int(p < 2**63) for p in points]
    huge, small = (get_learner("threshold-exponential", domain_size=size, epsilon=1.0) for size in (2**64, 2**20))
    sample = huge.domain.sample(points, labels)
    near = small.domain.sample([p >> 44 for p in points], labels)
    fast = seconds(lambda: huge.run(sample, rng, 1))
    slow = seconds(lambda: small.law(near))
    return {"name": "threshold-exponential, 2^64 points, n = 1e5", "value": fast, "unit": "s/run", "target": "< 1",
            "met": fast < 1, "baseline": f"law over 2^20 listed codes: {slow:.3f} s", "ratio": slow / fast}  # fmt: skip


def interior_points() -> dict[str, Any]:
    """Return seconds a run of `interior-point-exponential` over 2^64 points on 100,000 distinct examples."""
    rng = generator(0, "bench", "interior-point")
    points = sorted({int(v) for v in rng.integers(0, 2**64 - 1, 100_000, dtype=np.uint64)})
    learner = get_learner("interior-point-exponential", domain_size=2**64, epsilon=1.0)
    sample = learner.domain.sample(points, [0] * len(points))
    fast = seconds(lambda: learner.run(sample, rng, 1))
    slow = seconds(lambda: sorted(points[::-1] + points))
    return {"name": "interior-point-exponential, 2^64 points, n = 1e5", "value": fast, "unit": "s/run",
            "target": "< 1", "met": fast < 1, "baseline": f"sorting twice as many: {slow:.3f} s",
            "ratio": slow / fast}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time the learners of the two lectures.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    results = []
    for bench in (exact_audits, private_parity, greedy_conjunctions, huge_thresholds, interior_points):
        results.append(bench())
        if not options.json:
            r = results[-1]
            met = "met" if r["met"] else "MISSED"
            print(f"{r['name']:50} {r['value']:10.3f} {r['unit']:7} {r['target']:>8} {met:6} "
                  f"ratio {r['ratio']:8.2f}  ({r['baseline']})", flush=True)  # fmt: skip
    if options.json:
        print(json.dumps(results, indent=2, allow_nan=False))
    return int(not all(result["met"] for result in results))
