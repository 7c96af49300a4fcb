"""The command line: grammar, commands, and what they print."""

from __future__ import annotations

from dpaudit.cli.grammar import build_parser
from dpaudit.cli.status import main

__all__ = ["build_parser", "main"]
