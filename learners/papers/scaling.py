"""Sample-complexity theorems as laws: measured n* and its exponents against the printed formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpaudit.contract import Evidence
from learners.citations import NIS
from learners.papers.statements import states
from learners.papers.verdicts import judged

__all__ = ["STATEMENTS", "judged_laws"]

FINITE = ("point-exponential", "threshold-exponential", "box-exponential", "conjunction-exponential")
"""Learners of the generic theorem whose hard case has two points."""
SMALL: dict[str, dict[str, Any]] = {
    "point-exponential": {"domain_size": 64},
    "threshold-exponential": {"domain_size": 64},
    "box-exponential": {"side": 7, "dimension": 1},
    "conjunction-exponential": {"dimension": 3, "k": 2},
}
ACCURACIES = (1 / 500, 1 / 250, 1 / 125, 1 / 60, 1 / 30, 1 / 15, 1 / 7, 1 / 3)
PRIVACIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 8.0)
DIMENSIONS = (1, 3, 8, 16, 32, 48, 63)


@states(
    "NIS-Generic-law-class",
    "The generic learner needs O(ln|C|) examples in the size of the class.",
    f"{NIS}, finite concept classes",
    short="Growth with ln|C|, |C| = 2^2 to 2^256",
    printed="exponent 1",
    found="{exponent, upper half:.2f}, theorem's n {ratio:.1f} times n*",
)
def _class_size(tools: Any) -> Evidence:
    sizes = [2**k for k in (2, 4, 8, 16, 32, 64, 128, 256)]
    law = tools.scaling_law("point-exponential", "domain_size", sizes, alpha=0.1, beta=0.1, epsilon=1.0)
    return judged_laws([law])


@states(
    "NIS-Generic-law-alpha",
    "The generic learner needs O(1/alpha) examples in the accuracy, for every finite class.",
    f"{NIS}, finite concept classes",
    short="Growth with 1/alpha, four classes",
    printed="exponent 1",
    found="{exponent, upper half:.2f}",
)
def _accuracy(tools: Any) -> Evidence:
    laws = (tools.scaling_law(id, "alpha", ACCURACIES, beta=0.1, epsilon=1.0, **SMALL[id]) for id in FINITE)
    return judged_laws(laws)


@states(
    "NIS-Generic-law-epsilon",
    "The generic learner needs O(1/epsilon) examples in the privacy parameter, for every finite class.",
    f"{NIS}, finite concept classes",
    short="Growth with 1/epsilon, four classes",
    printed="exponent 1",
    found="{exponent, upper half:.2f}",
)
def _privacy(tools: Any) -> Evidence:
    laws = (tools.scaling_law(id, "epsilon", PRIVACIES, alpha=0.1, beta=0.1, **SMALL[id]) for id in FINITE)
    return judged_laws(laws)


@states(
    "NIS-ParityLearner-law-dimension",
    "The private learner of parities needs O(d) examples in the dimension d, up to d = 63.",
    f"{NIS}, private learner for parity",
    short="Growth with d, parities, d = 1 to 63",
    printed="exponent 1",
    found="{exponent, upper half:.2f}, theorem's n {ratio:.2f} times n*",
)
def _dimension(tools: Any) -> Evidence:
    return judged_laws([tools.scaling_law("parity-private", "dimension", DIMENSIONS, alpha=0.1, beta=0.6, epsilon=1.0)])


@states(
    "NIS-ParityLearner-law-alpha-epsilon",
    "The private learner of parities needs O(1/(alpha epsilon)) examples in alpha and in epsilon.",
    f"{NIS}, private learner for parity",
    short="Growth with 1/alpha and 1/epsilon, parities",
    printed="exponent 1",
    found="{exponent, upper half:.2f}",
)
def _parity_levels(tools: Any) -> Evidence:
    common = {"dimension": 16, "beta": 0.6}
    return judged_laws(
        [
            tools.scaling_law("parity-private", "alpha", ACCURACIES, epsilon=1.0, **common),
            tools.scaling_law("parity-private", "epsilon", PRIVACIES[:-1], alpha=0.1, **common),
        ]
    )


def judged_laws(laws: Iterable[Any], measured: str = "n* on hard cases") -> Evidence:
    """Return the evidence of some laws: refuted where n* clearly outgrows a theorem, or exceeds it at a value.

    `measured` says what their n* is.
    """
    found = list(laws)
    broken = [law for law in found if law.verdict == "violation" or _exceeding(law.points)]
    worst = max(found, key=lambda law: float(law.ratio_slope.upper))
    last = worst.points[-1]
    told = "; ".join(
        f"{law.learner}, {law.abscissa}: n* {law.points[0].upper} to {law.points[-1].upper}, exponent "
        f"{law.exponent.value:.3f}, {law.upper_exponent.value:.3f} in the upper half, slope of ln(n*/theorem) there "
        f"{law.ratio_slope.value:+.3f} [{law.ratio_slope.lower:+.3f}, {law.ratio_slope.upper:+.3f}]"
        for law in found
    )
    return judged(
        "holds" if all(law.verdict == "holds" for law in found) else "undecided",
        failed=bool(broken),
        summary=f"{measured}, {told}",
        numbers={
            "exponent": worst.exponent.value,
            "exponent, upper half": worst.upper_exponent.value,
            "slope of ln(n*/theorem)": worst.ratio_slope.value,
            "its upper limit": worst.ratio_slope.upper,
            "ratio": last.theorem / last.upper,
        },
        grade=max((law.grade for law in found), key=["exact", "numeric", "statistical"].index),
        witness="; ".join(f"{law.learner} against {law.abscissa}: {law.points[-1].case}" for law in broken),
        data={"kind": "laws", "laws": [_law_data(law) for law in found]},
    )


def _law_data(law: Any) -> dict[str, Any]:
    """Return the brackets of n* at every value of a law's parameter, and what the theorem asks for there."""
    points = [
        {"value": one.value, "lower": one.lower, "upper": one.upper, "theorem": one.theorem, "case": one.case}
        for one in law.points
    ]
    return {"learner": law.learner, "abscissa": law.abscissa, "points": points}


def _exceeding(points: Sequence[Any]) -> bool:
    """Say whether the theorem's n is too few at some value."""
    return any(point.lower >= point.theorem for point in points)


STATEMENTS = (_class_size, _accuracy, _privacy, _dimension, _parity_levels)
