"""Words for one finding of any kind, as labelled lines: in brief, and down to the witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.one_run_finding import OneRunFinding
from dpaudit.contract import TaskVerdict, Verdict
from dpaudit.errors import in_python
from dpaudit.evidence.records import Result
from dpaudit.exact.finding import LawFinding, SupremumFinding
from dpaudit.report.numbers import count, plural
from dpaudit.report.terminal import Lines, ShellCommand, aligned
from dpaudit.report.view import Decoded, FindingView, OneAudit, ParameterWriter, view_of
from dpaudit.report.words import laws, one_run, privacy, sensitivity, utility
from dpaudit.report.words.claims import claim_words, label_parameters
from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding, UtilityFinding

# The findings that a report of a run does not hold.
OneSearch: TypeAlias = (
    SupremumFinding | SampleComplexityFinding | ScalingFinding | OneRunFinding | SensitivityFinding | RecordedFinding
)


def brief_lines(finding: OneAudit, name: str = "the mechanism", repeat: str | None = None) -> Lines:
    """Return the parts of a finding, and at the end the command that makes it again, by default its seed."""
    lines = parts(finding, name)
    if repeat is not None:
        return [*lines, ("repeat", repeat), *privacy.clock_lines(finding)]
    if isinstance(finding, LawFinding):
        return lines
    sides = ""
    if isinstance(finding, PrivacyFinding):
        sides = " a side"
    return [*lines, ("seed", f"{finding.seed}, {count(finding.trials)} runs{sides}")]


def parts(finding: OneAudit, name: str, decoded: Decoded = None, shown: ParameterWriter = in_python) -> Lines:
    """Return all that a report says of a finding in brief, each part with its label: statement, reasons, warnings.

    Consoles and pages of one finding show every part; the prose of a run has the `statement` of all findings on a
    mechanism and the `reasons` of those that decide. `decoded` is as for `events.answer_words`; `shown` writes a
    parameter that is recommended.
    """
    verdict: Verdict = finding.verdict
    if isinstance(finding, LawFinding) and finding.claimed_epsilon is None:
        verdict = TaskVerdict.NO_CLAIM
    lines = [(verdict, statement([finding], name)), *reasons(finding, decoded, shown)]
    if isinstance(finding, PrivacyFinding):
        lines += privacy.limits(finding)
    return lines


def statement(found: Sequence[OneAudit], name: str) -> str:
    """Return what a mechanism claims, by the first of some findings, and what each of them shows, in one sentence."""
    return f"{name} {', '.join(filter(None, (_claimed(found[0]), *map(_shows, found))))}"


def _claimed(finding: OneAudit) -> str:
    match finding:
        case PrivacyFinding():
            return privacy.claimed(finding)
        case LawFinding():
            return laws.claimed(finding)
        case UtilityFinding():
            return ""


def _shows(finding: OneAudit) -> str:
    match finding:
        case PrivacyFinding():
            return privacy.shows(finding)
        case LawFinding():
            return laws.shows(finding)
        case UtilityFinding():
            return utility.shows(finding)


def reasons(finding: OneAudit, decoded: Decoded = None, shown: ParameterWriter = in_python) -> Lines:
    """Return what shows the verdict of a finding, what could not have been seen, and what to do about that."""
    match finding:
        case PrivacyFinding():
            return privacy.reasons(finding, decoded, shown)
        case LawFinding():
            return laws.reasons(finding, decoded)
        case UtilityFinding():
            return utility.reasons(finding, shown)


def because(finding: OneAudit, decoded: Decoded = None) -> str:
    """Return what shows a verdict.

    That is the event or the output and its probabilities, or the rate of failure; without evidence, why no leak could
    have been detected and what to do about it.
    """
    match finding:
        case PrivacyFinding():
            return privacy.because(finding, decoded)
        case LawFinding():
            return laws.because(finding, decoded)
        case UtilityFinding():
            return utility.because(finding)


def _asked(finding: OneAudit) -> Lines:
    match finding:
        case PrivacyFinding():
            return privacy.asked(finding)
        case LawFinding():
            return laws.asked(finding)
        case UtilityFinding():
            return []


def _evidence(view: FindingView) -> Lines:
    match view.finding:
        case PrivacyFinding() as finding:
            return privacy.evidence_lines(view, finding)
        case LawFinding() as finding:
            return laws.evidence_lines(view, finding)
        case UtilityFinding() as finding:
            return utility.evidence_lines(finding)


def verdict_summary(shown: ParameterWriter, results: Sequence[Result], repeat: str) -> Lines:
    """Return the lines on the gravest of some results of one learner and one kind, which `repeat` makes again."""
    views = [view_of(result) for result in results]
    lines = _brief(max(views, key=lambda view: (view.refutes, view.leaves_open)), shown)
    if len(views) > 1:
        counts = Counter(str(view.finding.verdict) for view in views)
        cases = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        lines.append(("cases", f"{plural(len(views), 'case')}: {cases}; the gravest is shown, -v shows each"))
    return [*lines, ("repeat", ShellCommand(repeat)), *privacy.clock_lines(*(view.finding for view in views))]


def verdict_block(shown: ParameterWriter, results: Sequence[Result]) -> str:
    """Return what some results of one learner and one kind rest on; of several, each in brief before that."""
    views = [view_of(result) for result in results]
    lines = [("parameters", label_parameters(views[0].parameters))]
    if len(views) == 1:
        return aligned(lines + _evidence(views[0]))
    return aligned([*lines, *(line for view in views for line in finding_lines(view, shown))])


def finding_lines(view: FindingView, shown: ParameterWriter = in_python) -> Lines:
    """Return all that one finding says: in brief, and then what that rests on."""
    return [*_brief(view, shown), *_evidence(view)]


def _brief(view: FindingView, shown: ParameterWriter) -> Lines:
    finding = view.finding
    # Below the theorem's sample size nothing is promised: the line says what was tested, and no verdict.
    (label, words), *lines = parts(finding, view.name, view.decoded, shown)
    if view.below_theorem:
        asks = "no theorem of the learner promises this"
        if view.theorem_n is not None:
            asks = f"the theorem asks for n = {count(view.theorem_n)}"
        label = "TESTED"
        words = f"{words}; this refutes nothing, {asks}"
    lines += _asked(finding)
    # A reader of the theorem would take the claim that was tested for the theorem's.
    own = view.claim
    if own is not None and isinstance(finding, PrivacyFinding):
        if (finding.epsilon, finding.delta) != (own.epsilon, own.delta):
            learners = claim_words(own.epsilon, own.delta)
            lines.append(("note", f"this claim was given; the learner's own is {learners}"))
    if view.fault is not None:
        lines.append(("note", f"it leaks on purpose: {view.fault}"))
    return [(label, words), *lines]


def search_brief(finding: OneSearch, name: str, repeat: str = "") -> Lines:
    """Return the verdict, what it rests on, and what repeats it (its seed if that is empty), as labelled texts."""
    return [*_search_lines(finding, name)[0], _last(finding, repeat)]


def search_page(finding: OneSearch, name: str, repeat: str = "") -> Lines:
    """Return all that a finding says, a line each; the parameters are those of `search_brief`."""
    subject = name
    if isinstance(finding, ScalingFinding):
        subject = finding.learner
    return [("audited", subject), *_search_lines(finding, subject)[1], _last(finding, repeat)]


def _last(finding: OneSearch, repeat: str) -> tuple[str, str]:
    if repeat:
        return "repeat", repeat
    if isinstance(finding, SensitivityFinding | RecordedFinding):
        return "grade", finding.grade
    if isinstance(finding, OneRunFinding):
        return "coins", one_run.coins_words(finding)
    return "seed", str(finding.seed)


def _search_lines(finding: OneSearch, name: str) -> tuple[Lines, Lines]:
    match finding:
        case SupremumFinding():
            return laws.supremum_lines(finding, name)
        case OneRunFinding():
            return one_run.one_run_lines(finding, name)
        case SensitivityFinding():
            return sensitivity.function_lines(finding, name)
        case RecordedFinding():
            return sensitivity.recorded_lines(finding, name)
        case SampleComplexityFinding():
            return utility.size_lines(finding, name)
        case ScalingFinding():
            return utility.scaling_lines(finding)
