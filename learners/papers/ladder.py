"""How loose a theorem's sample size is: utility audits at n, n/2, n/4, ..."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpaudit.contract import Distribution
from learners.papers.verdicts import tightness

__all__ = ["Rungs", "climb_down", "together"]


class Rungs:
    """What the audits found: the findings by n, the greatest first."""

    def __init__(self, findings: dict[int, Any]) -> None:
        self.findings = findings

    @property
    def top(self) -> int:
        """The theorem's n."""
        return max(self.findings)

    @property
    def enough(self) -> int:
        """The least n down to which the failure rate was at most beta on every rung; 0 if not even at the top."""
        found = 0
        for n, finding in sorted(self.findings.items(), reverse=True):
            if finding.verdict != "holds":
                break
            found = n
        return found

    @property
    def too_few(self) -> int:
        """The greatest n at which the failure rate exceeded beta; 0 if none did."""
        return max((n for n, finding in self.findings.items() if finding.verdict == "violation"), default=0)

    @property
    def verdict(self) -> str:
        """The verdict on the theorem's n: refuted if the failure rate exceeds beta there, else what is enough tells."""
        if self.findings[self.top].verdict == "violation":
            return "refuted"
        return tightness(self.enough, self.top) if self.enough else "undecided"

    def numbers(self, name: str) -> dict[str, float]:
        """Return the three n and the failure rate's upper bound at the theorem's, for a ledger row."""
        upper = self.findings[self.top].failure_upper
        found = {f"{name}: theorem's n": self.top, f"{name}: enough": self.enough, f"{name}: too few": self.too_few}
        return {**found, f"{name}: failure rate at most": upper}

    def told(self, name: str) -> str:
        """Return the same in words."""
        ratio = self.top / max(self.enough, 1)
        least = f"{self.enough} enough (1/{ratio:.0f})" if self.enough else "not even so many are seen to be enough"
        few = f", {self.too_few} too few" if self.too_few else ""
        return f"{name}: theorem {self.top}, measured {least}{few}"


def together(verdicts: Iterable[str]) -> str:
    """Return the verdict on a statement from those on its cases: loose only if it is loose on each of them."""
    found = set(verdicts)
    return next(verdict for verdict in ("refuted", "undecided", "holds", "loose") if verdict in found)


def climb_down(
    tools: Any,
    learner: Any,
    concept: Any,
    distribution: Distribution | str,
    *,
    alpha: float,
    beta: float,
    rungs: int,
    trials: int,
    **setting: Any,
) -> Rungs:
    """Audit a learner at the n of its theorem and at `rungs` smaller ones, each half of the one before.

    Every verdict has 99 % confidence. Stops below the first n at which the failure rate exceeds beta.
    """
    kind = setting.get("setting", "realizable")
    n = learner.utility(alpha, beta, kind).sample_size if "setting" in setting else learner.sample_size(alpha, beta)
    findings = {}
    for _ in range(rungs + 1):
        findings[n] = tools.audit_utility(
            learner, concept, distribution, alpha=alpha, beta=beta, n=n, trials=trials, confidence=0.99, **setting
        )
        if findings[n].verdict == "violation" or n == 1:
            break
        n = -(-n // 2)
    return Rungs(findings)
