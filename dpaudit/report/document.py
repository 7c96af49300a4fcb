"""The JSON report as typed records."""

from __future__ import annotations

from typing import ClassVar, Literal

from dpaudit.audit.evidence import Check, Gap
from dpaudit.audit.finding import PowerAt, PrivacyFinding
from dpaudit.contract import Grade, PrivacyClaim, Verdict
from dpaudit.engine.records import Failure, Header, LedgerRow, Parameters, Result
from dpaudit.exact.finding import LawFinding
from dpaudit.record import Amount, Count, Frozen, Level, NonNegative, Probability, Share, Size, Words
from dpaudit.results import SCHEMA_VERSION
from dpaudit.utility.finding import Setting, UtilityFinding

__all__ = [
    "BlackBoxNumbers",
    "Control",
    "ExactNumbers",
    "Learner",
    "LedgerPart",
    "Power",
    "Report",
    "SettingNumbers",
    "Totals",
    "UtilityNumbers",
    "Verdicts",
]


class ExactNumbers(Frozen, frozen=True, kw_only=True):
    """The numbers of the exact audit that decides."""

    taken_from: ClassVar[type] = LawFinding
    epsilon: NonNegative
    error: NonNegative
    grade: Grade
    verdict: Verdict
    claimed_epsilon: Amount | None
    claimed_delta: Probability
    delta_at_claim: Probability
    epsilon_at_claim: NonNegative | None
    n: Count | None
    pairs: Count


class Power(Frozen, frozen=True, kw_only=True):
    """The power of a black-box audit, and what it looked at.

    Attributes
    ----------
    origins : dict of str to int
        How many pairs were made in each way.
    """

    taken_from: ClassVar[type] = PrivacyFinding
    detectable_epsilon: NonNegative
    detectable_at: PowerAt
    detectable_delta: NonNegative
    frontier: tuple[tuple[Share, NonNegative], ...]
    design: Literal["fixed", "sequential"]
    pairs: Size
    events: Count
    scores: tuple[str, ...]
    budget: dict[str, Count]
    errors: dict[str, Share]
    origins: dict[str, Size]


class BlackBoxNumbers(Frozen, frozen=True, kw_only=True):
    """The numbers of the black-box audit that decides.

    Attributes
    ----------
    power : Power
        The leaks that it would have detected.
    """

    taken_from: ClassVar[type] = PrivacyFinding
    epsilon_lower: NonNegative
    detectable_epsilon: NonNegative
    epsilon: Amount
    delta: Probability
    confidence: Level
    trials: Size
    grade: Grade
    verdict: Verdict
    gaps: tuple[Gap, ...]
    checks: tuple[Check, ...]
    not_looked_at: tuple[Words, ...]
    power: Power


class SettingNumbers(Frozen, frozen=True, kw_only=True):
    """The numbers of the hard case that decides, in one setting of utility.

    Attributes
    ----------
    hard_cases : int
        How many hard cases were audited.
    """

    taken_from: ClassVar[type] = UtilityFinding
    setting: Setting
    failure: str
    failure_rate: Probability
    failure_lower: Probability
    failure_upper: Probability
    alpha: Level
    beta: Level
    n: Size
    confidence: Level
    trials: Size
    grade: Grade
    verdict: Verdict
    hard_cases: Size


class UtilityNumbers(SettingNumbers, frozen=True, kw_only=True):
    """The numbers of the hard case that decides, over all settings of utility.

    Attributes
    ----------
    joint_confidence : float
        Of the intervals of all hard cases together.
    settings : tuple of SettingNumbers
        The same for each setting.
    """

    joint_confidence: Probability
    settings: tuple[SettingNumbers, ...]


class Verdicts(Frozen, frozen=True):
    """The verdicts on a learner.

    Attributes
    ----------
    privacy, utility : Verdict
        On each of its promises.
    overall : Verdict
        The graver one; where neither is bad, that on privacy.
    """

    privacy: Verdict
    utility: Verdict
    overall: Verdict


class Learner(Frozen, frozen=True, kw_only=True):
    """One learner at one setting of its parameters.

    Attributes
    ----------
    label : str
        The learner's id, with its parameters where the run holds the learner more than once.
    learner : str
        The learner's id.
    parameters : dict
        The learner's keyword arguments.
    fault : str or None
        For a positive control, what it leaks.
    claim : PrivacyClaim or None
        The claim of privacy.
    exact, blackbox, utility : numbers or None
        The numbers of the finding that decides, by kind of audit.
    missing : dict of str to str
        Where there are none, why: by kind of audit, "exact", "privacy" or "utility".
    verdict : Verdicts
        The verdicts.
    conflict : bool
        Whether the black box contradicts the exact laws.
    """

    label: str
    learner: str
    parameters: Parameters
    fault: str | None
    claim: PrivacyClaim | None
    exact: ExactNumbers | None
    blackbox: BlackBoxNumbers | None
    utility: UtilityNumbers | None
    missing: dict[Literal["exact", "privacy", "utility"], Words]
    verdict: Verdicts
    conflict: bool


class Control(Learner, frozen=True, kw_only=True):
    """One positive control at one setting of its parameters.

    Attributes
    ----------
    convicted_by : tuple of str
        The audits of privacy that found its leak.
    """

    convicted_by: tuple[str, ...]


class Totals(Frozen, frozen=True, kw_only=True):
    """The counts of a run.

    Attributes
    ----------
    learners, positive_controls : int
        Rows.
    violations, undecided, no_evidence, vacuous : int
        Learners with such a verdict, the last two on privacy and on utility.
    convicted : int
        Positive controls that were detected.
    pending, failed : int
        Planned tasks without a result, and those of them that raised.
    unplanned : int
        Learners for which no plan could be made.
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

    Attributes
    ----------
    counts : dict of str to int
        How many got each verdict.
    statements : tuple of LedgerRow
        The statements.
    """

    counts: dict[Verdict, Count]
    statements: tuple[LedgerRow, ...]


class Report(Frozen, frozen=True, kw_only=True, tag="report", tag_field="record"):
    """The JSON report of a run.

    Attributes
    ----------
    header : Header
        The header of the run.
    totals : Totals
        Its counts.
    learners : tuple of Learner
        One row a learner.
    positive_controls : tuple of Control
        One row a positive control.
    ledger : LedgerPart
        The statements of papers.
    pending : tuple of str
        The keys of planned tasks without a result.
    failures : tuple of Failure
        What became of those of them that raised.
    results : tuple of Result
        All results, in the order of the plan.
    seal : str
        The total of the sealed run; "not sealed" or "not sealed yet" for any other.
    schema_version : int
        The version of the schema that the report keeps.
    """

    header: Header
    totals: Totals
    learners: tuple[Learner, ...]
    positive_controls: tuple[Control, ...]
    ledger: LedgerPart
    pending: tuple[Words, ...]
    failures: tuple[Failure, ...]
    results: tuple[Result, ...]
    seal: Words
    schema_version: Literal[2] = SCHEMA_VERSION
