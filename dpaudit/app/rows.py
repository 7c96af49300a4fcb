"""The row of a mechanism in the table of a check, and in a comparison: its verdict and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from dpaudit.app.settings import Accepted
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import PrivacyVerdict, TaskVerdict, Verdict
from dpaudit.evidence.outcome import leaves_open, refutes
from dpaudit.evidence.records import Result
from dpaudit.record import Frozen, NonNegative, Probability, Words
from dpaudit.report.columns import numbers_of
from dpaudit.report.view import OneAudit, row_of, view_of
from dpaudit.report.words.finding import because
from dpaudit.utility.finding import UtilityFinding


class ClaimRow(Frozen, frozen=True, kw_only=True):
    """The findings on one mechanism or learner, in numbers.

    The verdict is "accepted" for a violation that is accepted, and "failed" without a finding, with the error as `why`;
    else `why` shows the violation. The `numbers` are those of the columns of reports, by name. A claim that is a curve
    is in `curve_claim`, in words, with its kind. The `p_value` is that of the claim by runs.
    """

    name: str
    mechanism: str
    verdict: Verdict
    promise: Literal["privacy", "utility"] = "privacy"
    numbers: dict[str, NonNegative] = msgspec.field(default_factory=dict)
    why: str = ""
    accepted: Accepted | None = None
    p_value: Probability | UnsetType = UNSET
    curve_claim: tuple[Words, Words] | UnsetType = UNSET


def claim_row(
    name: str, mechanism: str, found: Sequence[OneAudit | Result], *, why: str = "", accepted: Accepted | None = None
) -> ClaimRow:
    """Return what was found of the privacy of one mechanism, or of its utility."""
    # Results of one row are about one promise.
    of_utility = found[0].kind == "utility"
    views = [view_of(one) for one in found]
    if of_utility:
        # The claim of privacy is not what was audited.
        views = [replace(view, claim=None) for view in views]
    row = row_of(views)
    verdict = row.utility_verdict if of_utility else row.privacy_verdict
    numbers = {column: number for column, number in numbers_of(row).items() if number is not None}
    # It is words, and the others are numbers.
    claim = numbers.pop("curve_claim", UNSET)
    # Up to the epsilon that was accepted; a leak that has grown is a violation again.
    if verdict == PrivacyVerdict.VIOLATION and accepted is not None and _most(numbers) <= accepted.epsilon:
        verdict = TaskVerdict.ACCEPTED
    # Audits by runs of several cases have p-values of their own.
    p_values = [view.finding.p_value for view in views if isinstance(view.finding, PrivacyFinding | UtilityFinding)]
    p_value: float | UnsetType = UNSET
    if len(p_values) == 1:
        p_value = p_values[0]
    return ClaimRow(
        name=name,
        mechanism=mechanism,
        verdict=verdict,
        p_value=p_value,
        promise="utility" if of_utility else "privacy",
        numbers=numbers,
        why=why,
        accepted=accepted,
        curve_claim=claim,
    )


def failed_row(name: str, mechanism: str, why: str) -> ClaimRow:
    """Return the row of an audit that raised."""
    return ClaimRow(name=name, mechanism=mechanism, verdict=TaskVerdict.FAILED, why=why)


def reason_of(results: Sequence[Result]) -> str:
    """Return what shows the violation, or why the claim is left open; empty if neither is the case."""
    for one in results:
        if (refutes(one) or leaves_open(one)) and isinstance(one.finding, OneAudit):
            return because(one.finding, one.decoded or None)
    return ""


def _most(numbers: Mapping[str, float]) -> float:
    # By exact laws or by runs, whichever shows more.
    return max(numbers.get("exact_epsilon", 0.0), numbers.get("epsilon_lower", 0.0))
