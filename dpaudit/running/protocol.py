"""The protocol between a process and its child: frames of bytes over two pipes (docs/research/protocol.md)."""

from __future__ import annotations

import platform
import struct

VERSION = 1
# What stands before a content: its size in bytes, and its kind.
HEAD = struct.Struct("!Qc")
HELLO = b"h"
# The kinds of messages to a child.
LOAD = b"l"
INPUTS = b"i"
CALL = b"c"
# The kinds of messages from a child.
BEGUN = b"b"
PART = b"p"
RETURNED = b"v"
RAISED = b"e"
FORKED = b"f"
# The first byte of inputs that are a pickle, which only an interpreter of the same kind reads.
PICKLED = b"p"
# Bytes of a content that a child may send: the outputs of a call, and what comes with them.
MOST = 2**31 + 2**24
SENT_WRONG = "sent what is no answer"


def hello() -> bytes:
    """Return the content of the first message in either direction: the version, and who speaks."""
    return f"dpaudit {VERSION}, Python {platform.python_version()}".encode()


def check_hello(content: bytes) -> None:
    """Raise `ValueError` unless the other side speaks this version."""
    said = content[:100].decode(errors="replace")
    spoken = said.partition(",")[0]
    if spoken != f"dpaudit {VERSION}":
        raise ValueError(f"speaks {spoken!r} in the place of 'dpaudit {VERSION}'")


def take_message(received: bytearray) -> tuple[bytes, bytes] | None:
    """Take the kind and the content of the next message out of what has come; None until all of it is there.

    `ValueError` is raised if its size is no size.
    """
    if len(received) < HEAD.size:
        return None
    size, kind = HEAD.unpack_from(received)
    if size > MOST:
        raise ValueError(SENT_WRONG)
    end = HEAD.size + size
    if len(received) < end:
        return None
    with memoryview(received) as whole:
        content = bytes(whole[HEAD.size : end])
    del received[:end]
    return kind, content
