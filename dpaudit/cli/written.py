"""Reports of a verb's results in files, in the format of the suffix."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from dpaudit.engine.files import keep_foreign, write_atomically
from dpaudit.engine.records import Planned, Result, Run
from dpaudit.engine.store import make_header
from dpaudit.errors import InputError

__all__ = ["check_suffix", "form_of", "rendered", "run_of", "write_report"]

FORMS = {
    ".html": "html",
    ".json": "json",
    ".txt": "console",
}
"""Suffix of a file -> the module of `dpaudit.reporters` whose ``render(run)`` writes it."""


def form_of(path: str) -> str:
    """Return the format of a file by its suffix; `InputError` if there is none such."""
    form = FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise InputError.of("out", path, f"a file that ends in {', '.join(FORMS)}")
    return form


def check_suffix(path: str | None) -> None:
    """Refuse a file of an unknown format, or in a folder that is not there, before anything runs."""
    if path is None:
        return
    form_of(path)
    if not Path(path).parent.is_dir():
        raise InputError.of("out", path, "a file in a folder that exists")


def run_of(results: Sequence[Result], seed: int, command: str) -> Run:
    """Return results of one command as a run."""
    plan = [Planned(result.task, result.learner, result.kind) for result in results]
    controls = {result.learner: result.fault for result in results if result.fault is not None}
    return Run(make_header(plan, seed=seed, profile="single", command=command, controls=controls), tuple(results))


def rendered(run: Run, form: str) -> str:
    """Return a run in a format."""
    text: str = import_module(f"dpaudit.reporters.{form}").render(run)
    return text


def write_report(run: Run, path: str) -> None:
    """Write a run to a file; one that dpaudit did not write is kept beside it."""
    text = rendered(run, form_of(path))
    keep_foreign(Path(path))
    write_atomically(Path(path), text.encode())
