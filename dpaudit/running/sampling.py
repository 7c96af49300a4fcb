"""Makes runs of a mechanism in chunks whose random streams are addresses, so that no schedule can change a result."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, zip_longest
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.contract import Made, Pair
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.flattening import Flattener
from dpaudit.events.wide import Reducer, Reduction, SumUp, pair_seconds, wide_leaves
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.encoding import plain
from dpaudit.outputs.parts import REGISTERED, learn
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.shared import join
from dpaudit.outputs.types import Batch, Flatten
from dpaudit.progress import Advance
from dpaudit.running.adapters import SIZES, Mechanism
from dpaudit.running.failed_runs import MARK, brief, naming
from dpaudit.running.fingerprints import Fingerprints, Sketch, fingerprints
from dpaudit.running.isolated import InTurn, Isolated
from dpaudit.running.processes import WorkerDied, worker_name
from dpaudit.running.workers import DASK, spread

T = TypeVar("T")
# The address of a random stream below the root seed.
Address: TypeAlias = tuple[str | int, ...]
# Maps a batch of outputs to the part of it that is kept.
Reduce: TypeAlias = Callable[[Any], T]
# Adds up what is kept of two batches; it may change its first argument.
Add: TypeAlias = Callable[[T, T], T]

# The most runs of a chunk, of calls that make many runs and of single runs.
BATCHED_CHUNK = 2**15
SINGLE_CHUNK = 2**11
# Couples of calls that are to be compared, at least, if that many runs are more than the smallest calls make.
COMPARED_COUPLES = 24
# Numbers of a chunk of outputs, which takes 64 MB: the wider an output, the fewer runs a chunk has.
CHUNK_NUMBERS = 2**23
# The most messages of exceptions that are counted apart in a batch; a message may have a number in it.
MESSAGES = 8
# Couples whose coins are drawn at a time.
PIECE = 2**12
# Couples whose results are summed where they are made, at most.
MOST_SUMMED = 16
# The groups into which couples are cut, at least: so many progress reports there are, and so evenly workers share.
GROUPS = 32
# The most runs a side that show about where the numbers lie, on a pair of which no outputs are known.
PLACING = 16


@dataclass(frozen=True)
class Job:
    """`size` runs on `data`, or on the input that a `Made` makes, with the stream at `address`."""

    data: Any
    address: Address
    size: int

    def in_words(self) -> str:
        """Return a short description of the input, in little time whatever it is."""
        if isinstance(self.data, Made):
            return self.data.in_words()
        return brief(self.data)

    def built(self) -> Any:
        """Return the input."""
        if isinstance(self.data, Made):
            return self.data.build()
        return self.data


# Jobs on the two sides of a pair, whose runs are made in one random order.
Couple = tuple[Job, Job]


@dataclass
class Pace:
    """The seconds that a run takes: the least mean of all batches, all but the first, and all but the slowest as well.

    A mechanism loads its libraries in the first or the slowest batch. The quickest batch would not do: if some runs are
    slow, or time out, it is one without them. If several workers make batches, they come several at a time, so that the
    time of all counts.
    """

    runs: int = 0
    seconds: float = 0.0
    first: tuple[int, float] | None = None
    slowest: tuple[int, float] = (0, 0.0)

    def add(self, runs: int, seconds: float, *, one_by_one: bool) -> None:
        """Note that so many runs were waited for; whether batches come one by one, each when it is made."""
        self.runs += runs
        self.seconds += seconds
        if not one_by_one or not runs:
            return
        if self.first is None:
            self.first = runs, seconds
        elif seconds * max(1, self.slowest[0]) >= self.slowest[1] * runs:
            self.slowest = runs, seconds

    @property
    def seconds_a_run(self) -> float | None:
        """The time of a run, or None if none was made."""
        if not self.runs:
            return None
        runs = self.runs
        seconds = self.seconds
        found = seconds / runs
        for apart in (self.first or (0, 0.0), self.slowest):
            runs -= apart[0]
            seconds -= apart[1]
            if runs > 0:
                found = min(found, seconds / runs)
        return found


@dataclass(frozen=True)
class Sampler:
    """Makes runs of a mechanism at addresses below one root seed.

    `n_jobs` and `backend` are as for `joblib.Parallel`, and there is a backend "dask", whose scheduler has the
    `address`; one job runs in this process. An output holds about so many `numbers`: the split of many wide runs
    depends on it, for the sake of memory. The `view` of a batch of outputs is returned; `report` is called with the
    number of runs made, batch by batch. `audit` marks the audit in the notes of processes that make runs of several.
    `pace` is the time that runs took; no number of a finding depends on it. With `fresh` each run has a generator of
    its own if a call makes one run, for mechanisms that never advance the one they are given. `values` is called with
    the workers that return a `sketched` share of all values.
    """

    mechanism: Mechanism
    seed: int
    n_jobs: int = 1
    backend: str | None = None
    numbers: int = 1
    view: Callable[[Batch], Any] | None = None
    report: Advance | None = None
    address: str | None = None
    fresh: bool = False
    sketched: float = 0.0
    values: Callable[[Sketch], None] | None = field(default=None, compare=False)
    audit: bytes = field(default_factory=partial(os.urandom, MARK), compare=False, repr=False)
    pace: Pace = field(default_factory=Pace, compare=False, repr=False)

    @property
    def least_call(self) -> int:
        """The least number of runs that a call makes."""
        if self.mechanism.even:
            return SIZES[0]
        return 1

    @property
    def least_evened(self) -> int:
        """The least number of tossed runs of which the calls on either side drop few; 1 if calls may differ."""
        if not self.mechanism.even:
            return 1
        least = 2 * SIZES[0]
        return least - math.isqrt(least)

    def evened(self, runs: int) -> int:
        """Return about so many tossed runs, of which the calls on either side drop few; any number if calls may differ.

        They are less by two standard deviations of the heads than what calls of one size make on both sides. Fewer
        than the smallest calls make stay as they are.
        """
        if not self.mechanism.even or runs < self.least_evened:
            return runs
        size = max((size for size in SIZES if 2 * size <= runs), default=SIZES[0])
        made = max(1, runs // (2 * size)) * 2 * size
        # The heads have a standard deviation of sqrt(made) / 2.
        return made - math.isqrt(made)

    def chunk(self, runs: int) -> int:
        """Return how many of `runs` runs a job makes; the split depends on nothing else."""
        # A small budget is split too, so that every worker has something to do; short batches cost most of their time.
        if self.mechanism.batched:
            chunk = min(BATCHED_CHUNK, max(4096, -(-runs // 8)))
        else:
            chunk = min(SINGLE_CHUNK, max(32, -(-runs // 16)))
        # Wide outputs get fewer runs, for the sake of memory.
        chunk = min(chunk, max(1, CHUNK_NUMBERS // self.numbers))
        if self.mechanism.even:
            return self._whole_calls(chunk)
        return chunk

    def _whole_calls(self, runs: int) -> int:
        """Return the most runs up to so many that calls of one size make, and no less than a call makes."""
        size = max((size for size in SIZES if size <= runs), default=SIZES[0])
        return max(size, runs // size * size)

    def jobs(self, data: Any, address: Address, runs: int) -> list[Job]:
        """Return the jobs that make `runs` runs at an address."""
        size = self.chunk(runs)
        return [Job(data, (*address, i), min(size, runs - start)) for i, start in enumerate(range(0, runs, size))]

    def couples(self, pair: Pair, addresses: Sequence[Address], *runs: int) -> list[Couple]:
        """Return the jobs on both sides of a pair, at an address for each, with so many runs on each.

        One number of runs is that of both sides. If they differ, jobs of one side may meet jobs without runs.
        """
        sizes = runs if len(runs) == 2 else runs * 2
        first, second = (self.jobs(*one) for one in zip(pair.sides, addresses, sizes, strict=True))
        none, other = (Job(data, address, 0) for data, address in zip(pair.sides, addresses, strict=True))
        return [(a or none, b or other) for a, b in zip_longest(first, second)]

    def tossed(self, pair: Pair, address: Address, runs: int, *, compared: bool = False) -> Couples:
        """Return the jobs of `runs` runs in all, each on the side of a pair that a fair coin says.

        The number of heads of each couple is drawn, and its runs are made in a random order (`reduced`): that is the
        law of coins tossed one by one, just before each run. If calls are to be `compared`, and nothing promises that
        the runs of one are independent, there are many. If calls are even, the heads of all couples are drawn together
        (`Couples`).
        """
        size = self.chunk(runs)
        ends = None
        if self.mechanism.even:
            most = min(size, runs // (2 * COMPARED_COUPLES)) if compared else size // 2
            size = 2 * max((one for one in SIZES if one <= most), default=SIZES[0])
        couples = -(-runs // size) if runs else 0
        if self.mechanism.even:
            ends = (couples,)
        return Couples(self, pair, address, runs, size, range(couples), ends)

    def turns(self, couple: Couple, *, by_calls: bool = False) -> NDArray[np.uint8]:
        """Return the side of each run of a couple, 0 for the data, in the order in which runs, or calls, are made."""
        # A stream of its own: the order must not depend on how much noise a run draws.
        order = seeding.generator(self.seed, "turns", self.mechanism.stream, *couple[0].address)
        sizes = [job.size for job in couple]
        sides = np.repeat(np.array([0, 1], dtype=np.uint8), sizes)
        if not by_calls:
            return order.permutation(sides)
        # The side of the first of all runs, as of runs in a random order.
        first = order.random() * sum(sizes) < sizes[0]
        return sides if first else sides[::-1]

    def reduced(self, jobs: Sequence[Couple], reduce: Reduce[T]) -> Iterator[tuple[T, T]]:
        """Yield `reduce(outputs)` of both jobs of each couple, in their order; None in the place of a job without runs.

        Outputs are never kept. The runs of a couple are made in one random order, so that a mechanism that drifts from
        call to call drifts on both sides alike. What is kept of a batch is made of plain values and
        arrays; `reduce` must pickle when processes are used.
        """
        return (result for _, result in self._made(jobs, reduce, None))

    def summed(
        self, jobs: Sequence[Couple], reduce: Reduce[T], add: Add[T]
    ) -> Iterator[tuple[tuple[int, int], tuple[T, T]]]:
        """Yield the runs on both sides of some couples, and the sum of what is kept of them, by ``add(one, other)``.

        Couples of a batched mechanism, whose calls are short, are summed where their runs are made. `add` may change
        its first argument.
        """
        for couples, result in self._made(jobs, reduce, add):
            yield (sum(first.size for first, _ in couples), sum(second.size for _, second in couples)), result

    def _made(
        self, jobs: Sequence[Couple], reduce: Reduce[T], add: Add[T] | None
    ) -> Iterator[tuple[Sequence[Couple], tuple[T, T]]]:
        """Yield groups of couples, in their order, and what is kept of each group."""
        size = 1
        if add is not None and self.mechanism.batched:
            size = max(1, min(MOST_SUMMED, len(jobs) // GROUPS))
        groups = _Groups(jobs, size)
        # Workers are processes of their own: what the user has registered here travels with the work.
        work = partial(_run, replace(self, report=None, values=None), reduce, add, dict(REGISTERED))
        one_by_one = len(groups) == 1 or (self.n_jobs == 1 and self.backend != DASK)
        results: Iterator[tuple[tuple[T, T], Sketch | None]]
        made: Iterable[list[Couple]] = groups
        # Bets make one group at a time: its coins are not tossed again to tell its size.
        if len(groups) == 1:
            made = list(groups)
        # In this process outputs need not travel, and calls need not pickle.
        if one_by_one:
            results = map(work, made)
        else:
            calls = replace(groups, work=work)
            results = spread(calls, n_jobs=self.n_jobs, backend=self.backend, address=self.address)
        began = time.monotonic()
        try:
            for (result, sketch), couples in zip(results, made, strict=True):
                if self.values is not None and sketch is not None:
                    self.values(sketch)
                runs = sum(job.size for couple in couples for job in couple)
                self.pace.add(runs, time.monotonic() - began, one_by_one=one_by_one)
                if self.report is not None:
                    self.report(runs)
                yield couples, result
                # What the audit makes of a result is no time of a run.
                began = time.monotonic()
        except WorkerDied as error:
            inputs = list(dict.fromkeys(job.in_words() for couple in islice(jobs, MESSAGES) for job in couple))
            named = " or ".join(inputs[:2])
            if len(inputs) > 2:
                named += f" or one of {len(inputs) - 2} more inputs"
            raise WorkerDied(f"{error}, in runs on {named}") from error

    def _run_couple(self, reduce: Reduce[T], couple: Couple, kept: dict[str, list[Fingerprints]]) -> tuple[T, T]:
        """Make the runs of a couple, and return what is kept of both sides; add fingerprints by input, if wanted."""
        stream = self.mechanism.stream
        first, second = (seeding.generator(self.seed, "privacy", stream, *job.address) for job in couple)
        sides = (couple[0].built(), couple[1].built())
        order = self.turns(couple, by_calls=self.mechanism.batched)
        inputs = InTurn(sides, (first, second), order, self.fresh)
        with naming(lambda: tuple(job.in_words() for job in couple), self.audit, lambda: inputs.turn):
            outputs = self.mechanism.in_turn(inputs)
        if self.sketched:
            for job, made in zip(couple, outputs, strict=True):
                if job.size and made is not None:
                    kept.setdefault(job.in_words(), []).append(fingerprints(made, self.sketched))
        return self._reduced(reduce, outputs[0]), self._reduced(reduce, outputs[1])

    def _reduced(self, reduce: Reduce[T], outputs: Batch | None) -> Any:
        """Return the part of a batch that is kept, or None if it has no outputs."""
        if outputs is None or not len(outputs):
            return None
        if not isinstance(self.mechanism.function, Isolated):
            # Outputs are the same in every process, and nothing of another process is executed here.
            outputs = plain(outputs, alone=self.n_jobs == 1 and self.backend is None)
        if self.view is None:
            return reduce(outputs)
        return reduce(self.view(outputs))

    def sides(self, pair: Pair, address: Address, runs: int) -> list[Batch]:
        """Return the outputs of both sides, whose numbers 0 and 1 end the address, each as one batch."""
        batches = list(self.reduced(self.couples(pair, [(*address, side) for side in (0, 1)], runs), _unreduced))
        return [join(side) for side in zip(*batches, strict=True)]


@dataclass(frozen=True, eq=False)
class Couples(Sequence[Couple]):
    """The couples of `runs` tossed runs of a pair at an address, `which` of them: each is made when it is asked for.

    They have `size` runs each. All couples of 10^9 runs would take some 300 MB. If calls are even, the couples come in
    groups that have `ends`: the number of heads of each group is drawn, and all its couples have half of their runs on
    either side, except for the last ones, which have the rest. Runs may end where a group does, and nowhere else.
    """

    sampler: Sampler
    pair: Pair
    address: Address
    runs: int
    size: int
    which: range
    ends: tuple[int, ...] | None = None

    def grouped(self, ends: Sequence[int]) -> Couples:
        """Return the couples in groups with such ends, the last of which may be before that of all."""
        if self.ends is None:
            return self
        return replace(self, ends=tuple(dict.fromkeys((*ends, self.ends[-1]))))

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, place: int) -> Couple: ...
    @overload
    def __getitem__(self, place: slice) -> Couples: ...
    def __getitem__(self, place: int | slice) -> Couple | Couples:
        if isinstance(place, slice):
            return replace(self, which=self.which[place])
        i = self.which[place]
        return next(iter(replace(self, which=range(i, i + 1))))

    def __iter__(self) -> Iterator[Couple]:
        if self.ends is not None:
            yield from self._even(self.ends)
            return
        coins = self._coins()
        for start in range(0, self.which.stop, PIECE):
            places = range(start, min(start + PIECE, self.which.stop))
            sizes = np.minimum(self.size, self.runs - self.size * np.array(places))
            # Drawn for earlier couples too: they are of one stream.
            heads = coins.binomial(sizes, 0.5).tolist()
            for i, whole, number in zip(places, sizes.tolist(), heads, strict=True):
                if i in self.which:
                    yield self._job(0, i, number), self._job(1, i, whole - number)

    def _even(self, ends: Sequence[int]) -> Iterator[Couple]:
        """Yield couples whose calls make the same number of runs, except for those at the end of a group."""
        start = 0
        coins = self._coins()
        for end in ends:
            runs = min(self.runs, self.size * end) - self.size * start
            # Drawn for earlier groups too: they are of one stream.
            heads = int(coins.binomial(runs, 0.5))
            for i in range(max(start, self.which.start), min(end, self.which.stop)):
                before = (i - start) * (self.size // 2)
                most = self.size // 2 if i < end - 1 else runs
                first = min(most, max(0, heads - before))
                second = min(most, max(0, runs - heads - before))
                yield self._job(0, i, first), self._job(1, i, second)
            start = end

    def _coins(self) -> np.random.Generator:
        """Return the stream of the coins that say on which side runs are made."""
        return seeding.generator(self.sampler.seed, "coins", self.sampler.mechanism.stream, *self.address)

    def _job(self, side: int, i: int, runs: int) -> Job:
        return Job(self.pair.sides[side], (*self.address, side, i), runs)


def with_exceptions(reduce: Reduce[T], outputs: Batch) -> tuple[T, Counter[tuple[str, ...]]]:
    """Return what `reduce` keeps of a batch, and the counts of its exceptions.

    They are counted by type, message and line, or by type alone if they are many.
    """
    raised: list[Raised] = []
    # An array of numbers holds none, and is long to look through.
    if not isinstance(outputs, np.ndarray) or outputs.dtype == object:
        raised = [one for one in outputs if type(one) is Raised]
    found: Counter[tuple[str, ...]] = Counter((one.kind, one.message[:200], one.place) for one in raised)
    # A message that names a number, or an address in memory, is another one in each run.
    if len(found) > MESSAGES:
        found = Counter((one.kind,) for one in raised)
    return reduce(outputs), found


@dataclass(frozen=True)
class _Groups:
    """Couples of jobs in groups of some size, each made when it is asked for; with `work`, the calls that make them."""

    jobs: Sequence[Couple]
    size: int
    work: Callable[[list[Couple]], Any] | None = None

    def __len__(self) -> int:
        return -(-len(self.jobs) // self.size)

    def __iter__(self) -> Iterator[Any]:
        couples = iter(self.jobs)
        groups = iter(lambda: list(islice(couples, self.size)), [])
        if self.work is None:
            return groups
        return (partial(self.work, group) for group in groups)


def _run(
    sampler: Sampler,
    reduce: Reduce[T],
    add: Add[T] | None,
    registered: dict[type, Flatten],
    couples: Sequence[Couple],
) -> tuple[tuple[T, T], Sketch | None]:
    """Make the runs of couples; return what is kept of both sides, and a sketch of values, if wanted."""
    learn(registered)
    kept: dict[str, list[Fingerprints]] = {}
    total, *others = (sampler._run_couple(reduce, couple, kept) for couple in couples)
    for other in others:
        assert add is not None
        total = _sum(add, total[0], other[0]), _sum(add, total[1], other[1])
    if not sampler.sketched:
        return total, None
    return total, (worker_name(), tuple((key, np.concatenate(parts)) for key, parts in kept.items()))


def _sum(add: Add[T], one: T, other: T) -> T:
    """Add up what is kept of two batches; None is kept of a batch without runs."""
    if one is None:
        return other
    if other is None:
        return one
    return add(one, other)


def _unreduced(outputs: Batch) -> Batch:
    return outputs


def knowing(sampler: Sampler, outputs: Sequence[Batch]) -> Sampler:
    """Return a sampler that knows from some batches of outputs how many numbers one holds."""
    return replace(sampler, numbers=max(1, Flattener.fit(outputs).scalars))


def held_runs(sampler: Sampler) -> int:
    """Return how many outputs of a side may be held in memory as they are."""
    return max(1, CHUNK_NUMBERS // sampler.numbers)


def placing_runs(sampler: Sampler, training: int) -> int:
    """Return how many of a side's training runs show about where the numbers of wide outputs lie."""
    return min(PLACING, max(1, training // 4), held_runs(sampler))


def _unlimited(seconds: float) -> bool:
    return True


def learned_reducer(
    sampler: Sampler,
    pair: Pair,
    first: Sequence[Batch],
    address: tuple[str, int, int],
    runs: int,
    affords: Callable[[float], bool] = _unlimited,
) -> Reducer:
    """Return the map of wide outputs to the columns that differ most, learned without ever holding the outputs.

    `first` are outputs of both sides, which show the leaves and about where their numbers lie; they are summed up too.
    The `runs` of each side that are summed up have the address (kind, pair, phase), in which the number of the side
    stands before the phase; they must not choose anything else. `affords` says whether there is time for a step of so
    many seconds: pairs of columns are not looked for if there is not.
    """
    both = join(first)
    plan = LeafPlan.of(both)
    sum_up = SumUp.around(wide_leaves(plan), both)
    kind, index, phase = address
    sums = [sum_up.added(sum_up.empty, sum_up(outputs)) for outputs in first]
    couples: list[Couple] = []
    if runs:
        couples = sampler.couples(pair, [(kind, index, side, phase) for side in (0, 1)], runs)
    for more in sampler.reduced(couples, sum_up):
        sums = [sum_up.added(mine, other) for mine, other in zip(sums, more, strict=True)]
    leaves = list(zip(*sums, strict=True))
    paired = affords(sum(pair_seconds(*sides) for sides in leaves))
    return Reducer.of(plan, [Reduction.fit(*sides, paired=paired) for sides in leaves])


def narrowed(sampler: Sampler, discretizers: Sequence[Discretizer]) -> Sampler:
    """Return a sampler that makes no more columns of wide outputs than the discretizers need."""
    columns = [one.columns for one in discretizers]
    if not isinstance(sampler.view, Reducer) or any(some is None for some in columns):
        return sampler
    return replace(sampler, view=sampler.view.keep(j for some in columns for j in some or ()))
