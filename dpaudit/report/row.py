"""The findings of a run about one learner: one row of every report, and the verdicts on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import PrivacyClaim, Verdict
from dpaudit.engine.findings import PictureFinding
from dpaudit.engine.outcome import PRIVACY_AUDITS, refuting
from dpaudit.engine.records import Parameters, Result
from dpaudit.exact.finding import LawFinding
from dpaudit.report.verdicts import BAD, UNSETTLED, contradicts, unseen, worst
from dpaudit.utility.finding import UtilityFinding

__all__ = ["Case", "Drawn", "Row", "Trouble"]


class Case(NamedTuple):
    """The result of an audit of utility on one hard case."""

    name: str
    finding: UtilityFinding


class Trouble(NamedTuple):
    """An audit that raised: its kind and its error; the kind "plan" is that no audit could be planned."""

    kind: str
    error: str


class Drawn(NamedTuple):
    """A picture, and the parameters of the learner that it shows."""

    parameters: Parameters
    finding: PictureFinding


@dataclass(frozen=True)
class Row:
    """The findings of a run about one learner at one setting of its parameters.

    Attributes
    ----------
    label : str
        The learner's id, followed by its parameters where the run holds the learner more than once.
    claim : PrivacyClaim or None
        The claim of privacy.
    fault : str or None
        For a positive control, what it leaks.
    exact, blackbox, utility : finding or None
        The finding that decides each column: the violation if there is one, else the strongest number.
    cases, ladder : sequence of Case
        Utility at the theorem's sample size, one a hard case, and below it.
    scope : str
        What the exact audit covered: "all samples", "crafted samples only", or "" without one.
    missing : mapping
        For each kind of audit whose column is None, why.
    results : sequence of Result
        All its audits.
    picture : Drawn or None
        The picture that the learner offers; on the first row of a learner with several.
    further : bool
        Whether this is a further instance whose utility alone was audited; its privacy is judged on another row.
    failures : sequence of Trouble
        Its audits that raised.
    pending : sequence of str
        The kinds of its audits that were planned and not run to their end.
    accepted : str
        Up to which epsilon its violation is accepted, why and since when; empty where none is.
    """

    label: str
    learner: str
    parameters: Parameters
    claim: PrivacyClaim | None
    fault: str | None
    exact: LawFinding | None
    blackbox: PrivacyFinding | None
    utility: UtilityFinding | None
    cases: Sequence[Case]
    ladder: Sequence[Case]
    scope: str
    missing: Mapping[str, str]
    results: Sequence[Result] = field(repr=False)
    picture: Drawn | None = field(default=None, repr=False)
    further: bool = False
    failures: Sequence[Trouble] = ()
    pending: Sequence[str] = ()
    accepted: str = ""

    @property
    def privacy_verdict(self) -> Verdict:
        """The verdict on privacy; exact laws without a claim say nothing about one."""
        if self.convicted_by:
            return Verdict.ACCEPTED if self.accepted else Verdict.VIOLATION
        if unfinished := self._unfinished(PRIVACY_AUDITS):
            return unfinished
        if judging := self._judging:
            return Verdict.NO_EVIDENCE if all(map(unseen, judging)) else Verdict.CONSISTENT
        return Verdict.NO_CLAIM if self.claim is None else Verdict.NOT_CHECKED

    @property
    def utility_verdict(self) -> Verdict:
        """The gravest verdict over the hard cases."""
        verdicts = {case.finding.verdict for case in self.cases}
        if Verdict.VIOLATION in verdicts:
            return Verdict.VIOLATION
        if unfinished := self._unfinished(("utility",)):
            return unfinished
        if Verdict.UNDECIDED in verdicts:
            return Verdict.UNDECIDED
        if Verdict.HOLDS in verdicts:
            return Verdict.HOLDS
        return Verdict.VACUOUS if verdicts else Verdict.NOT_CHECKED

    @property
    def verdict(self) -> Verdict:
        """The graver of both verdicts; where neither is bad, what is known of privacy."""
        found = (self.privacy_verdict, self.utility_verdict)
        if bad := next((verdict for verdict in BAD if verdict in found), None):
            return bad
        return Verdict.CONSISTENT if self.further and found[0] == Verdict.NOT_CHECKED else found[0]

    @property
    def to_blame(self) -> tuple[str, ...]:
        """The promises for which the verdict is a bad one."""
        found = {"privacy": self.privacy_verdict, "utility": self.utility_verdict}
        return tuple(name for name, verdict in found.items() if verdict == self.verdict and verdict in BAD)

    @property
    def unsettled(self) -> bool:
        """Whether the verdict leaves open if a promise is kept, beyond what every audit leaves open."""
        return self.verdict in UNSETTLED

    @property
    def complete(self) -> bool:
        """Whether each of its planned audits has a result."""
        return not self.failures and not self.pending

    def _unfinished(self, kinds: Sequence[str]) -> Verdict | None:
        """Return why an audit of these kinds has no result; None if each has one."""
        if any(failure.kind in (*kinds, "plan") for failure in self.failures):
            return Verdict.FAILED
        return Verdict.INCOMPLETE if any(kind in kinds for kind in self.pending) else None

    @property
    def _judging(self) -> Sequence[PrivacyFinding | LawFinding]:
        """The findings that judge a claim of privacy."""
        found = [result.finding for result in self.results]
        return [f for f in found if isinstance(f, PrivacyFinding)
                or (isinstance(f, LawFinding) and f.claimed_epsilon is not None)]  # fmt: skip

    @property
    def convicted_by(self) -> tuple[str, ...]:
        """The privacy audits that found a violation."""
        names = {"exact": "exact", "privacy": "black box"}
        return tuple(names[kind] for kind in refuting(self.results) if kind in PRIVACY_AUDITS)

    def decoded(self, finding: PrivacyFinding | LawFinding) -> Mapping[str, str]:
        """Return what the outputs stand for that one of its findings names, by code."""
        return next(result.decoded for result in self.results if result.finding is finding)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings in which utility was audited at the theorem's sample size, in the order of the run."""
        return tuple(dict.fromkeys(case.finding.setting for case in self.cases))

    def in_setting(self, setting: str) -> Row:
        """Return the row with the utility results of one setting alone."""
        cases, ladder = ([case for case in given if case.finding.setting == setting]
                         for given in (self.cases, self.ladder))  # fmt: skip
        deciding = worst([case.finding for case in cases], lambda f: f.failure_upper)
        return replace(self, cases=cases, ladder=ladder, utility=deciding)

    @property
    def utility_confidence(self) -> float | None:
        """The confidence at which the intervals of all hard cases hold together (Bonferroni); None without cases."""
        if not self.cases:
            return None
        return max(0.0, round(1 - sum(1 - case.finding.confidence for case in self.cases), 12))

    @property
    def conflict(self) -> bool:
        """Whether the black box contradicts the exact laws by more than their error."""
        return self.exact is not None and self.blackbox is not None and contradicts(self.blackbox, self.exact)
