"""Findings in Python: one as three lines, a page, a figure or a cell of a notebook; many as a table.

`results.AuditFinding` shows itself by these functions, with which the package `dpaudit` connects it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.errors import InputError
from dpaudit.escaping import printable
from dpaudit.evidence.store import load_run
from dpaudit.exact.finding import LawFinding
from dpaudit.record import encodable
from dpaudit.report.plots import figure_of
from dpaudit.report.terminal import Copied, aligned, laid_out
from dpaudit.report.view import OneAudit, row_of, view_of
from dpaudit.report.words.finding import OneSearch, brief_lines, finding_lines, search_brief, search_page
from dpaudit.report.words.privacy import clock_lines
from dpaudit.results import Finding

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

AnyAudit = OneAudit | OneSearch


def brief(finding: AnyAudit) -> str:
    """Return the verdict, what it rests on, and the call that makes the finding again, or its seed."""
    if isinstance(finding, OneSearch):
        lines = search_brief(finding, finding.audited, Copied(finding.call))
    else:
        lines = brief_lines(finding, finding.audited, repeat=Copied(finding.call) or None)
    return laid_out(lines).rstrip()


def figure(finding: AnyAudit) -> Figure:
    """Return the figure of a finding: the curve of privacy, failure rates, or the loss or sizes as samples grow."""
    # Both are drawn as curves of delta, which a row has of either.
    if isinstance(finding, PrivacyFinding | LawFinding):
        return figure_of(row_of([view_of(finding)]))
    return figure_of(finding)


def notebook(finding: AnyAudit) -> str:
    """Return a finding as HTML: its lines and its figure, and the page folded."""
    drawing = io.BytesIO()
    drawn = figure(finding)
    drawn.set_dpi(110)
    # A method of Agg's canvas; `savefig` would draw twice.
    drawn.canvas.print_png(drawing)  # type: ignore[attr-defined]
    source = f"data:image/png;base64,{base64.b64encode(drawing.getvalue()).decode()}"
    said = escape(printable(f"The figure of {finding.audited}"))
    return (
        f"<div>{_preformatted(brief(finding))}"
        f'<img style="max-width: 34em; width: 100%" alt="{said}" src="{source}"/>'
        f"<details><summary>all of it</summary>{_preformatted(page(finding))}</details></div>"
    )


def page(finding: AnyAudit) -> str:
    """Return all that a finding says, a line each: what, claim, bound, power, runs, errors, witness, warnings."""
    if isinstance(finding, OneSearch):
        return aligned(search_page(finding, finding.audited, Copied(finding.call)))
    repeat = []
    if finding.call:
        repeat = [("repeat", Copied(finding.call)), *clock_lines(finding)]
    return aligned([*finding_lines(view_of(finding)), *repeat])


def _preformatted(text: str) -> str:
    return f'<pre style="white-space: pre-wrap">{escape(text)}</pre>'


def to_frame(findings: Any) -> pd.DataFrame:
    """Return findings as a table with one row each.

    Parameters
    ----------
    findings : str, Path, finding, or iterable of findings
        A folder or file that `dpaudit run` wrote (its results then stand in the order of the plan, with the learner,
        its parameters and the arguments of the audit), or what the audits returned.

    Returns
    -------
    pandas.DataFrame
        Columns are the fields of the findings' JSON; what is nested has dotted names, like ``witness.event``. Fields
        that a finding lacks are missing values; infinity, which JSON lacks, is a float again.

    Raises
    ------
    InputError
        If there is no run at the path, or something is no finding.

    Examples
    --------
    >>> import dpaudit
    >>> learners = [dpaudit.pac.get_learner("parity-private", dimension=d, epsilon=1.0) for d in (1, 2)]
    >>> frame = to_frame([dpaudit.pac.audit_law(learner, n=2) for learner in learners])
    >>> frame["epsilon"].round(6).tolist()
    [0.510826, 0.510826]
    """
    import pandas as pd

    if isinstance(findings, str | Path):
        stored = map(encodable, load_run(findings).results)
        names = ("learner", "parameters", "arguments", "fault")
        rows = [{name: one[name] for name in names} | one["finding"] for one in stored]
    else:
        if isinstance(findings, Iterable):
            listed = list(findings)
        else:
            listed = [findings]
        for item in listed:
            if not isinstance(item, Finding):
                raise InputError.of("findings", item, "a path or what audits returned")
        rows = [item.to_dict() for item in listed]
    # The JSON writes infinity as a word.
    table = pd.json_normalize(rows)
    words = ("inf", "-inf")
    return table.map(lambda value: float(value) if value in words else value).infer_objects()
