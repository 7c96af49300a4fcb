"""A process of one's own for calls that may crash, hang or take all memory: it is ended without harm to the caller."""

from __future__ import annotations

import os
import select
import signal
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dpaudit.errors import ToolFault
from dpaudit.running.copies import copied, ended_by
from dpaudit.running.messages import HEAD, packed, unpacked, write
from dpaudit.running.parent_death import lifeline
from dpaudit.running.run_notes import FORKS, Board
from dpaudit.running.server import Server, live
from dpaudit.running.shared import Shared

__all__ = ["Child", "ChildDied", "Late"]

PULSE = 0.5
"""Seconds between two looks whether a silent child still lives: its own children may hold its pipe open."""
_getpid, _monotonic = os.getpid, time.monotonic
"""Those of the system: checks of mechanisms change the ones of the modules for a while."""


class ChildDied(ToolFault):
    """A child ended before it answered; the message says how."""


class Late(Exception):
    """A child has taken too long for one part, and was ended.

    Attributes
    ----------
    parts : list
        What it had sent before.
    """

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts
        super().__init__()


class Child:
    """A copy of this process that makes calls of a function one after another, and ends with it.

    What it prints goes to standard error. It may take the memory that is free when it begins, where the system sets
    limits, and its own children end with it. Arguments and what is returned must pickle; the function is there already.

    Parameters
    ----------
    function : callable
        ``(emit, *arguments) -> value``; it may send parts of the value, by calling `emit`, before it returns.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        self._shared, self._board = Shared(), Board()
        self._buffer = bytearray()
        line = lifeline()
        if not (pid := copied()):
            os.close(self._requests)
            os.close(self._replies)
            live(line, Server(function, requests, replies, self._shared, self._board))
        self._pid = pid
        with suppress(OSError):
            os.setpgid(pid, pid)
        os.close(requests)
        os.close(replies)
        self._status: int | None = None
        self._gone: list[int] = []
        self._end = weakref.finalize(self, _end, _getpid(), pid, self._gone, self._requests, self._replies)

    def call(self, *arguments: Any, seconds: float | None = None) -> tuple[list[Any], Any]:
        """Return the parts that a call sends, and what it returns.

        Parameters
        ----------
        *arguments
            Of the function, after `emit`.
        seconds : float, optional
            The most time that a part may take.

        Raises
        ------
        InputError
            If something of it does not pickle.
        ChildDied
            If the child ended, or had ended, or the function returned in two processes.
        Late
            If a part took too long; the child is ended.
        """
        request = packed(arguments)
        parts: list[Any] = []
        self._shared.expect()
        with suppress(BrokenPipeError):  # it has ended, which its reply tells
            write(self._requests, request)
        while True:
            while (message := self._message()) is None:
                if not self._wait(seconds):
                    raise Late(parts + self._rest())
            kind, value = message
            if kind == "parts":
                parts += self._shared.taken(value)
                continue
            if self._shared.forked:
                raise ChildDied(FORKS)
            if kind == "raised":
                raise value
            return parts, value

    @property
    def closed(self) -> bool:
        """Whether it was ended."""
        return not self._end.alive

    def close(self) -> None:
        """End the child and all that it began, at once."""
        if self._end.alive:
            self._end()

    def _message(self) -> tuple[str, Any] | None:
        """Return the next message, if all of it is there."""
        size = int.from_bytes(self._buffer[:HEAD], "little")
        if len(self._buffer) < HEAD + size or len(self._buffer) < HEAD:
            return None
        body = bytes(self._buffer[HEAD : HEAD + size])
        del self._buffer[: HEAD + size]
        message: tuple[str, Any] = unpacked(body)
        return message

    def _wait(self, seconds: float | None) -> bool:
        """Wait for more of a reply; say no if the part under way has taken too long."""
        left = PULSE if seconds is None else self._shared.started() + seconds - _monotonic()
        if select.select([self._replies], [], [], max(0.0, min(PULSE, left)))[0]:
            if not (more := os.read(self._replies, 1 << 20)):
                raise ChildDied(self._death(wait=True))
            self._buffer += more
        elif self._ended():
            raise ChildDied(self._death())
        elif left <= 0:
            return self._shared.started() + (seconds or 0.0) > _monotonic()
        return True

    def _rest(self) -> list[Any]:
        """End the child, and return the parts that it had made and not sent yet."""
        with suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
        self._ended(wait=True)
        parts: list[Any] = []
        while select.select([self._replies], [], [], 0)[0] and (more := os.read(self._replies, 1 << 20)):
            self._buffer += more
        while message := self._message():
            parts += self._shared.taken(message[1]) if message[0] == "parts" else []
        parts += self._shared.left()
        self.close()
        return parts

    def _ended(self, wait: bool = False) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self._pid, 0 if wait else os.WNOHANG)
            if pid:
                self._status = status
                self._gone.append(pid)
                with suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)  # now: its number may soon be another's
        return self._status is not None

    def _death(self, wait: bool = False) -> str:
        """Say how the child ended."""
        self._ended(wait)
        code = os.waitstatus_to_exitcode(self._status or 0)
        return ended_by(code) + self._board.told()


def _end(owner: int, child: int, gone: list[int], *ends: int) -> None:
    """End a child and its children; a copy of the owner leaves them alone."""
    if _getpid() != owner:
        return
    if not gone:
        for stop in (os.killpg, os.kill):
            with suppress(OSError):
                stop(child, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(child, 0)
    for end in ends:
        with suppress(OSError):
            os.close(end)
