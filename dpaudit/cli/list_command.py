"""The command that lists the learners; it loads nothing scientific beyond NumPy, for it must answer at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

from dpaudit.cli.learners import warn
from dpaudit.cli.streams import output, say, tell
from dpaudit.cli.verb import Given
from dpaudit.harmless import harmless
from dpaudit.jsonable import jsonable
from dpaudit.registry import Entry, load

__all__ = ["command"]


def command(args: Given) -> int:
    """Show the learners; a module that does not load is a line on stderr and stands in no other's way.

    The status is 2 if it is one that the user named.
    """
    registry = load(tuple(args.learners))
    warn(registry)
    rows = [_row(entry) for entry in registry.entries if args.all or entry.fault is None]
    say(json.dumps(rows, indent=1, sort_keys=True) + "\n" if args.json else _table(rows))
    return 2 if any(problem.requested for problem in registry.problems) else 0


def _row(entry: Entry) -> dict[str, Any]:
    """Return what is shown of a learner."""
    required = {name: default is Parameter.empty for name, default in entry.parameters.items()}
    defaults = {name: jsonable(value) for name, value in entry.parameters.items() if not required[name]}
    return {
        "id": entry.id,
        "summary": entry.summary,
        "privacy": _privacy(entry),
        "fault": entry.fault,
        "origin": entry.origin,
        "parameters": list(required),
        "defaults": defaults,
        "instance": jsonable(entry.instance),
    }


def _privacy(entry: Entry) -> str:
    """Return the kind of privacy that a learner claims."""
    try:
        claim = entry.claim()
    except (Exception, SystemExit) as error:  # a learner that cannot build its own example must not hide the others
        tell("warning", f"{entry.id}: its example fails: {type(error).__name__}: {error}")
        return "unknown"
    return "none" if claim is None else "pure" if claim.delta == 0 else "approximate"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the learners as a table; on a terminal no line is wider than it."""
    lines = [("ID", "PRIVACY", "PARAMETERS", "WHAT IT IS")]
    for row in rows:
        names = [f"{p}={row['defaults'][p]}" if p in row["defaults"] else p for p in row["parameters"]]
        what = row["summary"] if row["fault"] is None else f"leaks on purpose: {row['fault']}"
        lines.append((row["id"], row["privacy"], harmless(" ".join(names)), harmless(what)))
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    limit = shutil.get_terminal_size().columns if output().isatty() else None
    texts = ["  ".join([*(line[i].ljust(widths[i]) for i in range(3)), line[3]]).rstrip()[:limit] for line in lines]
    return "\n".join(texts) + "\n"
