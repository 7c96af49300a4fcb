"""``dpaudit new``."""

from __future__ import annotations

import click

from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "new",
    """
    Writes NAME.py with a mechanism or a learner, test_NAME.py for pytest, and an entry in audit.toml (or in the
    pyproject.toml that has the audits). It claims epsilon 1 and adds the noise for 2: its audit and its test fail until
    you mend it. Nothing is overwritten.
    """,
    "dpaudit new mechanism noisy_mean",
    (
        click.Argument(["kind"], metavar="mechanism|learner", type=click.Choice(["mechanism", "learner"])),
        click.Argument(["name"], metavar="NAME"),
    ),
)
