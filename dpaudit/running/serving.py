"""The child's side of the protocol: it makes the calls that are asked for, one after another, until its parent ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from dpaudit.errors import ToolFault
from dpaudit.running.naming import COPY, CopyReturned, copies_of
from dpaudit.running.processes import ParentPipe, bound_memory, ignore_requests, keep_memory
from dpaudit.running.protocol import (
    BEGUN,
    CALL,
    HEAD,
    HELLO,
    INPUTS,
    LOAD,
    PART,
    RAISED,
    RETURNED,
    NoMessage,
    check_hello,
    head,
    hello,
)
from dpaudit.running.sent import error_as_bytes, value_of

Emit = Callable[[bytes], None]
Served = Callable[[Emit, bytes, bytes], bytes]
"""A function that answers calls: it may emit parts of its answer; the bytes are a request and its inputs."""
ROOM = 1 << 16
"""Bytes that a pipe holds: a content as long is written without a copy that joins it to its head."""


def serve(function: Served | None, requests: int, replies: int, line: ParentPipe) -> None:
    """Answer calls, as the child, until no more can come; the process ends then.

    The file descriptors are the pipes. A fresh interpreter has no function until it is told which.
    """
    try:
        with open(requests, "rb") as incoming, open(replies, "wb") as outgoing:
            _send(outgoing, HELLO, hello())
            try:
                _settle(line)
                server = _Server(function, incoming, outgoing)
            except OSError as error:
                why = f"no process could begin that makes runs: {error.strerror or error}"
                _send(outgoing, RAISED, error_as_bytes(ToolFault(why)))
            else:
                server.run()
    finally:
        os._exit(0)


def _settle(line: ParentPipe) -> None:
    """Make this process a child that ends with its parent, whose output is no answer of a command."""
    os.setpgid(0, 0)
    ignore_requests(line)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    bound_memory()
    keep_memory()


def _send(pipe: BinaryIO, kind: bytes, content: bytes = b"") -> None:
    begin = head(kind, len(content))
    if len(content) < ROOM:
        pipe.write(begin + content)
    else:
        pipe.write(begin)
        pipe.write(content)
    pipe.flush()


class _Server:
    def __init__(self, function: Served | None, requests: BinaryIO, replies: BinaryIO) -> None:
        self._function = function
        self._requests = requests
        self._replies = replies
        self._home = os.getpid()
        self._copies = copies_of(self._home)

    def run(self) -> None:
        """Answer the messages of the parent."""
        load = b""
        inputs = b""
        while message := self._receive():
            kind, content = message
            if kind == HELLO:
                check_hello(content)
            elif kind == LOAD:
                load = content
            elif kind == INPUTS:
                inputs = content
            elif kind == CALL:
                self._send(BEGUN)
                try:
                    if self._function is None:
                        self._function = _loaded(load)  # what this raises is an answer too
                    answer = RETURNED, self._function(self._emit, content, inputs)
                except BaseException as error:  # an interrupt that the audited code raises, for instance
                    answer = RAISED, error_as_bytes(error)
                if self._copies.returned():
                    answer = RAISED, error_as_bytes(CopyReturned(COPY))
                self._send(*answer)
                inputs = b""
                for stream in (sys.stdout, sys.stderr):
                    with suppress(OSError, ValueError, AttributeError):  # closed, or replaced by audited code
                        stream.flush()

    def _receive(self) -> tuple[bytes, bytes] | None:
        """Return the next message; None if the parent has closed the pipe."""
        begin = self._requests.read(HEAD.size)
        if len(begin) < HEAD.size:
            return None
        size, kind = HEAD.unpack(begin)
        content = self._requests.read(size)
        if len(content) < size:
            return None
        return kind, content

    def _emit(self, content: bytes) -> None:
        self._send(PART, content)

    def _send(self, kind: bytes, content: bytes = b"") -> None:
        if os.getpid() != self._home:  # the audited code forked, and this is the copy
            self._copies.tell()
            os._exit(0)
        _send(self._replies, kind, content)


def _loaded(content: bytes) -> Served:
    if not content:
        raise NoMessage("a call came before what it calls")
    function: Served = value_of(content)
    return function


def main(requests: int, replies: int, line: int) -> None:
    """Serve what the parent sends, in a fresh interpreter; the arguments are file descriptors."""
    serve(None, requests, replies, ParentPipe(line))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
