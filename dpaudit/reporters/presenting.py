"""Shows one finding to whoever made it: three lines, a page, a figure, a cell of a notebook.

The methods of `results.AuditFinding` call these functions by name.
"""

from __future__ import annotations

import hashlib
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from dpaudit.blackbox.finding import PrivacyFinding
from dpaudit.contract import PrivacyClaim, Relation
from dpaudit.exact.finding import LawFinding
from dpaudit.reporters.failure_figure import failure_figure, paint_failure
from dpaudit.reporters.privacy_figure import paint_privacy, privacy_figure
from dpaudit.reporters.row import Case, Row
from dpaudit.reporters.svg import drawn
from dpaudit.utility.finding import UtilityFinding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["brief", "figure", "notebook", "page"]

AnyAudit = PrivacyFinding | LawFinding | UtilityFinding


def figure(finding: AnyAudit) -> Figure:
    """Return the figure of a finding: the curve of privacy with what is ruled out, or the failure rate and beta."""
    paint = paint_failure if isinstance(finding, UtilityFinding) else paint_privacy
    return drawn(partial(paint, row=_row(finding)))


def _row(finding: AnyAudit) -> Row:
    """Return the row of a report on one finding alone."""
    return Row(
        label=_name(finding),
        learner=_name(finding),
        parameters={},
        claim=_claim(finding),
        fault=None,
        exact=finding if isinstance(finding, LawFinding) else None,
        blackbox=finding if isinstance(finding, PrivacyFinding) else None,
        utility=finding if isinstance(finding, UtilityFinding) else None,
        cases=[Case(finding.concept, finding)] if isinstance(finding, UtilityFinding) else (),
        ladder=(),
        scope="",
        missing={"exact": "this is the black-box audit"},
        results=(),
    )


def _claim(finding: AnyAudit) -> PrivacyClaim | None:
    """Return the claim of privacy that a finding tested."""
    if isinstance(finding, PrivacyFinding):
        return PrivacyClaim(finding.epsilon, finding.delta, finding.relation or Relation.REPLACE_ONE)
    if isinstance(finding, LawFinding) and finding.claimed_epsilon is not None:
        return PrivacyClaim(finding.claimed_epsilon, finding.claimed_delta, finding.relation)
    return None
