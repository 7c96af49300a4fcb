"""``dpaudit sample-complexity``."""

from __future__ import annotations

import click

from dpaudit.cli.options import jobs, option, whole
from dpaudit.cli.verb import Verb
from dpaudit.cli.verbs.scaling import LEVELS, SHOWN, learner

__all__ = ["command"]

command = Verb(
    "sample-complexity",
    """
    Measures n*, the examples from which on the learner's error exceeds alpha with probability at most beta, for the
    worst concept and distribution that a search finds: hard cases, linear programs that make many rivals of a concept
    just bad, and climbing from the best of them. Fresh randomness or an exact sum decides. Status 1 if the learner
    fails at an n for which its theorem promises that it does not.
    """,
    "dpaudit sample-complexity parity-private -p dimension=3 -p epsilon=1 --alpha 0.1 --beta 0.6",
    (
        click.Argument(["id"], metavar="ID"),
        *learner("the learner's example"),
        *LEVELS,
        option("--starts", type=whole, metavar="N", default=3, help="proposals from which to climb (default: 3)"),
        option("--moves", type=whole, metavar="N", default=100, help="moves of each climb (default: 100)"),
        option("--draws", type=whole, metavar="N", default=4000, help="the most samples at one n (default: 4000)"),
        jobs("climbs at a time", -1),
        *SHOWN,
    ),
)
