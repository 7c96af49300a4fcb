"""``dpaudit completion``."""

from __future__ import annotations

import click

from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "completion",
    "Prints what a shell has to read so that it completes commands and options.",
    'eval "$(dpaudit completion bash)"',
    (click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])),),
)
