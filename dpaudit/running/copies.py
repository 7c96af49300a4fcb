"""Copies of this process that audited code forks and lets return: they end, and the process hears of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache

from dpaudit.errors import ToolFault

COPY = "forks, and returns in both processes: let the copy end with os._exit(0)"
MARK = 8
"""Bytes that mark an audit: a process makes runs of many, and a copy that one leaves there is no fault of others."""
_ROOM = 1 << 12
# Bytes that are read at a time; a pipe holds more marks than anybody forks in a call, and what is beyond is the same.


class CopyReturned(ToolFault):
    """A copy of a process returned from what is audited."""


class Copies:
    """A pipe by which copies of a process tell it that they have returned, with the mark of their audit."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        self._told: set[bytes] = set()

    def tell(self, audit: bytes = b"") -> None:
        """Tell the process, in the copy, that this is one."""
        with suppress(OSError):  # the pipe is full, or audited code has closed it
            os.write(self._writing, audit.ljust(MARK, b"\0"))

    def returned(self, audit: bytes = b"") -> bool:
        """Say whether a copy has returned in an audit since this was asked."""
        with suppress(OSError):
            while content := os.read(self._reading, _ROOM):
                self._told |= {content[i : i + MARK] for i in range(0, len(content), MARK)}
        mark = audit.ljust(MARK, b"\0")
        if mark not in self._told:
            return False
        self._told.remove(mark)
        return True


@lru_cache(maxsize=1)
def copies_of(process: int) -> Copies:
    """Return the pipe of this process, by its number, which a copy of it has not."""
    return Copies()


@contextmanager
def without_copies(audit: bytes) -> Iterator[None]:
    """End a copy of this process that comes out of the block; raise `CopyReturned` if one of this audit did."""
    home = os.getpid()
    copies = copies_of(home)
    try:
        yield
    finally:
        if os.getpid() != home:
            copies.tell(audit)
            os._exit(0)
    if copies.returned(audit):
        raise CopyReturned(COPY)
