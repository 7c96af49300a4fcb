"""``dpaudit help``."""

from __future__ import annotations

import click

from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "help",
    "Shows the help of all, of a command, or of a word: words for all of them.",
    "dpaudit help privacy",
    (click.Argument(["topic"], metavar="[TOPIC]", nargs=-1),),
)
