"""What a run learned about one learner: one row of every report, and the verdicts on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.results import number

__all__ = ["NO_VIOLATION", "Finding", "Result", "Row"]

NO_VIOLATION = "no violation found"

Finding = Mapping[str, Any]
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """What a run learned about one learner at one setting of its parameters.

    Attributes
    ----------
    label : str
        The learner's id, followed by its parameters where the run holds the learner more than once.
    claim : mapping or None
        The claim of privacy: epsilon, delta, relation, claim_id, source.
    fault : str or None
        For a positive control, what it leaks.
    exact, blackbox, utility : finding or None
        The finding that decides each column: the violation if there is one, else the strongest number.
    ladder, cases : sequence of results
        Utility results below the theorem's sample size, and at it (one a hard case).
    scope : str
        What the exact audit covered: "all samples", "crafted samples only", or "" where the run does not say.
    missing : mapping
        For each column that is None, why.
    """

    label: str
    learner: str
    parameters: Mapping[str, Any]
    claim: Mapping[str, Any] | None
    fault: str | None
    exact: Finding | None
    blackbox: Finding | None
    utility: Finding | None
    cases: Sequence[Result]
    ladder: Sequence[Result]
    scope: str
    missing: Mapping[str, str]
    findings: Sequence[Finding] = field(repr=False)

    @property
    def privacy_verdict(self) -> str:
        """One of "violation", "no violation found", "no claim" and "not checked"."""
        judged = [f for f in self.findings if f["kind"] == "privacy" or _judges_claim(f)]
        if any(f["verdict"] == "violation" for f in judged):
            return "violation"
        if judged:
            return NO_VIOLATION
        return "no claim" if self.claim is None else "not checked"

    @property
    def utility_verdict(self) -> str:
        """The gravest of "violation", "undecided" and "holds" over the hard cases; "not checked" without any."""
        verdicts = {case["finding"]["verdict"] for case in self.cases}
        return next((v for v in ("violation", "undecided", "holds") if v in verdicts), "not checked")

    @property
    def verdict(self) -> str:
        """Both verdicts in one phrase."""
        broken = [name for name in ("privacy", "utility") if getattr(self, f"{name}_verdict") == "violation"]
        if broken:
            return "violation: " + " and ".join(broken)
        if self.utility_verdict == "undecided":
            return "undecided: utility"
        if self.privacy_verdict == "no claim":
            return "no privacy claim"
        return "privacy not checked" if self.privacy_verdict == "not checked" else NO_VIOLATION

    @property
    def convicted_by(self) -> tuple[str, ...]:
        """Which privacy audits found a violation."""
        names = {"exact": "exact", "privacy": "black box"}
        return tuple(
            name
            for kind, name in names.items()
            if any(f["kind"] == kind and f["verdict"] == "violation" for f in self.findings)
        )

    @property
    def utility_confidence(self) -> float | None:
        """The confidence at which the intervals of all hard cases hold together (Bonferroni); None without cases."""
        if not self.cases:
            return None
        return max(0.0, round(1 - sum(1 - float(case["finding"]["confidence"]) for case in self.cases), 12))

    @property
    def conflict(self) -> bool:
        """Whether the black-box lower bound exceeds the exact worst case by more than that one's error.

        Epsilon at a delta > 0 is at most epsilon at delta = 0, so that the comparison is fair at every delta.
        """
        if self.exact is None or self.blackbox is None or self.exact["relation"] != self.blackbox["relation"]:
            return False
        worst = number(self.exact["epsilon"]) + number(self.exact["error"])
        return number(self.blackbox["epsilon_lower"]) > worst


def _judges_claim(finding: Finding) -> bool:
    """Say whether a finding from exact laws compares with a claim; without one its verdict says nothing."""
    return finding["kind"] == "exact" and finding["claimed_epsilon"] is not None
