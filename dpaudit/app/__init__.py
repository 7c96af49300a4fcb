"""The application: the command line, and the audits of a project that stand in a file."""

from __future__ import annotations

from dpaudit.app.application import main

__all__ = ["main"]
