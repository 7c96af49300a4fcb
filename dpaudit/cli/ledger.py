"""``dpaudit ledger``: the statements of the papers are checked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from dpaudit.cli.audits import check_out, find_learners, run_of, write_report
from dpaudit.cli.command import command
from dpaudit.cli.options import Color, Json, Learners, Out, Quiet, argument, given, jobs
from dpaudit.cli.streams import output, say, tell, wants_color, width_of
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from dpaudit.engine.records import LedgerRow, Result

__all__ = ["ledger"]


class Checking(NamedTuple):
    """The options of ``dpaudit ledger``."""

    ids: Annotated[tuple[str, ...], argument("[ID]...")]
    refuted: Annotated[bool, given("show the refuted ones only (default: all checked)")]
    witness: Annotated[
        str | None,
        given(
            "write one statement with its witness as JSON: learners, samples, outputs (default: the table)",
            metavar="ID",
        ),
    ]
    time_limit: Annotated[
        float | None, given("stop a check after so long; its statement is undecided", metavar="SECONDS")
    ]
    json: Json
    out: Out
    quiet: Quiet
    color: Color
    n_jobs: Annotated[int, jobs("checks at a time", -1)]
    learners: Learners


@command("ledger", "dpaudit ledger --refuted")
def ledger(asked: Checking) -> int:
    """Check the statements of the papers (default: all) by computation and show each verdict with its evidence.

    A statement holds, is loose (true, but its constant is far from the truth), is refuted (with a witness) or stays
    undecided. A refuted statement is an error of a paper and no violation: the status is 0 if every check ran, 3 if
    --time-limit stopped one.
    """
    from dpaudit.contract import Verdict
    from dpaudit.report.ledger import LedgerFault, check_statements

    check_out(asked.out)
    if asked.witness is not None and (asked.ids or asked.refuted):
        alone = "the only statement; neither further ids nor --refuted go with it"
        raise InputError.of("witness", asked.witness, alone)
    find_learners(asked.learners)
    ids = (asked.witness,) if asked.witness is not None else asked.ids
    faults: dict[str, str] = {}
    try:
        rows = check_statements(
            ids or None,
            n_jobs=asked.n_jobs,
            time_limit=asked.time_limit,
            paths=asked.learners,
            progress=None if asked.quiet else sys.stderr,
        )
    except LedgerFault as fault:
        rows, faults = fault.rows, fault.faults
    shown = [row for row in rows if row.verdict == Verdict.REFUTED or not asked.refuted]
    _show(asked, rows, shown)
    if asked.out is not None:
        write_report(run_of([_result(row) for row in rows], 0, shlex.join(["dpaudit", "ledger", *ids])), asked.out)
    for id, error in faults.items():
        tell("fault", f"{id}: {error}")
    if not rows and not faults:
        tell("note", "no module lists statements in STATEMENTS")
    return 2 if faults else 3 if any(row.stopped_in for row in rows) else 0


def _show(asked: Checking, rows: Sequence[LedgerRow], shown: Sequence[LedgerRow]) -> None:
    """Print the statements that are shown, and how many of all have which verdict."""
    import json

    from dpaudit.engine.tasks import canonical
    from dpaudit.report.ledger import counts_text, ledger_table
    from dpaudit.report.terminal import WIDTH

    if asked.witness is not None:
        say("".join(f"{json.dumps(row.to_dict(), indent=2)}\n" for row in rows))
    elif asked.json:
        say("".join(f"{canonical(row.to_dict())}\n" for row in shown))
    else:
        columns = width_of(output()) if output().isatty() else WIDTH
        table = ledger_table(shown, wants_color(asked.color), columns)
        say(table + ("\n" if shown else "") + f"{counts_text(rows)}\n")


def _result(row: LedgerRow) -> Result:
    """Return the verdict on a statement as a result of a run."""
    from dpaudit.engine.arguments import LedgerArguments
    from dpaudit.engine.records import Result
    from dpaudit.engine.tasks import Task

    arguments = LedgerArguments(statement=row.statement)
    return Result(task=Task(row.id, {}, arguments).key, learner=row.id, parameters={}, arguments=arguments, finding=row)
