"""``dpaudit ledger``."""

from __future__ import annotations

import click

from dpaudit.cli.options import COLOR, JSON, LEARNERS, OUT, QUIET, flag, jobs, option
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "ledger",
    """
    Checks the statements of the papers (default: all) by computation and shows a verdict with its evidence: a statement
    holds, is loose (true, but its constant is far from the truth), is refuted (with a witness) or stays undecided. A
    refuted statement is an error of a paper and no violation: the status is 0 if every check ran, 3 if --time-limit
    stopped one.
    """,
    "dpaudit ledger --refuted",
    (
        click.Argument(["ids"], metavar="[ID]...", nargs=-1),
        flag("--refuted", help="show the refuted ones only (default: all checked)"),
        option(
            "--witness",
            metavar="ID",
            help="write one statement with its witness as JSON: learners, samples, outputs (default: the table)",
        ),
        option(
            "--time-limit",
            type=float,
            metavar="SECONDS",
            help="stop a check after so long; its statement is undecided (default: none)",
        ),
        JSON,
        OUT,
        QUIET,
        COLOR,
        jobs("checks at a time", -1),
        LEARNERS,
    ),
)
