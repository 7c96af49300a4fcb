"""One finding for the person who made it, in Python: three lines, a page, a figure, a cell of a notebook.

The methods of `results.AuditFinding` call these functions by name.
"""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.engine.arguments import Arguments, ExactArguments, PrivacyArguments, UtilityArguments
from dpaudit.engine.records import Result
from dpaudit.escaping import harmless
from dpaudit.exact.finding import LawFinding
from dpaudit.report.brief import brief_lines
from dpaudit.report.details import finding_lines
from dpaudit.report.measured import SearchFinding, measured_brief, measured_page
from dpaudit.report.plots import figure_of
from dpaudit.report.terminal import aligned, laid_out
from dpaudit.report.view import row_of
from dpaudit.utility.finding import UtilityFinding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["brief", "figure", "notebook", "page"]

OneAudit = PrivacyFinding | LawFinding | UtilityFinding
"""The findings that a report of a run may hold."""
AnyAudit = OneAudit | SearchFinding


def brief(finding: AnyAudit) -> str:
    """Return the verdict, what it rests on, and the call that makes the finding again, or its seed."""
    if isinstance(finding, SearchFinding):
        lines = measured_brief(finding, finding.audited, finding.call)
    else:
        lines = brief_lines(finding, finding.audited, repeat=finding.call or None)
    return laid_out(lines, shell=False).rstrip()


def figure(finding: AnyAudit) -> Figure:
    """Return the figure of a finding: the curve of privacy, failure rates, or the loss or sizes as samples grow."""
    return figure_of(row_of([_result(finding)]) if isinstance(finding, PrivacyFinding | LawFinding) else finding)


def notebook(finding: AnyAudit) -> str:
    """Return a finding as HTML: its lines and its figure, and the page folded."""
    drawing = io.BytesIO()
    figure(finding).savefig(drawing, format="png", dpi=110)
    source = f"data:image/png;base64,{base64.b64encode(drawing.getvalue()).decode()}"
    said = escape(harmless(f"The figure of {finding.audited}"))
    return (
        f"<div>{_preformatted(brief(finding))}"
        f'<img style="max-width: 34em; width: 100%" alt="{said}" src="{source}"/>'
        f"<details><summary>all of it</summary>{_preformatted(page(finding))}</details></div>"
    )


def page(finding: AnyAudit) -> str:
    """Return all that a finding says, a line each: what, claim, bound, power, runs, errors, witness, warnings."""
    if isinstance(finding, SearchFinding):
        return aligned(measured_page(finding, finding.audited, finding.call))
    repeat = [("repeat", finding.call)] if finding.call else []
    return aligned([("audited", finding.audited), *finding_lines(_result(finding)), *repeat])


def _preformatted(text: str) -> str:
    return f'<pre style="white-space: pre-wrap">{escape(text)}</pre>'


def _result(finding: OneAudit) -> Result:
    """Return the record of a finding that is of no run: what the finding does not say is left open."""
    arguments: Arguments
    if isinstance(finding, PrivacyFinding):
        arguments = PrivacyArguments(trials=finding.trials, confidence=finding.confidence)
    elif isinstance(finding, LawFinding):
        arguments = ExactArguments(n=finding.n or 0, relation=finding.relation, samples="all")
    else:
        arguments = UtilityArguments(
            role="claim",
            case=finding.distribution,
            case_index=None,
            concept=None,
            alpha=finding.alpha,
            beta=finding.beta,
            n=finding.n,
            trials=finding.trials,
            confidence=finding.confidence,
            setting=finding.setting,
        )
    # As of MODULE:FUNCTION: the codes of a learner are decoded by the learner, which a finding does not hold.
    return Result(task="alone", learner=f"alone:{finding.audited}", parameters={}, arguments=arguments, finding=finding)
