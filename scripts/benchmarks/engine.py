"""Speed and memory of the engine, as ratios against a baseline measured in the same process and minute.

    python scripts/bench.py engine [--runs 1000000] [--repeats 3] [--many 10000000] [--huge]

Each line says what is compared, the ratio that the project promises, and what was measured (median of the repeats).
The audits of many runs are made once, each in a process of its own, whose peak memory is shown too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dpaudit
from dpaudit import seeding
from dpaudit.neighbours.crafted import crafted_pairs


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def show(what: str, promised: str, measured: str, good: bool) -> None:
    print(f"{what:78s} {promised:>12s} {measured:>16s}  {'met' if good else 'NOT MET'}", flush=True)


def blackbox(runs: int, repeats: int) -> None:
    learner = dpaudit.pac.get_learner("parity-private", dimension=8, epsilon=1.0)
    pair = crafted_pairs(learner.domain, 64, limit=None)[0]

    def run_alone() -> None:
        # The same chunks as the audit makes, so that only what the audit adds is measured.
        for side, sample in enumerate((pair.data, pair.neighbour)):
            for chunk in range(-(-runs // 2**15)):
                learner.run(sample, seeding.generator(0, "bench", side, chunk), min(2**15, runs - chunk * 2**15))

    def audit() -> None:
        dpaudit.audit_privacy(learner, [pair], trials=runs, confidence=CONFIDENCE)

    audit()
    pairs = [(seconds(run_alone), seconds(audit)) for _ in range(repeats)]
    ratio = statistics.median(b / a for a, b in pairs)
    name = f"black box, parity-private d=8 n=64, {runs:.0e} runs a side / run alone"
    show(name, "<= 3", f"{ratio:.2f} ({pairs[0][1]:.2f} s)", ratio <= 3)
    single = statistics.median(seconds(audit) for _ in range(repeats))
    double = statistics.median(
        seconds(lambda: dpaudit.audit_privacy(learner, [pair], trials=runs, n_jobs=2, confidence=CONFIDENCE))
        for _ in range(repeats)
    )
    show("two jobs against one (same audit)", "", f"{single / double:.2f} x", True)


@dataclass(frozen=True)
class Geometric:
    """A count plus two-sided geometric noise at epsilon = 1."""

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Any:
        """Return the outputs of `size` runs."""
        stop = 1 - math.exp(-1.0)
        return data + rng.geometric(stop, size) - rng.geometric(stop, size)


@dataclass(frozen=True)
class LaplaceVector:
    """Five numbers that all move by 1/5, plus Laplace noise of scale 1, on a grid: only a classifier sees all of it."""

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Any:
        """Return the outputs of `size` runs."""
        return np.rint((data / 5 + rng.laplace(0.0, 1.0, (size, 5))) * 2**20) / 2**20 + 0.0


@dataclass(frozen=True)
class Laplace:
    """A number plus Laplace noise of scale 10, on a grid: epsilon = 0.1."""

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Any:
        """Return the outputs of `size` runs."""
        return np.rint((data + rng.laplace(0.0, 10.0, size)) * 2**20) / 2**20 + 0.0


@dataclass(frozen=True)
class Slow:
    """One run at a time, about 50 microseconds each."""

    def __call__(self, data: int, rng: np.random.Generator) -> int:
        """Return the output of one run."""
        return int(rng.geometric(0.6, 400)[0]) + data + sum(range(2_000)) % 2


BENCH = str(Path(__file__).resolve().parents[1] / "bench.py")
"""Each measurement is made in a process of its own, by the same entry point."""
CONFIDENCE = 0.95
MANY = {
    "geometric": (Geometric(), "<= 1.5", 1.5),
    "laplace-vector": (LaplaceVector(), "<= 3", 3.0),
}


def many_once(name: str, runs: int) -> None:
    """Produce the runs and audit as many, in this process, and print seconds and peak memory as JSON."""
    mechanism = MANY[name][0]
    dpaudit.audit_privacy(mechanism, [(1, 0)], epsilon=1.0, trials=20_000, batched=True, confidence=CONFIDENCE)

    def produce() -> None:
        for side in (0, 1):
            for chunk in range(-(-runs // 2**15)):
                mechanism(side, seeding.generator(0, "bench", side, chunk), min(2**15, runs - chunk * 2**15))

    alone = seconds(produce)
    start = time.perf_counter()
    finding = dpaudit.audit_privacy(mechanism, [(1, 0)], epsilon=1.0, trials=runs, batched=True, confidence=CONFIDENCE)
    audit = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"alone": alone, "audit": audit, "peak": peak, "lower": finding.epsilon_lower, "by": finding.distinguisher}
    print(json.dumps(found))


def many(runs: int, names: tuple[str, ...] = tuple(MANY)) -> None:
    for name in names:
        command = [sys.executable, BENCH, "engine", "--once", name, "--many", str(runs)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        ratio = found["audit"] / found["alone"]
        _, promised, limit = MANY[name]
        what = f"{name}, {runs:.0e} runs a side / producing them ({found['by']})"
        show(what, promised, f"{ratio:.2f} ({found['audit']:.1f} s)", ratio <= limit)
        show(f"{name}, {runs:.0e} runs a side, peak memory, MB", "<= 500", f"{found['peak']:.0f}", found["peak"] <= 500)


def to_a_bound(repeats: int) -> None:
    """Time an audit with just enough runs for a bound of 0.095 on Laplace noise of epsilon = 0.1."""

    def audit(seed: int) -> float:
        return dpaudit.audit_privacy(
            Laplace(), [(1, 0)], epsilon=0.05, trials=1_000_000, batched=True, seed=seed, confidence=CONFIDENCE
        ).epsilon_lower

    seeds = range(max(5, repeats))
    bound = statistics.median(audit(seed) for seed in seeds)
    took = statistics.median(seconds(partial(audit, seed)) for seed in seeds)
    show("Laplace 0.1, 1e6 runs a side: bound", ">= 0.095", f"{bound:.4f}", bound >= 0.095)
    show("Laplace 0.1, 1e6 runs a side: seconds", "< 1", f"{took:.2f}", took < 1)


def two_jobs(repeats: int) -> None:
    """Compare two jobs with one where the runs themselves take the time, workers started beforehand."""
    learner = dpaudit.pac.get_learner("parity-private", dimension=16, epsilon=1.0)
    pair = crafted_pairs(learner.domain, 1000, limit=None)[0]
    heavy: dict[str, Callable[[int], object]] = {
        "parity-private d=16 n=1000, 1e7 runs": lambda jobs: dpaudit.audit_privacy(
            learner, [pair], trials=10_000_000, n_jobs=jobs, confidence=CONFIDENCE
        ),
        "unbatched, 5e4 runs of about 50 us": lambda jobs: dpaudit.audit_privacy(
            Slow(), [(1, 0)], epsilon=2.0, trials=50_000, n_jobs=jobs, confidence=CONFIDENCE
        ),
    }
    for name, audit in heavy.items():
        audit(2)
        ratio = statistics.median(seconds(partial(audit, 1)) / seconds(partial(audit, 2)) for _ in range(repeats))
        show(f"two jobs against one, {name}", ">= 1.7", f"{ratio:.2f} x", ratio >= 1.7)


def memory() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show("peak memory of all the above, MB", "<= 500", f"{used:.0f}", used <= 500)


def imports(repeats: int) -> None:
    for what, code, limit in (
        ("import dpaudit, ms above an empty interpreter", "import dpaudit", 50),
        ("dpaudit list, ms above an empty interpreter", "from dpaudit.app import main; main(['list'])", 500),
    ):
        empty = [sys.executable, "-c", "pass"]
        full = [sys.executable, "-c", code]
        extra = [
            1000 * (seconds(partial(_silent, full)) - seconds(partial(_silent, empty))) for _ in range(max(5, repeats))
        ]
        show(what, f"<= {limit}", f"{statistics.median(extra):.0f}", statistics.median(extra) <= limit)


def _silent(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs a side (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="repeats of each timing (default: %(default)s)")
    parser.add_argument("--many", type=int, default=10_000_000, help="runs a side of the great audits (default 1e7)")
    parser.add_argument("--huge", action="store_true", help="audit 1e8 runs a side too: minutes")
    parser.add_argument("--once", choices=MANY, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        many_once(options.once, options.many)
        return
    if (os.cpu_count() or 1) > 1 and os.getloadavg()[0] > 1:
        print(f"others are using this machine (load {os.getloadavg()[0]:.1f}): ratios of parallel runs mean little")
    print(f"{'what':78s} {'promised':>12s} {'measured':>16s}")
    imports(options.repeats)
    blackbox(options.runs, options.repeats)
    memory()
    to_a_bound(options.repeats)
    two_jobs(options.repeats)
    many(options.many)
    if options.huge:
        many(100_000_000, ("geometric",))
