"""The part of a fresh interpreter: it serves the calls of a function that its parent sends first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Connection
from typing import Any

from dpaudit import folders
from dpaudit.running.child import serve_calls
from dpaudit.running.processes import APART, ParentPipe
from dpaudit.running.run_notes import Notes
from dpaudit.running.sent import value_of
from dpaudit.withheld import hiding


def serve(requests: int, replies: int, notes: int, line: int | None = None) -> None:
    """Serve calls until no more can come; the arguments are file descriptors (`running.spawned`)."""
    incoming = Connection(requests, writable=False)
    shared = Notes(notes)
    apart, hidden, folder, content = value_of(incoming.recv_bytes())
    if apart:
        APART.append(True)
    folders.leave(folder)
    with ExitStack() as stack:
        if hidden:
            stack.enter_context(hiding())
        serve_calls(Loaded(content), incoming, Connection(replies, readable=False), ParentPipe(line), shared)


class Loaded:
    """A function that is read from bytes at its first call, so that what reading it raises is an answer."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._function: Callable[..., bytes] | None = None

    def __call__(self, *arguments: Any) -> bytes:
        """Return what the function returns."""
        if self._function is None:
            self._function = value_of(self._content)
        return self._function(*arguments)
