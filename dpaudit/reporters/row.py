"""What a run learned about one learner: one row of every report, and the verdicts on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpaudit.engine.outcome import PRIVACY_AUDITS, refuting
from dpaudit.results import number

__all__ = ["NO_VIOLATION", "Finding", "Result", "Row", "powerless", "worst"]

NO_VIOLATION = "no violation found"

Finding = Mapping[str, Any]
Result = Mapping[str, Any]

_SEVERITY = {"violation": 2, "undecided": 1}
_ROUNDING = 1e-12


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
    results : sequence of results
        All its audits.
    picture : result or None
        The picture that the learner offers; on the first row of a learner with several.
    further : bool
        Whether this is a further instance whose utility alone was audited; its privacy is judged on another row.
    failures : sequence of mappings
        Its audits that raised, each with its kind and its error; the kind "plan" is that no audit could be planned.
    pending : sequence of str
        The kinds of its audits that were planned and not run to their end.
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
    results: Sequence[Result] = field(repr=False)
    picture: Result | None = field(default=None, repr=False)
    further: bool = False
    failures: Sequence[Mapping[str, Any]] = ()
    pending: Sequence[str] = ()

    @property
    def privacy_verdict(self) -> str:
        """One of "violation", "failed", "incomplete", "no power", "no violation found", "no claim", "not checked"."""
        if any(kind in PRIVACY_AUDITS for kind in refuting(self.results)):
            return "violation"
        if unfinished := self._unfinished(PRIVACY_AUDITS):
            return unfinished
        if judging := [f for f in self.findings if _judges_claim(f)]:
            return "no power" if all(map(_blind, judging)) else NO_VIOLATION
        return "no claim" if self.claim is None else "not checked"

    @property
    def utility_verdict(self) -> str:
        """The gravest of "violation", "undecided" and "holds" over the hard cases; "not checked" without any.

        If nothing is violated and an audit has no result: "failed" or "incomplete".
        """
        if refuting(self.cases):
            return "violation"
        if unfinished := self._unfinished(("utility",)):
            return unfinished
        verdicts = {case["finding"]["verdict"] for case in self.cases}
        return next((v for v in ("undecided", "holds") if v in verdicts), "not checked")

    @property
    def verdict(self) -> str:
        """Both verdicts in one phrase."""
        found = {"privacy": self.privacy_verdict, "utility": self.utility_verdict}
        for gravest in ("violation", "failed", "incomplete", "undecided"):
            if names := [name for name, verdict in found.items() if verdict == gravest]:
                return f"{gravest}: {' and '.join(names)}"
        if self.privacy_verdict == "no power":
            return "privacy not tested: no power"
        if self.privacy_verdict == "no claim":
            return "no privacy claim"
        if self.further:
            return NO_VIOLATION
        return "privacy not checked" if self.privacy_verdict == "not checked" else NO_VIOLATION

    @property
    def complete(self) -> bool:
        """Whether each of its planned audits has a result."""
        return not self.failures and not self.pending

    def _unfinished(self, kinds: Sequence[str]) -> str:
        """Return "failed" or "incomplete" if an audit of these kinds has no result, else an empty text."""
        if any(failure["kind"] in (*kinds, "plan") for failure in self.failures):
            return "failed"
        return "incomplete" if any(kind in kinds for kind in self.pending) else ""

    @property
    def powerless(self) -> bool:
        """Whether privacy was judged, and by no audit that would have convicted any leak on the event it confirmed."""
        judging = [f for f in self.findings if _judges_claim(f)]
        return bool(judging) and all(map(powerless, judging))

    @property
    def convicted_by(self) -> tuple[str, ...]:
        """Which privacy audits found a violation."""
        names = {"exact": "exact", "privacy": "black box"}
        return tuple(names[kind] for kind in refuting(self.results) if kind in PRIVACY_AUDITS)

    @property
    def findings(self) -> Sequence[Finding]:
        """What all its audits found."""
        return [result["finding"] for result in self.results]

    @property
    def decoded(self) -> Mapping[str, str]:
        """What the outputs stand for that its audits of privacy name, by code."""
        return {code: word for result in self.results for code, word in result.get("decoded", {}).items()}

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings in which utility was audited at the theorem's sample size, in the order of the run."""
        return tuple(dict.fromkeys(case["finding"]["setting"] for case in self.cases))

    def in_setting(self, setting: str) -> Row:
        """Return the row with the utility results of one setting alone."""
        cases = [case for case in self.cases if case["finding"]["setting"] == setting]
        ladder = [step for step in self.ladder if step["finding"]["setting"] == setting]
        return replace(self, cases=cases, ladder=ladder, utility=worst([c["finding"] for c in cases], "failure_upper"))

    @property
    def utility_confidence(self) -> float | None:
        """The confidence at which the intervals of all hard cases hold together (Bonferroni); None without cases."""
        if not self.cases:
            return None
        return max(0.0, round(1 - sum(1 - float(case["finding"]["confidence"]) for case in self.cases), 12))

    @property
    def conflict(self) -> bool:
        """Whether what the black box showed contradicts the exact laws by more than their error.

        A lower bound on epsilon may not exceed the exact worst case, at whatever delta: epsilon at a delta > 0 is at
        most that at delta = 0. Nor may it, at the delta d, exceed an epsilon at which the exact delta is at most d; and
        no lower bound on delta, of a curve, may exceed the exact delta. Exact laws of some samples alone contradict
        nothing: the black box goes on to others from there.
        """
        if self.exact is None or self.blackbox is None or self.exact["relation"] != self.blackbox["relation"]:
            return False
        if self.exact["n"] is None:
            return False
        worst = number(self.exact["epsilon"]) + number(self.exact["error"])
        return number(self.blackbox["epsilon_lower"]) > worst or _above_curve(self.blackbox, self.exact)


def _above_curve(blackbox: Finding, exact: Finding) -> bool:
    """Say whether a black-box finding claims more than the exact delta(epsilon) at the points where that is stored."""
    # The error of a log-probability is a relative one of the probabilities, whose sum is at most 1.
    slack = math.expm1(min(number(exact["error"]), 1.0)) + _ROUNDING
    points = [(number(epsilon), number(delta) + slack) for epsilon, delta in exact["curve"]]
    lower, delta = number(blackbox["epsilon_lower"]), number(blackbox["delta"])
    if delta > 0 and any(at < lower and most <= delta for at, most in points):
        return True
    if blackbox["curve"] is None:
        return False
    from dpaudit.bounds.curve import Curve

    shown = Curve.from_dict(blackbox["curve"]).delta_lower([at for at, _ in points]).tolist()
    return any(found > most for found, (_, most) in zip(shown, points, strict=True))


def powerless(finding: Finding) -> bool:
    """Say whether a black-box audit confirmed an event on which it would have convicted no leak, however large."""
    unseen = finding["kind"] == "privacy" and finding["detectable_epsilon"] == "inf"
    return bool(unseen and finding["verdict"] != "violation")


def _blind(finding: Finding) -> bool:
    """Say whether a powerless audit would have convicted no leak on rarer events either."""
    return powerless(finding) and all(least == "inf" for _, least in finding["frontier"])


def worst(findings: Sequence[Finding], key: str) -> Finding | None:
    """Return the finding with the gravest verdict, and among those with the largest `key`."""
    return max(findings, key=lambda f: (_SEVERITY.get(f["verdict"], 0), number(f[key])), default=None)


def _judges_claim(finding: Finding) -> bool:
    """Say whether a finding judges a claim of privacy; from exact laws without a claim its verdict says nothing."""
    return finding["kind"] == "privacy" or (finding["kind"] == "exact" and finding["claimed_epsilon"] is not None)
