"""The report as a JSON document: header, totals, a row for each mechanism, the ledger, and all results."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Literal

from msgspec import UNSET, UnsetType

from dpaudit.contract import PrivacyClaim, StatementVerdict, UtilityVerdict, Verdict
from dpaudit.errors import ToolFault
from dpaudit.evidence.records import Failure, Header, LedgerRow, Listed, Parameters, Result, Run
from dpaudit.evidence.store import check_lines
from dpaudit.record import Count, Frozen, NonNegative, Probability, Words, decode, encodable
from dpaudit.report.columns import numbers_of
from dpaudit.report.ledger import class_counts
from dpaudit.report.summary import summarise
from dpaudit.report.view import Kind, Row


class Verdicts(Frozen, frozen=True):
    """The verdicts on a mechanism.

    - privacy, utility: On each of its promises; of a control, `privacy` says whether its leak was detected.
    - overall: The graver one; where neither is bad, that on privacy.
    """

    privacy: Verdict
    utility: Verdict
    overall: Verdict


class MechanismSummary(Frozen, frozen=True, kw_only=True):
    """One learner or control at one setting of its parameters.

    - label: The learner's id, with its parameters where the run holds the learner more than once.
    - learner: The learner's id.
    - parameters: The learner's keyword arguments.
    - fault: For a positive control, what it leaks.
    - claim: The claim of privacy.
    - verdict: The verdicts.
    - numbers: The numbers of the findings that decide: claimed_epsilon, claimed_delta, exact_epsilon (at the claimed
      delta) with its error, epsilon_lower, detectable_epsilon (of leaks visible in the features looked at),
      failure_rate with failure_lower and failure_upper, beta. Where the claim is a curve, which the result has as
      `tested_claim`, the claimed ones are the point tested; of a Gaussian one also claimed_mu, mu_lower, detectable_mu.
    - deciding: The tasks whose findings decide, by kind of audit: "exact", "privacy", "utility". They are among the
      results.
    - deciding_settings: The tasks whose findings decide in each setting of utility.
    - hard_cases: How many hard cases of utility were audited at the theorem's sample size.
    - joint_confidence: Of the intervals of all hard cases together.
    - missing: The kinds of audit without a finding, and why.
    - convicted_by: The audits of privacy that found a violation.
    - conflict: Whether the black box contradicts the exact laws.
    - audit: The name of its audit in the settings of a project.
    - accepted: Up to which epsilon these settings accept its violation, why and since when.
    """

    label: str
    learner: str
    parameters: Parameters
    fault: str | None
    claim: PrivacyClaim | None
    verdict: Verdicts
    numbers: dict[str, NonNegative | None]
    deciding: dict[Kind, Words]
    deciding_settings: dict[str, Words]
    hard_cases: Count
    joint_confidence: Probability | None
    missing: dict[Kind, Words]
    convicted_by: tuple[str, ...]
    conflict: bool
    audit: Words | UnsetType = UNSET
    accepted: Words | UnsetType = UNSET


class Totals(Frozen, frozen=True, kw_only=True):
    """The counts of a run.

    - learners, positive_controls: Rows.
    - violations, undecided, no_evidence, vacuous: Learners with such a verdict, the last two on privacy and on utility.
    - convicted: Positive controls that were detected.
    - pending, failed: Planned tasks without a result, and those of them that raised.
    - unplanned: Learners for which no plan could be made.
    """

    learners: Count
    violations: Count
    undecided: Count
    no_evidence: Count
    vacuous: Count
    positive_controls: Count
    convicted: Count
    pending: Count
    failed: Count
    unplanned: Count


class LedgerPart(Frozen, frozen=True):
    """The statements of papers that the run checked.

    - counts: How many got each verdict.
    - statements: The statements.
    """

    counts: dict[StatementVerdict, Count]
    statements: tuple[LedgerRow, ...]


class Report(Frozen, frozen=True, kw_only=True, tag="report", tag_field="record"):
    """The JSON report of a run.

    - header: The header of the run.
    - totals: Its counts.
    - learners, positive_controls: One row a learner, and a positive control, at one setting of its parameters.
    - ledger: The statements of papers.
    - pending: The keys of planned tasks without a result.
    - failures: What became of those of them that raised.
    - results: All results, in the order of the plan.
    - seal: The total of the sealed run; "not sealed" for any other.
    - started: When the run began, in UTC, where that is known; the seal does not include it.
    - schema_version: The version of the schema that the report keeps.
    """

    header: Header
    totals: Totals
    learners: tuple[MechanismSummary, ...]
    positive_controls: tuple[MechanismSummary, ...]
    ledger: LedgerPart
    pending: tuple[Words, ...]
    failures: tuple[Failure, ...]
    results: tuple[Result, ...]
    seal: Words
    started: Words | UnsetType = UNSET
    schema_version: Literal[3] = 3


def render(run: Run) -> str:
    """Return the report of a run as JSON that validates against the schema "report".

    Keys are sorted and the text ends with a newline: equal results give equal bytes. Infinity is the string "inf"; a
    number that is NaN raises `ToolFault`.
    """
    document = encodable(report_of(run))
    return json.dumps(document, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=True) + "\n"


def run_in(text: bytes, place: object) -> Run:
    """Return the run whose report in JSON a text is.

    Of a sealed run the lines are written again, and their digests and the total must be those of the report; of audits
    that were asked for one by one, which have no digests, types and ranges alone are checked. `ToolFault` if it is no
    report, or is not what the run gives: the message names the place.
    """
    found: Report = decode(text, Report, place)
    total = ""
    # A run that is not sealed has the word for that in the place of a digest.
    if found.seal != found.header.state:
        total = found.seal
    listed = {one.learner: Listed(one.audit, one.accepted or "") for one in found.learners if one.audit is not UNSET}
    began = ""
    if found.started is not UNSET:
        began = found.started
    run = Run(found.header, found.results, found.failures, total, listed=listed, started=began)
    try:
        if run.single:
            return run
        # The summary is made of the results alone: one that was edited is another one.
        check_lines(run)
        if report_of(run) != found:
            raise ToolFault("its summary is not that of its results")
    except ToolFault as error:
        raise ToolFault(f"{place}: {error}") from None
    return run


def report_of(run: Run) -> Report:
    """Return the report of a run as a typed record."""
    summary = summarise(run)
    return Report(
        header=run.header,
        totals=Totals(
            learners=len(summary.learners),
            violations=len(summary.violations),
            undecided=len(summary.undecided),
            no_evidence=len(summary.without_evidence),
            vacuous=sum(row.utility_verdict == UtilityVerdict.VACUOUS for row in summary.learners),
            positive_controls=len(summary.controls),
            convicted=len(summary.convicted),
            pending=len(summary.pending),
            failed=len(summary.errors),
            unplanned=len(summary.faults),
        ),
        learners=tuple(map(_mechanism, summary.learners)),
        positive_controls=tuple(map(_mechanism, summary.controls)),
        ledger=LedgerPart(class_counts(summary.ledger), tuple(summary.ledger)),
        pending=tuple(summary.pending),
        failures=run.failures,
        results=tuple(sorted(run.results, key=attrgetter("index"))),
        seal=run.seal,
        started=run.started or UNSET,
    )


def _mechanism(row: Row) -> MechanismSummary:
    settings = {setting: row.in_setting(setting).utility for setting in row.settings}
    return MechanismSummary(
        label=row.label,
        learner=row.learner,
        parameters=row.parameters,
        fault=row.fault,
        claim=row.claim,
        verdict=Verdicts(row.state, row.utility_verdict, row.verdict),
        # The claim's curve is words, and stands with the result.
        numbers={name: number for name, number in numbers_of(row).items() if name != "curve_claim"},
        deciding={kind: row.view_of(f).task for kind, f in row.deciding.items() if f is not None},
        deciding_settings={setting: row.view_of(f).task for setting, f in settings.items() if f is not None},
        hard_cases=len(row.cases),
        joint_confidence=row.utility_confidence,
        missing=row.missing,
        convicted_by=row.convicted_by,
        conflict=row.conflict,
        audit=row.audit or UNSET,
        accepted=row.accepted or UNSET,
    )
