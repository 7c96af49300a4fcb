"""Notes of a process on its input, in memory that outlives it: whoever began it can say which input ended it."""

from __future__ import annotations

import mmap
import os
import reprlib
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dpaudit.errors import ToolFault

__all__ = ["FORKS", "Board", "at", "begin", "brief"]

FORKS = "forks, and returns in both processes: let the copy end with os._exit(0)"
_getpid = os.getpid
"""The function of the system: checks of mechanisms change the one of `os` for a while."""


class Board:
    """Memory that a process shares with those that it forks: what one of them is at, and whether it came to its end.

    A forked process writes, the one that forked it reads. A note is made for a chunk of runs, not for each.
    """

    FORKED, ENDED, RUNS, SIZE, WORDS, ROOM = 0, 1, 8, 16, 24, 1 << 12

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self.ROOM)
        self._at: dict[int, str] = {}
        self._lock = threading.Lock()

    @property
    def forked(self) -> bool:
        """Whether a copy of a process returned from what is audited."""
        return bool(self._memory[self.FORKED])

    def fork(self) -> None:
        """Note that a copy returned."""
        self._memory[self.FORKED] = 1

    @property
    def ended(self) -> int | None:
        """The status with which all was done that was to be done; None while it is not."""
        return self._memory[self.ENDED] - 1 if self._memory[self.ENDED] else None

    def end(self, status: int) -> None:
        """Note that all is done, with a status."""
        self._memory[self.ENDED] = status + 1

    def enter(self, words: str) -> None:
        """Note on what input the runs are that this thread begins."""
        with self._lock:
            self._at[threading.get_ident()] = words
            self._write()

    def leave(self, runs: int) -> None:
        """Note that this thread has made so many runs."""
        with self._lock:
            self._at.pop(threading.get_ident(), None)
            self._write()
            struct.pack_into("=Q", self._memory, self.RUNS, self._runs() + runs)

    def told(self) -> str:
        """Return the input of the runs under way, and how many were made before, as the end of a sentence."""
        (size,) = struct.unpack_from("=Q", self._memory, self.SIZE)
        words = self._memory[self.WORDS : self.WORDS + size].decode(errors="replace")
        return (f", on {words}" if words else "") + (f", after {runs:,} runs" if (runs := self._runs()) else "")

    def _runs(self) -> int:
        runs: int = struct.unpack_from("=Q", self._memory, self.RUNS)[0]
        return runs

    def _write(self) -> None:
        words = " or ".join(dict.fromkeys(self._at.values())).encode(errors="replace")[: self.ROOM - self.WORDS]
        struct.pack_into("=Q", self._memory, self.SIZE, 0)  # else a reader may meet new words with the old length
        self._memory[self.WORDS : self.WORDS + len(words)] = words
        struct.pack_into("=Q", self._memory, self.SIZE, len(words))


_boards: list[Board] = []
"""The board of this process, once it has one."""


def begin(board: Board) -> None:
    """Let this process, the one that was forked with the board, write to it."""
    _boards[:] = [board]


@contextmanager
def at(words: Callable[[], str], runs: int) -> Iterator[None]:
    """Note that so many runs are made on an input in the block; end a copy of this process that comes out of it.

    Raises
    ------
    ToolFault
        If a copy came out of this block, or of one before.
    """
    if not _boards:
        begin(Board())
    board, home = _boards[0], _getpid()
    board.enter(words())
    try:
        yield
    finally:
        if _getpid() != home:
            board.fork()
            os._exit(0)
        told = board.told()
        board.leave(runs)
    if board.forked:
        raise ToolFault(f"the mechanism {FORKS}{told}")


class _Brief(reprlib.Repr):
    """Shows data without walking through all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 60
        self.maxdict, self.maxstring, self.maxlong, self.maxother = 30, 300, 300, 300


def brief(data: Any) -> str:
    """Return an input in at most 300 characters, whatever its `repr` does."""
    try:
        return _Brief().repr(data)[:300]
    except Exception:  # of any type: `repr`, and the lengths it asks for, are code of whoever made the input
        return f"an input of type {type(data).__name__}"
