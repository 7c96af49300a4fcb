"""The command that compares two stored checks, runs or findings."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.text_output import check_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.project.history import PLACE, Change, Standing, compare, read_history, read_standings
from dpaudit.project.settings import find_settings
from dpaudit.project.table import CHANGES, change_cells, changes_text
from dpaudit.report.numbers import plural
from dpaudit.report.plain import Plain

__all__ = ["command"]


def command(args: Given) -> int:
    """Show what changed; 1 if something got worse."""
    check_plain(args.out)
    if len(args.paths) not in (0, 2):
        raise InputError("give OLD and NEW, or neither for the last two checks of this project")
    old, new = map(read_standings, args.paths) if args.paths else _last_two()
    changes = compare(old, new)
    told = "".join(f"{canonical(change)}\n" for change in changes)
    text = changes_text(changes, wants_color(args.color), width_of(output()))
    say(told if args.json else text)
    write_plain(args.out, lambda: _plain(changes, told))
    return 1 if any(change.worse for change in changes) else 0


def _plain(changes: Sequence[Change], told: str) -> Plain:
    """Return the changes as they are written."""
    cells = [change_cells(change) for change in changes]
    worse = sum(bool(change.worse) for change in changes)
    answer = [("WORSE" if worse else "NOT WORSE", f"{plural(len(changes), 'change')}, {worse} for the worse")]
    heads = ["", *(column.text for column in CHANGES[1:])]
    return Plain("dpaudit: what changed", told, changes_text(changes), answer, heads, cells)


def _last_two() -> tuple[tuple[Standing, ...], tuple[Standing, ...]]:
    """Return the rows of the last two checks of the project."""
    path = find_settings().parent / PLACE
    checks = read_history(path)
    if len(checks) < 2:
        raise InputError(f"there is one check in {path}: run `dpaudit check` again, or give OLD and NEW")
    return checks[-2].rows, checks[-1].rows
