"""``dpaudit report``."""

from __future__ import annotations

import click

from dpaudit.cli.forms import FORMS
from dpaudit.cli.options import ALLOWANCE, COLOR, JSON, VERBOSE, option
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "report",
    """
    Renders stored results as text, JSON or HTML without running anything. The exit status is that of the stored
    results.
    """,
    "dpaudit report reports/latest --out report.html",
    (
        click.Argument(["path"], metavar="PATH"),
        option(
            "--format",
            type=click.Choice(["console", *(suffix[1:] for suffix in FORMS)]),
            help="what to render (default: what the suffix of --out says, else console)",
        ),
        option("--out", metavar="FILE", help="where to (default: standard output)"),
        JSON,
        VERBOSE,
        COLOR,
        ALLOWANCE,
    ),
)
