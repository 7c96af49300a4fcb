"""Running a mechanism in chunks whose random streams are addresses, so that no schedule can change a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from operator import add
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.contract import Made, Pair
from dpaudit.events.columns import Flattener
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.wide import Reducer, Reduction, SumUp, wide_leaves
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.parts import REGISTERED, learn
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.shared import join
from dpaudit.progress import Report
from dpaudit.running.adapters import Mechanism
from dpaudit.running.in_turn import InTurn
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

    def couples(self, pair: Pair, addresses: Sequence[tuple[Any, ...]], *runs: int) -> list[tuple[Job, Job]]:
        """Return the jobs on both sides of a pair, at an address for each, with so many runs on each.

        One number of runs is that of both sides. Where they differ, jobs of one side may meet jobs without runs.
        """
        sizes = runs if len(runs) == 2 else runs * 2
        first, second = (self.jobs(*one) for one in zip(pair.sides, addresses, sizes, strict=True))
        none = tuple(Job(data, address, 0) for data, address in zip(pair.sides, addresses, strict=True))
        return [(a or none[0], b or none[1]) for a, b in zip_longest(first, second)]

    def tossed(self, pair: Pair, address: tuple[Any, ...], runs: int) -> list[tuple[Job, Job]]:
        """Return the jobs of `runs` runs in all, each on the side of a pair that a fair coin says.

        Of each couple the number of heads is drawn, and its runs are made in a random order (`reduced`): that is the
        law of coins tossed one by one, just before each run.
        """
        coins = seeding.generator(self.seed, "coins", self.mechanism.stream, *address)
        sides = zip(*(self.jobs(data, (*address, side), runs) for side, data in enumerate(pair.sides)), strict=True)
        heads = ((couple, int(coins.binomial(couple[0].size, 0.5))) for couple in sides)
        return [(replace(a, size=number), replace(b, size=b.size - number)) for (a, b), number in heads]

    def turns(self, couple: tuple[Job, Job]) -> NDArray[np.uint8]:
        """Return the side of each run of a couple, 0 for the data, in the order in which the runs are made."""
        order = seeding.generator(self.seed, "turns", self.mechanism.stream, *couple[0].address)
        return order.permutation(np.repeat(np.array([0, 1], dtype=np.uint8), [job.size for job in couple]))

    def reduced(self, jobs: Sequence[tuple[Job, Job]], reduce: Callable[[Any], T]) -> Iterator[tuple[T, T]]:
        """Yield `reduce(outputs)` of both jobs of each couple, in their order; None in the place of a job without runs.

        Outputs are never kept. The runs of a couple are made in one random order, so that a mechanism that drifts from
        call to call drifts on both sides alike. What is to be kept of a batch, `reduce`, must pickle when processes are
        used.
        """
        # Workers are processes of their own: what the user has registered here travels with the work.
        work = partial(replace(self, report=None)._run, reduce, dict(REGISTERED))
        calls = [partial(work, couple) for couple in jobs]
        alone = self.n_jobs == 1 or len(jobs) == 1
        results: Iterator[tuple[T, T]]
        results = (call() for call in calls) if alone else spread(calls, n_jobs=self.n_jobs, backend=self.backend)
        try:
            for result, couple in zip(results, jobs, strict=True):
                if self.report is not None:
                    self.report(sum(job.size for job in couple))
                yield result
        except WorkerDied as error:
            inputs = list(dict.fromkeys(job.in_words() for couple in jobs for job in couple))
            more = f" or one of {len(inputs) - 2} more inputs" if len(inputs) > 2 else ""
            raise WorkerDied(f"{error}, in runs on {' or '.join(inputs[:2])}{more}") from error

    def _run(
        self, reduce: Callable[[Any], T], registered: dict[type, Callable[[Any], Any]], couple: tuple[Job, Job]
    ) -> tuple[T, T]:
        learn(registered)
        stream = self.mechanism.stream
        first, second = (seeding.generator(self.seed, "privacy", stream, *job.address) for job in couple)
        data, neighbour = (job.data.build() if isinstance(job.data, Made) else job.data for job in couple)
        with running_on(tuple(job.in_words() for job in couple), sum(job.size for job in couple)):
            outputs = self.mechanism.in_turn(InTurn((data, neighbour), (first, second), self.turns(couple)))
        ours, others = (self._reduced(reduce, made) for made in outputs)
        return ours, others

    def _reduced(self, reduce: Callable[[Any], T], outputs: Any) -> Any:
        """Return what is kept of a batch of outputs; None where there are none."""
        if outputs is None or not len(outputs):
            return None
        return reduce(outputs if self.view is None else self.view(outputs))

    def sides(self, pair: Pair, address: tuple[Any, ...], runs: int) -> list[Any]:
        """Return the outputs of both sides, whose numbers 0 and 1 end the address, each as one batch."""
        batches = list(self.reduced(self.couples(pair, [(*address, side) for side in (0, 1)], runs), _unreduced))
        return [join(side) for side in zip(*batches, strict=True)]


@dataclass(frozen=True)
class Observed(Generic[T]):
    """Reduces a batch of outputs, and counts its exceptions: by type, message and line, or by type if they are many."""

    reduce: Callable[[Any], T]

    def __call__(self, outputs: Any) -> tuple[T, Counter[tuple[str, ...]]]:
        """Return the reduced batch and the counts."""
        plain = isinstance(outputs, np.ndarray) and outputs.dtype != object
        raised = [] if plain else [one for one in outputs if type(one) is Raised]
        found: Counter[tuple[str, ...]] = Counter((one.kind, one.message[:200], one.place) for one in raised)
        return self.reduce(outputs), found if len(found) <= MESSAGES else Counter((one.kind,) for one in raised)


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
    sums = [sum_up(outputs) for outputs in first]
    couples = sampler.couples(pair, [(kind, index, side, phase) for side in (0, 1)], runs) if runs else []
    for more in sampler.reduced(couples, sum_up):
        sums = [tuple(map(add, mine, other)) for mine, other in zip(sums, more, strict=True)]
    return Reducer.of(plan, [Reduction.fit(*sides) for sides in zip(*sums, strict=True)])


def narrowed(sampler: Sampler, discretizers: Sequence[Discretizer]) -> Sampler:
    """Return a sampler that makes no more columns of wide outputs than the discretizers need."""
    columns = [one.columns for one in discretizers]
    if not isinstance(sampler.view, Reducer) or any(some is None for some in columns):
        return sampler
    return replace(sampler, view=sampler.view.keep(j for some in columns for j in some or ()))
