"""The formats of reports: by the suffix of the file that they are written to."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from dpaudit.engine.records import Run
from dpaudit.errors import InputError

__all__ = ["FORMS", "form_of", "rendered"]

FORMS = {
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".sarif": "sarif",
    ".txt": "console",
    ".xml": "junit",
}
"""Suffix of a file -> the module of `dpaudit.reporters` whose ``render(run)`` writes it."""


def form_of(path: str | Path) -> str:
    """Return the format of a file by its suffix; `InputError` if there is none such."""
    form = FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise InputError.of("out", str(path), f"a file that ends in {', '.join(FORMS)}")
    return form


def rendered(run: Run, form: str) -> str:
    """Return a run in a format; that of a single audit is a run of one task."""
    text: str = import_module(f"dpaudit.reporters.{form}").render(run)
    return text
