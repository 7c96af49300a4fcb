"""Reports of a verb's results in files, in the format of the suffix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from dpaudit.cli.forms import FORMS, SUFFIXES
from dpaudit.engine.files import keep_foreign, write_atomically
from dpaudit.engine.records import Fault, Header, Listed, Planned, Result, Run
from dpaudit.errors import InputError
from dpaudit.report.html_one import render_finding

__all__ = ["check_suffix", "rendered", "run_of", "suffix_of", "write_report", "write_results"]


def suffix_of(path: str) -> str:
    """Return the suffix of a file without its dot; `InputError` if there is no format of that name."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise InputError.of("out", path, f"a file that ends in {SUFFIXES}")
    return suffix[1:]


def check_suffix(path: str | None) -> None:
    """Refuse a file of an unknown format, or in a folder that is not there, before anything runs."""
    if path is None:
        return
    suffix_of(path)
    if not Path(path).parent.is_dir():
        raise InputError.of("out", path, "a file in a folder that exists")


def run_of(
    results: Sequence[Result],
    seed: int,
    command: str,
    faults: Sequence[Fault] = (),
    listed: Mapping[str, Listed] | None = None,
) -> Run:
    """Return results of one command as a run: with the audits that raised, and those that a project lists."""
    plan = tuple(Planned(result.task, result.learner, result.kind) for result in results)
    controls = {result.learner: result.fault for result in results if result.fault is not None}
    header = Header(
        plan=plan, seed=seed, profile="single", command=command, controls=controls, faults=tuple(faults)
    )
    return Run(header, tuple(results), listed=dict(listed or {}))


def rendered(run: Run, suffix: str) -> str:
    """Return a run in the format of a suffix."""
    module, name = FORMS[f".{suffix}"]
    text: str = getattr(import_module(f"dpaudit.report.{module}"), name)(run)
    return text


def write_results(results: Sequence[Result], seed: int, command: str, path: str) -> None:
    """Write the results of one mechanism to a file: as a page of its own, or as a run in any other format."""
    if suffix_of(path) == "html":
        _write(render_finding(results, command), path)
    else:
        write_report(run_of(results, seed, command), path)


def write_report(run: Run, path: str) -> None:
    """Write a run to a file."""
    _write(rendered(run, suffix_of(path)), path)


def _write(text: str, path: str) -> None:
    """Write a text to a file; one that dpaudit did not write is kept beside it."""
    keep_foreign(Path(path))
    write_atomically(Path(path), text.encode())
