"""The command that prints what completes commands and options in a shell."""

from __future__ import annotations

from click.shell_completion import get_completion_class

from dpaudit.cli.app import app
from dpaudit.cli.status import COMPLETION
from dpaudit.cli.streams import say
from dpaudit.cli.verb import Given

__all__ = ["command"]


def command(args: Given) -> int:
    """Print the script of a shell."""
    kind = get_completion_class(args.shell)
    assert kind is not None
    shell = kind(app, {}, "dpaudit", COMPLETION)
    say(shell.source_template % shell.source_vars() + "\n")
    return 0
