"""The protocol between a process and its child: frames of bytes over two pipes, described in docs/research/protocol.md.

A child needs this module, `serving` and the Python standard library; what it is asked to do may need more.
"""

from __future__ import annotations

import platform
import struct

VERSION = 1
HEAD = struct.Struct("!Qc")
# Before each content stand its size, in bytes, and its kind.

HELLO = b"h"
# To a child.
LOAD, INPUTS, CALL = b"l", b"i", b"c"
# From a child.
BEGUN, PART, RETURNED, RAISED = b"b", b"p", b"v", b"e"

PICKLED, TAKEN_APART = b"p", b"o"
"""The first byte of inputs: a pickle, which only an interpreter of the same kind reads, or an output taken apart."""
MOST = 2**31 + 2**24
"""Bytes of a content that a child may send: the outputs of a call, and what comes with them."""


class NoMessage(Exception):
    """Bytes that are no message of the protocol."""


def head(kind: bytes, size: int) -> bytes:
    """Return what stands before a content of so many bytes."""
    return HEAD.pack(size, kind)


def hello() -> bytes:
    """Return the content of the first message in either direction: the version, and who speaks."""
    return f"dpaudit {VERSION}, Python {platform.python_version()}".encode()


def check_hello(content: bytes) -> None:
    """Raise `NoMessage` unless the other side speaks this version."""
    said = content[:100].decode(errors="replace")
    spoken = said.partition(",")[0]
    if spoken != f"dpaudit {VERSION}":
        raise NoMessage(f"speaks {spoken!r} in the place of 'dpaudit {VERSION}'")


class Received:
    """The bytes that have come from a child, from which messages are taken once all of them is there."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __bool__(self) -> bool:
        return bool(self._bytes)

    def add(self, content: bytes) -> None:
        """Add bytes that have come."""
        self._bytes += content

    def message(self) -> tuple[bytes, bytes] | None:
        """Take out the kind and the content of the next message; None until all of it is there."""
        if len(self._bytes) < HEAD.size:
            return None
        size, kind = HEAD.unpack_from(self._bytes)
        if size > MOST:
            raise NoMessage("sent what is no answer")
        end = HEAD.size + size
        if len(self._bytes) < end:
            return None
        with memoryview(self._bytes) as whole:
            content = bytes(whole[HEAD.size : end])
        del self._bytes[:end]
        return kind, content
