"""Notes on the input of the runs under way, in memory that outlives their process, to name the input that ended it."""

from __future__ import annotations

import mmap
import os
import reprlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from dpaudit.errors import Exited, InputError, ToolFault

FORKS = "forks, and returns in both processes: let the copy end with os._exit(0)"
ROOM = 1 << 12
"""Bytes of a page of notes."""
MARK = 8
"""Bytes that mark an audit."""
_BETWEEN = "\x1f"
"""Between the parts of a note."""


class _Byte:
    """A byte of a page of notes, at a place."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __get__(self, notes: Notes, kind: type[Notes]) -> int:
        return notes._page[self.place]

    def __set__(self, notes: Notes, number: int) -> None:
        notes._page[self.place] = number


class Notes:
    """A page of memory that a process shares with those that it forks.

    A forked process writes it, the one that forked it reads it, when the other has ended. There is a note for a chunk
    of runs, and for each run only the number of its input. A process that is no copy shares it by a file.
    """

    forked, ended, turn = _Byte(0), _Byte(1), _Byte(2)
    """Whether a copy of a process returned from what is audited; 1 and the exit status of work that is complete; the
    number of the input of the run begun last, by any thread."""
    AUDIT, TEXT, COPY = 3, 3 + MARK, ROOM // 2
    """Places of the audit, of the note of the process, and of that of a copy of it, which the process overtakes."""

    def __init__(self, file: int = -1) -> None:
        self._page = mmap.mmap(file, ROOM)
        self._inputs: dict[int, tuple[str, ...]] = {}
        self._runs = 0
        self._lock = threading.Lock()
        self.forked_at: int | None = None
        """In a copy of a process, the number of the input on which it was made: both go on to write that of theirs."""
        self.copied = False
        """Whether this process is a copy: what it forks in turn was made on the same input."""

    def forked_in(self, audit: bytes) -> bool:
        """Return whether a copy that returned last was made in an audit; the process may have made runs of others."""
        return bool(self.forked) and self._page[self.AUDIT : self.TEXT] == audit.ljust(MARK, b"\0")

    def fork(self, audit: bytes = b"") -> None:
        """Note, in the copy, that it returned, the audit and the input it was made on."""
        for thread, words in self._inputs.items() if len(self._inputs) == 1 and self.forked_at is not None else ():
            self._inputs[thread] = words[self.forked_at :][:1] or words
        self._write(self.COPY, ROOM)
        self._page[self.AUDIT : self.TEXT] = audit.ljust(MARK, b"\0")
        self.forked = 1

    def input_of(self, words: tuple[str, ...]) -> str:
        """Return which of some inputs, in words, the run under way has; all where several threads make runs."""
        known = len(words) == 1 or (len(self._inputs) < 2 and self.turn < len(words))
        return words[self.turn % len(words)] if known else " or ".join(dict.fromkeys(words))

    def enter(self, words: tuple[str, ...]) -> None:
        """Note the inputs of the runs that this thread begins."""
        with self._lock:
            self._inputs[threading.get_ident()] = words
            self._write(self.TEXT, self.COPY)

    def leave(self, runs: int) -> None:
        """Note that this thread has made so many runs."""
        with self._lock:
            self._inputs.pop(threading.get_ident(), None)
            self._runs += runs
            self._write(self.TEXT, self.COPY)

    def words(self) -> str:
        """Return the input of the runs under way, or of a copy that returned, and how many runs were made before it."""
        begin, end = (self.COPY, ROOM) if self.forked else (self.TEXT, self.COPY)
        text = self._page[begin:end].rstrip(b"\0").decode(errors="replace")
        runs, *words = text.split(_BETWEEN)
        on = f", on {self.input_of(tuple(words))}" if words else ""
        # The process that wrote it may have been another's.
        return on + (f", after {int(runs):,} runs" if runs.isdecimal() and runs.isascii() and int(runs) else "")

    def _write(self, begin: int, end: int) -> None:
        shown = [words for inputs in self._inputs.values() for words in inputs]
        shown = shown if len(self._inputs) < 2 else list(dict.fromkeys(shown))
        text = _BETWEEN.join([str(self._runs), *shown]).encode(errors="replace")
        self._page[begin:end] = text[: end - begin].ljust(end - begin, b"\0")


_notes: list[Notes] = []
"""The notes of this process, once it has some."""


def begin(notes: Notes) -> None:
    """Let this process, which was forked with the notes, write to them."""
    _notes[:] = [notes]


def noted() -> Notes:
    """Return the notes of this process."""
    if not _notes:
        begin(Notes())
    return _notes[0]


def _at_fork(when: str) -> None:
    for notes in _notes:
        if when == "in the copy":
            notes.copied = True
        elif not notes.copied:
            notes.forked_at = notes.turn if when == "before" else None


if hasattr(os, "register_at_fork"):
    before, after, copied = (partial(_at_fork, when) for when in ("before", "after", "in the copy"))
    os.register_at_fork(before=before, after_in_parent=after, after_in_child=copied)


class RunFault(ToolFault):
    """A run ended its process, or took too long where that is a fault."""


@contextmanager
def running_on(words: tuple[str, ...], runs: int, audit: bytes = b"") -> Iterator[None]:
    """Note that so many runs are made on some inputs in the block; end a copy of this process that comes out of it.

    `audit` marks the audit: a worker makes runs of many, and a copy that a mechanism left there is no fault of others.
    `RunFault` or `InputError` is raised, with the input, if a run is a fault or asked to exit; `ToolFault` if a copy
    came out of this block, or of an earlier one of the same audit.
    """
    notes, home = noted(), os.getpid()
    notes.enter(words)
    try:
        yield
    except RunFault as fault:
        raise RunFault(f"{fault}, on {notes.input_of(words)}") from None
    except Exited as exit:
        raise InputError(f"{exit}, on {notes.input_of(words)}") from exit.__cause__
    finally:
        if os.getpid() != home:
            notes.fork(audit)
            os._exit(0)
        notes.leave(runs)
    if notes.forked_in(audit):
        raise ToolFault(f"the mechanism {FORKS}{notes.words()}")


_BRIEF = reprlib.Repr()
"""Shows data without walking through all of it."""
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxset = _BRIEF.maxfrozenset = _BRIEF.maxdeque = _BRIEF.maxarray = 60
_BRIEF.maxdict, _BRIEF.maxstring, _BRIEF.maxlong, _BRIEF.maxother = 30, 300, 300, 300


def brief(data: Any) -> str:
    """Return an input in at most 300 characters, whatever its `repr` does; of one with a data frame kind and size."""
    from dpaudit.neighbours.input_kinds import described, holds_frame  # loads numpy

    try:
        if holds_frame(data):
            return described(data)
        return _BRIEF.repr(data)[:300]
    except Exception:  # of any type: `repr`, and the lengths it asks for, are third-party code
        return f"an input of type {type(data).__name__}"
