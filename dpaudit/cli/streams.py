"""Whose the standard output is: what a command says goes there, what an audited mechanism prints does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

__all__ = ["kept_clean", "output", "pending"]

_ours: list[TextIO] = []
pending: list[str] = []
"""Notes to be shown with the result; they go with the command that came to none."""


@contextmanager
def kept_clean() -> Iterator[None]:
    """Send to standard error what anything but `terminal.say` prints: one stray line breaks ``--json``."""
    _ours.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _ours.pop()
        pending.clear()


def output() -> TextIO:
    """Return the standard output of the command."""
    return _ours[-1] if _ours else sys.stdout
