"""Adds up the records of a run: which claims are refuted, and which positive controls were detected.

Progress, exit status and every report are views of what stands here, so that no two of them can disagree. So is what
becomes of the refuted claims of a run that is asked for one chance of a false alarm over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from dpaudit.audit.checks_and_gaps import Gap, Powerless, few_runs
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.request import least_runs
from dpaudit.contract import EVERY_VERDICT, OPEN, PrivacyVerdict, UtilityVerdict, Verdict
from dpaudit.errors import InputError
from dpaudit.evidence.records import Fault, PictureFinding, Result, Run
from dpaudit.evidence.tasks import UtilityArguments, canonical
from dpaudit.exact.finding import LawFinding
from dpaudit.family_wise import FamilyWise, adjusted
from dpaudit.utility.finding import UtilityFinding

# The kinds of audit that test a claim of privacy, and so can detect a positive control.
PRIVACY_AUDITS = ("exact", "privacy")
AUDITS = (*PRIVACY_AUDITS, "utility")
# The kinds of audit whose verdicts are a matter of chance.
STATISTICAL = ("privacy", "utility")
ON_CONTROLS = "on controls"
_BELOW = "at smaller n"
_OTHERS = {"ledger": "checked", "picture": "drawn"}
# The kinds that progress counts, in order: audits by verdict, those below the theorem's n or of controls, others.
KINDS = (*EVERY_VERDICT, _BELOW, ON_CONTROLS, *_OTHERS.values())


@dataclass(frozen=True)
class Outcome:
    """The sum of a run: its exit status, the tasks that decide it, and the learners for which no plan could be made."""

    violations: tuple[str, ...]  # they refute the claim of a learner that is not broken on purpose
    undetected: tuple[str, ...]  # controls, by parameters, that none of their audits detected: the auditor is at fault
    missing: tuple[str, ...]  # planned, without a finding
    faults: tuple[Fault, ...] = ()
    no_evidence: tuple[str, ...] = ()  # no audit of the learner's privacy could have seen that its claim fails
    undecided: tuple[str, ...] = ()  # they leave open whether a claim of utility holds

    @property
    def status(self) -> int:
        """The exit status.

        2 if anything is missing or was never planned, else 1 if anything is wrong, else 3 if anything is open, else 0.
        """
        if self.missing or self.faults:
            return 2
        if self.violations or self.undetected:
            return 1
        if self.no_evidence or self.undecided:
            return OPEN
        return 0

    @property
    def allowed_status(self) -> int:
        """The exit status where open claims are allowed."""
        return 0 if self.status == OPEN else self.status


def is_ladder(result: Result) -> bool:
    """Return whether a result is of utility below the theorem's n, where failures refute nothing."""
    return isinstance(result.arguments, UtilityArguments) and result.arguments.role == "ladder"


def refutes(result: Result) -> bool:
    """Return whether a result refutes the claim that it is about.

    A point of the ladder, below the theorem's n, cannot; nor can a statement of the ledger (that a paper errs is no
    violation by a learner) or a picture.
    """
    return _verdict(result) == PrivacyVerdict.VIOLATION


def leaves_open(result: Result) -> bool:
    """Return whether a result leaves open if the claim that it is about is kept, as no audit should."""
    return _verdict(result) in (PrivacyVerdict.NO_EVIDENCE, UtilityVerdict.UNDECIDED)


def _verdict(result: Result) -> Verdict | None:
    """Return the verdict on the claim that a result is about; None for a picture, and below the theorem's n."""
    if is_ladder(result) or isinstance(result.finding, PictureFinding):
        return None
    return result.finding.verdict


def kind_of(result: Result) -> str:
    """Return which of `KINDS` a result counts as; a promise of accuracy that holds is consistent."""
    if result.kind not in AUDITS:
        return _OTHERS[result.kind]
    if result.fault is not None:
        return ON_CONTROLS
    verdict = _verdict(result) or _BELOW
    # Progress has one count for promises that are kept, of privacy and of accuracy.
    if verdict == UtilityVerdict.HOLDS:
        return PrivacyVerdict.CONSISTENT
    return verdict


def outcome(run: Run) -> Outcome:
    """Return the sum of a run."""
    run = in_family(run)
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in run.results:
        if result.kind in AUDITS:
            groups.setdefault((result.learner, canonical(result.parameters)), []).append(result)
    done = {result.task for result in run.results}
    # A task that failed has a record and no result: nothing is known of its learner.
    missing = [planned for planned in run.header.plan if planned.task not in done]
    sound = [result for result in run.results if result.fault is None]
    # An audit that is missing may yet detect the leak.
    open_to = {planned.learner for planned in missing}
    controls = [found for (id, _), found in groups.items() if found[0].fault is not None and id not in open_to]
    # A violation that a project accepts is reported and does not fail.
    accepted = {learner for learner, listed in run.listed.items() if listed.accepted}
    return Outcome(
        violations=tuple(one.task for one in sound if refutes(one) and one.learner not in accepted),
        undetected=tuple(sorted(found[0].learner for found in controls if not detects(found))),
        missing=tuple(planned.task for planned in missing),
        faults=run.header.faults,
        no_evidence=tuple(task for found in groups.values() for task in _unseen(found)),
        undecided=tuple(one.task for one in sound if one.kind == "utility" and leaves_open(one)),
    )


def _unseen(found: Sequence[Result]) -> list[str]:
    """Return the audits of a learner's privacy if none of them could have seen that the claim fails."""
    audits = [one for one in found if one.fault is None and one.kind in PRIVACY_AUDITS]
    # Exact laws without a claim judge none.
    claims = [
        one for one in audits if not isinstance(one.finding, LawFinding) or one.finding.claimed_epsilon is not None
    ]
    if not all(map(leaves_open, claims)):
        return []
    return [one.task for one in claims]


def detects(results: Sequence[Result]) -> bool:
    """Return whether an audit of privacy among the results detects the leak of the control that they are about."""
    return any(result.kind in PRIVACY_AUDITS and refutes(result) for result in results)


def p_value_of(result: Result) -> float | None:
    """Return the p-value of the claim that a result is about; None where it is about none."""
    finding = result.finding
    if isinstance(finding, LawFinding) and finding.claimed_epsilon is None:
        return None
    if isinstance(finding, PrivacyFinding | UtilityFinding | LawFinding):
        return finding.p_value
    return None


def in_family(run: Run) -> Run:
    """Return a run in which each verdict is that among all claims, if the run was asked for that; else as it is.

    The results that are stored have the verdict that each claim has alone: nothing in their lines changes.
    """
    error = run.header.family_wise
    if error is UNSET:
        return run
    return replace(run, results=tuple(judged(run.results, error, _without_result(run))))


def family_size(run: Run) -> int:
    """Return how many claims of a run are judged together where it has one chance of a false alarm."""
    return sum(map(_counts, run.results)) + _without_result(run)


def _without_result(run: Run) -> int:
    """Return how many claims have no result yet.

    They count among the claims: whatever they will show, no verdict turns into an accusation by it.
    """
    done = {result.task for result in run.results}
    missing = [one for one in run.header.plan if one.task not in done and one.learner not in run.header.controls]
    return sum(one.kind in STATISTICAL for one in missing) + len(run.header.faults)


def judged(results: Sequence[Result], error: float, others: int = 0) -> list[Result]:
    """Return results in which a claim is refuted only if Holm's procedure refutes it with this error.

    The family are the statistical claims of the results and so many `others` without one. Exact laws err with
    probability 0, and positive controls, with points below the theorem's n, accuse nobody: none of them counts. A claim
    that is not refuted alone counts with the p-value 1.
    """
    family = [i for i, result in enumerate(results) if _counts(result)]
    p_values = [_p_value(results[i]) for i in family]
    found = list(results)
    for i, p, among in zip(family, p_values, adjusted([*p_values, *[1.0] * others]), strict=False):
        if refutes(results[i]) and among > error:
            reason = FamilyWise(p_value=p, adjusted=among, error=error, claims=len(family) + others)
            found[i] = _left_open(results[i], reason)
        else:
            found[i] = _seeing(results[i], error / (len(family) + others))
    return found


def _counts(result: Result) -> bool:
    return result.kind in STATISTICAL and result.fault is None and not is_ladder(result)


def _p_value(result: Result) -> float:
    finding = result.finding
    # A check may leave a small p-value "no evidence": it is then none of the claim.
    if not refutes(result) or not isinstance(finding, PrivacyFinding | UtilityFinding):
        return 1.0
    return finding.p_value


def _seeing(result: Result, error: float) -> Result:
    """Return a result as it is if its runs can refute the claim at all with this error; else without evidence."""
    finding = result.finding
    if not isinstance(finding, PrivacyFinding) or finding.verdict != PrivacyVerdict.CONSISTENT:
        return result
    # Bets, and those against a curve, are not of a fixed number of runs.
    if finding.design != "fixed" or finding.curve_test is not None:
        return result
    gap: Gap
    try:
        least = least_runs(finding.epsilon, finding.delta, error)
    except InputError:
        # It would take more runs than any audit makes.
        gap = Powerless()
    else:
        if finding.confirmation_trials >= least:
            return result
        gap = few_runs(finding.confirmation_trials, least)
    gaps = (*finding.gaps, gap)
    silent = replace(finding, verdict=PrivacyVerdict.NO_EVIDENCE, gaps=gaps, detectable_epsilon=float("inf"))
    return replace(result, finding=silent)


def _left_open(result: Result, reason: FamilyWise) -> Result:
    """Return a result whose refutation does not stand, with the reason."""
    finding = result.finding
    if isinstance(finding, PrivacyFinding):
        open_privacy = replace(
            finding,
            verdict=PrivacyVerdict.NO_EVIDENCE,
            gaps=(*finding.gaps, reason),
            detectable_epsilon=float("inf"),
        )
        return replace(result, finding=open_privacy)
    assert isinstance(finding, UtilityFinding)
    open_utility = replace(finding, verdict=UtilityVerdict.UNDECIDED, family=reason)
    return replace(result, finding=open_utility)
