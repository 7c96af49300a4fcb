"""The child's side: makes the calls that are requested, and sends what they return."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dpaudit.errors import DpauditError, ToolFault, place_of
from dpaudit.running.memory import bound_memory
from dpaudit.running.messages import packed, read, unpacked, write
from dpaudit.running.parent_death import Lifeline, deaf
from dpaudit.running.run_notes import Board, begin
from dpaudit.running.shared import Shared, framed

__all__ = ["Server", "live"]

_getpid = os.getpid
"""The function of the system: checks of mechanisms change the one of `os` for a while."""


@dataclass(frozen=True)
class Server:
    """Makes the calls that are requested, as the child."""

    function: Callable[..., Any]
    requests: int
    replies: int
    shared: Shared
    board: Board
    home: list[int] = field(default_factory=list)

    def serve(self) -> None:
        """Make calls until no more can come."""
        self.home.append(_getpid())
        while request := read(self.requests):
            try:
                arguments = unpacked(request)
                self.shared.begin()
                value = self.function(self.emit, *arguments)
                self.reply("done", value)
            except DpauditError as error:
                self.reply("raised", error)
            except BaseException as error:  # an interrupt that the audited code raises, say: it is not ours
                self.reply("raised", ToolFault(f"{type(error).__name__}: {error} ({place_of(error)})"))
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()

    def emit(self, value: Any) -> None:
        """Send a part, soon or at the latest with what the call returns."""
        self.alone()
        part = packed(value)
        if not self.shared.add(part):
            self.flush()
            if not self.shared.add(part):
                write(self.replies, packed(("parts", (-1, framed(part)))))
        self.shared.begin()

    def reply(self, kind: str, value: Any) -> None:
        """Send what a call returned or raised, after its parts."""
        self.alone()
        message = packed((kind, value))
        self.flush()
        write(self.replies, message)

    def flush(self) -> None:
        """Send the parts that were kept."""
        if (content := self.shared.content())[1]:
            write(self.replies, packed(("parts", content)))
            self.shared.clear()

    def alone(self) -> None:
        """End here if the audited code forked and this is the copy."""
        if _getpid() != self.home[0]:
            self.shared.fork()
            os._exit(0)


def live(line: Lifeline, server: Server) -> NoReturn:
    """Serve calls as the child, with a group of its own, deaf to signals that are for the parent."""
    try:
        os.setpgid(0, 0)
        deaf(line)
        _leave_terminal()
        begin(server.board)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        bound_memory()
        server.serve()
    finally:
        os._exit(0)


def _leave_terminal() -> None:
    """Let what reads from the terminal fail: this process is in the background there, and would be stopped for ever."""
    for number in (signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
