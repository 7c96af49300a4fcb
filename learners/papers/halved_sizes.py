"""Utility audits at a theorem's n, at n/2, n/4, ...: how loose the theorem's sample size is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpaudit.contract import Distribution
from learners.papers.instances import case_data
from learners.papers.verdicts import tightness

__all__ = ["HalvedSizes", "audit_cases", "audit_halved", "joint_verdict"]


class HalvedSizes:
    """The findings of the audits by their n."""

    def __init__(self, findings: dict[int, Any]) -> None:
        self.findings = findings

    @property
    def top(self) -> int:
        """The theorem's n."""
        return max(self.findings)

    @property
    def enough(self) -> int:
        """The least n down to which the failure rate was at most beta at every n; 0 if not even at the top."""
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


def joint_verdict(verdicts: Iterable[str]) -> str:
    """Return the verdict on a statement from those on its cases: loose only if it is loose on each of them."""
    found = set(verdicts)
    return next(verdict for verdict in ("refuted", "undecided", "holds", "loose") if verdict in found)


def audit_halved(
    tools: Any,
    learner: Any,
    concept: Any,
    distribution: Distribution | str,
    *,
    alpha: float,
    beta: float,
    halvings: int,
    trials: int = 100,
    **setting: Any,
) -> HalvedSizes:
    """Audit a learner at the n of its theorem and at `halvings` smaller ones, each half of the one before.

    Every verdict has 99 % confidence. Stops below the first n at which the failure rate exceeds beta.
    """
    kind = setting.get("setting", "realizable")
    n = learner.utility(alpha, beta, kind).sample_size if "setting" in setting else learner.sample_size(alpha, beta)
    findings = {}
    for _ in range(halvings + 1):
        findings[n] = tools.audit_utility(
            learner, concept, distribution, alpha=alpha, beta=beta, n=n, trials=trials, confidence=0.99, **setting
        )
        if findings[n].verdict == "violation" or n == 1:
            break
        n = -(-n // 2)
    return HalvedSizes(findings)


def audit_cases(
    tools: Any, cases: Iterable[tuple[str, Any, int, Distribution | str]], **levels: Any
) -> tuple[str, dict[str, float], str, str, dict[str, Any]]:
    """Return the joint verdict on (name, learner, concept, distribution), numbers, words, the witness and its data.

    `levels` are those of `audit_halved`. The witness is empty if no case refutes; its data are then those of the last.
    """
    numbers: dict[str, float] = {}
    told, verdicts, witness = [], [], ""
    data: dict[str, Any] = {}
    for name, learner, concept, distribution in cases:
        found = audit_halved(tools, learner, concept, distribution, **levels)
        verdicts.append(found.verdict)
        if found.verdict == "refuted" or not witness:
            data = case_data(learner, concept, distribution, found.top, levels["alpha"], beta=levels["beta"])
            data |= {name: levels[name] for name in ("setting", "noise") if name in levels}
        if found.verdict == "refuted":
            drawn = f"{distribution} distribution"
            if isinstance(distribution, Distribution):
                drawn = f"probabilities {distribution.probabilities.tolist()}"
            witness = f"{learner!r}, concept {concept}, {drawn}, n = {found.top}"
        numbers |= found.numbers(name)
        told.append(found.told(name))
    return joint_verdict(verdicts), numbers, "; ".join(told), witness, data
