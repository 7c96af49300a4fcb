"""The events of a run, of which its listeners are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.engine.records import Result

__all__ = ["Event", "Listener", "RunFinished", "RunStarted", "TaskFailed", "TaskFinished"]


@dataclass(frozen=True)
class RunStarted:
    """A run begins: `total` tasks are planned, `done` of them have their results already."""

    total: int
    done: int


@dataclass(frozen=True)
class TaskFinished:
    """A task ended with a finding."""

    task: str
    record: Result


@dataclass(frozen=True)
class TaskFailed:
    """A task raised, or killed its worker process; nothing is known of its learner."""

    task: str
    error: str


@dataclass(frozen=True)
class RunFinished:
    """A run is over: every task ended, or the user interrupted it."""

    failed: int
    interrupted: bool = False


Event = RunStarted | TaskFinished | TaskFailed | RunFinished
Listener = Callable[[Event], None]
