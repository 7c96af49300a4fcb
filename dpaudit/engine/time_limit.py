"""A limit on the time of a computation that knows nothing of it, and the place at which it was stopped."""

from __future__ import annotations

import linecache
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dpaudit.errors import InputError

__all__ = ["OutOfTime", "time_limited"]


class OutOfTime(BaseException):
    """The time is over. Not an `Exception`, so that no handler of other errors keeps the computation going.

    Attributes
    ----------
    frame : frame or None
        What ran when the time was over.
    """

    def __init__(self, frame: FrameType | None) -> None:
        super().__init__("the time is over")
        self.frame = frame

    def part(self, file: str) -> str:
        """Return the line of a file that was being executed, in words; where it was not in the file, the innermost."""
        inner = frame = self.frame
        while frame is not None and frame.f_code.co_filename != file:
            frame = frame.f_back
        frame = inner if frame is None else frame
        if frame is None:
            return "an unknown place"
        code = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        return f"{frame.f_code.co_name}, line {frame.f_lineno}: {code}"


@contextmanager
def time_limited(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTime` in the block once so many seconds have passed; never where `seconds` is None.

    Raises
    ------
    InputError
        If the platform, or a thread other than the main one, has no timer that interrupts.
    """
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        told = "{time_limit} needs the main thread of a process on a POSIX system"
        raise InputError(told, names=("time_limit",), value=seconds)

    def stop(_: int, frame: FrameType | None) -> None:
        raise OutOfTime(frame)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
