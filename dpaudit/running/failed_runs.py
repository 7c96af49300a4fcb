"""Name the input of a run that failed, and end copies of this process that audited code leaves behind."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache

from dpaudit.errors import Exited, InputError, ToolFault

# Said of a mechanism, after its name.
COPY = "forks, and returns in both processes: let the copy end with os._exit(0)"
# Bytes that mark an audit: a process makes runs of many, and a copy that one leaves there is no fault of others.
MARK = 8


class RunFault(ToolFault):
    """A run ended its process, or took too long where that is a fault."""


class Copies:
    """A pipe by which copies of a process tell it that they have returned, with the mark of their audit."""

    def __init__(self) -> None:
        # A pipe, since a copy shares nothing else with the process that it was copied from.
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
            while content := os.read(self._reading, 512 * MARK):
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
    """End a copy of this process that comes out of the block; raise `RunFault` if one of this audit did."""
    home = os.getpid()
    copies = copies_of(home)
    try:
        yield
    finally:
        # A copy that came out would go on with the audit, and write a second report.
        if os.getpid() != home:
            copies.tell(audit)
            os._exit(0)
    if copies.returned(audit):
        raise RunFault(f"the mechanism {COPY}")


def _unknown() -> int | None:
    return None


@contextmanager
def naming(
    words: Callable[[], tuple[str, ...]], audit: bytes = b"", turn: Callable[[], int | None] = _unknown
) -> Iterator[None]:
    """Add the input to what is raised in the block; end a copy of this process that comes out of it.

    ``words()`` are those of the inputs on which runs are made, asked for only to be told, as they take longer than a
    short run; ``turn()`` is the number of the one whose run is under way, None where that is not known, and `audit`
    marks the audit. `RunFault` or `InputError` is raised, with the input, if a run is a fault or asked to exit, or a
    copy came out of this block, or of an earlier one of the same audit.
    """
    try:
        with without_copies(audit):
            yield
    except RunFault as fault:
        raise RunFault(f"{fault}, on {_named(words(), turn())}") from None
    except Exited as exit:
        raise InputError(f"{exit}, on {_named(words(), turn())}") from exit.__cause__


def _named(words: tuple[str, ...], turn: int | None) -> str:
    """Return which of the inputs the run under way has; all where that is not known."""
    if turn is None:
        return " or ".join(dict.fromkeys(words))
    return words[turn]


_BRIEF = reprlib.Repr()
# Shows data without walking through all of it.
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxset = _BRIEF.maxfrozenset = _BRIEF.maxdeque = _BRIEF.maxarray = 60
_BRIEF.maxdict = 30
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 300


def brief(data: object) -> str:
    """Return an input in at most 300 characters, whatever its `repr` does; of one with a data frame kind and size."""
    from dpaudit.neighbours.input_kinds import described, holds_frame  # loads numpy

    try:
        if holds_frame(data):
            return described(data)
        return _BRIEF.repr(data)[:300]
    except Exception:  # of any type: `repr`, and the lengths it asks for, are third-party code
        return f"an input of type {type(data).__name__}"
