"""``dpaudit run``."""

from __future__ import annotations

import click

from dpaudit.cli.options import (
    ALLOWANCE,
    COLOR,
    JSON,
    LEARNERS,
    QUIET,
    VERBOSE,
    declared,
    flag,
    jobs,
    option,
    statistics,
)
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "run",
    """
    Audits the learners given (default: all, with the positive controls) on their examples: exactly, by running them,
    and for utility. Without ids it checks the statements of the papers too. Writes DIR/run.jsonl, DIR/report.json and
    DIR/report.html and prints a summary. Every result is stored as it comes: after a kill, the same command with
    --resume goes on and ends with the same bytes. In the end run.jsonl is sealed: `dpaudit verify DIR` says whether
    anything in it was changed since. Without --resume a run starts afresh and keeps the old run.jsonl as
    run.jsonl.bak. A positive control that no audit detects counts as a violation: it shows that the audits are blind to
    its leak.
    """,
    "dpaudit run parity-private --profile quick --out reports/parity",
    (
        click.Argument(["ids"], metavar="[ID]...", nargs=-1),
        option(
            "--profile",
            type=click.Choice(["quick", "default", "full"]),
            default="default",
            help="how much work: seconds, minutes, hours (default: default)",
        ),
        option("--out", metavar="DIR", default="reports/latest", help="where to (default: reports/latest)"),
        flag("--resume", help="go on with the run in DIR (default: start afresh)"),
        *declared("timeout", "time_limit"),
        *statistics(None, "runs a side in the black-box audits", "of each finding", jobs("audits at a time", -1)),
        option(
            "--backend",
            type=click.Choice(["loky", "threading", "sequential"]),
            default="loky",
            help="how joblib spreads them (default: loky)",
        ),
        option("--html/--no-html", default=True, help="write report.html (default: --html)"),
        JSON,
        VERBOSE,
        QUIET,
        COLOR,
        ALLOWANCE,
        LEARNERS,
    ),
)
