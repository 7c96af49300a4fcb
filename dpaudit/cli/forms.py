"""The formats of reports, by the suffix of their file."""

from __future__ import annotations

__all__ = ["FORMS", "SUFFIXES"]

FORMS = {
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".sarif": "sarif",
    ".txt": "overview",
    ".xml": "junit",
}
"""Suffix -> the module of `dpaudit.reporters` whose ``render(run)`` writes it."""
SUFFIXES = ", ".join(FORMS)
