"""Time audits on a dask cluster of two workers: our groups of calls, one call a future, and joblib's own batches.

    python scripts/bench.py cluster [--rounds 8] [--trials 40000]

The three ways take turns with the same seeds; the ratios are of the least and of the median time, ours is 1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any

import distributed
import joblib
import numpy as np

import dpaudit
from dpaudit.running import cluster

Call = Callable[[], Any]
Send = Callable[[Any], bytes]
OURS = cluster.by_futures


def laplace(bit: int, rng: np.random.Generator) -> float:
    """Return a noisy bit: a run of some microseconds."""
    return float(bit + rng.laplace())


def one_by_one(calls: Iterable[Call], send: Send, address: str, ordered: bool = True) -> Iterator[bytes]:
    """Yield results of futures that hold one call each."""
    most = cluster.MOST
    cluster.MOST = 1
    try:
        yield from OURS(calls, send, address, ordered)
    finally:
        cluster.MOST = most


def by_joblib(calls: Iterable[Call], send: Send, address: str, ordered: bool = True) -> Iterator[bytes]:
    """Yield results of joblib's backend for dask, which groups calls by their time."""
    wanted = "generator" if ordered else "generator_unordered"
    with joblib.parallel_config(backend="dask", client=cluster.client_of(address)):
        parallel = joblib.Parallel(return_as=wanted, pre_dispatch="6*n_jobs", batch_size="auto")
        yield from parallel(joblib.delayed(send)(call) for call in calls)


WAYS = {"ours": OURS, "one call a future": one_by_one, "joblib": by_joblib}


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description="Compare ways to give calls to a dask cluster.")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--trials", type=int, default=40_000)
    given = parser.parse_args()
    took: dict[str, list[float]] = {name: [] for name in WAYS}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers:
        there = dpaudit.Execution(backend="dask", address=workers.scheduler_address, progress=False)
        for seed in range(given.rounds + 1):
            for name, way in WAYS.items():
                cluster.by_futures = way  # type: ignore[assignment]  # of the same signature, but for defaults
                began = time.perf_counter()
                dpaudit.audit_privacy(laplace, [(0, 1)], epsilon=1.0, trials=given.trials, seed=seed, execution=there)
                if seed:  # the first round loads modules in the workers
                    took[name].append(time.perf_counter() - began)
    for name, seconds in took.items():
        least = min(seconds) / min(took["ours"])
        middle = median(seconds) / median(took["ours"])
        print(f"{name:20} least {least:.2f}, median {middle:.2f} of ours")


if __name__ == "__main__":
    main()
