"""Shows on a stream how far a run is: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from dpaudit.engine.events import RunEvent, RunFinished, RunStarted, TaskFailed, TaskFinished
from dpaudit.engine.outcome import word
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import canonical
from dpaudit.progress import duration

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
        Usually ``sys.stderr``. If it is a terminal, one line is rewritten after each task; otherwise a line
        is written after about every tenth of the tasks.
    clock : callable
        Seconds, monotonic.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._live = stream.isatty()
        self._total = self._resumed = self._done = self._width = 0
        self._began = clock()
        self._counts: Counter[str] = Counter()
        self._detected: dict[str, bool] = {}

    def __call__(self, event: RunEvent) -> None:
        """Take note of an event and show it."""
        if isinstance(event, RunStarted):
            self._total, self._resumed, self._done, self._began = (
                event.total,
                event.done,
                event.done,
                self._clock(),
            )
            if event.done:
                self._print(f"resuming: {event.done} of {event.total} audits are done")
        elif isinstance(event, RunFinished):
            self._print(("interrupted: " if event.interrupted else "") + self._line())
        else:
            self._step(event)

    def _step(self, event: TaskFinished | TaskFailed) -> None:
        self._done += 1
        if isinstance(event, TaskFailed):
            self._counts["failed"] += 1
        else:
            self._count(event.record)
        if self._live:
            self._rewrite(self._line())
        elif self._done < self._total and self._tenth(self._done) > self._tenth(self._done - 1):
            self._print(self._line())

    def _count(self, record: Result) -> None:
        """Count an audit; a control is detected as soon as one of its audits detects its leak."""
        said = word(record)
        self._counts[_WORDS.get(said, said)] += 1
        if record.fault is not None:
            control = canonical([record.learner, record.parameters])
            self._detected[control] = said == "detected" or self._detected.get(control, False)

    def _tenth(self, done: int) -> int:
        return 10 * done // max(self._total, 1)

    def _line(self) -> str:
        caught = f" ({sum(self._detected.values())} of {len(self._detected)} detected)"
        counts = ", ".join(
            f"{self._counts[name]} {name}{caught if name == _CONTROLS else ''}" for name in _SHOWN if self._counts[name]
        )
        elapsed = self._clock() - self._began
        fresh, left = self._done - self._resumed, self._total - self._done
        remaining = f", about {duration(elapsed / fresh * left)} left" if fresh and left else ""
        return f"[{self._done}/{self._total} audits] {counts + '; ' if counts else ''}{duration(elapsed)}{remaining}"

    def _rewrite(self, text: str) -> None:
        """Put `text` over the live line, cut to the terminal: a carriage return does not undo a wrap."""
        text = text[: max(shutil.get_terminal_size().columns - 1, 20)]
        self._write("\r" + text.ljust(self._width))
        self._width = len(text)

    def _print(self, text: str) -> None:
        """Write a line that stays."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0
        self._write(f"dpaudit: {text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
