"""The finding of a scaling law: measured sample complexities against a parameter, and their exponents."""

from __future__ import annotations

from typing import Any, ClassVar

from dpaudit.contract import OF_UTILITY, Grade, Verdict
from dpaudit.record import Count, Frozen, Level, Size, Words
from dpaudit.results import AuditFinding
from dpaudit.utility.exponents import Slope
from dpaudit.utility.finding import Setting

__all__ = ["ScalingFinding", "ScalingPoint"]


class ScalingPoint(Frozen, frozen=True, kw_only=True):
    """The bracket of one sample complexity.

    Attributes
    ----------
    value : float
        The parameter.
    x : float
        The abscissa of the law: the parameter, its inverse or its logarithm.
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
    verdict : {"holds", "violation", "undecided"}
        "violation" if `ratio_slope.lower` is clearly positive, above 0.1: n* outgrows the theorem's formula. "holds" if
        `ratio_slope.upper` is at most 0.1, else "undecided". No finite table refutes an O(.).
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

    kind: ClassVar[str] = "scaling"
    verdicts: ClassVar[tuple[Verdict, ...]] = OF_UTILITY
    verdict: Verdict
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
