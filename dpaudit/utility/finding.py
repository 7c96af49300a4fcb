"""The finding of an audit of utility: a failure rate and the interval that contains it."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from dpaudit.contract import OF_UTILITY, SETTINGS, Grade, Verdict
from dpaudit.errors import InputError
from dpaudit.record import Count, Level, Probability, Size
from dpaudit.results import AuditFinding

__all__ = ["Setting", "UtilityFinding"]

Setting = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(SETTINGS)})$")]
"""One of `contract.SETTINGS`."""


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
    """

    kind: ClassVar[str] = "utility"
    verdicts: ClassVar[tuple[Verdict, ...]] = OF_UTILITY
    verdict: Verdict
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grade != Grade.STATISTICAL:
            raise InputError.of("grade", self.grade, "statistical")
