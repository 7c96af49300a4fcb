"""The findings on one mechanism or learner in a row that is kept: the numbers that tables and comparisons need."""

from __future__ import annotations

from typing import Any, Literal

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.exact.finding import LawFinding
from dpaudit.project.settings import Accepted
from dpaudit.record import Amount, Frozen, NonNegative, Probability
from dpaudit.utility.finding import UtilityFinding

__all__ = ["Row", "row_of"]


class Row(Frozen, frozen=True, kw_only=True):
    """The findings on one mechanism or learner, in numbers.

    Attributes
    ----------
    name : str
        The name in the project, or the learner with its parameters and, of utility, the case.
    mechanism : str
        What was audited.
    verdict : str
        The verdict: that of the exact audit where it found a violation, "accepted" for one that the project lives with,
        "failed" without a finding.
    promise : {"privacy", "utility"}
        The promise that was tested.
    claimed, delta : float or None
        The claim of privacy; of utility, `claimed` is beta.
    found : float or None
        The lower bound on epsilon that the black-box audit found; of utility, the lower end of the failure rate.
    exact : float or None
        The worst epsilon by exact laws.
    detectable : float or None
        The least epsilon that would have been caught; infinite where there is none.
    why : str
        What shows a violation, in a line; the error of an audit that failed.
    accepted : Accepted or None
        The violation that is accepted.
    """

    name: str
    mechanism: str
    verdict: Verdict
    promise: Literal["privacy", "utility"] = "privacy"
    claimed: Amount | None = None
    delta: Probability | None = None
    found: NonNegative | None = None
    exact: NonNegative | None = None
    detectable: NonNegative | None = None
    why: str = ""
    accepted: Accepted | None = None


def row_of(
    name: str,
    mechanism: str,
    *findings: PrivacyFinding | LawFinding | UtilityFinding,
    why: str = "",
    accepted: Accepted | None = None,
) -> Row:
    """Return the row of the findings on one mechanism, at most one of each kind."""
    kinds = {type(finding): finding for finding in findings}
    blackbox, exact, utility = kinds.get(PrivacyFinding), kinds.get(LawFinding), kinds.get(UtilityFinding)
    if isinstance(utility, UtilityFinding):
        return Row(
            name=name,
            mechanism=mechanism,
            verdict=utility.verdict,
            promise="utility",
            claimed=utility.beta,
            found=utility.failure_lower,
            why=why,
        )
    numbers: dict[str, Any] = {}
    if isinstance(exact, LawFinding):
        numbers |= {"claimed": exact.claimed_epsilon, "delta": exact.claimed_delta, "exact": exact.epsilon}
    if isinstance(blackbox, PrivacyFinding):
        numbers |= {"claimed": blackbox.epsilon, "delta": blackbox.delta, "found": blackbox.epsilon_lower}
        numbers |= {"detectable": blackbox.detectable_epsilon}
    verdicts = {finding.verdict for finding in findings}
    telling = (Verdict.VIOLATION, Verdict.CONSISTENT, Verdict.NO_EVIDENCE)
    found = next(verdict for verdict in telling if verdict in verdicts)
    if found == Verdict.VIOLATION and accepted is not None and _most(numbers) <= accepted.epsilon:
        found = Verdict.ACCEPTED
    return Row(name=name, mechanism=mechanism, verdict=found, why=why, accepted=accepted, **numbers)


def _most(numbers: dict[str, Any]) -> float:
    """Return the largest epsilon that was shown."""
    return float(max(numbers.get("found") or 0.0, numbers.get("exact") or 0.0))
