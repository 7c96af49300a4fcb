"""``dpaudit list``."""

from __future__ import annotations

from dpaudit.cli.options import COLOR, JSON, LEARNERS, TOLD, flag
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "list",
    """
    Lists the learners that were found: id, kind of privacy claimed (pure means delta = 0), parameters with
    their defaults, and what it is. Positive controls, which leak on purpose, are listed with --all.
    """,
    "dpaudit list --all",
    (JSON, TOLD, flag("--all", help="positive controls too (default: without them)"), COLOR, LEARNERS),
)
