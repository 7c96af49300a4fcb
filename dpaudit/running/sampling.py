"""Running a mechanism in chunks whose random streams are addresses, so that no schedule can change a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from dpaudit import seeding
from dpaudit.contract import Made, Pair
from dpaudit.errors import InputError
from dpaudit.events.columns import Flattener
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.wide import Reducer, SumUp, wide_leaves
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.parts import REGISTERED, learn
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.shared import join
from dpaudit.progress import Report
from dpaudit.running.adapters import Mechanism
from dpaudit.running.run_notes import brief, running_on
from dpaudit.running.workers import WorkerDied, spread

T = TypeVar("T")
BATCHED_CHUNK = 2**15
SINGLE_CHUNK = 2**11
CHUNK_NUMBERS = 2**23
"""Numbers of a chunk of outputs, which takes 64 MB: the wider an output, the fewer runs a chunk has."""
MESSAGES = 8
"""The most messages of exceptions that are counted apart in a batch; a message may have a number in it."""


@dataclass(frozen=True)
class Job:
    """`size` runs on `data`, or on what `data` makes, with the stream at `address`."""

    data: Any
    address: tuple[Any, ...]
    size: int

    def in_words(self) -> str:
        """Return the input in little time, whatever it is."""
        return self.data.in_words() if isinstance(self.data, Made) else brief(self.data)


@dataclass(frozen=True)
class Sampler:
    """Makes runs of a mechanism at addresses below one root seed.

    Attributes
    ----------
    mechanism : Mechanism
        What is run.
    seed : int
        The root seed.
    n_jobs, backend
        As for `joblib.Parallel`; one job runs in this process.
    numbers : int
        About how many numbers an output holds; memory, and so the split of many wide runs, goes by it.
    view : callable, optional
        What of a batch of outputs is returned.
    report : callable, optional
        Called with the number of runs made, batch by batch.
    """

    mechanism: Mechanism
    seed: int
    n_jobs: int = 1
    backend: str | None = None
    numbers: int = 1
    view: Callable[[Any], Any] | None = None
    report: Report | None = None

    def jobs(self, data: Any, address: tuple[Any, ...], runs: int) -> list[Job]:
        """Return the jobs that make `runs` runs at an address; the split depends on nothing else."""
        # A small budget is split too, so that every worker has something to do; short batches cost most of their time.
        least, parts, largest = (4096, 8, BATCHED_CHUNK) if self.mechanism.batched else (32, 16, SINGLE_CHUNK)
        size = min(largest, max(least, -(-runs // parts)), max(1, CHUNK_NUMBERS // self.numbers))
        return [Job(data, (*address, i), min(size, runs - start)) for i, start in enumerate(range(0, runs, size))]

    def reduced(self, jobs: Sequence[Job], reduce: Callable[[Any], T]) -> Iterator[T]:
        """Yield `reduce(outputs)` of each job, in the order of the jobs; outputs are never kept.

        What is to be kept of a batch, `reduce`, must pickle when processes are used.
        """
        # Workers are processes of their own: what the user has registered here travels with the work.
        work = partial(replace(self, report=None)._run, reduce, dict(REGISTERED))
        calls = [partial(work, job) for job in jobs]
        alone = self.n_jobs == 1 or len(jobs) == 1
        results: Iterator[T]
        results = (call() for call in calls) if alone else spread(calls, n_jobs=self.n_jobs, backend=self.backend)
        try:
            for result, job in zip(results, jobs, strict=True):
                if self.report is not None:
                    self.report(job.size)
                yield result
        except WorkerDied as error:
            inputs = list(dict.fromkeys(job.in_words() for job in jobs))
            more = f" or one of {len(inputs) - 2} more inputs" if len(inputs) > 2 else ""
            raise WorkerDied(f"{error}, in runs on {' or '.join(inputs[:2])}{more}") from error

    def _run(self, reduce: Callable[[Any], T], registered: dict[type, Callable[[Any], Any]], job: Job) -> T:
        learn(registered)
        rng = seeding.generator(self.seed, "privacy", self.mechanism.stream, *job.address)
        data = job.data.build() if isinstance(job.data, Made) else job.data
        with running_on(job.in_words, job.size):
            outputs = self.mechanism(data, rng, job.size)
        return reduce(outputs if self.view is None else self.view(outputs))

    def outputs(self, data: Any, address: tuple[Any, ...], runs: int) -> Any:
        """Return the outputs themselves, as one batch."""
        batches = list(self.reduced(self.jobs(data, address, runs), _unreduced))
        for before, after in pairwise(batches):
            if isinstance(before, np.ndarray) and isinstance(after, np.ndarray) and np.may_share_memory(before, after):
                raise InputError(
                    f"the mechanism {self.mechanism.name} returns the same array in two calls, so that what a call "
                    "returned is lost in the next: return a new array, as outputs.copy()"
                )
        return join(batches)

    def sides(self, pair: Pair, address: tuple[Any, ...], runs: int) -> list[Any]:
        """Return the outputs of both sides, whose numbers 0 and 1 end the address."""
        return [self.outputs(data, (*address, side), runs) for side, data in enumerate(pair.sides)]


@dataclass(frozen=True)
class Observed(Generic[T]):
    """Reduces a batch of outputs, and counts the exceptions in it: by type and message, or by type if they are many."""

    reduce: Callable[[Any], T]

    def __call__(self, outputs: Any) -> tuple[T, Counter[str]]:
        """Return the reduced batch and the counts."""
        plain = isinstance(outputs, np.ndarray) and outputs.dtype != object
        raised = [] if plain else [one for one in outputs if type(one) is Raised]
        found = Counter(f"{one.kind}: {one.message:.200}" for one in raised)
        return self.reduce(outputs), found if len(found) <= MESSAGES else Counter(one.kind for one in raised)


def _unreduced(outputs: Any) -> Any:
    return outputs


PLACING = 16
"""The most runs a side that show about where the numbers lie, on a pair of which no outputs are known."""


def knowing(sampler: Sampler, outputs: Sequence[Any]) -> Sampler:
    """Return a sampler that knows from some batches of outputs how many numbers one holds."""
    return replace(sampler, numbers=max(1, Flattener.fit(outputs).scalars))


def held_runs(sampler: Sampler) -> int:
    """Return how many outputs of a side may be held in memory as they are."""
    return max(1, CHUNK_NUMBERS // sampler.numbers)


def placing_runs(sampler: Sampler, training: int) -> int:
    """Return how many of a side's training runs show about where the numbers of wide outputs lie."""
    return min(PLACING, max(1, training // 4), held_runs(sampler))


def learned_reducer(
    sampler: Sampler, pair: Pair, first: list[Any], address: tuple[str, int, int], runs: int
) -> Reducer:
    """Return the map of wide outputs to the columns that differ most, learned without ever holding the outputs.

    `first` are outputs of both sides, which show what the leaves are and about where they lie; they are summed up too.
    The `runs` of each side that are summed up have the address (kind, pair, phase), in which the number of the side
    stands before the phase; they must not choose anything else.
    """
    both = join(first)
    plan = LeafPlan.of(both)
    sum_up = SumUp.around(wide_leaves(plan), both)
    kind, index, phase = address
    sums = []
    for side, data in enumerate(pair.sides):
        total = sum_up(first[side])
        jobs = sampler.jobs(data, (kind, index, side, phase), runs) if runs else []
        for more in sampler.reduced(jobs, sum_up):
            total = tuple(mine + other for mine, other in zip(total, more, strict=True))
        sums.append(total)
    return Reducer.fit(plan, *sums)


def narrowed(sampler: Sampler, discretizers: Sequence[Discretizer]) -> Sampler:
    """Return a sampler that makes no more columns of wide outputs than the discretizers need."""
    columns = [one.columns for one in discretizers]
    if not isinstance(sampler.view, Reducer) or any(some is None for some in columns):
        return sampler
    return replace(sampler, view=sampler.view.keep(j for some in columns for j in some or ()))
