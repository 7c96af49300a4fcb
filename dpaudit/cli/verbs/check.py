"""``dpaudit check``."""

from __future__ import annotations

import click

from dpaudit.cli.options import ALLOWANCE, COLOR, JSON, OUT, QUIET, declared, flag, jobs, option
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "check",
    """
    Audits every mechanism of a project and shows one table. The audits are tables [[audit]] in audit.toml, or
    [[tool.dpaudit.audit]] in pyproject.toml, of this folder or one above it, with name, mechanism (FILE.py:function, a
    module or a learner's id), epsilon, pairs (default: the PAIRS beside the function) or data with bounds and unit, and
    what else `dpaudit privacy` takes. A violation that you live with has
    accepted = { reason = "...", date = 2026-01-31, epsilon = 2 } and is told, without the status 1, up to that epsilon.
    Whole checks are kept in .dpaudit/history.jsonl: dpaudit history, dpaudit diff.
    """,
    "dpaudit check",
    (
        click.Argument(["names"], metavar="[NAME]...", nargs=-1),
        option("--config", metavar="FILE", help="the settings (default: audit.toml or pyproject.toml, here or above)"),
        flag("--dry-run", help="run each mechanism a few times and estimate how long the audits take (default: audit)"),
        *declared("timeout", "time_limit"),
        JSON,
        OUT,
        QUIET,
        COLOR,
        jobs("processes of an audit", 1),
        ALLOWANCE,
    ),
)
