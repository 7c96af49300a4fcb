"""``dpaudit verify``."""

from __future__ import annotations

import click

from dpaudit.cli.options import COLOR, JSON, LEARNERS, QUIET, TOLD, jobs, option, whole
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "verify",
    """
    Checks that nothing in a stored run was changed since it was made: the digest of every line, the total of the seal,
    types, and sense (a verdict agrees with its bound and its claim, counts with runs). --total compares with a total
    that was published elsewhere, and --again does some tasks, chosen at random, once more.
    The status is 0 for a sealed run in which all is right, 2 if anything is not, 3 for a run that is not sealed.
    """,
    "dpaudit verify reports/latest --again 3",
    (
        click.Argument(["path"], metavar="DIR"),
        option("--again", type=whole, metavar="K", help="do K tasks again (default: none)"),
        option("--total", metavar="T", help="the total that the run must have (default: any)"),
        jobs("processes for each task that is done again", 1),
        JSON,
        TOLD,
        QUIET,
        COLOR,
        LEARNERS,
    ),
)
