"""The options that verbs share, and the values that they read."""

from __future__ import annotations

from typing import Any

import click

from dpaudit.audit.options import JOBS, OPTIONS, SEED, Option
from dpaudit.cli.forms import PLAIN, SUFFIXES

__all__ = [
    "ALLOWANCE",
    "COLOR",
    "JSON",
    "LEARNERS",
    "OUT",
    "PARAMETER",
    "QUIET",
    "RESULT",
    "TOLD",
    "VERBOSE",
    "declared",
    "flag",
    "identity",
    "jobs",
    "of_declaration",
    "option",
    "statistics",
    "whole",
]

def whole(text: str | int) -> int:
    """Read a whole number, also one written as 1e5."""
    for read in (int, float):
        try:
            number = read(text)
            if number == number // 1:
                return int(number)
        except (ValueError, OverflowError):
            continue
    raise click.BadParameter(f"must be a whole number, such as 20000 or 1e5; got {text!r}")


def _processes(text: str | int) -> int:
    if (number := whole(text)) == 0:
        raise click.BadParameter("must be a positive number of processes, or -1 for one a processor; got 0")
    return number


def option(*names: str, **settings: Any) -> click.Option:
    """Return an option: its names as they are typed, and, if it sets a parameter of another name, that one."""
    return click.Option(list(names), **settings)


def flag(*names: str, help: str) -> click.Option:
    """Return an option without a value."""
    return option(*names, is_flag=True, help=help)


def jobs(what: str, default: int) -> click.Option:
    """Return the number of processes."""
    told = f"{what}; {JOBS.help.partition('; ')[2]}"
    return of_declaration(JOBS, "--jobs", JOBS.name, type=_processes, default=default, usual=str(default), help=told)


JSON = flag("--json", help="JSON instead of text (default: text)")
VERBOSE = flag("-v", "--verbose", help="show how it was measured too: pairs, events, budget (default: the verdict)")
QUIET = flag("--quiet", help="no progress on stderr (default: progress where it takes over two seconds)")
COLOR = option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="colour the verdict (default: auto, on a terminal unless NO_COLOR is set)",
)
ALLOWANCE = flag(
    "--allow-no-evidence", help="end with status 0 where there is no evidence, or a case is undecided (default: with 3)"
)
LEARNERS = option(
    "--learners",
    metavar="PATH",
    multiple=True,
    help="look for learners in this .py file or folder too; repeatable (default: installed ones only)",
)
OUT = option(
    "--out",
    metavar="FILE",
    help=f"write a report too, in the format of its suffix: {SUFFIXES} (default: none)",
)
TOLD = option(
    "--out",
    metavar="FILE",
    help=f"write what is shown too, in the format of its suffix: {', '.join(PLAIN)} (default: none)",
)
RESULT = (JSON, OUT, VERBOSE, QUIET, COLOR, ALLOWANCE, LEARNERS)
"""The options of the single audits on what they show."""


PARAMETER = option(
    "-p",
    "--parameter",
    metavar="NAME=VALUE",
    multiple=True,
    help="a parameter of the learner; repeatable (default: those of the learner's example, with a note)",
)


def identity(n: str = "the example's") -> tuple[click.Parameter, ...]:
    """Return what says which learner is audited, and on how many examples."""
    return (
        click.Argument(["id"], metavar="ID"),
        PARAMETER,
        option("--n", type=whole, metavar="N", help=f"examples in a sample (default: {n})"),
    )


def declared(*names: str, **changes: Any) -> tuple[click.Option, ...]:
    """Return options of a black-box audit: all but the numbers of runs, the level and n, or some by their names.

    Parameters
    ----------
    *names : str
        The names.
    **changes : object
        Settings of `click.Option` that differ from the declaration.
    """
    wanted = names or [name for name in OPTIONS if name not in ("n", "trials", "confidence")]
    return tuple(of_declaration(OPTIONS[name], **changes) for name in wanted)


def of_declaration(one: Option, *names: str, usual: str = "", **changes: Any) -> click.Option:
    """Return a declared option, with its default in words, under other names if given."""
    told = f"{changes.pop('help', one.help)} (default: {usual or one.usual})"
    names = names or (f"--{one.name.replace('_', '-')}",)
    if one.kind is bool:
        return flag(*names, help=told)
    settings = {"type": whole if one.kind is int else one.kind, "default": one.default, "metavar": one.metavar}
    return option(*names, help=told, **settings | changes)


def statistics(trials: int | None, what: str, of: str, processes: click.Option) -> tuple[click.Option, ...]:
    """Return the options that the verbs share that run learners."""
    return (
        *declared("trials", default=trials, help=what, usual=str(trials or "the profile's")),
        *declared("confidence", help=of),
        of_declaration(SEED),
        processes,
    )
