"""The subject of an audit and its date: its name, the dataset, the libraries, in the words of every format."""

from __future__ import annotations

from datetime import datetime

from msgspec import UNSET

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.evidence.records import Run
from dpaudit.report.numbers import plural
from dpaudit.report.terminal import Lines, said
from dpaudit.report.view import FindingView, Row


def date_words(started: str) -> str:
    """Return when a run was started, as "31 January 2026, 12:00 UTC"; empty where that is not known."""
    if not started:
        return ""
    moment = datetime.fromisoformat(started)
    return f"{moment.day} {moment:%B %Y}, {moment:%H:%M} UTC"


def started_words(run: Run) -> str:
    """Return when a run was started, or that this was not recorded, as of one whose file was copied alone."""
    return date_words(run.started) or "not recorded"


def dataset_words(view: FindingView) -> str:
    """Return the dataset of an audit as "people.csv, 36 rows and 2 columns"; empty where pairs were given."""
    finding = view.finding
    if not isinstance(finding, PrivacyFinding) or finding.dataset is UNSET:
        return ""
    size = finding.dataset
    return f"{view.data or 'the data'}, {plural(size.rows, 'row')} and {plural(size.columns, 'column')}"


def libraries_words(finding: PrivacyFinding) -> str:
    """Return the libraries that a mechanism is made of, with their versions; empty where none is known."""
    if finding.libraries is UNSET:
        return ""
    return ", ".join(f"{name} {version}" for name, version in finding.libraries.items())


def about_view(view: FindingView) -> Lines:
    """Return the lines on the dataset and on the libraries of an audit."""
    libraries = ""
    if isinstance(view.finding, PrivacyFinding):
        libraries = libraries_words(view.finding)
    return said(("data", dataset_words(view)), ("libraries", libraries))


def about_row(row: Row) -> str:
    """Return the audit, the dataset and the libraries of a mechanism in a line; empty where nothing is known."""
    lines = []
    if row.audit:
        lines = [("audit", row.audit)]
    if row.blackbox is not None:
        lines += [(str(label), str(words)) for label, words in about_view(row.view_of(row.blackbox))]
    return "; ".join(f"{label}: {words}" for label, words in lines)
