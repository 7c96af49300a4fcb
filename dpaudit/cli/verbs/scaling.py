"""``dpaudit scaling``, and the options that it shares with ``dpaudit sample-complexity``."""

from __future__ import annotations

import click

from dpaudit.cli.forms import PLAIN
from dpaudit.cli.options import ALLOWANCE, COLOR, JSON, LEARNERS, QUIET, VERBOSE, option, whole
from dpaudit.cli.verb import Verb

__all__ = ["LEVELS", "SHOWN", "command", "learner"]

LEVELS = (
    option("--alpha", type=float, help="error that is accepted (default: the example's)"),
    option("--beta", type=float, help="rate of failure that is accepted (default: the example's)"),
    option("--setting", metavar="NAME", help="what the error is, and what is random (default: the theorem's)"),
)
SHOWN = (
    option("--confidence", type=float, default=0.95, help="of the interval or the limits (default: 0.95)"),
    option("--seed", type=whole, metavar="N", default=0, help="root of all randomness (default: 0)"),
    option(
        "--out",
        metavar="FILE",
        help=f"write the finding too, in the format of its suffix: {', '.join(PLAIN)}, .xml, or .svg, its figure "
        "(default: none)",
    ),
    JSON,
    VERBOSE,
    QUIET,
    COLOR,
    ALLOWANCE,
    LEARNERS,
)


def learner(default: str) -> tuple[click.Option, ...]:
    """Return the option for the learner's parameters."""
    told = f"a parameter of the learner; repeatable (default: those of {default}, with a note)"
    return (option("-p", "--parameter", metavar="NAME=VALUE", multiple=True, help=told),)


command = Verb(
    "scaling",
    """
    Measures how a learner's sample complexity n* grows with a parameter, and compares it with the theorem's n: the raw
    exponent, and, what decides, the slope of ln(n*/theorem) in the upper half of the values. VALUES are at least six
    increasing numbers with commas; a^b is a power, as in 2^64. Status 1 if n* clearly outgrows the theorem.
    """,
    "dpaudit scaling parity-private dimension 1,3,8,16,32,48,63 -p epsilon=1 --alpha 0.1 --beta 0.6",
    (
        click.Argument(["id"], metavar="ID"),
        click.Argument(["varied"], metavar="PARAMETER"),
        click.Argument(["values"], metavar="VALUES"),
        *learner("the learner's example"),
        *LEVELS,
        *SHOWN,
    ),
)
