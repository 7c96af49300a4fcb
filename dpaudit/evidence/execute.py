"""Runs the tasks of a plan, over processes or not, and shows the progress: how many audits ended how."""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from functools import partial
from typing import Self, TextIO

from dpaudit.arguments import check_jobs, read_choice
from dpaudit.contract import TaskVerdict
from dpaudit.errors import DpauditError, place_of
from dpaudit.evidence.outcome import KINDS, ON_CONTROLS, detects, kind_of
from dpaudit.evidence.perform import perform
from dpaudit.evidence.records import Failure, Result
from dpaudit.evidence.tasks import Task, canonical
from dpaudit.progress import Line
from dpaudit.record import as_json, decode
from dpaudit.registry import load
from dpaudit.running.processes import can_fork, keep_apart
from dpaudit.running.workers import DASK, apart, spread

BACKENDS = ("loky", "threading", "sequential", "dask")


def execute(
    tasks: Sequence[Task],
    *,
    seed: int,
    done: Collection[str] = (),
    paths: tuple[str, ...] = (),
    n_jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
) -> Generator[Result | Failure]:
    """Perform tasks, and yield the record of each as it ends; the arguments are checked before anything runs.

    Close what is returned to end the workers at once. A task's result is a function of the task and the root seed
    alone, whatever `n_jobs`, `backend` and the order. The keys of tasks to leave out are in `done`; `paths` are files
    and folders with learners, besides the installed packages; `n_jobs` tasks run at a time, -1 for one a processor. The
    `backend` is processes, threads, neither, or the dask cluster whose scheduler has the `address`: where processes
    fork, a task that ends its process has failed alone; elsewhere it raises `ToolFault`.
    """
    read_choice("backend", backend, BACKENDS)
    check_jobs(n_jobs, DASK if backend == DASK else None, address)
    # Before the first record is asked for: a path that does not load is refused before anything runs.
    load(paths)
    todo = {task.key: task for task in tasks if task.key not in done}
    # A check of one claim is not worth the start of a worker; a single audit is, for it may kill the process.
    if {task.kind for task in tasks} == {"ledger"} and len(todo) == 1:
        backend = "sequential"
    return _records(todo, seed, paths, n_jobs, backend, address)


def _attempt(task: Task, seed: int, paths: tuple[str, ...]) -> Result | Failure:
    """Perform a task; whatever it raises, except an interrupt, is the task's failure and not the run's.

    That includes an exit: a learner that calls ``sys.exit(0)`` must not end the run with the status of a clean one.
    """
    try:
        return perform(task, seed=seed, paths=paths)
    except (Exception, SystemExit) as error:
        place = ""
        if not isinstance(error, DpauditError):
            place = f" ({place_of(error)})"
        return Failure(**task.recorded, error=f"{type(error).__name__}: {error}{place}")


# Records come as bytes that are checked as they are read: the process has run third-party code.
def _attempted(task: Task, seed: int, paths: tuple[str, ...]) -> bytes:
    return as_json(_attempt(task, seed, paths))


def _records(
    tasks: Mapping[str, Task], seed: int, paths: tuple[str, ...], n_jobs: int, backend: str, address: str | None
) -> Generator[Result | Failure]:
    if backend == "sequential":
        yield from (_attempt(task, seed, paths) for task in tasks.values())
        return
    calls = {key: partial(_attempted, task, seed, paths) for key, task in tasks.items()}
    if backend in ("threading", DASK) or not can_fork():
        # One task at a time: tasks are long, and a kill should cost no more than those under way. Records are stored
        # as they come; the seal puts them into the order of the plan.
        records = spread(
            list(calls.values()), ordered=False, batch_size=1, n_jobs=n_jobs, backend=backend, address=address
        )
        for record in records:
            yield decode(record, Result | Failure)
    else:
        from joblib import effective_n_jobs

        def made(emit: Callable[[bytes], None], key: str) -> bytes:
            keep_apart()  # a run that ends its process is then reported with its input
            return calls[key]()

        for key, found in apart(made, calls, effective_n_jobs(n_jobs)):
            if isinstance(found, DpauditError):
                # The task that ended its process has failed alone, and the run goes on.
                yield Failure(**tasks[key].recorded, error=f"WorkerDied: the task {found}")
            else:
                yield decode(found, Result | Failure)


class Progress:
    """Shows how many audits ended how, and how many controls are detected, while a block runs; see `progress.Line`.

    `total` is the number of tasks planned, `done` that of those which have their results already, `noun` the unit.
    Nothing is shown where the stream is None.
    """

    def __init__(
        self,
        stream: TextIO | None,
        total: int,
        done: int = 0,
        noun: str = "audits",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if stream is None:
            stream = io.StringIO()
        self._line = Line(stream, noun, clock, already=done)
        self._total = total
        self._done = done
        self._counts: Counter[str] = Counter()
        self._detected: dict[str, bool] = {}

    def __enter__(self) -> Self:
        if self._done:
            self._line.keep(self._done, self._total, before="resuming: ")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            before = "" if kind is None else "interrupted: "
            self._line.keep(self._done, self._total, self._sums(), before)

    def __call__(self, record: Result | Failure) -> None:
        """Show that a task ended; a control is detected as soon as one of its audits detects its leak."""
        self._done += 1
        learner = ""
        found = str(TaskVerdict.FAILED)
        if isinstance(record, Result):
            learner = record.learner
            found = kind_of(record)
            if record.fault is not None:
                # A control may stand in a run with several parameters; each of these must be detected.
                control = canonical([learner, record.parameters])
                self._detected[control] = detects([record]) or self._detected.get(control, False)
        self._counts[found] += 1
        self._line(self._done, self._total, "  ".join(filter(None, (self._sums(), learner))))

    def _sums(self) -> str:
        caught = f"{ON_CONTROLS} ({sum(self._detected.values())} of {len(self._detected)} detected)"
        names = {name: caught if name == ON_CONTROLS else name for name in KINDS if self._counts[name]}
        return ", ".join(f"{self._counts[name]} {shown}" for name, shown in names.items())
