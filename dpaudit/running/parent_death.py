"""Ends a process when another one has ended: by a pipe, whose other end closes with it however it dies."""

from __future__ import annotations

import os
import select
import signal
import threading
from functools import cache
from multiprocessing.context import get_spawning_popen
from typing import Any

__all__ = ["Lifeline", "deaf", "lifeline"]

PULSE = 0.5
"""Seconds between two looks at the parent: where the pipe is held open by a process that was forked meanwhile."""
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that ask a process to end. A terminal and a service manager send them to workers as well."""

_held: list[int] = []
"""The writing end of the lifeline of this process."""


class Lifeline:
    """The reading end of a pipe whose writing end this process holds and nobody inherits.

    It travels to worker processes while they are started, and only then.

    Attributes
    ----------
    end : int or None
        The descriptor; None where processes do not inherit descriptors (Windows).
    """

    def __init__(self, end: int | None) -> None:
        self.end = end

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (None if self.end is None else _sent(self.end),)

    def follow(self) -> None:
        """Let the process that calls end as `hold` does, without a thread where the kernel sees to it."""
        if self.end is not None and not _kill_on_close(self.end):
            self.hold()

    def hold(self) -> None:
        """Let the process that calls end with the one that made the lifeline, or with its own parent."""
        if self.end is not None:
            parent = os.getppid()
            _kill_on_close(self.end)
            threading.Thread(target=_watch, args=(self.end, parent), name="dpaudit-lifeline", daemon=True).start()


@cache
def lifeline() -> Lifeline:
    """Return the lifeline of this process."""
    if os.name != "posix":
        return Lifeline(None)
    end, held = os.pipe()
    _held.append(held)
    return Lifeline(end)


def deaf(line: Lifeline) -> None:
    """Begin a worker process: it leaves requests to end to its parent, and ends with it."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    line.hold()


def _forget() -> None:
    """Close the writing end in the copy of a fork: workers would else outlive the process that they work for."""
    while _held:
        os.close(_held.pop())
    lifeline.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _sent(end: int) -> Any:
    popen: Any = get_spawning_popen()
    return popen.duplicate_for_child(end)


def _received(end: int | None) -> Lifeline:
    return Lifeline(end)


def _kill_on_close(end: int) -> bool:
    """Have the kernel end this process, even in the midst of a long call of C, which no thread of Python interrupts.

    Says whether it will.
    """
    own = f"/proc/self/fd/{end}"  # opened anew it has an owner of its own; the end that came is shared by all workers
    if not os.path.exists(own) or signal.getsignal(signal.SIGIO) is not signal.SIG_DFL:
        return False
    import fcntl

    alone = os.open(own, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(alone, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alone, fcntl.F_SETFL, fcntl.fcntl(alone, fcntl.F_GETFL) | os.O_ASYNC)
    return True


def _watch(end: int, parent: int) -> None:
    """Wait until the pipe closes, or the parent is another one, and end the process."""
    while os.getppid() == parent:
        if select.select([end], [], [], PULSE)[0]:
            break
    os.kill(os.getpid(), signal.SIGKILL)
