"""The two streams: what a command says goes to standard output; notes, and what an audited mechanism prints, do not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from dpaudit.harmless import harmless

__all__ = ["drop_output", "kept_clean", "output", "pending", "say", "tell", "wants_color"]

_LONGEST = 1_500
"""Characters of a line on standard error; what is longer loses its middle."""

_ours: list[TextIO] = []
pending: list[str] = []
"""Notes to be shown with the result; they go with the command that came to none."""


@contextmanager
def kept_clean() -> Iterator[None]:
    """Send to standard error what anything but `say` prints: one stray line breaks ``--json``."""
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


def say(text: str) -> None:
    """Write to standard output; a reader that has gone (``| head``) changes neither work nor status."""
    while pending:
        tell("note", pending.pop(0))
    stream = output()
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Send to nowhere what is still to be written: the reader has gone, and Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output().fileno())


def tell(kind: str, text: str) -> None:
    """Write one line to standard error: a "note", a "warning", a "fault" or an "error"."""
    line = harmless(" ".join(text.splitlines()))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST * 2 // 3]} [...] {line[-_LONGEST // 3 :]}"
    print(f"dpaudit: {kind}: {line}", file=sys.stderr)


def wants_color() -> bool:
    """Say whether standard output is a terminal whose user has not set NO_COLOR."""
    return output().isatty() and not os.environ.get("NO_COLOR")
