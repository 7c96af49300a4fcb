"""The command that checks the statements of the papers."""

from __future__ import annotations

import argparse
import sys

from dpaudit.cli.learners import find_learners
from dpaudit.cli.streams import say, tell, wants_color
from dpaudit.contract import StatementVerdict
from dpaudit.engine.progress import Progress
from dpaudit.engine.tasks import canonical
from dpaudit.ledger import LedgerFault, check_statements
from dpaudit.reporters.ledger import counts_text, render

__all__ = ["command"]


def command(args: argparse.Namespace) -> int:
    """Check statements and show the verdicts; 0 if every check ran, whatever the papers' errors."""
    find_learners(args)
    faults: dict[str, str] = {}
    # Checks take seconds: somebody who waits at a terminal sees how far they are, a log file does not.
    listeners = [Progress(sys.stderr)] if sys.stderr.isatty() else []
    try:
        rows = check_statements(args.ids or None, n_jobs=args.n_jobs, paths=tuple(args.learners), listeners=listeners)
    except LedgerFault as fault:
        rows, faults = fault.rows, fault.faults
    shown = [row for row in rows if row.verdict == StatementVerdict.REFUTED or not args.refuted]
    if args.json:
        say("".join(f"{canonical(row.to_dict())}\n" for row in shown))
    else:
        say(render(shown, wants_color()) + ("\n" if shown else "") + f"{counts_text(rows)}\n")
    for id, error in faults.items():
        tell("fault", f"{id}: {error}")
    if not rows and not faults:
        tell("note", "no module lists statements in STATEMENTS")
    return 2 if faults else 0
