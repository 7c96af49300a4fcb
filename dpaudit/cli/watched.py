"""The command in a copy of its process: where what is audited ends that, the command says so and on which input."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from dpaudit.cli.streams import tell
from dpaudit.running.copies import can_fork, copied, ended_by
from dpaudit.running.memory import bound_memory
from dpaudit.running.parent_death import STOPPING, lifeline
from dpaudit.running.run_notes import Board, begin

__all__ = ["watched"]

GRACE = 10.0
"""Seconds after a request to end in which the command may do so: whoever asks again later does not want to wait."""


def watched(command: Callable[[], int]) -> int:
    """Return the status of a command that a copy of this process runs, and that may end the copy in any way.

    The copy is made before anything but the command line is loaded, which takes a few milliseconds. It has the
    terminal and the group of this process, to whom signals that ask to end are passed on, and it ends with this one.
    What it keeps is safe from that, however it ends. Where processes do not fork the command runs here.
    """
    if not can_fork():
        return command()
    board, line = Board(), lifeline()
    with _blocked():
        child = copied()
        if child:
            _pass_on(child)
    if not child:
        line.follow()
        begin(board)
        bound_memory()
        status = command()
        board.end(status)
        return status
    _, waited = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(waited)
    if (reached := board.ended) is not None:  # whatever happened to the process afterwards
        return reached
    if -code in STOPPING:
        return 128 - code
    tell("error", f"the command {ended_by(code)}{board.told()}; what was stored before is kept")
    return 2


@contextmanager
def _blocked() -> Iterator[None]:
    """Keep signals that ask to end until both processes know what to do with them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pass_on(child: int) -> None:
    """Pass signals that ask to end on to a process, but those that are ignored; one that comes too late ends it.

    A handler of Python waits for the call of C that is being made, which may go on for ever.
    """
    asked: list[float] = []

    def send(number: int, frame: FrameType | None) -> None:
        asked.append(time.monotonic())
        with suppress(OSError):
            os.kill(child, number if asked[-1] - asked[0] < GRACE else signal.SIGKILL)

    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, send)
