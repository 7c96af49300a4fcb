"""Times of one audit with 1, 2 and 4 jobs, by the clock and of processors, its peak of memory, the load, and a fit.

``python scripts/bench.py scale`` prints a row for each; ``--million M`` is the size of the batched audit. Runs are made
as commands make them, in processes of their own. The times by the clock of the batched audits are fitted by ``fixed +
a run * runs / processes``, whose processes are no more than those of the machine.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

BENCH = str(Path(__file__).resolve().parents[1] / "bench.py")
"""Each measurement is made in a process of its own, by the same entry point."""
SPIN = 0.001


def slow(data: float, rng: np.random.Generator) -> float:
    """Add noise after a millisecond of work."""
    import time

    end = time.process_time() + SPIN
    while time.process_time() < end:
        pass
    return float(data + rng.laplace())


def batch(data: float, rng: np.random.Generator, size: int) -> Any:
    """Add noise to a batch."""
    return data + rng.laplace(size=size)


def measured(kind: str, runs: int, jobs: int) -> dict[str, float]:
    """Return the times and the memory of an audit in this process."""
    import resource
    import time

    import dpaudit
    from dpaudit.running.processes import keep_apart

    keep_apart()
    began = time.perf_counter()
    load = os.getloadavg()[0]
    mechanism = slow if kind == "slow" else batch
    fixed = dpaudit.Execution(sequential=False)
    batched = kind != "slow"
    dpaudit.audit_privacy(
        mechanism, [(0.0, 1.0)], epsilon=1.0, trials=runs, n_jobs=jobs, batched=batched, execution=fixed
    )
    seconds = time.perf_counter() - began
    gc.collect()  # the times of workers are known when they have ended
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": round(seconds, 2),
        "processor": round(sum(one.ru_utime + one.ru_stime for one in used), 2),
        "MB": round(used[0].ru_maxrss / 1024),
        "load": round(load, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", type=float, default=10.0)
    parser.add_argument("--slow", type=int, default=5_000)
    parser.add_argument("--one", nargs=3, metavar=("KIND", "RUNS", "JOBS"))
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(asked.one[0], int(asked.one[1]), int(asked.one[2]))))
        return
    sizes = {"slow": [asked.slow], "batched": [int(asked.million * 1e5), int(asked.million * 1e6)]}
    rows: list[tuple[float, float]] = []
    for kind, runs in ((kind, runs) for kind, all_runs in sizes.items() for runs in all_runs):
        for jobs in (1, 2, 4):
            words = [sys.executable, BENCH, "scale", "--one", kind, str(runs), str(jobs)]
            found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            print(f"{kind:8} {runs:>11,} runs a side, {jobs} jobs: {found.strip()}", flush=True)
            if kind == "batched":
                rows.append((2 * runs / min(jobs, os.cpu_count() or 1), json.loads(found)["seconds"]))
    share, seconds = np.array(rows).T
    # Relative errors: else the longest audit alone decides.
    weights = np.stack([np.ones_like(share), share]) / seconds
    fixed, each = np.linalg.lstsq(weights.T, np.ones_like(seconds), rcond=None)[0]
    worst = np.abs((fixed + each * share) / seconds - 1).max()
    print(f"fixed {fixed:.2f} s, a run {1e6 * each:.3f} us of one process; the fit errs by at most {worst:.0%}")
    for runs in (10**9, 10**12):
        print(f"{runs:g} runs a side: {(fixed + each * 2 * runs) / 3600:,.2f} hours of one process by the fit")
