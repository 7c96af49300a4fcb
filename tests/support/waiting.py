"""Waits for what a test expects of another process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["has_lines", "wait_until"]


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait until something holds, looking again and again; fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)  # nothing that is waited for here sends word


def has_lines(path: Path, number: int) -> bool:
    """Say whether a file is there and has so many lines."""
    return path.exists() and path.read_bytes().count(b"\n") >= number
