"""The options that commands share, the values that they read, and the option that sets a parameter."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from dpaudit.errors import in_python

__all__ = [
    "add_allowance",
    "add_jobs",
    "add_learners",
    "add_single",
    "add_statistics",
    "in_options",
    "option_words",
    "whole",
]


CONFIDENCE = 0.999
"""That of `dpaudit.arguments`, which help does not load."""


def option_words(parser: argparse.ArgumentParser, name: str, value: object = None) -> list[str]:
    """Return the option of a command that sets a parameter, and its value, as they are typed; none if there is none."""
    for action in parser._actions:
        if action.dest == name and action.option_strings:
            return [action.option_strings[0], *([] if value is None or action.nargs == 0 else [str(value)])]
    return []


def in_options(parser: argparse.ArgumentParser) -> Callable[[str, str | None], str]:
    """Return the function by which an `InputError` speaks of a command's options; see `InputError.told`."""
    return lambda name, value: " ".join(option_words(parser, name, value)) or in_python(name, value)


def whole(text: str) -> int:
    """Read a whole number, also one written as 1e5."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
        if number.is_integer():
            return int(number)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")


def _jobs(text: str) -> int:
    if (jobs := int(text)) == 0:
        raise argparse.ArgumentTypeError("must be a positive number of processes, or -1 for one a processor")
    return jobs


def add_jobs(parser: argparse.ArgumentParser, what: str, default: int) -> None:
    """Add the number of processes."""
    parser.add_argument(
        "--jobs",
        dest="n_jobs",
        metavar="JOBS",
        type=_jobs,
        default=default,
        help=f"{what}; -1 for one a processor; no result depends on it (default: %(default)s)",
    )


def add_allowance(parser: argparse.ArgumentParser) -> None:
    """Add the option by which what is open is no fault."""
    parser.add_argument(
        "--allow-no-evidence",
        action="store_true",
        help="end with status 0 where there is no evidence, or a case is undecided (default: with 3)",
    )


def add_learners(parser: argparse.ArgumentParser) -> None:
    """Add the places where learners are found."""
    parser.add_argument(
        "--learners",
        metavar="PATH",
        action="append",
        default=[],
        help="look for learners in this .py file or folder too; repeatable (default: installed ones only)",
    )


def add_single(
    parser: argparse.ArgumentParser,
    n: str = "the example's",
    what: str = "the learner, as `dpaudit list` shows it",
) -> None:
    """Add what the three single audits share."""
    parser.add_argument("id", metavar="ID", help=what)
    parser.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the learner; repeatable (default: those of the learner's example, with a note)",
    )
    parser.add_argument("--n", type=int, help=f"examples in a sample (default: {n})")
    parser.add_argument("--json", action="store_true", help="one JSON object a finding (default: text)")
    add_allowance(parser)
    add_learners(parser)


def add_statistics(
    parser: argparse.ArgumentParser,
    trials: int | None,
    what: str,
    of: str,
    jobs: tuple[str, int],
) -> None:
    """Add what the commands that run learners share."""
    told = "%(default)s" if trials else "the profile's"
    parser.add_argument("--trials", type=whole, default=trials, help=f"{what} (default: {told})")
    parser.add_argument("--confidence", type=float, default=CONFIDENCE, help=f"{of} (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="root of all randomness (default: %(default)s)")
    add_jobs(parser, *jobs)
