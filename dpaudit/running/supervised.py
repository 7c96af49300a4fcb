"""A command in a copy of its process: if what is audited ends the copy, the command reports it, with the input."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from dpaudit.running.processes import (
    STOPPING,
    ChildDied,
    bound_memory,
    can_fork,
    ended_by,
    keep_apart,
    parent_pipe,
    postponed,
)
from dpaudit.running.run_notes import Notes, begin

LEFT = 2.0
"""Seconds after the end of a command in which its process may end by itself."""
GRACE = 10.0
"""Seconds after a request to end in which the command may do so; a request that comes later ends it at once."""


def supervised(command: Callable[[], int]) -> int:
    """Return the status of a command that a copy of this process runs.

    The copy is made before anything but the command line is loaded, which takes a few milliseconds. It has the terminal
    and the group of this process, which passes signals that ask to end on to it, and it ends with this one. What it has
    stored is safe, however it ends. Where processes do not fork the command runs here. `ChildDied` is raised, with how
    and on which input, if the copy ended before the command did.
    """
    if not can_fork():
        return command()
    notes, line = Notes(), parent_pipe()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()  # else the copy writes it again
    with postponed(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, where there are threads
        if child := os.fork():
            _pass_on(child)
    if not child:
        line.follow(thread=False)
        begin(notes)
        bound_memory()
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            # What code of C prints goes to standard error, and `sys.stdout` alone to standard output.
            shown = sys.stdout
            own = os.dup(1)
            os.dup2(2, 1)
            buffered = 1 if shown.line_buffering else -1
            sys.stdout = open(own, "w", buffered, encoding=shown.encoding, errors=shown.errors)
        keep_apart()
        status = command()
        notes.end(status)
        leaving = threading.Timer(LEFT, os._exit, (status,))  # whatever threads the audited code has left
        leaving.daemon = True
        with suppress(RuntimeError):  # no memory is left for a thread
            leaving.start()
        return status
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if notes.status is not None:  # whatever happened to the process afterwards
        return notes.status
    if -code in STOPPING:
        return 128 - code
    raise ChildDied(f"the command {ended_by(code)}{notes.words()}; what was stored before is kept")


def _pass_on(child: int) -> None:
    """Pass signals that ask to end on to a process, unless they are ignored; one that comes too late ends it.

    A handler of Python waits for the call of C under way, which may never return.
    """
    asked: list[float] = []

    def send(number: int, frame: FrameType | None) -> None:
        asked.append(time.monotonic())
        with suppress(OSError):
            os.kill(child, number if asked[-1] - asked[0] < GRACE else signal.SIGKILL)

    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, send)
