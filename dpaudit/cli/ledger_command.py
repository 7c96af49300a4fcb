"""The command that checks the statements of the papers."""

from __future__ import annotations

import json
import shlex
import sys

from dpaudit.cli.learners import find_learners
from dpaudit.cli.report_files import check_suffix, run_of, write_report
from dpaudit.cli.streams import output, say, tell, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.contract import Verdict
from dpaudit.engine.arguments import LedgerArguments
from dpaudit.engine.findings import LedgerRow
from dpaudit.engine.progress import Progress
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task, canonical
from dpaudit.errors import InputError
from dpaudit.report.ledger import LedgerFault, check_statements, counts_text, ledger_table
from dpaudit.report.terminal import WIDTH

__all__ = ["command"]


def command(args: Given) -> int:
    """Check statements and show the verdicts; 0 if every check ran to its end, whatever the papers' errors."""
    check_suffix(args.out)
    if args.witness is not None and (args.ids or args.refuted):
        raise InputError.of("witness", args.witness, "the only statement; neither further ids nor --refuted go with it")
    find_learners(args)
    ids = (args.witness,) if args.witness is not None else args.ids
    faults: dict[str, str] = {}
    listeners = [] if args.quiet else [Progress(sys.stderr, noun="checks")]
    try:
        rows = check_statements(
            ids or None, n_jobs=args.n_jobs, time_limit=args.time_limit, paths=args.learners, listeners=listeners
        )
    except LedgerFault as fault:
        rows, faults = fault.rows, fault.faults
    shown = [row for row in rows if row.verdict == Verdict.REFUTED or not args.refuted]
    if args.witness is not None:
        say("".join(f"{json.dumps(row.to_dict(), indent=2)}\n" for row in rows))
    elif args.json:
        say("".join(f"{canonical(row.to_dict())}\n" for row in shown))
    else:
        columns = width_of(output()) if output().isatty() else WIDTH
        say(ledger_table(shown, wants_color(args.color), columns) + ("\n" if shown else "") + f"{counts_text(rows)}\n")
    if args.out is not None:
        write_report(run_of([_result(row) for row in rows], 0, shlex.join(["dpaudit", "ledger", *ids])), args.out)
    for id, error in faults.items():
        tell("fault", f"{id}: {error}")
    if not rows and not faults:
        tell("note", "no module lists statements in STATEMENTS")
    return 2 if faults else 3 if any(row.stopped_in for row in rows) else 0


def _result(row: LedgerRow) -> Result:
    """Return the verdict on a statement as a result of a run."""
    arguments = LedgerArguments(statement=row.statement)
    return Result(task=Task(row.id, {}, arguments).key, learner=row.id, parameters={}, arguments=arguments, finding=row)
