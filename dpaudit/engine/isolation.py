"""Goes on where a task kills its worker process: the tasks under way are tried again, each alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit.engine.events import TaskFailed, TaskFinished
from dpaudit.running.child import Child, ChildDied
from dpaudit.running.scratch import scratch_folder
from dpaudit.running.workers import WorkerDied

__all__ = ["apart", "isolated"]

Call = Callable[[], TaskFinished | TaskFailed]
Spread = Callable[[Iterable[Call]], Iterator[TaskFinished | TaskFailed]]


def isolated(calls: Mapping[str, Call], spread: Spread) -> Iterator[TaskFinished | TaskFailed]:
    """Yield the event of each task as it ends, also of one that ends its worker process.

    A death takes down all tasks that were under way. Each of them is then tried alone: one that kills its worker again
    has failed, the others lose nothing, since a task's result depends on the task and the seed only.

    Parameters
    ----------
    calls : mapping of str to callable
        The call that performs each task, by the task's key.
    spread : callable
        Makes calls on workers, as `workers.spread` does.

    Raises
    ------
    WorkerDied
        If workers die before they begin with anything.
    """
    left = dict(calls)
    while left:
        with scratch_folder() as folder:
            marks = {key: folder / str(i) for i, key in enumerate(left)}
            try:
                for event in spread([partial(_marked, left[key], mark) for key, mark in marks.items()]):
                    del left[event.task]
                    yield event
            except WorkerDied:
                suspects = [key for key in left if marks[key].exists()]
                if not suspects:
                    raise
            else:
                return
        for key in suspects:
            yield _alone(key, left.pop(key), spread)


def apart(calls: Mapping[str, Call]) -> Iterator[TaskFinished | TaskFailed]:
    """Yield the event of each task, one after another, in one process beside this; a task that ends it has failed."""
    child: Child | None = None
    try:
        for key, call in calls.items():
            child = child or Child(_made)
            try:
                _, event = child.call(call)
            except ChildDied as died:
                child.close()
                child, event = None, TaskFailed(key, f"WorkerDied: the task {died}")
            yield event
    finally:
        if child is not None:
            child.close()


def _made(emit: Any, call: Call) -> TaskFinished | TaskFailed:
    """Make a call in the child."""
    return call()


def _marked(call: Call, mark: Path) -> TaskFinished | TaskFailed:
    """Make a call between making a file and removing it: what is left tells who was under way."""
    mark.touch()
    try:
        return call()
    finally:
        mark.unlink(missing_ok=True)


def _alone(key: str, call: Call, spread: Spread) -> TaskFinished | TaskFailed:
    """Perform one task while no other is under way."""
    try:
        (event,) = spread([call])
    except WorkerDied as error:
        return TaskFailed(key, f"WorkerDied: {error}; and again when it ran alone")
    return event
