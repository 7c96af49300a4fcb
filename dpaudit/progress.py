"""Report progress to a callback or to standard error."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from dpaudit.errors import InputError
from dpaudit.escaping import printable

# Whether to show progress on standard error; or a callable that gets how much is done, and of how much.
Progress = bool | Callable[[int, int], None]


class Advance(Protocol):
    """Is called with how much more has been done, and with what is known since, if that is new."""

    def __call__(self, more: int, /, note: str | None = None) -> None:
        """Add to what is done."""


# The least time between two states of a live line.
LIVE_SECONDS = 0.1
# The least time between two lines where a line cannot be rewritten.
PLAIN_SECONDS = 10.0
# Seconds that work must take for a line of its end to be left on the terminal.
WORTH_SECONDS = 2.0
# The least share of a piece of work from which the time that is left is shown: what comes before it is loading.
ESTIMABLE = 0.05
_BAR = 22


@contextmanager
def followed(progress: Progress, total: int, noun: str, limit: float = math.inf) -> Iterator[Advance | None]:
    """Yield a function to call after each piece of work with its amount; None if progress is not shown.

    True shows a line on standard error with the last note: rewritten in place on a terminal and in a notebook, a new
    one every ten seconds elsewhere. A callable gets (done, total) after each piece; an audit that decides early, or
    whose `limit` of seconds is over, does less than the total.
    """
    if progress is False:
        yield None
        return
    # A callable gets numbers alone; the line also shows what is known so far.
    if progress is not True and not callable(progress):
        raise InputError.of("progress", progress, "True, False or a callable (done, total)")
    shown: Line | Callable[[int, int], None]
    if progress is True:
        shown = Line(sys.stderr, noun, time.monotonic, limit=limit)
    else:
        shown = progress
    done = 0
    known = ""

    def report(more: int, /, note: str | None = None) -> None:
        nonlocal done, known
        done = min(done + more, total)
        if note is not None:
            known = note
        if isinstance(shown, Line):
            shown(done, total, known)
        elif more:
            shown(done, total)

    try:
        yield report
    finally:
        if isinstance(shown, Line):
            shown.end()


class Line:
    """Shows on a stream how much is done: `[====>   ] 1,200/10,000 runs  0:05, 0:42 left`.

    On a terminal and in a notebook it is one line that is rewritten, elsewhere a new one every ten seconds.

    The noun is the unit of the work, the clock monotonic and in seconds. Work done `already`, by an earlier process,
    does not count for the time that is left; that never exceeds what is left of a `limit` of seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        noun: str,
        clock: Callable[[], float] = time.monotonic,
        already: int = 0,
        limit: float = math.inf,
    ) -> None:
        self._limit = limit
        self._stream = stream
        self._noun = noun
        self._clock = clock
        self._already = already
        # A notebook is no terminal, but it takes a carriage return for one.
        self._live = stream.isatty() or "ipykernel" in sys.modules
        self._began = self._shown = clock()
        self._width = 0

    def __call__(self, done: int, total: int, note: str = "", share: float = 0.0) -> None:
        """Show how much is done, `share` of the piece under way too, and what was found, if the line has grown old."""
        now = self._clock()
        patience = LIVE_SECONDS if self._live else PLAIN_SECONDS
        if now - self._shown >= patience:
            self._shown = now
            bar = ("=" * int(_BAR * (done + share) / max(total, 1)) + ">")[:_BAR].ljust(_BAR)
            text = f"[{bar}] {self._text(done, total, note, now, share)}"
            if self._live:
                text = text[: max(shutil.get_terminal_size().columns - 1, 20)]
                print("\r" + text.ljust(self._width), end="", file=self._stream, flush=True)
                self._width = len(text)
            else:
                print(f"dpaudit: {text}", file=self._stream, flush=True)

    def keep(self, done: int, total: int, note: str = "", before: str = "") -> None:
        """Show how much was done as a line that stays; of work of no time only if there is something `before`."""
        self.end()
        now = self._clock()
        if before or now - self._began >= WORTH_SECONDS:
            print(f"dpaudit: {before}{self._text(done, total, note, now)}", file=self._stream, flush=True)

    def end(self) -> None:
        """Take a live line away."""
        if self._width:
            print("\r" + " " * self._width, end="\r", file=self._stream, flush=True)
            self._width = 0

    def _text(self, done: int, total: int, note: str, now: float, share: float = 0.0) -> str:
        fresh = done + share - self._already
        elapsed = now - self._began
        took = duration(elapsed)
        if fresh >= ESTIMABLE and done < total:
            left = min(elapsed / fresh * (total - done - share), max(0.0, self._limit - elapsed))
            took += f", {duration(left)} left"
        return "  ".join(filter(None, (f"{done:,}/{total:,} {self._noun}", printable(note), took)))


def duration(seconds: float) -> str:
    """Return a time as minutes and seconds, with hours where there are any: 0:05, 12:00, 1:02:03."""
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{whole:02}"
    return f"{minutes}:{whole:02}"
