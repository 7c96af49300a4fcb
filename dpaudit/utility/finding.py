"""The findings on utility: of a failure rate, of a sample complexity, and of how that grows with a parameter."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from dpaudit.contract import OF_LAWS, OF_UTILITY, SETTINGS, CaseFamily, Grade, UtilityVerdict
from dpaudit.errors import InputError
from dpaudit.family_wise import FamilyWise
from dpaudit.record import Count, Frozen, Level, Probability, Size, Words
from dpaudit.results import AuditFinding

# One of `contract.SETTINGS`.
Setting = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(SETTINGS)})$")]


class UtilityFinding(AuditFinding, kw_only=True, frozen=True, tag="utility"):
    """The finding of an audit of a claim Pr[error > alpha] <= beta.

    Attributes
    ----------
    verdict : {"holds", "violation", "undecided", "vacuous"}
        "holds" if the upper end is at most beta, "vacuous" if it is and the claim promises next to nothing,
        "violation" if the lower end exceeds beta, else "undecided".
    failure_rate, failure_lower, failure_upper : float
        The share of runs that failed, and an interval that contains the failure rate with probability `confidence`.
    failures, trials : int
        Runs that failed, and runs made.
    alpha, beta : float
        The claim.
    n : int
        Examples in a sample.
    setting : str
        The error and the randomness that the claim speaks of; see `contract.UtilityClaim`.
    concept, distribution : str
        The target and the distribution in words.
    confidence : float
        Of the interval.
    seed : int
        The root seed.
    claim_id : str
        The theorem, where its own statement was tested.
    grade : {"statistical"}
        The kind of the evidence.
    failure : str
        The definition of a failure, in words.
    best_error : float or None
        In the setting "agnostic", the exact error of the best concept, over which the excess is counted.
    family : FamilyWise
        Why a refutation does not stand among the other claims of a command; unset for all other findings.
    """

    verdicts: ClassVar[tuple[UtilityVerdict, ...]] = OF_UTILITY
    verdict: UtilityVerdict
    failure_rate: Probability
    failure_lower: Probability
    failure_upper: Probability
    failures: Count
    trials: Size
    alpha: Level
    beta: Level
    n: Size
    setting: Setting
    concept: str
    distribution: str
    confidence: Level
    seed: Count
    claim_id: str = ""
    grade: Grade = Grade.STATISTICAL
    failure: str = ""
    best_error: Probability | None = None
    family: FamilyWise | UnsetType = UNSET

    @property
    def p_value(self) -> float:
        r"""The p-value of the claim: the least error, 1 - confidence, at which the lower end exceeds beta.

        With F failures in N runs it is that of the exact binomial test, times 1 / w for the part w of the error that
        the test of this side has at this look:

        .. math:: p = \min(1, \Pr[\mathrm{Bin}(N, \beta) \ge F] / w), \qquad
                  w = \Pr[\mathrm{Bin}(N, \mathrm{lower}) \ge F] / (1 - \mathrm{confidence}) .

        With one look w is 1/2, up to rounding. It is 1 where nothing failed.
        """
        if not self.failures or not self.failure_lower:
            return 1.0
        from scipy.special import betainc

        k = self.failures
        rest = self.trials - k + 1
        part = float(betainc(k, rest, self.failure_lower)) / (1 - self.confidence)
        return min(1.0, float(betainc(k, rest, self.beta)) / part)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grade != Grade.STATISTICAL:
            raise InputError.of("grade", self.grade, "statistical")
        if self.family is not UNSET and self.verdict != UtilityVerdict.UNDECIDED:
            raise InputError.of("verdict", str(self.verdict), "undecided where a refutation does not stand")


class WorstCase(Frozen, frozen=True, kw_only=True):
    """A case: a concept of the class and a distribution of the points.

    Attributes
    ----------
    concept : int or None
        The concept's code; None where the case is described in words alone, as a learner offers it for its domain's
        points without listing them.
    points : list of list of int
        The points of the distribution, a row each; none where the case is described in words alone.
    probabilities : list of float
        Their probabilities.
    noise : list of float
        In the setting "agnostic", how often the label of each point is wrong; else empty.
    name : str
        How it was found, in words.
    """

    concept: Count | None
    points: list[list[int]]
    probabilities: list[Probability]
    noise: list[Probability]
    name: Words


class SizeCertificate(Frozen, frozen=True, kw_only=True):
    """Two sizes of a learner whose worst case is bounded by a proof.

    `dpaudit.utility.size_certificates` recomputes them.

    Attributes
    ----------
    family : CaseFamily
        The proof.
    numbers : dict
        What it needs to know of the learner.
    fails : int
        At so many examples the failure rate of the proof's own case exceeds beta; 0 if none is said to fail.
    suffices : int
        From so many examples on, the failure rate is at most beta for every concept and distribution.
    """

    family: CaseFamily
    numbers: dict[str, int | float]
    fails: Count
    suffices: Size


class Reason(StrEnum):
    """Why so many examples suffice whatever the concept and the distribution are."""

    CERTIFICATE = "certificate"
    THEOREM = "theorem"
    NONE = "none"


class SampleComplexityFinding(AuditFinding, kw_only=True, frozen=True, tag="sample-complexity"):
    """Two ends of the sample complexity n* = 1 + sup{n : Pr[error > alpha] > beta for some concept and distribution}.

    n* is more than `lower` and at most `upper`. It is known exactly where the second is the first plus 1.

    Attributes
    ----------
    verdict : {"holds", "violation", "undecided", "vacuous"}
        On the theorem: "violation" if the learner fails at an n for which the theorem promises that it does not,
        "holds" if by the certificate, or on the worst case found, no more than the theorem's n are needed.
    lower : int
        On the case `worst` the failure rate exceeds beta at so many examples, so n* is larger; 0 if that was shown for
        none.
    upper : int or None
        So many examples suffice for every concept and distribution, by the `reason`; None if nothing says so.
    reason : {"certificate", "theorem", "none"}
        What `upper` rests on: the certificate, which `dpaudit.utility.size_certificates` verified; the learner's own
        theorem; or nothing, where the learner fails at the theorem's n.
    certificate : SizeCertificate or None
        The certificate, which may also be that of `lower`.
    suffices : int or None
        On the case `worst` the failure rate is at most beta at so many examples; elsewhere it may not be. None if that
        was shown for none.
    theorem : int
        The examples that the learner's theorem asks for.
    proof, missing : str
        Why no case needs more than the certificate says; and what is not proved where `lower` and `upper` do not meet.
    worst : WorstCase
        The worst case found.
    alpha, beta : float
        The accuracy and the rate of failure.
    setting : str
        The error and the randomness; see `contract.UtilityClaim`.
    candidates : int
        How many cases competed at the end of the search; 0 where the certificate made it needless.
    confidence : float
        The probability that `lower` and `suffices` are both right; 1 if they were computed.
    seed : int
        The root seed.
    claim_id : str
        The theorem.
    grade : {"exact", "numeric", "statistical"}
        The kind of the evidence for `lower` and `suffices`; "numeric" where the learner's own formula gave the rate.
    """

    verdicts: ClassVar[tuple[UtilityVerdict, ...]] = OF_UTILITY
    verdict: UtilityVerdict
    lower: Count
    upper: Size | None
    reason: Reason
    certificate: SizeCertificate | None
    suffices: Size | None
    theorem: Size
    proof: str
    missing: str
    worst: WorstCase
    alpha: Level
    beta: Level
    setting: Setting
    candidates: Count
    confidence: Probability
    seed: Count
    claim_id: str
    grade: Grade

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.reason == Reason.NONE) != (self.upper is None):
            raise InputError(
                f"upper is {self.upper!r} for the reason {self.reason.value!r}: one says that it is unknown"
            )
        if self.reason == Reason.CERTIFICATE and (self.certificate is None or self.certificate.suffices != self.upper):
            raise InputError(f"upper is {self.upper!r}, which is not the size of the certificate {self.certificate!r}")

    @property
    def exact(self) -> bool:
        """Whether n* is `upper`: the size before it fails, and both are proved."""
        if self.certificate is None or self.reason != Reason.CERTIFICATE or self.upper != self.lower + 1:
            return False
        return self.certificate.fails == self.lower or self.grade == Grade.EXACT


class Slope(Frozen, frozen=True, kw_only=True):
    """A slope with the limits of its fit.

    They are a confidence interval where the points are measured by runs. Points that are computed have no chance in
    them, and the limits then say how far they are from a line.

    Attributes
    ----------
    value, lower, upper : float
        The estimate and its limits.
    method : str
        "least squares" or "interval-censored likelihood".
    """

    value: float
    lower: float
    upper: float
    method: str


class ScalingPoint(Frozen, frozen=True, kw_only=True):
    """The bracket of one sample complexity.

    Attributes
    ----------
    value : float
        The parameter.
    x : float
        The abscissa of the law: the parameter, its inverse, its logarithm, or that of its inverse.
    lower, upper : int
        So many examples are too few, and so many suffice, on the worst case; `upper` is None if that was shown of none.
        Where `case` says that its failure rate is bounded from below, they may still be too few.
    theorem : int
        The examples that the theorem asks for.
    case : str
        The worst case, in words.
    """

    value: float
    x: float
    lower: Count
    upper: Size | None
    theorem: Size
    case: Words


class ScalingFinding(AuditFinding, kw_only=True, frozen=True, tag="scaling"):
    """The measured growth of a sample complexity n* with one parameter, against the theorem's.

    Attributes
    ----------
    verdict : {"not refuted", "violation", "undecided"}
        "violation" if `ratio_slope.lower` is clearly positive, above 0.1: n* outgrows the theorem's formula. "not
        refuted" if `ratio_slope.upper` is at most 0.1, else "undecided". No finite table refutes an O(.), and n* of a
        case is a lower bound, so that none confirms one.
    exponent : Slope
        The slope of ln n* on ln x over all points.
    upper_exponent : Slope
        The same in the upper half of the points.
    ratio_slope : Slope
        The slope of ln(n*/theorem) on ln x in the upper half: it decides.
    local_exponents : list of float
        The slopes of ln n* between neighbouring points.
    points : list of ScalingPoint
        The measurements, by increasing x.
    learner, parameter : str
        The learner and the parameter that was varied.
    abscissa : str
        x in words.
    fixed : dict
        The other parameters.
    alpha, beta : float or None
        The accuracy and the rate of failure; None for the one that was varied.
    setting : str
        The error and the randomness.
    confidence : float
        Of each interval.
    seed : int
        The root seed.
    claim_id : str
        The theorem.
    grade : {"exact", "numeric", "statistical"}
        The weakest grade among the points.
    """

    verdicts: ClassVar[tuple[UtilityVerdict, ...]] = OF_LAWS
    verdict: UtilityVerdict
    exponent: Slope
    upper_exponent: Slope
    ratio_slope: Slope
    local_exponents: list[float]
    points: list[ScalingPoint]
    learner: Words
    parameter: Words
    abscissa: Words
    fixed: dict[str, Any]
    alpha: Level | None
    beta: Level | None
    setting: Setting
    confidence: Level
    seed: Count
    claim_id: str
    grade: Grade
