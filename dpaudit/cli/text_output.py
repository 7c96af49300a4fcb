"""Shows the finding of a verb, which is no report of an audit, and writes it to the file that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.cli.forms import PLAIN
from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.engine.files import keep_foreign, write_atomically
from dpaudit.errors import InputError
from dpaudit.report.terminal import Lines, aligned, laid_out

if TYPE_CHECKING:
    from dpaudit.report.plain import Plain

__all__ = ["check_plain", "show_plain", "write_plain"]


def check_plain(path: str | None, *more: str) -> None:
    """Refuse a file of an unknown format, or in a folder that is not there, before anything runs.

    Parameters
    ----------
    path : str, optional
        The file.
    *more : str
        Suffixes of an audit: that of its test case, and that of its figure.
    """
    if path is None:
        return
    forms = (*PLAIN, *more)
    if Path(path).suffix.lower() not in forms:
        raise InputError.of("out", path, f"a file that ends in {', '.join(forms)}")
    if not Path(path).parent.is_dir():
        raise InputError.of("out", path, "a file in a folder that exists")


def show_plain(args: Given, told: str, brief: Lines, page: Lines | None = None) -> None:
    """Print a finding: as JSON if that was asked for, or in a few lines, with ``-v`` all of it after them."""
    if args.json:
        say(told)
        return
    say(laid_out(brief, width_of(output()), wants_color(args.color)))
    if page and args.verbose:
        say("\n" + aligned(page))


def write_plain(path: str | None, shown: Callable[[], Plain]) -> None:
    """Write what is shown to a file, if one was asked for; a file that dpaudit did not write is kept beside it."""
    if path is None:
        return
    from dpaudit.report.plain import rendered  # loads what reports are made with

    place = Path(path)
    keep_foreign(place)
    write_atomically(place, rendered(shown(), place.suffix.lower()))
