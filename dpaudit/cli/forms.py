"""The formats of reports, by the suffix of their file."""

from __future__ import annotations

__all__ = ["FORMS", "PLAIN", "SUFFIXES"]

FORMS = {
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".sarif": "sarif",
    ".txt": "overview",
    ".xml": "junit",
}
"""Suffix -> the module of `dpaudit.report` whose ``render(run)`` writes it."""
SUFFIXES = ", ".join(FORMS)
PLAIN = (".html", ".json", ".md", ".txt", ".xml")
"""Suffixes of what `dpaudit.report.plain` writes, which help does not load."""
