"""Runs the tasks of a plan, over processes or not, and tells listeners what happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.engine.perform import perform
from dpaudit.engine.tasks import Task
from dpaudit.errors import DpauditError, InputError, ToolFault
from dpaudit.registry import load

__all__ = [
    "BACKENDS",
    "Event",
    "Listener",
    "RunFinished",
    "RunStarted",
    "TaskFailed",
    "TaskFinished",
    "execute",
]

BACKENDS = ("loky", "threading", "multiprocessing", "sequential")


@dataclass(frozen=True)
class RunStarted:
    """A run begins: `total` tasks are planned, `done` of them have their results already."""

    total: int
    done: int


@dataclass(frozen=True)
class TaskFinished:
    """A task ended with a finding; `record` is JSON-safe."""

    task: str
    record: dict[str, Any]


@dataclass(frozen=True)
class TaskFailed:
    """A task raised; nothing is known of its learner."""

    task: str
    error: str


@dataclass(frozen=True)
class RunFinished:
    """A run is over: every task ended, or the user interrupted it."""

    failed: int
    interrupted: bool = False


Event = RunStarted | TaskFinished | TaskFailed | RunFinished
Listener = Callable[[Event], None]


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
        Where learners are found besides the installed packages.
    n_jobs : int
        How many tasks run at a time; -1 for one a processor.
    backend : {"loky", "threading", "multiprocessing", "sequential"}
        How joblib spreads them. With "multiprocessing" the death of a worker process goes unnoticed.

    Raises
    ------
    InputError
        For an unknown backend or number of jobs, before anything runs.
    ToolFault
        If a worker process died. What was done by then has been told to the listeners.
    KeyboardInterrupt
        After the listeners have been told.
    """
    _check(n_jobs, backend)
    load(paths)
    todo = [task for task in tasks if task.key not in done]
    start = RunStarted(len(tasks), len(tasks) - len(todo))
    return _tell(start, _events(todo, seed, paths, n_jobs, backend), listeners)


def _check(n_jobs: int, backend: str) -> None:
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}; got {backend!r}")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be a non-zero integer, got {n_jobs!r}")


def _tell(start: RunStarted, events: Iterator[TaskFinished | TaskFailed], listeners: Sequence[Listener]) -> int:
    """Tell the listeners everything from start to finish; return how many tasks failed."""

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    failed = 0
    tell(start)
    try:
        for event in events:
            failed += isinstance(event, TaskFailed)
            tell(event)
    except KeyboardInterrupt:
        tell(RunFinished(failed, interrupted=True))
        raise
    tell(RunFinished(failed))
    return failed


def _attempt(task: Task, seed: int, paths: tuple[str, ...]) -> TaskFinished | TaskFailed:
    """Perform a task; whatever it raises, except an interrupt, is the task's failure and not the run's."""
    try:
        return TaskFinished(task.key, perform(task, seed=seed, paths=paths))
    except DpauditError as error:
        return TaskFailed(task.key, f"{type(error).__name__}: {error}")
    except Exception as error:
        return TaskFailed(task.key, f"{type(error).__name__}: {error} ({_place(error)})")


def _place(error: BaseException) -> str:
    """Say where an exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "unknown place" if trace is None else f"{trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"


def _events(
    tasks: Sequence[Task], seed: int, paths: tuple[str, ...], n_jobs: int, backend: str
) -> Iterator[TaskFinished | TaskFailed]:
    """Yield the event of each task as it ends."""
    if n_jobs == 1 or backend == "sequential" or len(tasks) < 2:
        yield from (_attempt(task, seed, paths) for task in tasks)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    if backend != "multiprocessing":
        # batch_size 1: tasks are long, and a kill should cost no more than those that are under way.
        parallel = Parallel(n_jobs, backend=backend, return_as="generator_unordered", batch_size=1)
        yield from _alive(parallel(delayed(_attempt)(task, seed, paths) for task in tasks))
        return
    # This backend refuses generators: hand it short lists, so that results still reach the store in time.
    width = 2 * effective_n_jobs(n_jobs)
    with Parallel(n_jobs, backend=backend, batch_size=1) as parallel:
        for start in range(0, len(tasks), width):
            yield from _alive(parallel(delayed(_attempt)(task, seed, paths) for task in tasks[start : start + width]))


def _alive(events: Any) -> Iterator[TaskFinished | TaskFailed]:
    """Yield the events; the death of a worker process becomes a `ToolFault`."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield from events
    except BrokenProcessPool as error:
        raise ToolFault(f"a worker process died; the results so far are kept ({str(error).splitlines()[0]})") from error
