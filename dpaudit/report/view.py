"""Views that every report reads: of one finding, and of a mechanism with its findings, verdicts and numbers.

A finding that an audit returned and one that a run stores have the same view, so that they are shown alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

from msgspec import UNSET

from dpaudit.audit.claim_tests import CurveTest
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import OF_PRIVACY, PrivacyClaim, PrivacyVerdict, TaskVerdict, UtilityVerdict, Verdict, status_of
from dpaudit.evidence.outcome import AUDITS, PRIVACY_AUDITS, is_ladder
from dpaudit.evidence.records import Parameters, Result
from dpaudit.evidence.tasks import ExactArguments, PrivacyArguments, UtilityArguments
from dpaudit.exact.finding import LawFinding
from dpaudit.places import is_place
from dpaudit.utility.finding import UtilityFinding

# What rounding may add to a probability.
_ROUNDING = 1e-12
_SCOPES = {"all": "all samples", "crafted": "crafted samples only", "given": "the pairs given"}
Kind: TypeAlias = Literal["exact", "privacy", "utility"]
Samples: TypeAlias = Literal["all", "crafted", "given"]
# The findings that a report of a run may hold.
OneAudit: TypeAlias = PrivacyFinding | LawFinding | UtilityFinding
# The meaning of the codes of a learner's outputs, as far as it is known; None for a mechanism, which has no codes.
Decoded: TypeAlias = Mapping[str, str] | None
# Why a row has no finding of a kind that was not planned.
_NOT_PLANNED: dict[Kind, str] = {
    "exact": "no exact output law was enumerated in this run",
    "privacy": "no black-box audit was planned",
    "utility": "no audit of utility was planned",
}

# The way in which a parameter, with a value or without, is written; see `InputError.worded`.
ParameterWriter: TypeAlias = Callable[[str, str | None], str]
Judged = TypeVar("Judged", PrivacyFinding, LawFinding, UtilityFinding)


@dataclass(frozen=True)
class FindingView:
    """A finding, and what a report says of it that it does not hold itself.

    The `name` is the id of a learner, the place of a function, or what a call has for the mechanism. `claim` is the
    learner's own claim of privacy, and `fault` what a positive control leaks. Exact laws were compared on `samples`.
    `below_theorem` is of utility below the theorem's sample size, where failures refute nothing; the theorem asks for
    `theorem_n` where there is one. `data` names the file that held the dataset. `stored` is the result of the run that
    holds the finding; there is none of a finding that an audit returned.
    """

    finding: OneAudit
    name: str
    parameters: Parameters = field(default_factory=dict)
    decoded: Decoded = None
    claim: PrivacyClaim | None = None
    fault: str | None = None
    samples: Samples = "all"
    below_theorem: bool = False
    theorem_n: int | None = None
    data: str = ""
    stored: Result | None = field(default=None, repr=False)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the claim that the finding is about; None below the theorem's sample size."""
        if self.below_theorem:
            return None
        return self.finding.verdict

    @property
    def refutes(self) -> bool:
        """Whether the claim is refuted."""
        return self.verdict == PrivacyVerdict.VIOLATION

    @property
    def leaves_open(self) -> bool:
        """Whether it stays open if the claim is kept, as no audit should leave it."""
        return self.verdict in (PrivacyVerdict.NO_EVIDENCE, UtilityVerdict.UNDECIDED)

    @property
    def is_learner(self) -> bool:
        """Whether a learner was audited, whose inputs hold examples and whose outputs are codes."""
        return self.stored is not None and not is_place(self.name)

    @property
    def task(self) -> str:
        """The key of the task that made it; empty where it is of no run."""
        if self.stored is None:
            return ""
        return self.stored.task


def view_of(found: OneAudit | Result) -> FindingView:
    """Return the view of a finding that an audit returned, or of one that a run stores."""
    if not isinstance(found, Result):
        return FindingView(found, found.audited)
    finding = found.finding
    arguments = found.arguments
    assert isinstance(finding, OneAudit)
    samples: Samples = "all"
    theorem_n = None
    data = ""
    if isinstance(arguments, ExactArguments):
        samples = arguments.samples
    elif isinstance(arguments, PrivacyArguments):
        data = arguments.data or ""
    elif isinstance(arguments, UtilityArguments):
        theorem_n = None
        if arguments.theorem_n is not UNSET:
            theorem_n = arguments.theorem_n
    return FindingView(
        finding,
        found.learner,
        found.parameters,
        decoded=None if is_place(found.learner) else found.decoded,
        claim=found.claim,
        fault=found.fault,
        samples=samples,
        below_theorem=is_ladder(found),
        theorem_n=theorem_n,
        data=data,
        stored=found,
    )


@dataclass(frozen=True)
class Row:
    """The findings on one mechanism at one setting of its parameters, and the verdicts on its promises.

    `learner` is the id of a learner, or the place of a function, and `parameters` are empty if nothing was run. `fault`
    is what a positive control leaks. The `label` is the learner's id, followed by its parameters where the run holds
    the learner more than once. `picture` is the result with the picture that the learner offers, on its first row. A
    `further` instance is one whose utility alone was audited; its privacy is judged on another row. `failures` are the
    kind and the error of each of its audits that raised, of the kind "plan" if none could be planned, and `pending` the
    kinds of those that were planned and not run to their end. `accepted` says up to which epsilon its violation is
    accepted, why and since when; it is empty where none is. `audit` is the name of the audit in the settings of a
    project. A row is `in_family` if its claims have one chance of a false alarm with those of other rows.
    """

    learner: str
    parameters: Parameters
    views: Sequence[FindingView] = field(repr=False)
    fault: str | None = None
    label: str = ""
    picture: Result | None = field(default=None, repr=False)
    further: bool = False
    failures: Sequence[tuple[str, str]] = ()
    pending: Sequence[str] = ()
    accepted: str = ""
    audit: str = ""
    in_family: bool = False

    @cached_property
    def exact(self) -> LawFinding | None:
        """The exact finding that decides: the violation if there is one, else that of the largest epsilon."""
        return worst([v.finding for v in self.views if isinstance(v.finding, LawFinding)], lambda f: f.epsilon)

    @cached_property
    def blackbox(self) -> PrivacyFinding | None:
        """The black-box finding that decides: the violation if there is one, else that of the largest bound."""
        found = [v.finding for v in self.views if isinstance(v.finding, PrivacyFinding)]
        return worst(found, lambda f: f.epsilon_lower)

    @cached_property
    def utility(self) -> UtilityFinding | None:
        """The finding on the hard case that decides: the gravest verdict, then the largest upper end."""
        return worst(self.cases, lambda f: f.failure_upper)

    @cached_property
    def cases(self) -> Sequence[UtilityFinding]:
        """Utility at the theorem's sample size, one finding a hard case."""
        return [v.finding for v in self.views if isinstance(v.finding, UtilityFinding) and not v.below_theorem]

    @cached_property
    def ladder(self) -> Sequence[UtilityFinding]:
        """Utility below the theorem's sample size, where failures refute nothing."""
        return [v.finding for v in self.views if isinstance(v.finding, UtilityFinding) and v.below_theorem]

    @cached_property
    def claim(self) -> PrivacyClaim | None:
        """The claim of privacy; where the mechanism states none itself, the one that was tested."""
        # A mechanism's own claim stands whatever else was tested: the row is about that.
        if own := next((view.claim for view in self.views if view.claim is not None), None):
            return own
        tested = self.blackbox
        exact = self.exact
        if tested is not None:
            return PrivacyClaim(tested.epsilon, tested.delta, claim_id=tested.claim_id)
        if exact is not None and exact.claimed_epsilon is not None:
            return PrivacyClaim(exact.claimed_epsilon, exact.claimed_delta, exact.relation, exact.claim_id)
        return None

    @property
    def curve(self) -> CurveTest | None:
        """The test of the claim where that is a curve, of which `claim` is the point tested."""
        if self.blackbox is None:
            return None
        return self.blackbox.curve_test

    @property
    def scope(self) -> str:
        """The samples that the exact audit covered: "all samples", "crafted samples only", or "" without one."""
        if self.exact is None:
            return ""
        return _SCOPES[self.view_of(self.exact).samples]

    @property
    def deciding(self) -> Mapping[Kind, OneAudit | None]:
        """The finding of each kind of audit that decides."""
        return {"exact": self.exact, "privacy": self.blackbox, "utility": self.utility}

    @property
    def missing(self) -> dict[Kind, str]:
        """For each kind of audit without a finding, why."""
        return {kind: self._reason(kind) for kind, finding in self.deciding.items() if finding is None}

    def _reason(self, kind: Kind) -> str:
        if self.further:
            return "audited at other parameters: see this learner's other row"
        if kind == "utility" and self.ladder:
            return "only smaller samples than the theorem's were run"
        if errors := [error for failed, error in self.failures if failed in (kind, "plan")]:
            return f"failed: {errors[0]}"
        if kind in self.pending:
            return "planned, but not run to its end"
        if kind == "privacy" and self.claim is None:
            return "the learner claims no privacy"
        return _NOT_PLANNED[kind]

    @property
    def privacy_verdict(self) -> Verdict:
        """The verdict on privacy; exact laws without a claim say nothing about one."""
        # A violation that was found stands whatever became of other audits.
        if self.convicted_by:
            if self.accepted:
                return TaskVerdict.ACCEPTED
            return PrivacyVerdict.VIOLATION
        if unfinished := self._unfinished(PRIVACY_AUDITS):
            return unfinished
        findings = [view.finding for view in self.views]
        judging = {f.verdict for f in findings if isinstance(f, PrivacyFinding)}
        # Exact laws without a claim judge nothing.
        judging |= {f.verdict for f in findings if isinstance(f, LawFinding) and f.claimed_epsilon is not None}
        if self.claim is None:
            silent = TaskVerdict.NO_CLAIM
        else:
            silent = TaskVerdict.NOT_CHECKED
        # The verdicts stand in the order in which one of several speaks for all.
        return next((verdict for verdict in OF_PRIVACY if verdict in judging), silent)

    @property
    def state(self) -> Verdict:
        """The verdict on privacy; of a positive control, whether its leak was detected."""
        if self.fault is None:
            return self.privacy_verdict
        if self.convicted_by:
            return TaskVerdict.CAUGHT
        return self._unfinished(AUDITS) or TaskVerdict.MISSED

    @property
    def utility_verdict(self) -> Verdict:
        """The gravest verdict over the hard cases; where all are vacuous, that."""
        verdicts = [self._unfinished(("utility",)), *(case.verdict for case in self.cases)]
        return min(filter(None, verdicts), default=TaskVerdict.NOT_CHECKED, key=lambda verdict: verdict.rank)

    @property
    def verdict(self) -> Verdict:
        """The graver of both verdicts; where neither is bad, what is known of privacy."""
        found = (self.privacy_verdict, self.utility_verdict)
        # What makes a command fail comes first, whichever promise it is of.
        if bad := [verdict for verdict in found if status_of(verdict)]:
            return min(bad, key=lambda verdict: verdict.rank)
        # Its privacy is judged on another row, so that this one need not say that it was not checked.
        if self.further and found[0] == TaskVerdict.NOT_CHECKED:
            return PrivacyVerdict.CONSISTENT
        return found[0]

    @property
    def to_blame(self) -> tuple[str, ...]:
        """The promises for which the verdict is a bad one."""
        found = {"privacy": self.privacy_verdict, "utility": self.utility_verdict}
        return tuple(name for name, verdict in found.items() if verdict == self.verdict and status_of(verdict))

    def _unfinished(self, kinds: Sequence[str]) -> Verdict | None:
        """Return why an audit of these kinds has no result; None if each has one."""
        if any(kind in (*kinds, "plan") for kind, _ in self.failures):
            return TaskVerdict.FAILED
        if any(kind in kinds for kind in self.pending):
            return TaskVerdict.INCOMPLETE
        return None

    @property
    def convicted_by(self) -> tuple[str, ...]:
        """The privacy audits that found a violation."""
        names = {"exact": "exact", "privacy": "black box"}
        found = {view.finding.kind for view in self.views if view.refutes}
        return tuple(name for kind, name in names.items() if kind in found)

    def view_of(self, finding: OneAudit) -> FindingView:
        """Return the view of one of its findings."""
        return next(view for view in self.views if view.finding is finding)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings in which utility was audited at the theorem's sample size, in the order of the run."""
        return tuple(dict.fromkeys(case.setting for case in self.cases))

    def in_setting(self, setting: str) -> Row:
        """Return the row with the utility results of one setting alone."""

        def kept(finding: object) -> bool:
            return not isinstance(finding, UtilityFinding) or finding.setting == setting

        return replace(self, views=[view for view in self.views if kept(view.finding)])

    @property
    def utility_confidence(self) -> float | None:
        """The confidence at which the intervals of all hard cases hold together (Bonferroni); None without cases."""
        if not self.cases:
            return None
        # Rounded, since the differences of binary fractions have noise in their last digits.
        return max(0.0, round(1 - sum(1 - case.confidence for case in self.cases), 12))

    @property
    def exact_epsilon(self) -> float | None:
        """The exact epsilon at the claimed delta (at 0, where none is claimed); None without laws."""
        exact = self.exact
        if exact is None:
            return None
        # An exact epsilon at delta = 0 says little of a claim with a delta: it may be infinite where that is kept.
        if exact.claimed_delta and exact.epsilon_at_claim is not None:
            return exact.epsilon_at_claim
        return exact.epsilon

    @property
    def nearness(self) -> float:
        """The exact epsilon, or else the one found, as a multiple of the claim."""
        found = 0.0
        if self.blackbox is not None:
            found = self.blackbox.epsilon_lower
        size = found
        if self.exact_epsilon is not None:
            size = self.exact_epsilon
        claimed = 0.0
        if self.claim:
            claimed = self.claim.epsilon
        # Against a claim of 0 every leak counts as it is.
        if claimed > 0 and math.isfinite(size):
            return size / claimed
        return size

    @property
    def conflict(self) -> bool:
        """Whether the black box contradicts the exact laws by more than their error.

        A lower bound on epsilon may not exceed the exact worst case, at whatever delta: epsilon at a delta > 0 is at
        most that at delta = 0. Nor may it, at the delta d, exceed an epsilon at which the exact delta is at most d; and
        no lower bound on delta, of a curve, may exceed the exact delta. Exact laws of some samples alone contradict
        nothing: the black box goes on to others from there.
        """
        exact = self.exact
        blackbox = self.blackbox
        if exact is None or blackbox is None or exact.relation != blackbox.relation or exact.n is None:
            return False
        # The error of a log-probability is a relative one of the probabilities, whose sum is at most 1.
        slack = math.expm1(min(exact.error, 1.0)) + _ROUNDING
        points = [(epsilon, delta + slack) for epsilon, delta in exact.curve]
        lower = blackbox.epsilon_lower
        delta = blackbox.delta
        beyond = delta > 0 and any(at < lower and most <= delta for at, most in points)
        if beyond or lower > exact.epsilon + exact.error:
            return True
        if blackbox.curve is None:
            return False
        shown = blackbox.curve.delta_lower([at for at, _ in points]).tolist()
        return any(found > most for found, (_, most) in zip(shown, points, strict=True))


def row_of(views: Sequence[FindingView]) -> Row:
    """Return the row of single audits of one mechanism, at one setting of its parameters."""
    first = views[0]
    return Row(first.name, first.parameters, views, fault=first.fault, label=first.name)


def worst(findings: Sequence[Judged], size: Callable[[Judged], float]) -> Judged | None:
    """Return the finding whose verdict speaks for all, and among those the one with the largest `size`."""
    # The verdicts of a kind stand in the order in which one of several speaks for all.
    return min(findings, key=lambda one: (one.verdicts.index(one.verdict), -size(one)), default=None)


@dataclass(frozen=True)
class AuditedMechanism:
    """The instances of one learner, one at least; `id` is its anchor in a page."""

    id: str
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """The learner's id."""
        return self.rows[0].learner

    @cached_property
    def tested(self) -> Row:
        """The instance whose privacy was tested, with the gravest verdict."""
        return min([row for row in self.rows if not row.further] or self.rows, key=lambda row: row.state.rank)

    @property
    def state(self) -> Verdict:
        """The verdict on its privacy; of a control, whether its leak was detected."""
        return self.tested.state

    @cached_property
    def accurate(self) -> Row:
        """The instance whose accuracy speaks for all."""
        return min(self.rows, key=lambda row: row.utility_verdict.rank)

    @property
    def accuracy(self) -> Verdict:
        """The verdict on its accuracy."""
        return self.accurate.utility_verdict

    @property
    def needs_look(self) -> bool:
        """Whether its part of a page is open."""
        return self.state.needs_look or self.accuracy.needs_look or self.tested.conflict


def mechanisms(rows: Sequence[Row]) -> list[AuditedMechanism]:
    """Return the mechanisms of rows: what needs a look first, then those that come nearest to their claims."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.learner, []).append(row)
    found: dict[str, AuditedMechanism] = {}
    for name, group in grouped.items():
        # Names that differ in signs alone would have one anchor: the later ones get a hyphen more.
        anchor = "m-" + (re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "x")
        while anchor in found:
            anchor += "-"
        found[anchor] = AuditedMechanism(anchor, group)
    return sorted(found.values(), key=lambda m: (m.state.rank, not m.needs_look, -m.tested.nearness, m.name))
