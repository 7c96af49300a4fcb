"""The learners that the user asked for, and what the user is told about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.cli.streams import pending, tell
from dpaudit.cli.verb import Given
from dpaudit.errors import InputError
from dpaudit.registry import Entry, Registry, load

__all__ = ["find_learners", "note_taken", "warn"]


def note_taken(entry: Entry, values: Mapping[str, Any]) -> None:
    """Say, with the result, which values were taken from the learner's example; beside an error they would distract."""
    if values:
        pending.append(f"{', '.join(f'{k} = {v}' for k, v in values.items())} taken from the example of {entry.id}")


def warn(registry: Registry) -> None:
    """Say on stderr which modules of learners did not load."""
    for problem in registry.problems:
        tell("warning", str(problem))


def find_learners(args: Given) -> Registry:
    """Return the learners; a path that the user named must load, or its learners would go unaudited."""
    registry = load(tuple(args.learners))
    wanted = [problem for problem in registry.problems if problem.requested]
    if wanted:
        raise InputError("; ".join(map(str, wanted)))
    warn(registry)
    return registry
