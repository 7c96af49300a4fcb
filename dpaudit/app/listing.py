"""``dpaudit list``, which must answer at once: the learners; ``dpaudit ledger``: the statements of the papers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from inspect import Parameter
from json import dumps
from typing import TYPE_CHECKING, Annotated

from dpaudit.app.audits import find_learners, json_lines, run_of, show_plain, write_report
from dpaudit.app.command import command
from dpaudit.app.options import PLAIN, Json, Learners, Quiet, ShownOut, argument, given, jobs, json_each
from dpaudit.app.streams import notify, output, say, wants_color, width_of, written
from dpaudit.contract import OF_STATEMENTS
from dpaudit.errors import InputError
from dpaudit.jsonable import jsonable

if TYPE_CHECKING:
    from dpaudit.evidence.records import LedgerRow, Result
    from dpaudit.jsonable import Json as JsonValue
    from dpaudit.registry import Entry

# Wider than any row: in a pipe a learner has one line, which a search finds.
_UNBROKEN = 10_000
_HEADS = {"id": "word", "privacy": "word", "parameters": "text", "what it is": "text"}


@command("list", "dpaudit list --all", PLAIN)
def list_learners(
    json: Json,
    out: ShownOut,
    all: Annotated[bool, given("positive controls too (default: without them)")],
    learners: Learners,
) -> int:
    """List the available learners.

    Shows the id, the kind of privacy claimed (pure means delta = 0), the parameters with their defaults, and what it
    is. Positive controls, which leak on purpose, are listed with --all. The status is 2 if a module that was named by
    --learners does not load.
    """
    registry = find_learners(learners, to_audit=False)
    entries = [entry for entry in registry.entries if all or entry.fault is None]
    rows = [_row(entry) for entry in entries]
    cells = [*map(_cells, entries, rows)]
    status = 0
    # A module that the user named and that does not load; the learners that do are listed all the same.
    if any(problem.requested for problem in registry.problems):
        status = 2
    return show_plain(
        json,
        out,
        _table(cells, wants_color()),
        status=status,
        title="dpaudit: learners",
        json=dumps(rows, indent=1, sort_keys=True) + "\n",
        text=_table(cells, False),
        lines=[("LEARNERS", f"{len(rows)} were found")],
        heads=list(_HEADS),
        rows=cells,
    )


def _row(entry: Entry) -> dict[str, JsonValue]:
    defaults = {name: jsonable(one) for name, one in entry.parameters.items() if one is not Parameter.empty}
    return {
        "id": entry.id,
        "summary": entry.summary,
        "fault": entry.fault,
        "origin": entry.origin,
        "parameters": list(entry.parameters),
        "defaults": defaults,
        "instance": jsonable(entry.instance),
        "privacy": _privacy(entry),
    }


def _privacy(entry: Entry) -> str:
    try:
        claim = entry.claim()
    # A learner that cannot build its own example must not hide the others.
    except (Exception, SystemExit) as error:
        notify("warning", f"{entry.id}: its example fails: {type(error).__name__}: {error}")
        return "unknown"
    if claim is None:
        return "none"
    return "pure" if claim.delta == 0 else "approximate"


def _cells(entry: Entry, row: Mapping[str, JsonValue]) -> list[str]:
    names = []
    for name, default in entry.parameters.items():
        if default is not Parameter.empty:
            name = f"{name}={jsonable(default)}"
        names.append(name)
    what = entry.summary
    if entry.fault is not None:
        what = f"leaks on purpose: {entry.fault}"
    return [entry.id, str(row["privacy"]), " ".join(names), what]


def _table(cells: Sequence[list[str]], color: bool) -> str:
    """Return the learners as a table as wide as a terminal; in a pipe each has one line, which a search finds."""
    from dpaudit.report.terminal import Head, table

    width = _UNBROKEN
    if output().isatty():
        width = width_of(output())
    heads = [Head(*head) for head in _HEADS.items()]
    return "\n".join(table(heads, cells, [""] * len(cells), width, color)) + "\n"


_Class = Annotated[
    str | None,
    given("show those of one class only (default: all checked)", metavar="CLASS", choices=[*map(str, OF_STATEMENTS)]),
]
_Witness = Annotated[
    str | None,
    given(
        "write one statement with its witness as JSON: learners, samples, outputs (default: the table)", metavar="ID"
    ),
]
_CheckLimit = Annotated[
    float | None, given("stop a check after so long; its statement is undecided", metavar="SECONDS")
]


@command("ledger", "dpaudit ledger --verdict false", PLAIN)
def ledger(
    ids: Annotated[tuple[str, ...], argument("[ID]...")],
    verdict: _Class,
    witness: _Witness,
    time_limit: _CheckLimit,
    json: Annotated[bool, json_each("statement")],
    out: ShownOut,
    quiet: Quiet,
    n_jobs: Annotated[int, jobs("checks at a time", -1)],
    learners: Learners,
) -> int:
    """Check the statements of the papers (default: all) by computation and show each verdict with its evidence.

    A statement is false, a gap of a proof, a misprint or an edge case, each with a witness, its place and whether the
    theorem survives; or it is loose (true, but a constant that is printed is far from the truth), holds, is undecided,
    or derived (with O(.), so that the constants are ours). None of these is a violation: the status is 0 if every check
    ran, 3 if --time-limit stopped one.
    """
    from dpaudit.report.ledger import LedgerFault, check_statements, counts_text, ledger_table
    from dpaudit.report.terminal import WIDTH

    if witness is not None and (ids or verdict):
        alone = "the only statement; neither further ids nor --verdict go with it"
        raise InputError.of("witness", witness, alone)
    find_learners(learners)
    if witness is not None:
        # The command that the report names then has the one statement too.
        ids = (witness,)
    faults: dict[str, str] = {}
    try:
        # What was checked is shown even where another check failed.
        rows = check_statements(
            ids or None,
            n_jobs=n_jobs,
            time_limit=time_limit,
            paths=learners,
            progress=None if quiet else sys.stderr,
        )
    except LedgerFault as fault:
        rows = fault.rows
        faults = fault.faults
    shown = [row for row in rows if verdict in (None, row.verdict)]
    if witness is not None:
        say("".join(f"{dumps(row.to_dict(), indent=2)}\n" for row in rows))
    elif json:
        say(json_lines(shown))
    else:
        width = WIDTH
        if output().isatty():
            width = width_of(output())
        table = ledger_table(shown, wants_color(), width)
        if shown:
            table += "\n"
        say(table + f"{counts_text(rows)}\n")
    status = 0
    # Time that was over leaves a statement open; a check that failed is graver.
    if any(row.stopped_in for row in rows):
        status = 3
    if faults:
        status = 2
    if out is not None:
        run = run_of([_result(row) for row in rows], 0, shlex.join(["dpaudit", "ledger", *ids]))
        status = written(status, lambda: write_report(run, out))
    for id, error in faults.items():
        notify("fault", f"{id}: {error}")
    if not rows and not faults:
        notify("note", "no module lists statements in STATEMENTS")
    return status


def _result(row: LedgerRow) -> Result:
    from dpaudit.evidence.records import Result
    from dpaudit.evidence.tasks import LedgerArguments, Task

    return Result(**Task(row.id, {}, LedgerArguments(statement=row.statement)).recorded, finding=row)
