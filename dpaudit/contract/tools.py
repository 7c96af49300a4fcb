"""The audits that checks of statements get, and the parts of findings that they use, typed for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from dpaudit.contract.claims import Relation
from dpaudit.contract.pairs import Pair
from dpaudit.contract.samples import Distribution, Hypothesis

__all__ = ["LawAudit", "MeasuredLaw", "MeasuredPoint", "MeasuredSlope", "SupremumAudit", "Tools", "UtilityAudit"]


class LawAudit(Protocol):
    """The part of `dpaudit.LawFinding` that checks use."""

    verdict: str
    epsilon: float
    delta_at_claim: float
    pairs: int
    worst_pair: Pair


class SupremumAudit(Protocol):
    """The part of `dpaudit.SupremumFinding` that checks use."""

    value: float
    error: float
    support: str
    attained: float
    attained_error: float
    n: int
    witness: Pair


class UtilityAudit(Protocol):
    """The part of `dpaudit.UtilityFinding` that checks use."""

    verdict: str
    failures: int
    trials: int
    failure_rate: float
    failure_upper: float


class MeasuredSlope(Protocol):
    """An exponent with its confidence limits."""

    value: float
    lower: float
    upper: float


class MeasuredPoint(Protocol):
    """The bracket of one sample complexity, with the theorem's sample size and the worst case in words."""

    value: float
    lower: int
    upper: int | None
    theorem: int
    case: str


class MeasuredLaw(Protocol):
    """The part of `dpaudit.ScalingFinding` that checks use."""

    verdict: str
    grade: str
    learner: str
    abscissa: str
    points: Sequence[MeasuredPoint]
    exponent: MeasuredSlope
    upper_exponent: MeasuredSlope
    ratio_slope: MeasuredSlope


class Tools(Protocol):
    """The public functions of dpaudit that checks call; see there for the arguments and the findings."""

    def audit_law(
        self,
        learner: Any,
        *,
        n: int | None = None,
        samples: Iterable[Any] | None = None,
        relation: Relation | str | None = None,
    ) -> LawAudit:
        """Compute the worst-case epsilon and delta of a learner from its exact output laws."""

    def audit_supremum(self, learner: Any, *, starts: int = 8, evaluations: int = 250, most: int = 4) -> SupremumAudit:
        """Search for the supremum of a learner's privacy loss over samples of every size."""

    def audit_utility(
        self,
        learner: Any,
        concept: int | Hypothesis,
        distribution: Distribution | str,
        *,
        alpha: float,
        beta: float,
        n: int | None = None,
        trials: int = 1000,
        confidence: float = 0.999,
        setting: str | None = None,
        noise: float | None = None,
    ) -> UtilityAudit:
        """Test the claim Pr[error > alpha] <= beta on n examples."""

    def scaling_law(
        self,
        learner_id: str,
        parameter: str,
        values: Sequence[float],
        *,
        alpha: float | None = None,
        beta: float | None = None,
        setting: str | None = None,
        moves: int = 100,
        parameters: Mapping[str, Any] | None = None,
        **fixed: Any,
    ) -> MeasuredLaw:
        """Measure the growth of a sample complexity with one parameter, against the theorem's."""
