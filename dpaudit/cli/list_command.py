"""The command that lists the learners; it loads nothing scientific beyond NumPy, for it must answer at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from dpaudit.cli.learners import warn
from dpaudit.cli.streams import output, say, tell, wants_color, width_of
from dpaudit.cli.text_output import check_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.jsonable import jsonable
from dpaudit.registry import Entry, load
from dpaudit.report.terminal import Head, table

if TYPE_CHECKING:
    from dpaudit.report.plain import Plain

__all__ = ["command"]

_UNBROKEN = 10_000
_COLUMNS = (
    Head("id", "word"),
    Head("privacy", "word"),
    Head("parameters", "text"),
    Head("what it is", "text"),
)


def command(args: Given) -> int:
    """Show the learners; a module that does not load is a line on stderr and stands in no other's way.

    The status is 2 if it is one that the user named.
    """
    check_plain(args.out)
    registry = load(tuple(args.learners))
    warn(registry)
    rows = [_row(entry) for entry in registry.entries if args.all or entry.fault is None]
    told = json.dumps(rows, indent=1, sort_keys=True) + "\n"
    say(told if args.json else _table(rows, wants_color(args.color)))
    write_plain(args.out, lambda: _plain(rows, told))
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


def _cells(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of a learner."""
    names = [f"{p}={row['defaults'][p]}" if p in row["defaults"] else p for p in row["parameters"]]
    what = row["summary"] if row["fault"] is None else f"leaks on purpose: {row['fault']}"
    return [row["id"], row["privacy"], " ".join(names), what]


def _table(rows: Sequence[Mapping[str, Any]], color: bool) -> str:
    """Return the learners as a table as wide as a terminal; in a pipe each has one line, which a search finds."""
    width = width_of(output()) if output().isatty() else _UNBROKEN
    cells = [_cells(row) for row in rows]
    return "\n".join(table(_COLUMNS, cells, [""] * len(rows), width, color)) + "\n"


def _plain(rows: Sequence[Mapping[str, Any]], told: str) -> Plain:
    """Return the learners as they are written."""
    from dpaudit.report.plain import Plain  # SciPy comes with it, for which the table does not wait

    heads, answer = [column.text for column in _COLUMNS], [("LEARNERS", f"{len(rows)} were found")]
    return Plain("dpaudit: learners", told, _table(rows, False), answer, heads, [*map(_cells, rows)])
