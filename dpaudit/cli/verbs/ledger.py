"""``dpaudit ledger``."""

from __future__ import annotations

import click

from dpaudit.cli.options import COLOR, JSON, LEARNERS, OUT, QUIET, flag, jobs
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "ledger",
    """
    Checks the statements of the papers (default: all) by computation and shows a verdict with its evidence: a statement
    holds, is loose (true, but its constant is far from the truth), is refuted (with a witness) or stays undecided. A
    refuted statement is an error of a paper and no violation: the status is 0 if every check ran.
    """,
    "dpaudit ledger --refuted",
    (
        click.Argument(["ids"], metavar="[ID]...", nargs=-1),
        flag("--refuted", help="show the refuted ones only (default: all checked)"),
        JSON,
        OUT,
        QUIET,
        COLOR,
        jobs("checks at a time", -1),
        LEARNERS,
    ),
)
