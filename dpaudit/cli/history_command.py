"""The command that lists the checks of a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.text_output import check_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.project.history import PLACE, Check, read_history
from dpaudit.project.settings import find_settings
from dpaudit.project.table import history_cells, history_text
from dpaudit.record import encodable
from dpaudit.report.numbers import plural
from dpaudit.report.plain import Plain

__all__ = ["command"]


def command(args: Given) -> int:
    """List the checks, the latest first."""
    check_plain(args.out)
    if args.config is not None and not Path(args.config).is_file():
        raise InputError.of("config", args.config, "a file that is there")
    root = find_settings().parent if args.config is None else Path(args.config).resolve().parent
    checks = read_history(root / PLACE)
    told = "".join(f"{canonical(encodable(one))}\n" for one in checks)
    say(told if args.json else history_text(checks, wants_color("auto"), width_of(output())))
    write_plain(args.out, lambda: _plain(checks, told))
    return 0


def _plain(checks: Sequence[Check], told: str) -> Plain:
    """Return the checks as they are written."""
    columns, rows = history_cells(checks)
    heads = [column.text for column in columns]
    answer = [("HISTORY", f"{plural(len(checks), 'check')}, the latest first")]
    return Plain("dpaudit: the checks of a project", told, history_text(checks), answer, heads, rows)
