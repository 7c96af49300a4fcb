"""The child's side of the protocol: it makes the calls that are asked for, one after another, until its parent ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from dpaudit.errors import ToolFault
from dpaudit.running.failed_runs import copies_of
from dpaudit.running.processes import ParentPipe, bound_memory, ignore_requests, keep_memory
from dpaudit.running.protocol import (
    BEGUN,
    CALL,
    FORKED,
    HEAD,
    HELLO,
    INPUTS,
    LOAD,
    PART,
    RAISED,
    RETURNED,
    check_hello,
    hello,
)
from dpaudit.running.transport import error_as_bytes, value_of

Emit = Callable[[bytes], None]
# A function that answers calls: it may emit parts of its answer; the bytes are a request and its inputs.
Served = Callable[[Emit, bytes, bytes], bytes]
# Bytes that a pipe holds: a content as long is written without a copy that joins it to its head.
ROOM = 1 << 16


def main(requests: int, replies: int, line: int) -> None:
    """Serve what the parent sends, in a fresh interpreter; the arguments are file descriptors."""
    serve(None, requests, replies, ParentPipe(line))


def serve(function: Served | None, requests: int, replies: int, line: ParentPipe) -> None:
    """Answer calls, as the child, until no more can come; the process ends then.

    The file descriptors are the pipes. A fresh interpreter has no function until it is told which.
    """
    try:
        with open(requests, "rb") as incoming, open(replies, "wb") as outgoing:
            _send(outgoing, HELLO, hello())
            try:
                _settle(line)
                copies_of(os.getpid())
            except OSError as error:
                why = f"no process could begin that makes runs: {error.strerror or error}"
                _send(outgoing, RAISED, error_as_bytes(ToolFault(why)))
            else:
                _answer_calls(function, incoming, outgoing)
    finally:
        # A copy of a process must not run what that has registered to be run at its end, nor go on with its program.
        os._exit(0)


def _settle(line: ParentPipe) -> None:
    """Make this process a child that ends with its parent, whose output is no answer of a command."""
    os.setpgid(0, 0)
    ignore_requests(line)
    # A mechanism that reads standard input meets its end at once, and takes nothing that is meant for the audit.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Twice, as code in C writes to the descriptor and Python to the object.
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    bound_memory()
    keep_memory()


def _answer_calls(function: Served | None, requests: BinaryIO, replies: BinaryIO) -> None:
    home = os.getpid()
    copies = copies_of(home)
    load = b""
    inputs = b""

    def send(kind: bytes, content: bytes = b"") -> None:
        if os.getpid() != home:  # the audited code forked, and this is the copy
            copies.tell()
            os._exit(0)
        _send(replies, kind, content)

    def emit(content: bytes) -> None:
        send(PART, content)

    while message := _received(requests):
        kind, content = message
        if kind == HELLO:
            check_hello(content)
        elif kind == LOAD:
            load = content
        elif kind == INPUTS:
            inputs = content
        elif kind == CALL:
            send(BEGUN)
            try:
                # In a fresh interpreter: what this raises is an answer too.
                if function is None:
                    function = value_of(load)
                answer = RETURNED, function(emit, content, inputs)
            # Of any type, as an interrupt that the audited code raises: the child lives on for the next call.
            except BaseException as error:
                answer = RAISED, error_as_bytes(error)
            if copies.returned():
                answer = FORKED, b""
            send(*answer)
            # A call without inputs has none, and large ones are not held while the child waits.
            inputs = b""
            for stream in (sys.stdout, sys.stderr):
                # Closed, or replaced by audited code.
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()


def _received(requests: BinaryIO) -> tuple[bytes, bytes] | None:
    """Return the next message; None if the parent has closed the pipe."""
    begin = requests.read(HEAD.size)
    if len(begin) < HEAD.size:
        return None
    size, kind = HEAD.unpack(begin)
    content = requests.read(size)
    # The parent died while it wrote.
    if len(content) < size:
        return None
    return kind, content


def _send(replies: BinaryIO, kind: bytes, content: bytes) -> None:
    begin = HEAD.pack(len(content), kind)
    if len(content) < ROOM:
        replies.write(begin + content)
    else:
        replies.write(begin)
        replies.write(content)
    replies.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
