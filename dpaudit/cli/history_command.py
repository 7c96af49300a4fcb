"""The command that lists the checks of a project."""

from __future__ import annotations

from pathlib import Path

from dpaudit.cli.streams import say
from dpaudit.cli.verb import Given
from dpaudit.engine.tasks import canonical
from dpaudit.project.history import PLACE, read_history
from dpaudit.project.settings import find_settings
from dpaudit.project.table import history_text
from dpaudit.record import encodable

__all__ = ["command"]


def command(args: Given) -> int:
    """List the checks, the latest first."""
    root = find_settings().parent if args.config is None else Path(args.config).resolve().parent
    checks = read_history(root / PLACE)
    say("".join(f"{canonical(encodable(one))}\n" for one in checks) if args.json else history_text(checks))
    return 0
