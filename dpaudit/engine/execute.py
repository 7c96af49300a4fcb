"""Runs the tasks of a plan, over processes or not, and reports events to listeners, such as a line of progress."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TextIO

from dpaudit.arguments import check_jobs, read_choice
from dpaudit.engine.outcome import word
from dpaudit.engine.perform import perform
from dpaudit.engine.records import Failure, Result
from dpaudit.engine.tasks import Task, canonical
from dpaudit.errors import DpauditError, place_of
from dpaudit.jsonable import jsonable
from dpaudit.progress import Line
from dpaudit.registry import load
from dpaudit.running.processes import can_fork
from dpaudit.running.workers import apart, spread

__all__ = [
    "BACKENDS",
    "Listener",
    "Progress",
    "RunEvent",
    "RunFinished",
    "RunStarted",
    "execute",
]


@dataclass(frozen=True)
class RunStarted:
    """A run begins: `total` tasks are planned, `done` of them have their results already."""

    total: int
    done: int


@dataclass(frozen=True)
class RunFinished:
    """A run is over: every task ended, or the user interrupted it."""

    interrupted: bool = False


RunEvent = RunStarted | Result | Failure | RunFinished
"""An event; a task that ends is reported by its record."""
Listener = Callable[[RunEvent], None]

BACKENDS = ("loky", "threading", "sequential")


def execute(
    tasks: Sequence[Task],
    *,
    seed: int,
    listeners: Sequence[Listener] = (),
    done: Collection[str] = (),
    paths: tuple[str, ...] = (),
    n_jobs: int = 1,
    backend: str = "loky",
) -> int:
    """Perform tasks and return how many failed.

    Parameters
    ----------
    tasks : sequence of Task
        The plan.
    seed : int
        The root seed. A task's result is a function of the task and the seed alone, whatever `n_jobs`,
        `backend` and the order.
    listeners : sequence of callables
        Each is called with every event, in this process, in this order.
    done : collection of str
        Keys of tasks to leave out.
    paths : tuple of str
        Files and folders with learners, besides the installed packages.
    n_jobs : int
        The number of tasks that run at a time; -1 for one a processor.
    backend : {"loky", "threading", "sequential"}
        Processes, threads, or neither. Where processes fork, a task that ends its process has failed alone.

    Raises
    ------
    InputError
        For an unknown backend or number of jobs, before anything runs.
    ToolFault
        If a worker process dies where processes do not fork.
    KeyboardInterrupt
        After the listeners were notified.
    """
    read_choice("backend", backend, BACKENDS)
    check_jobs(n_jobs)
    load(paths)
    todo = {task.key: task for task in tasks if task.key not in done}

    def report(event: RunEvent) -> None:
        for listener in listeners:
            listener(event)

    # A check of one claim is not worth the start of a worker; a single audit is, for it may kill the process.
    alone = backend == "sequential" or ({task.kind for task in tasks} == {"ledger"} and len(todo) == 1)
    failed = 0
    report(RunStarted(len(tasks), len(tasks) - len(todo)))
    try:
        records = _records(todo, seed, paths, n_jobs, "sequential" if alone else backend)
        with closing(records):  # now: it ends the workers
            for record in records:
                failed += isinstance(record, Failure)
                report(record)
    except KeyboardInterrupt:
        report(RunFinished(interrupted=True))
        raise
    report(RunFinished())
    return failed


def _attempt(task: Task, seed: int, paths: tuple[str, ...]) -> Result | Failure:
    """Perform a task; whatever it raises, except an interrupt, is the task's failure and not the run's.

    That includes an exit: a learner that calls ``sys.exit(0)`` must not end the run with the status of a clean one.
    """
    try:
        return perform(task, seed=seed, paths=paths)
    except DpauditError as error:
        return _failure(task, f"{type(error).__name__}: {error}")
    except (Exception, SystemExit) as error:
        return _failure(task, f"{type(error).__name__}: {error} ({place_of(error)})")


def _failure(task: Task, error: str) -> Failure:
    """Return the record of a task that failed."""
    given: dict[str, Any] = {"learner": task.learner, "parameters": jsonable(task.parameters)}
    return Failure(task=task.key, **given, arguments=task.arguments, error=error)


def _records(
    tasks: Mapping[str, Task], seed: int, paths: tuple[str, ...], n_jobs: int, backend: str
) -> Generator[Result | Failure]:
    """Yield the record of each task as it ends."""
    calls = {key: partial(_attempt, task, seed, paths) for key, task in tasks.items()}
    if backend == "sequential":
        yield from (call() for call in calls.values())
    elif backend == "threading" or not can_fork():
        yield from spread(list(calls.values()), n_jobs=n_jobs, backend=backend, ordered=False, batch_size=1)
    else:
        from joblib import effective_n_jobs

        for key, ended in apart(calls, effective_n_jobs(n_jobs)):
            fault = f"WorkerDied: the task {ended}"
            yield _failure(tasks[key], fault) if isinstance(ended, DpauditError) else ended


_CONTROLS = "on controls"
_WORDS = {"detected": _CONTROLS, "not detected": _CONTROLS, "ladder": "at smaller n"}
_SHOWN = (
    "violation",
    "failed",
    "no evidence",
    "undecided",
    "vacuous",
    "consistent",
    "at smaller n",
    _CONTROLS,
    "checked",
    "drawn",
)


class Progress:
    """A listener that writes progress: how many audits ended how, and how many controls are detected.

    Parameters
    ----------
    stream : text file
        Usually ``sys.stderr``; see `progress.Line`.
    clock : callable
        Seconds, monotonic.
    noun : str
        The unit: what is done.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic, noun: str = "audits") -> None:
        self._line = partial(Line, stream, noun, clock)
        self._shown = self._line()
        self._total = self._done = 0
        self._counts: Counter[str] = Counter()
        self._detected: dict[str, bool] = {}

    def __call__(self, event: RunEvent) -> None:
        """Show an event."""
        if isinstance(event, RunStarted):
            self._total, self._done = event.total, event.done
            self._shown = self._line(already=event.done)
            if event.done:
                self._shown.keep(event.done, event.total, before="resuming: ")
        elif isinstance(event, RunFinished):
            before = "interrupted: " if event.interrupted else ""
            self._shown.keep(self._done, self._total, self._sums(), before)
        else:
            self._done += 1
            self._counts["failed" if isinstance(event, Failure) else self._counted(event)] += 1
            learner = "" if isinstance(event, Failure) else event.learner
            self._shown(self._done, self._total, "  ".join(filter(None, (self._sums(), learner))))

    def _counted(self, record: Result) -> str:
        """Return with what a result is counted; a control is detected as soon as one of its audits detects its leak."""
        found = word(record)
        if record.fault is not None:
            control = canonical([record.learner, record.parameters])
            self._detected[control] = found == "detected" or self._detected.get(control, False)
        return _WORDS.get(found, found)

    def _sums(self) -> str:
        """Return how many audits ended how."""
        caught = f" ({sum(self._detected.values())} of {len(self._detected)} detected)"
        return ", ".join(
            f"{self._counts[name]} {name}{caught if name == _CONTROLS else ''}" for name in _SHOWN if self._counts[name]
        )
