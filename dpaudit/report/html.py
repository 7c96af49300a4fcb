"""Reports as one HTML page: of a run with a figure and a table of all mechanisms, or of the audits of one mechanism.

Nothing is loaded from elsewhere, and nothing needs the few lines of script: they sort and filter the table.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dpaudit.contract import Verdict
from dpaudit.engine.records import LedgerRow, Result, Run
from dpaudit.escaping import harmless
from dpaudit.report import sentences
from dpaudit.report.columns import COLUMNS, PRIVACY, Column, numbers_of
from dpaudit.report.figures import aside, claim_bar, claim_row, claims_axis, grid, power_figure
from dpaudit.report.numbers import count, percent, raised
from dpaudit.report.part import part
from dpaudit.report.repeat import repeat_command
from dpaudit.report.summary import Summary, shown_of, summarise
from dpaudit.report.view import Mechanism, Row, row_of

if TYPE_CHECKING:
    import jinja2

__all__ = ["calibration_words", "filled", "render", "render_finding"]

_MOST = 12
"""The most mechanisms, or controls, that get a line each; more are folded together."""
_LARGEST = 1e99
"""Sorts infinity, which no number in a page can be, behind everything."""
_VERDICTS = (
    ("bad", "violation"),
    ("none", "no evidence"),
    ("ok", "consistent"),
    ("nc", "no claim"),
    ("caught", "caught"),
)
_ACCURACY = {
    Verdict.VIOLATION: "broken",
    Verdict.NOT_CHECKED: "not run",
    Verdict.INCOMPLETE: "not finished",
}
"""The verdict on accuracy, where its word would not say so."""
_LEDGERS = {
    Verdict.REFUTED: "Refuted, with a witness",
    Verdict.UNDECIDED: "Undecided",
    Verdict.LOOSE: "True, but loose",
    Verdict.HOLDS: "Holding",
}


def render(run: Run) -> str:
    """Return the report of a run as one self-contained HTML page; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    summary = summarise(run)
    learners, missed, rest = shown_of(summary)
    few = rest if len(rest) <= _MOST else []
    parts = {m.id: part(m, _command(m.tested, run)) for m in (*missed, *learners, *few)}
    audits = [row.blackbox for row in (*summary.learners, *summary.controls)]
    confidences = {finding.confidence for finding in audits if finding is not None}
    page = {
        "answer": sentences.headline(summary),
        "counts": sentences.counts(summary),
        "contents": _contents(summary),
        "grid": grid(),
        "axis": claims_axis(),
        "rows": [{"mechanism": m, "svg": claim_row(m), "aside": aside(m)} for m in (*missed, *learners)],
        "control_rows": [{"mechanism": m, "svg": claim_row(m), "aside": aside(m)} for m in few],
        "confidence": " or ".join(map(percent, sorted(confidences))) or "not",
        "verdicts": _VERDICTS,
        "columns": COLUMNS,
        "lines": [_line(m, COLUMNS) for m in (*missed, *learners, *few)],
        "open": [parts[m.id] for m in (*missed, *learners) if m.needs_look],
        "calm": [parts[m.id] for m in learners if not m.needs_look],
        "most": _MOST,
        "any_controls": bool(summary.controls),
        "controls": [parts[m.id] for m in few],
        "control_columns": PRIVACY,
        "control_lines": [] if few else [_line(m, PRIVACY) for m in rest],
        "calibration": calibration_words(),
        "ledgers": _ledgers(summary.ledger),
        "pending": [key + (f": {summary.errors[key]}" if key in summary.errors else "") for key in summary.pending],
        "faults": [f"{fault.learner}: {fault.error}" for fault in summary.faults],
        "words": sentences.WORDS,
        "command": run.header.command,
        "remake": _remake(run),
    }
    return filled("run.html.j2", page)


def _contents(summary: Summary) -> list[tuple[str, str]]:
    """Return the anchors and names of the sections."""
    found = [("figure", "All claims"), ("table", "Table"), ("each", "Each mechanism"), ("controls", "Controls")]
    found += [("ledger", "Ledger of papers")] if summary.ledger else []
    found += [("pending", "Without a result")] if summary.pending or summary.faults else []
    return [*found, ("words", "Words"), ("again", "Repeat")]


def _line(mechanism: Mechanism, columns: Sequence[Column]) -> dict[str, Any]:
    """Return a mechanism's line in a table; each cell is a text and the number that it is sorted by."""

    def key(value: float | None) -> float:
        return -1 if value is None else value if math.isfinite(value) else _LARGEST

    numbers = numbers_of(mechanism)
    return {
        "mechanism": mechanism,
        "cells": [(raised(column.text(numbers)), key(numbers[column.name])) for column in columns],
        "accuracy": _ACCURACY.get(mechanism.accuracy, mechanism.accuracy),
        "caught_by": " and ".join("the laws" if kind == "exact" else "runs" for kind in mechanism.tested.convicted_by),
    }


def _ledgers(rows: Sequence[LedgerRow]) -> list[dict[str, Any]]:
    """Return the statements of papers by verdict, with their numbers as the page writes them."""

    def statement(row: LedgerRow) -> dict[str, Any]:
        numbers = {name: raised(getattr(row, name)) for name in ("printed", "found", "best")}
        return {"row": row, "short": row.short or row.statement, "summary": row.summary.rstrip("."), **numbers}

    return [
        {"id": f"ledger-{verdict}", "label": label, "rows": found, "open": verdict.needs_look}
        for verdict, label in _LEDGERS.items()
        if (found := [statement(row) for row in rows if row.verdict == verdict])
    ]


def calibration_words() -> str:
    """Return how often the auditor finds a violation of a claim that holds, and how often it misses a planted leak.

    `scripts/calibrate.py` measures both, and writes the numbers.
    """
    found = json.loads(files("dpaudit").joinpath("data", "calibration.json").read_bytes())
    audits, refuted, faults, detected = (count(found[name]) for name in ("audits", "refuted", "faults", "detected"))
    return (
        f"How often the auditor errs: {refuted} of {audits} audits of claims that hold found a violation "
        f"({percent(found['level'])} are allowed), and {detected} of {faults} learners with a planted leak were "
        "detected. All settings are in docs/calibration.md."
    )


def _command(row: Row, run: Run) -> str:
    """Return the command that audits a mechanism again: the check of a project, or the audit that decided."""
    if row.learner in run.listed:
        return shlex.join(["dpaudit", "check", run.listed[row.learner].name])
    deciding = next((finding for finding in (row.blackbox, row.exact, row.utility) if finding is not None), None)
    return "" if deciding is None else repeat_command(row.result_of(deciding), run.header.seed)


def _remake(run: Run) -> str:
    """Return what it takes to remake the page."""
    header = run.header
    used = ", ".join(f"{name} {version}" for name, version in sorted(header.versions.items()))
    digests = "".join(f"; {name} has the digest {digest}" for name, digest in sorted(header.sources.items()))
    return (
        f"Profile {header.profile}, seed {header.seed}. The same command with the same versions gives the same bytes: "
        f"{used}{digests}. Seal of the results, as `dpaudit verify` prints it: {run.seal}."
    )


def render_finding(result: Result | Sequence[Result], command: str = "") -> str:
    """Return the report of the audits of one mechanism as a self-contained page; equal results give equal bytes.

    Parameters
    ----------
    result : Result or sequence of Result
        The result of an audit, or several of one mechanism, as of its accuracy in several settings.
    command : str
        The command that repeats it; left out if empty.
    """
    results = [result] if isinstance(result, Result) else list(result)
    row = row_of(results)
    mechanism, privacy = Mechanism("mechanism", [row]), row.blackbox is not None or row.exact is not None
    verdict, shown = row.verdict if privacy else row.utility_verdict, part(mechanism, command)
    page = {
        "name": row.learner.rpartition(":")[2],
        "verdict": verdict,
        "says": sentences.finding_words(mechanism),
        "bar": claim_bar(mechanism) if privacy else "",
        "power": "" if row.blackbox is None else power_figure(row.blackbox),
        "part": {**shown, "says": [], "method": [*shown["method"], ("Seed and versions", _versions(results))]},
        "words": sentences.FEW,
    }
    return filled("one.html.j2", page)


def _versions(results: Sequence[Result]) -> str:
    """Return the seeds and the versions that the numbers depend on."""
    seeds = sorted({str(seed) for r in results if (seed := getattr(r.finding, "seed", None)) is not None})
    used = ", ".join(f"{name} {version}" for name, version in sorted(results[0].finding.versions.items()))
    return "; ".join(filter(None, (", ".join(seeds), used)))


def filled(template: str, page: object) -> str:
    """Return a template filled with what a page shows, without the empty lines that tags leave behind."""
    text = _environment().get_template(template).render(page=page)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


@cache
def _environment() -> jinja2.Environment:
    """Return the template environment: all text is escaped, and an unknown name is an error."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpaudit.report"),
        autoescape=True,
        finalize=lambda value: harmless(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # For figures alone, which `report.svg` escapes.
    environment.filters["markup"] = Markup
    return environment
