"""Verdicts on learners: which finding decides, whether it had power, and whether two of them contradict each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.exact.finding import LawFinding
from dpaudit.utility.finding import UtilityFinding

__all__ = ["BAD", "UNSETTLED", "RowVerdict", "contradicts", "unseen", "worst"]

_ROUNDING = 1e-12

Judged = TypeVar("Judged", PrivacyFinding, LawFinding, UtilityFinding)


RowVerdict = Verdict

BAD = tuple(verdict for verdict in Verdict if verdict.status)
"""The verdicts for which a promise is to blame, the gravest first."""
UNSETTLED = (*(verdict for verdict in BAD if verdict.status != 1), Verdict.NOT_CHECKED)
"""The verdicts that leave open if a promise is kept, beyond what every audit leaves open."""


def contradicts(blackbox: PrivacyFinding, exact: LawFinding) -> bool:
    """Say whether the black box contradicts the exact laws by more than their error.

    A lower bound on epsilon may not exceed the exact worst case, at whatever delta: epsilon at a delta > 0 is at most
    that at delta = 0. Nor may it, at the delta d, exceed an epsilon at which the exact delta is at most d; and no lower
    bound on delta, of a curve, may exceed the exact delta. Exact laws of some samples alone contradict nothing: the
    black box goes on to others from there.
    """
    if exact.relation != blackbox.relation or exact.n is None:
        return False
    return blackbox.epsilon_lower > exact.epsilon + exact.error or _above_curve(blackbox, exact)


def _above_curve(blackbox: PrivacyFinding, exact: LawFinding) -> bool:
    """Say whether a black-box finding claims more than the exact delta(epsilon) at the points where that is stored."""
    # The error of a log-probability is a relative one of the probabilities, whose sum is at most 1.
    slack = math.expm1(min(exact.error, 1.0)) + _ROUNDING
    points = [(epsilon, delta + slack) for epsilon, delta in exact.curve]
    lower, delta = blackbox.epsilon_lower, blackbox.delta
    if delta > 0 and any(at < lower and most <= delta for at, most in points):
        return True
    if blackbox.curve is None:
        return False
    shown = blackbox.curve.delta_lower([at for at, _ in points]).tolist()
    return any(found > most for found, (_, most) in zip(shown, points, strict=True))


def unseen(finding: PrivacyFinding | LawFinding) -> bool:
    """Say whether an audit of privacy could not have seen that the claim fails."""
    return finding.verdict == Verdict.NO_EVIDENCE


def worst(findings: Sequence[Judged], size: Callable[[Judged], float]) -> Judged | None:
    """Return the finding with the gravest verdict, and among those with the largest `size`."""
    order = (Verdict.UNDECIDED, Verdict.VIOLATION)
    return max(findings, key=lambda f: (order.index(f.verdict) if f.verdict in order else -1, size(f)), default=None)
