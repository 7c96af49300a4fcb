"""Name the input of a run that failed."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from dpaudit.errors import Exited, InputError, ToolFault
from dpaudit.running.copies import CopyReturned, without_copies


class RunFault(ToolFault):
    """A run ended its process, or took too long where that is a fault."""


class Turned(Protocol):
    """Inputs that are run in turn: the number of the one whose run is under way, None where that is not known."""

    turn: int | None


@contextmanager
def naming(words: tuple[str, ...], audit: bytes = b"", inputs: Turned | None = None) -> Iterator[None]:
    """Add the input to what is raised in the block; end a copy of this process that comes out of it.

    `words` are those of the inputs on which runs are made, and `audit` marks the audit. `RunFault` or `InputError` is
    raised, with the input, if a run is a fault or asked to exit; `ToolFault` if a copy came out of this block, or of an
    earlier one of the same audit.
    """
    try:
        with without_copies(audit):
            yield
    except RunFault as fault:
        raise RunFault(f"{fault}, on {_named(words, inputs)}") from None
    except Exited as exit:
        raise InputError(f"{exit}, on {_named(words, inputs)}") from exit.__cause__
    except CopyReturned as copy:
        raise ToolFault(f"the mechanism {copy}, on {_named(words, None)}") from None


def _named(words: tuple[str, ...], inputs: Turned | None) -> str:
    """Return which of the inputs the run under way has; all where that is not known."""
    if inputs is None or inputs.turn is None:
        return " or ".join(dict.fromkeys(words))
    return words[inputs.turn]


_BRIEF = reprlib.Repr()
# Shows data without walking through all of it.
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxset = _BRIEF.maxfrozenset = _BRIEF.maxdeque = _BRIEF.maxarray = 60
_BRIEF.maxdict, _BRIEF.maxstring, _BRIEF.maxlong, _BRIEF.maxother = 30, 300, 300, 300


def brief(data: object) -> str:
    """Return an input in at most 300 characters, whatever its `repr` does; of one with a data frame kind and size."""
    from dpaudit.neighbours.difference import described, holds_frame  # loads numpy

    try:
        if holds_frame(data):
            return described(data)
        return _BRIEF.repr(data)[:300]
    except Exception:  # of any type: `repr`, and the lengths it asks for, are third-party code
        return f"an input of type {type(data).__name__}"
