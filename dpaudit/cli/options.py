"""The options that verbs share, and the values that they read."""

from __future__ import annotations

from typing import Any

import click

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
    "flag",
    "identity",
    "jobs",
    "limits",
    "option",
    "statistics",
    "whole",
]

CONFIDENCE = 0.999
"""The default of `dpaudit.arguments`, which help does not load."""


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
    told = f"{what}; -1 for one a processor; no result depends on it (default: {default})"
    return option("--jobs", "n_jobs", metavar="JOBS", type=_processes, default=default, help=told)


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


def limits(*wanted: str, audit: str = "the audit") -> tuple[click.Option, ...]:
    """Return the options on the time of runs and of audits: all, or some by the names of what they set."""
    found = (
        option(
            "--timeout",
            type=float,
            metavar="SECONDS",
            help="of a run, which is then made in a process of its own: one that takes longer is ended, and is an "
            "output of its own kind (default: none)",
        ),
        option(
            "--timeout-is",
            default="output",
            metavar="WORD",
            help="output; error, where a run that takes longer is a fault (default: output)",
        ),
        option(
            "--time-limit",
            type=float,
            metavar="SECONDS",
            help=f"of {audit}, about: it then makes fewer runs, and stops at looks fixed in advance (default: none)",
        ),
    )
    return tuple(one for one in found if not wanted or one.name in wanted)


def statistics(trials: int | None, what: str, of: str, processes: click.Option) -> tuple[click.Option, ...]:
    """Return the options that the verbs share that run learners."""
    told = str(trials or "the profile's")
    return (
        option("--trials", type=whole, metavar="N", default=trials, help=f"{what} (default: {told})"),
        option("--confidence", type=float, default=CONFIDENCE, help=f"{of} (default: {CONFIDENCE})"),
        option("--seed", type=whole, metavar="N", default=0, help="root of all randomness (default: 0)"),
        processes,
    )
