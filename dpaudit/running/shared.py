"""The memory that a process and its child share, in which the parts of an answer wait to be sent."""

from __future__ import annotations

import math
import mmap
import struct
import time
from collections.abc import Iterator
from typing import Any

from dpaudit.running.messages import unpacked

__all__ = ["Shared", "framed"]

_monotonic = time.monotonic
"""The clock of the system: checks of mechanisms change the one of the module for a while."""


class Shared:
    """Memory that parent and child share: the parts not sent yet, when the next one began, and whether a copy returned.

    To send each part through a pipe takes longer than most runs. Parts that are sent together have a number, so that
    those of a child which was ended between sending and forgetting them count once.
    """

    FORKED, STARTED, STATE, PARTS, ROOM = 0, 8, 16, 32, 1 << 16

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self.PARTS + self.ROOM)
        self._seen = -1

    def expect(self) -> None:
        """Note that the next part has not begun: a child may need long to start, where processors are busy."""
        struct.pack_into("=d", self._memory, self.STARTED, math.inf)

    def begin(self) -> None:
        """Note that a part begins now."""
        struct.pack_into("=d", self._memory, self.STARTED, _monotonic())

    def started(self) -> float:
        """Return when the part under way began."""
        first, second = math.nan, math.inf
        while first != second:  # it may be half written
            first, second = second, struct.unpack_from("=d", self._memory, self.STARTED)[0]
        return first

    @property
    def forked(self) -> bool:
        """Whether a copy of the child has returned from a call."""
        return bool(self._memory[self.FORKED])

    def fork(self) -> None:
        """Note that a copy of the child has returned from a call."""
        self._memory[self.FORKED] = 1

    def add(self, part: bytes) -> bool:
        """Keep a part for later; say whether there was room."""
        part = framed(part)
        number, used = self._state()
        if used + len(part) > self.ROOM:
            return False
        at = self.PARTS
        self._memory[at + used : at + used + len(part)] = part
        self._set(number, used + len(part))
        return True

    def content(self) -> tuple[int, bytes]:
        """Return the number and the bytes of the parts kept."""
        number, used = self._state()
        return number, self._memory[self.PARTS : self.PARTS + used]

    def clear(self) -> None:
        """Forget the parts kept, which have been sent."""
        self._set(self._state()[0] + 1, 0)

    def taken(self, sent: tuple[int, bytes]) -> list[Any]:
        """Return the parts that were sent."""
        self._seen, content = sent
        return list(_unpacked(content))

    def left(self) -> list[Any]:
        """Return the parts kept that were not sent."""
        number, content = self.content()
        return [] if number == self._seen else list(_unpacked(content))

    def _state(self) -> tuple[int, int]:
        number, used = struct.unpack_from("=QQ", self._memory, self.STATE)
        return number, used

    def _set(self, number: int, used: int) -> None:
        struct.pack_into("=QQ", self._memory, self.STATE, number, used)


def framed(part: bytes) -> bytes:
    """Return a part after its length."""
    return struct.pack("=Q", len(part)) + part


def _unpacked(content: bytes) -> Iterator[Any]:
    """Yield the values of the parts that stand one after another."""
    at = 0
    while at < len(content):
        (size,) = struct.unpack_from("=Q", content, at)
        yield unpacked(content[at + 8 : at + 8 + size])
        at += 8 + size
