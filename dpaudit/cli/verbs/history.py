"""``dpaudit history``."""

from __future__ import annotations

from dpaudit.cli.options import JSON, TOLD, option
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "history",
    "Lists the checks of a project, the latest first: when, and how many claims had which verdict.",
    "dpaudit history",
    (
        option("--config", metavar="FILE", help="the settings (default: audit.toml or pyproject.toml, here or above)"),
        JSON,
        TOLD,
    ),
)
