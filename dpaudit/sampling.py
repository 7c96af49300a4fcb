"""Running a mechanism in chunks whose random streams are addresses, so that no schedule can change a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.workers import spread

__all__ = ["Job", "chunk_jobs", "run_jobs"]

T = TypeVar("T")
BATCHED_CHUNK = 2**15
SINGLE_CHUNK = 2**11


@dataclass(frozen=True)
class Job:
    """`size` runs on `data`, with the stream at `address`."""

    data: Any
    address: tuple[Any, ...]
    size: int


def chunk_jobs(mechanism: Mechanism, data: Any, address: tuple[Any, ...], runs: int) -> list[Job]:
    """Return the jobs that make `runs` runs at an address; the split depends on nothing else."""
    # A small budget is split too, so that every worker has something to do; short batches cost most of their time.
    least, parts, largest = (4096, 8, BATCHED_CHUNK) if mechanism.batched else (32, 16, SINGLE_CHUNK)
    size = min(largest, max(least, -(-runs // parts)))
    return [Job(data, (*address, i), min(size, runs - start)) for i, start in enumerate(range(0, runs, size))]


def run_jobs(
    mechanism: Mechanism,
    jobs: Sequence[Job],
    reduce: Callable[[Any], T],
    *,
    seed: int,
    n_jobs: int = 1,
    backend: str | None = None,
) -> Iterator[T]:
    """Yield `reduce(outputs)` of each job, in the order of the jobs; outputs are never kept.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    jobs : sequence of Job
        The work.
    reduce : callable
        The function that reduces a batch of outputs to what is kept; it must pickle when processes are used.
    seed : int
        The root seed.
    n_jobs, backend
        As for `joblib.Parallel`; one job runs in this process.
    """
    calls = [partial(_run, mechanism, job, reduce, seed) for job in jobs]
    if n_jobs == 1 or len(jobs) == 1:
        yield from (call() for call in calls)
    else:
        yield from spread(calls, n_jobs=n_jobs, backend=backend)


def _run(mechanism: Mechanism, job: Job, reduce: Callable[[Any], T], seed: int) -> T:
    rng = seeding.generator(seed, "privacy", mechanism.stream, *job.address)
    return reduce(mechanism(job.data, rng, job.size))
