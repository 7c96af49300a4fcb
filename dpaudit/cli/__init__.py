"""The command line: commands, what they do, and what they print."""

from __future__ import annotations

from dpaudit.cli.app import main

__all__ = ["main"]
