"""The command line: verbs, what they do, and what they print."""

from __future__ import annotations

from dpaudit.cli.status import main

__all__ = ["main"]
