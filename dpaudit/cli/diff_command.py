"""The command that compares two stored checks, runs or findings."""

from __future__ import annotations

from dpaudit.cli.streams import say, wants_color
from dpaudit.cli.verb import Given
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.project.compare import compare, read_rows
from dpaudit.project.history import PLACE, read_history
from dpaudit.project.rows import Row
from dpaudit.project.settings import find_settings
from dpaudit.project.table import changes_text

__all__ = ["command"]


def command(args: Given) -> int:
    """Show what changed; 1 if something got worse."""
    if len(args.paths) not in (0, 2):
        raise InputError("give OLD and NEW, or neither for the last two checks of this project")
    old, new = map(read_rows, args.paths) if args.paths else _last_two()
    changes = compare(old, new)
    told = "".join(f"{canonical(change)}\n" for change in changes)
    say(told if args.json else changes_text(changes, wants_color(args.color)))
    return 1 if any(change.worse for change in changes) else 0


def _last_two() -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the rows of the last two checks of the project."""
    path = find_settings().parent / PLACE
    checks = read_history(path)
    if len(checks) < 2:
        raise InputError(f"there is one check in {path}: run `dpaudit check` again, or give OLD and NEW")
    return checks[-2].rows, checks[-1].rows
