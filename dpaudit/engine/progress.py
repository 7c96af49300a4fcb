"""Shows on a stream how far a run is: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TextIO

from dpaudit.engine.events import RunEvent, RunFinished, RunStarted, TaskFailed
from dpaudit.engine.outcome import word
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import canonical
from dpaudit.progress import Line

__all__ = ["Progress"]

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
        """Take note of an event and show it."""
        if isinstance(event, RunStarted):
            self._total, self._done = event.total, event.done
            self._shown = self._line(already=event.done)
            if event.done:
                self._shown.keep(event.done, event.total, before="resuming: ")
        elif isinstance(event, RunFinished):
            before = "interrupted: " if event.interrupted else ""
            self._shown.keep(self._done, self._total, self._told(), before)
        elif isinstance(event, TaskFailed):
            self._step("failed")
        else:
            self._count(event.record)
            self._step(_WORDS.get(word(event.record), word(event.record)), event.record.learner)

    def _step(self, said: str, learner: str = "") -> None:
        """Count a task that has ended, and show the sum."""
        self._done += 1
        self._counts[said] += 1
        self._shown(self._done, self._total, "  ".join(filter(None, (self._told(), learner))))

    def _count(self, record: Result) -> None:
        """Take note of a control: it is detected as soon as one of its audits detects its leak."""
        if record.fault is not None:
            control = canonical([record.learner, record.parameters])
            self._detected[control] = word(record) == "detected" or self._detected.get(control, False)

    def _told(self) -> str:
        """Return how many audits ended how."""
        caught = f" ({sum(self._detected.values())} of {len(self._detected)} detected)"
        return ", ".join(
            f"{self._counts[name]} {name}{caught if name == _CONTROLS else ''}" for name in _SHOWN if self._counts[name]
        )
