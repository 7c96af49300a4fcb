"""The system's part in processes: limits of memory and time, an end together with their parent, signals."""

from __future__ import annotations

import os
import platform
import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from dpaudit.errors import ToolFault
from dpaudit.folders import STAYS

# Seconds between two checks of the process at the other end of a pipe, which a fork of it may hold open.
PULSE = 0.5
# The signals that ask a process to end. A terminal and a service manager send them to workers as well.
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
# The signals that stop a process in the background which uses the terminal.
BACKGROUND = tuple(getattr(signal, name) for name in ("SIGTTIN", "SIGTTOU") if hasattr(signal, name))
# The share of the free memory that a process may take.
FREE = 0.8
# The files in which Linux shows the memory of the machine, of this process, and of its container.
MEMORY = Path("/proc/meminfo")
OWN = Path("/proc/self/statm")
GROUPS = Path("/sys/fs/cgroup")
IN_GROUP = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))

# The writing end of the pipe of this process.
_held: list[int] = []
# Filled where all audits of this process make their runs in processes of their own.
APART: list[bool] = []
KILLED = "a worker process died, killed by the system (for want of memory?) or ended by what it ran"
# Bytes of an array that the C library maps apart, at least.
MOST_MAPPED = 1 << 25
# Bytes at the end of the heap that it keeps, at least.
MOST_KEPT = 1 << 26
# The numbers of these settings in the header of glibc.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3

# The time limits of the audits under way: seconds, and the time from which on children that are silent are ended.
_limits: list[tuple[float, float]] = []
# Times a limit: earlier no child is ended for being silent.
LATEST = 1.2


@contextmanager
def listening(seconds: float) -> Iterator[None]:
    """Let children that are silent be ended in the block, so that so many seconds from now hold whatever they do."""
    if seconds == float("inf"):
        yield
        return
    _limits.append((seconds, time.monotonic() + LATEST * seconds))
    try:
        yield
    finally:
        _limits.pop()


def silent_for_too_long(since: float) -> float | None:
    """Return the time limit if it is over, and a child has been silent since a time for longer than all of it."""
    now = time.monotonic()
    over = (limit for limit, end in _limits if now > end and now - since > limit)
    return next(over, None)


class ChildDied(ToolFault):
    """A child ended before it answered; the message describes how."""


class WorkerDied(ToolFault):
    """A worker process died: killed by the system, for want of memory perhaps, or ended by what it ran."""


def worker_name() -> str:
    """Return the name of this process among all workers, those on other machines included."""
    return f"{platform.node()} {os.getpid()}"


def can_fork() -> bool:
    """Return whether this system lets a process make a copy of itself."""
    return hasattr(os, "fork")


def keep_apart() -> None:
    """Let audits of this process make their runs in processes of their own, as commands do, where processes fork."""
    if can_fork():
        APART.append(True)
        STAYS.append(True)


@contextmanager
def runs_apart() -> Iterator[None]:
    """Let audits in the block make their runs in processes of their own, where processes fork."""
    if not can_fork():
        yield
        return
    APART.append(True)
    try:
        yield
    finally:
        APART.pop()


def ended_by(code: int) -> str:
    """Return how a process ended, from its exit code, which is minus the number of a signal."""
    if code >= 0:
        return f"ended its process (exit status {code})"
    name = next((one.name for one in signal.Signals if one == -code), f"signal {-code}")
    return f"ended its process ({name}{', for want of memory?' if -code == signal.SIGKILL else ''})"


def bound_memory() -> None:
    """Limit this process to the memory that is free now; beyond it Python raises `MemoryError`."""
    # Windows has no limits; macOS knows this one and refuses it.
    with suppress(ImportError, ValueError, OSError):
        import resource

        # What the process holds already, as a copy does of its parent's, is no part of what is free.
        held = int(OWN.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([int(FREE * min(_free())) + held, *known]), hard))


def keep_memory() -> None:
    """Let this process keep memory that is freed, where the C library can: batches need as much again at once.

    glibc gave the arrays of each batch back to the system in processes that were forked before any batch was made; page
    faults then made such runs half as slow again.
    """
    # Not every C library has such a call.
    with suppress(ImportError, OSError, AttributeError, TypeError):
        import ctypes

        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, MOST_MAPPED)
        library.mallopt(_M_TRIM_THRESHOLD, MOST_KEPT)


def _free() -> Iterator[int]:
    """Yield the bytes that are free on the machine, and in a container what is left of its share."""
    fields = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
    yield 1024 * int(fields["MemAvailable"].split()[0])
    for most, used in IN_GROUP:
        with suppress(ValueError, OSError):  # "max", or another kind of groups
            yield max(0, int((GROUPS / most).read_text()) - int((GROUPS / used).read_text()))


@contextmanager
def postponed(wanted: bool = True) -> Iterator[None]:
    """Hold back signals that ask to end while processes are started, which inherit that until they handle them."""
    if not wanted or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # One that came between the start of a worker and its `ignore_requests` would end the worker alone.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ParentPipe:
    """The reading end of a pipe whose writing end only this process holds: the pipe closes with it, however it dies.

    It is sent to worker processes while they are started, and only then. The descriptor is None where processes do not
    inherit any (Windows).
    """

    def __init__(self, end: int | None) -> None:
        self.end = end

    def __reduce__(self) -> tuple[type[ParentPipe], tuple[int | None]]:
        # Imported here, as every command imports this module and few begin workers.
        from multiprocessing.context import get_spawning_popen

        popen: Any = get_spawning_popen()
        end = self.end
        if end is not None:
            end = popen.duplicate_for_child(end)
        return ParentPipe, (end,)

    def follow(self) -> None:
        """End the calling process with the one that made the pipe, or with its own parent."""
        if self.end is None:
            return
        # The kernel does it where it can, even during a long call of C; a thread also where another process has
        # inherited the writing end.
        _be_killed_on_close(self.end)
        watched = (self.end, os.getppid())
        threading.Thread(target=_watch, args=watched, name="dpaudit-parent-pipe", daemon=True).start()


@cache
def parent_pipe() -> ParentPipe:
    """Return the pipe of this process."""
    if os.name != "posix":
        return ParentPipe(None)
    # Nobody ever writes: all that is read of the pipe is its end.
    end, held = os.pipe()
    _held.append(held)
    return ParentPipe(end)


def ignore_requests(line: ParentPipe, ending: tuple[int, ...] = ()) -> None:
    """Begin a worker process: requests to end are for its parent, with which it ends.

    The signals in `ending` end it. A pool of multiprocessing ends its workers by SIGTERM, and waits for them: it may at
    no time be ignored, or handled as in the command that a worker is a copy of.
    """
    for number in (*STOPPING, *BACKGROUND):
        signal.signal(number, signal.SIG_DFL if number in ending else signal.SIG_IGN)
    line.follow()


def _forget() -> None:
    """Close the writing end in the copy of a fork, which would otherwise keep the workers of its parent alive."""
    while _held:
        os.close(_held.pop())
    parent_pipe.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _be_killed_on_close(end: int) -> None:
    """Ask the kernel, if it can, to end this process when the pipe closes."""
    # Opened again it has an owner of its own; the end that came is shared by all workers.
    own = f"/proc/self/fd/{end}"
    if not os.path.exists(own) or signal.getsignal(signal.SIGIO) is not signal.SIG_DFL:
        return
    import fcntl

    alone = os.open(own, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(alone, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alone, fcntl.F_SETFL, fcntl.fcntl(alone, fcntl.F_GETFL) | os.O_ASYNC)


def _watch(end: int, parent: int) -> None:
    # Two signs, since another process may have inherited the writing end.
    while os.getppid() == parent and not select.select([end], [], [], PULSE)[0]:
        pass
    # No handler and no clause of audited code can delay this.
    os.kill(os.getpid(), signal.SIGKILL)
