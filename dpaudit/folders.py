"""The current folder where modules are loaded, and where their functions run: a module may change it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Filled where modules are loaded in one process, and their functions run in others, which call `enter_folder`.
STAYS: list[bool] = []
# The folder to which the last module that changed the current one went.
_LEFT: list[str] = []


@contextmanager
def staying() -> Iterator[None]:
    """Load a module in the block, which may change the current folder: paths of the command are relative to it."""
    before = os.getcwd()
    try:
        yield
    finally:
        # Where functions run in this process too, the folder stays changed, as it is when they are called by hand.
        if STAYS and (after := os.getcwd()) != before:
            os.chdir(before)
            _LEFT[:] = [after]


def enter_folder() -> None:
    """Go, in a process that only makes runs, to the folder that the modules of the mechanism went to when loaded."""
    while _LEFT:
        os.chdir(_LEFT.pop())


def left() -> str | None:
    """Return the folder that `enter_folder` goes to, if there is one; for another process, which then can `leave`."""
    return _LEFT[-1] if _LEFT else None


def leave(folder: str | None) -> None:
    """Let `enter_folder` go to a folder, if one is given."""
    _LEFT[:] = [] if folder is None else [folder]
