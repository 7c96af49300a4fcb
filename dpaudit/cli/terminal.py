"""What the commands share: the learners that the user asked for, and how to speak to a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Any

from dpaudit.cli.streams import output, pending
from dpaudit.errors import InputError
from dpaudit.registry import Entry, Registry, load

__all__ = ["find_learners", "note", "note_taken", "say", "wants_color", "warn"]


def say(text: str) -> None:
    """Write to standard output; a reader that has gone (``| head``) changes neither work nor status."""
    while pending:
        note(pending.pop(0))
    stream = output()
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def note(text: str) -> None:
    """Tell the user on stderr what was decided for them."""
    print(f"dpaudit: note: {text}", file=sys.stderr)


def note_taken(entry: Entry, values: Mapping[str, Any]) -> None:
    """Say, with the result, which values were taken from the learner's example; beside an error they would distract."""
    if values:
        pending.append(f"{', '.join(f'{k} = {v}' for k, v in values.items())} taken from the example of {entry.id}")


def warn(registry: Registry) -> None:
    """Say on stderr which modules of learners did not load."""
    for problem in registry.problems:
        print(f"dpaudit: warning: {problem}", file=sys.stderr)


def find_learners(args: argparse.Namespace) -> Registry:
    """Return the learners; a path that the user named must load, or its learners would go unaudited."""
    registry = load(tuple(args.learners))
    wanted = [problem for problem in registry.problems if problem.requested]
    if wanted:
        raise InputError("; ".join(map(str, wanted)))
    warn(registry)
    return registry


def wants_color() -> bool:
    """Say whether standard output is a terminal whose user has not set NO_COLOR."""
    return output().isatty() and not os.environ.get("NO_COLOR")
