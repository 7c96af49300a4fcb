"""A forked process that makes the calls of one function: it may crash, hang or exhaust memory there without harm."""

from __future__ import annotations

import atexit
import math
import os
import pickle
import select
import signal
import struct
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from dpaudit.errors import DpauditError, InputError, ToolFault, place_of
from dpaudit.registry.import_spec import cloudpickle
from dpaudit.running.processes import PULSE, ChildDied, ParentPipe, bound_memory, ended_by, ignore_requests, parent_pipe
from dpaudit.running.run_notes import FORKS, Notes, begin
from dpaudit.withheld import raised_words

BEGUN, PART, RETURNED, RAISED = b"b", b"p", b"v", b"e"
"""The first byte of a message of the child."""
SIZE = struct.Struct("!Q")
"""Before a message stands its size. A message is written at once, and those that wait are read together: messages of a
`Connection`, which are read one by one, made a run 55 to 75 % longer."""
ROOM = 1 << 16
"""Bytes that are read at a time: what a pipe holds."""


class Late(Exception):
    """A part took a child too long, and the child was ended.

    Attributes
    ----------
    parts : list
        What it had sent before.
    """

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts
        super().__init__()


class Child:
    """A forked process that makes calls of a function one after another, and ends with this one.

    What it prints goes to standard error. Its memory is limited to what is free when it begins, where the system sets
    limits, and its own children end with it. Arguments and what is returned must pickle; the function is there already.

    Parameters
    ----------
    function : callable
        ``(emit, *arguments) -> value``; it may send parts of the value, by calling `emit`, before it returns.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._owner, self.closed = os.getpid(), True  # until it has begun
        context, self._notes = get_context("fork"), Notes()
        requests, self._requests = context.Pipe(duplex=False)  # two of them are faster than one for both ways
        self.replies, replies = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(function, requests, replies, parent_pipe(), self._notes))
        with warnings.catch_warnings():
            # Python 3.12 warns where there are threads: the child has but one, and calls nothing of the others.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        requests.close()
        replies.close()
        assert process.pid is not None
        with suppress(OSError):
            os.setpgid(process.pid, process.pid)
        self._process, self.closed = process, False
        self._received, self._listening = bytearray(), select.poll()
        self._listening.register(self.replies, select.POLLIN)
        _children.add(self)

    def call(self, *arguments: Any, seconds: float | None = None) -> tuple[list[Any], Any]:
        """Return the parts that a call sends, each of which may take so many seconds, and what it returns.

        Raises
        ------
        InputError
            If something of it does not pickle.
        ChildDied
            If the child ended, or had ended, or the function returned in two processes.
        Late
            If a part took too long; the child is ended.
        """
        self.begin(*arguments)
        parts: list[Any] = []
        limit: float | None = None  # the time counts from when the child begins, which takes long on a busy machine
        while message := self.message(limit):
            kind, value = message
            limit = seconds
            if kind == PART:
                parts.append(value)
            elif kind == RETURNED:
                return parts, value
        self.close()
        raise Late(parts)

    def begin(self, *arguments: Any) -> None:
        """Begin a call; the messages that answer it end with one of the kind `RETURNED`."""
        request = sendable(arguments)
        with suppress(BrokenPipeError):  # it has ended, which `message` reports
            self._requests.send_bytes(request)

    def message(self, seconds: float | None = None) -> tuple[bytes, Any] | None:
        """Return the kind and the value of the next message; None if it does not come in time.

        Raises
        ------
        ChildDied
            As for `call`; so is everything that the function raised.
        """
        limit = math.inf if seconds is None else seconds
        deadline = time.monotonic() + limit
        while (content := self._next()) is None:
            left = max(0.0, deadline - time.monotonic())
            if self._listening.poll(1000 * min(PULSE, left)):
                received = os.read(self.replies.fileno(), ROOM)
                if not received:
                    self._process.join()
                    raise self._death()
                self._received += received
                deadline = time.monotonic() + limit
            elif self._process.exitcode is not None and not self._listening.poll(0):
                raise self._death()
            elif not left:
                return None
        kind, value = content[:1], value_of(content[1:])
        if kind in (RETURNED, RAISED) and self._notes.forked:
            raise ChildDied(FORKS)
        if kind == RAISED:
            raise value
        return kind, value

    def _next(self) -> bytes | None:
        """Take the next message out of what was received; None until all of it is there."""
        begin = SIZE.size
        if len(self._received) < begin:
            return None
        end = begin + SIZE.unpack_from(self._received)[0]
        if len(self._received) < end:
            return None
        content = bytes(self._received[begin:end])
        del self._received[:end]
        return content

    @property
    def turn(self) -> int:
        """The side of the run that the child began last."""
        return self._notes.turn

    def close(self) -> None:
        """End the child and all that it began, at once; a copy of this process leaves them alone."""
        if self.closed or os.getpid() != self._owner:
            return
        self.closed = True
        with suppress(OSError):
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self._requests.close()
        self.replies.close()

    __del__ = close

    def _death(self) -> ChildDied:
        return ChildDied(ended_by(self._process.exitcode or 0) + self._notes.words())


_children: weakref.WeakSet[Child] = weakref.WeakSet()


@atexit.register  # later than multiprocessing registers its own, which waits for the children, and so called earlier
def _close_all() -> None:
    for child in list(_children):
        child.close()


def value_of(content: bytes) -> Any:
    """Return the value that `sendable` made bytes of: the one place where bytes of another process become a value."""
    return pickle.loads(content) if content else None


_UNSENDABLE = (
    "with {timeout}, runs are made in a process of their own, to which data, and from which outputs, must "
    "travel, and something cannot be sent: {why:.500}; leave it out, or return plain data"
)


def sendable(value: Any, message: str = _UNSENDABLE, names: tuple[str, ...] = ("timeout",)) -> bytes:
    """Return a value as bytes; of what the script itself defines, with its definition.

    What cannot be pickled raises `InputError`, with a message that names these parameters.
    """
    with suppress(Exception):  # of many types: what pickle raises depends on what it meets
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    try:
        content: bytes = cloudpickle().dumps(value, pickle.HIGHEST_PROTOCOL)
        return content
    except Exception as error:  # likewise
        raise InputError(message, names=names, why=raised_words(error)) from error


def _serve(
    function: Callable[..., Any], requests: Connection, replies: Connection, line: ParentPipe, notes: Notes
) -> None:
    """Make the calls that are requested, as the child, until no more can come."""
    try:
        os.setpgid(0, 0)
        ignore_requests(line)
        begin(notes)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        bound_memory()
        home, pipe = os.getpid(), open(replies.fileno(), "wb", closefd=False)

        def send(kind: bytes, content: bytes = b"") -> None:
            if os.getpid() != home:  # the audited code forked, and this is the copy
                notes.fork()
                os._exit(0)
            pipe.write(SIZE.pack(1 + len(content)) + kind + content)
            pipe.flush()

        while True:
            arguments = value_of(requests.recv_bytes())
            send(BEGUN)
            send(*_answer(function, lambda part: send(PART, sendable(part)), arguments))
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()
    finally:
        os._exit(0)


def _answer(function: Callable[..., Any], emit: Callable[[Any], None], arguments: Any) -> tuple[bytes, bytes]:
    """Return the last message of a call: what it returns, or raises."""
    try:
        return RETURNED, sendable(function(emit, *arguments))
    except DpauditError as error:
        return RAISED, sendable(error)
    except BaseException as error:  # an interrupt that the audited code raises, for instance
        return RAISED, sendable(ToolFault(f"{raised_words(error)} ({place_of(error)})"))
