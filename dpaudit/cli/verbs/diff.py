"""``dpaudit diff``."""

from __future__ import annotations

import click

from dpaudit.cli.options import COLOR, JSON, TOLD
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "diff",
    """
    Compares what is stored at two places and says what got worse, with status 1 if anything did: a graver verdict, a
    weaker claim, a larger epsilon, a leak that would not be caught any more, a mechanism that is not checked any more.
    OLD and NEW are runs (a folder, run.jsonl or report.json), histories (their last check) or findings that were saved;
    without them the last two checks of this project are compared. Bounds that differ by less than a tenth are taken for
    equal.
    """,
    "dpaudit diff reports/before reports/after",
    (click.Argument(["paths"], metavar="[OLD NEW]", nargs=-1), JSON, TOLD, COLOR),
)
