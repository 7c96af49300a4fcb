"""The command that checks the claims of the papers; it returns the exit status."""

from __future__ import annotations

import argparse
import sys

from dpaudit.cli.terminal import find_learners, note, say, wants_color
from dpaudit.engine.progress import Progress
from dpaudit.engine.tasks import canonical
from dpaudit.ledger import LedgerFault, check_statements
from dpaudit.reporters.ledger import counts_text, render

__all__ = ["ledger_command"]


def ledger_command(args: argparse.Namespace) -> int:
    """Check claims and show the verdicts; 0 if every check ran, whatever the papers' errors."""
    find_learners(args)
    faults: dict[str, str] = {}
    # Checks take seconds: somebody who waits at a terminal sees how far they are, a log file does not.
    listeners = [Progress(sys.stderr)] if sys.stderr.isatty() else []
    try:
        rows = check_statements(args.ids or None, n_jobs=args.jobs, paths=tuple(args.learners), listeners=listeners)
    except LedgerFault as fault:
        rows, faults = fault.rows, fault.faults
    found = [row.to_dict() for row in rows]
    shown = [row for row in found if row["verdict"] == "refuted" or not args.refuted]
    if args.json:
        say("".join(f"{canonical(row)}\n" for row in shown))
    else:
        say(render(shown, wants_color()) + ("\n" if shown else "") + f"{counts_text(found)}\n")
    for id, error in faults.items():
        print(f"dpaudit: fault: {id}: {error}", file=sys.stderr)
    if not found and not faults:
        note("no module lists claims in STATEMENTS")
    return 2 if faults else 0
