"""``dpaudit list``: the learners; it loads nothing scientific beyond NumPy, since it must answer at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

from dpaudit.cli.audits import check_out, show_plain, warn
from dpaudit.cli.command import command
from dpaudit.cli.options import PLAIN, Color, Json, Learners, ShownOut, given
from dpaudit.cli.streams import output, tell, wants_color, width_of

if TYPE_CHECKING:
    from dpaudit.registry import Entry

__all__ = ["list_learners"]

_UNBROKEN = 10_000
_HEADS = {"id": "word", "privacy": "word", "parameters": "text", "what it is": "text"}


@command("list", "dpaudit list --all")
def list_learners(
    json: Json,
    out: ShownOut,
    all: Annotated[bool, given("positive controls too (default: without them)")],
    color: Color,
    learners: Learners,
) -> int:
    """List the learners that were found.

    Shows the id, the kind of privacy claimed (pure means delta = 0), the parameters with their defaults, and what it
    is. Positive controls, which leak on purpose, are listed with --all. The status is 2 if a module that was named by
    --learners does not load.
    """
    from json import dumps

    from dpaudit.registry import load

    check_out(out, PLAIN)
    registry = load(tuple(learners))
    warn(registry)
    rows = [_row(entry) for entry in registry.entries if all or entry.fault is None]
    show_plain(
        json,
        out,
        _table(rows, wants_color(color)),
        title="dpaudit: learners",
        json=dumps(rows, indent=1, sort_keys=True) + "\n",
        text=_table(rows, False),
        lines=[("LEARNERS", f"{len(rows)} were found")],
        heads=list(_HEADS),
        rows=[*map(_cells, rows)],
    )
    return 2 if any(problem.requested for problem in registry.problems) else 0


def _row(entry: Entry) -> dict[str, Any]:
    """Return what is shown of a learner."""
    from dpaudit.jsonable import jsonable

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
    from dpaudit.report.terminal import Head, table

    width = width_of(output()) if output().isatty() else _UNBROKEN
    cells = [_cells(row) for row in rows]
    return "\n".join(table([Head(*head) for head in _HEADS.items()], cells, [""] * len(rows), width, color)) + "\n"
