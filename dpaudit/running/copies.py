"""Copies of this process: whether the system makes them, how one is made, and how it ended."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress

__all__ = ["can_fork", "copied", "ended_by"]


def can_fork() -> bool:
    """Say whether this system lets a process make a copy of itself."""
    return hasattr(os, "fork")


def copied() -> int:
    """Make a copy of this process and return its number; in the copy, 0."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()  # else the copy writes it again
    with warnings.catch_warnings():
        # Python 3.12 warns where there are threads: the copy has but one, and calls nothing of the others.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def ended_by(code: int) -> str:
    """Say how a process ended, by its exit code, which is minus the number of a signal."""
    if code >= 0:
        return f"ended its process (exit status {code})"
    why = ", for want of memory?" if -code == signal.SIGKILL else ""
    return f"ended its process ({signal.Signals(-code).name}{why})"
