"""The formats of reports, by the suffix of their file."""

from __future__ import annotations

__all__ = ["FORMS", "PLAIN", "SUFFIXES"]

FORMS = {
    ".html": ("html", "render"),
    ".json": ("json", "render"),
    ".md": ("markdown", "render"),
    ".sarif": ("ci", "sarif"),
    ".txt": ("console", "render"),
    ".xml": ("ci", "junit"),
}
"""Suffix -> the module of `dpaudit.report` and its function that writes a run."""
SUFFIXES = ", ".join(FORMS)
PLAIN = (".html", ".json", ".md", ".txt")
"""Suffixes of what `dpaudit.report.plain` writes, which help does not load; ``.xml`` and ``.svg`` for audits alone."""
