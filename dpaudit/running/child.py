"""A forked process that makes the calls of one function: it may crash, hang or exhaust memory there without harm.

Whatever it sends is bytes, which this module never turns into objects. An exception comes as texts (`running.sent`).
"""

from __future__ import annotations

import atexit
import math
import os
import select
import signal
import struct
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from typing import Any

from dpaudit.errors import ToolFault
from dpaudit.outputs.encoding import MOST_BYTES
from dpaudit.running.processes import (
    PULSE,
    ChildDied,
    ParentPipe,
    bound_memory,
    ended_by,
    ignore_requests,
    keep_memory,
    parent_pipe,
    silent_for_too_long,
)
from dpaudit.running.run_notes import FORKS, Notes, begin
from dpaudit.running.sent import error_as_bytes, error_of, sendable, value_of
from dpaudit.running.spawned import Spawned

BEGUN, PART, RETURNED, RAISED = b"b", b"p", b"v", b"e"
"""The first byte of a message of the child."""
SIZE = struct.Struct("!Q")
"""Before a message stands its size. A message is written at once, and those that wait are read together: messages of a
`Connection`, which are read one by one, made a run 55 to 75 % longer."""
ROOM = 1 << 16
"""Bytes that are read at a time: what a pipe holds."""
PATIENCE = 60.0
"""Seconds in which a child takes up a call, beside those of a run: destructors of earlier outputs may keep it."""
ENDING = 3.0
"""Seconds in which it ends a call after the last run, beside those of a run."""
OVERHEAD = 1 << 24
"""Bytes of a message beside the outputs in it, at most."""
SENT_WRONG = "sent what is no answer"
SILENT = (
    "gave no answer in {:.3g} s, the time limit of the audit. If it answers elsewhere, a library with threads may wait "
    "for them in the process of its runs, which has none: begin an interpreter that has not used the library yet"
)


class Late(Exception):
    """A part took a child too long, and the child was ended; `parts` are those that it had sent before."""

    def __init__(self, parts: list[bytes]) -> None:
        self.parts = parts
        super().__init__()


class Child:
    """A forked process that makes calls of a function one after another, and ends with this one.

    What it prints goes to standard error. Its memory is limited to what is free when it begins, where the system sets
    limits, and its own children end with it. Arguments must pickle; the function, ``(emit, *arguments) -> bytes``, is
    there already. It may send parts of them, by calling `emit`, before it returns. Its `notes` say on what. A function
    that is given as bytes is served by a fresh interpreter in the place of a copy of this process. It has `answered`
    once it has sent a part or the end of a call.
    """

    def __init__(self, function: Callable[..., bytes] | bytes) -> None:
        self._owner, self.closed = os.getpid(), True  # until it has begun
        context, self.notes = get_context("fork"), Notes()
        self._heard, self.answered = time.monotonic(), False
        self._to_send: bytes | None = None
        try:
            requests, self._requests = context.Pipe(duplex=False)  # two of them are faster than one for both ways
            self.replies, replies = context.Pipe(duplex=False)
            process: Any
            if isinstance(function, bytes):
                process = Spawned(function, requests, replies)
                self.notes, self._to_send = process.notes, process.first
            else:
                given = function, requests, replies, parent_pipe(), self.notes
                # What is audited may have children in it.
                process = context.Process(target=serve_calls, args=given, daemon=False)
                with warnings.catch_warnings():
                    # Python 3.12 warns where there are threads: the child has but one, and calls nothing of the others.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    _start(process)
        except OSError as error:
            raise ToolFault(f"no process could begin that makes runs: {error.strerror or error}") from error
        requests.close()  # the ends of the child
        replies.close()
        with suppress(OSError):
            os.setpgid(process.pid, process.pid)
        self._process, self.closed = process, False
        self._received, self._listening = bytearray(), select.poll()
        self._listening.register(self.replies, select.POLLIN)
        _children.add(self)

    def call(self, *arguments: Any, seconds: float | None = None, most: int = 0) -> tuple[list[bytes], bytes]:
        """Return the parts that a call sends, each of which may take so many seconds, and what it returns.

        There are at most so many parts. `InputError` is raised if something of it does not pickle; `Late` if a part
        took too long, where the child is ended; `ChildDied` if the child ended, or had ended, or the function returned
        in two processes, or what was sent is no answer.
        """
        self.begin(*arguments)
        parts: list[bytes] = []
        # The time counts from when the child begins, which takes long on a busy machine.
        limit = None if seconds is None else seconds + PATIENCE
        while message := self.message(limit):
            kind, value = message
            limit = seconds
            if kind == RETURNED:
                return parts, value
            if kind == PART:
                parts.append(value)
                if len(parts) == most and seconds is not None:
                    # No run is under way: a busy machine, and no mechanism, makes the end of a call late.
                    limit = seconds + ENDING
            if len(parts) > most or (kind == BEGUN and parts):
                raise ChildDied(SENT_WRONG)
        self.close()
        raise Late(parts)

    def begin(self, *arguments: Any) -> None:
        """Begin a call; the messages that answer it end with one of the kind `RETURNED`."""
        request = sendable(arguments)
        self._heard = time.monotonic()
        with suppress(BrokenPipeError):  # it has ended, which `message` reports
            if self._to_send is not None:
                self._requests.send_bytes(self._to_send)
                self._to_send = None
            self._requests.send_bytes(request)

    def message(self, seconds: float | None = None) -> tuple[bytes, bytes] | None:
        """Return the kind and the content of the next message; None if all of it does not come in time.

        `ChildDied` is raised as for `call`; so is everything that the function raised.
        """
        deadline = time.monotonic() + (math.inf if seconds is None else seconds)
        while (content := self._next()) is None:
            left = max(0.0, deadline - time.monotonic())
            if self._listening.poll(1000 * min(PULSE, left)):
                received = os.read(self.replies.fileno(), ROOM)
                if not received:
                    self._process.join()
                    raise self._death()
                self._received += received
                self._heard = time.monotonic()
            elif self._process.exitcode is not None and not self._listening.poll(0):
                raise self._death()
            elif (limit := silent_for_too_long(self._heard)) is not None:
                self.close()
                raise ChildDied(SILENT.format(limit) + self.notes.words())
            elif not left:
                return None
        kind, value = content
        self.answered |= kind != BEGUN
        if kind in (RETURNED, RAISED) and self.notes.forked:
            raise ChildDied(FORKS + self.notes.words())
        if kind == RAISED:
            raise error_of(value)
        if kind not in (BEGUN, PART, RETURNED) or (kind == RETURNED and self._received):
            raise ChildDied(SENT_WRONG)
        return kind, value

    def _next(self) -> tuple[bytes, bytes] | None:
        """Take the next message out of what was received; None until all of it is there."""
        begin = SIZE.size
        if len(self._received) < begin:
            return None
        size = SIZE.unpack_from(self._received)[0]
        if not 0 < size <= MOST_BYTES + OVERHEAD:
            raise ChildDied(SENT_WRONG)
        end = begin + size
        if len(self._received) < end:
            return None
        with memoryview(self._received) as received:
            found = bytes(received[begin : begin + 1]), bytes(received[begin + 1 : end])
        del self._received[:end]
        return found

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
        return ChildDied(ended_by(self._process.exitcode or 0) + self.notes.words())


def _start(process: Any) -> None:
    """Start a process, from a daemonic one as well.

    `Process.start` refuses that, so that no child outlives its parent; these end with it. Workers of dask and of pools
    are daemonic. Their end does not wait for children either: it would before it closes the pipe by which they see it.
    """
    if not current_process().daemon:
        process.start()
        return
    process._popen = process._Popen(process)
    del process._target, process._args, process._kwargs  # as `start` does: the target leads back to the process


_children: weakref.WeakSet[Child] = weakref.WeakSet()


@atexit.register  # later than multiprocessing registers its own, which waits for the children, and so called earlier
def _close_all() -> None:
    for child in list(_children):
        child.close()


def serve_calls(
    function: Callable[..., bytes], requests: Connection, replies: Connection, line: ParentPipe, notes: Notes
) -> None:
    """Make the calls that are requested, as the child, until no more can come."""
    try:
        os.setpgid(0, 0)
        ignore_requests(line)
        begin(notes)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        bound_memory()
        keep_memory()
        home, pipe = os.getpid(), open(replies.fileno(), "wb", closefd=False)

        def send(kind: bytes, content: bytes = b"") -> None:
            if os.getpid() != home:  # the audited code forked, and this is the copy
                notes.fork()
                os._exit(0)
            head = SIZE.pack(1 + len(content)) + kind
            if len(content) < ROOM:
                pipe.write(head + content)
            else:  # without a copy
                pipe.write(head)
                pipe.write(content)
            pipe.flush()

        while True:
            arguments = value_of(requests.recv_bytes())
            send(BEGUN)
            try:
                answer = RETURNED, function(partial(send, PART), *arguments)
            except BaseException as error:  # an interrupt that the audited code raises, for instance
                answer = RAISED, error_as_bytes(error)
            send(*answer)
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()
    finally:
        os._exit(0)
