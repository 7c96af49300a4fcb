"""The rule by which numbers become a verdict, the same for every statement.

A check computes what the statement bounds. If a number contradicts the statement, the verdict is "refuted" and the
instance is its witness, whatever was expected. If none does, the statement "holds" where it was checked on all cases
that the summary names, and is "loose" if, besides, the truth is far below its constant. A single instance that was
chosen because it might refute, and does not, leaves the statement "undecided".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.contract import Evidence, Pair
from learners.papers.instances import plain

__all__ = ["LOOSE", "TOLERANCE", "against", "exactly_private", "exceeds", "judged", "tightness"]

LOOSE = 0.75
"""A true statement is loose if the truth is at most this share of its constant."""

TOLERANCE = 1e-9
"""The relative error that rounding may give a number computed from exact laws."""


def judged(
    otherwise: str,
    *,
    failed: bool,
    summary: str,
    numbers: Mapping[str, float],
    grade: str = "exact",
    witness: str,
    data: Mapping[str, Any] | None = None,
) -> Evidence:
    """Return the evidence: "refuted", with the witness, if a number contradicts the statement; else `otherwise`.

    `data` is the witness as data, and is given whatever the verdict.
    """
    verdict, told = ("refuted", witness) if failed else (otherwise, "")
    return Evidence(verdict, summary, numbers, grade, told, plain(data or {}))


def exceeds(found: float, claimed: float) -> bool:
    """Say whether an exactly computed number is above a bound by more than rounding explains."""
    return found > claimed * (1 + TOLERANCE)


def tightness(truth: float, claimed: float) -> str:
    """Return the verdict on a true upper bound: "loose" if the truth is at most `LOOSE` of it, else "holds"."""
    return "loose" if truth <= LOOSE * claimed else "holds"


def against(pair: Pair) -> str:
    """Return both sides of a pair in words."""
    return f"{pair.data!r} against {pair.neighbour!r}"


def exactly_private(tools: Any, learner: Any, n: int, what: str) -> Evidence:
    """Return the evidence on a learner's claim from its exact epsilon over all samples of n."""
    finding = tools.audit_law(learner, n=n)
    return judged(
        "holds",
        failed=finding.verdict == "violation",
        summary=f"worst epsilon over all samples of {n} {what}: {finding.epsilon:.4f} of {learner.epsilon}",
        numbers={"epsilon": finding.epsilon},
        witness=repr(finding.worst_pair),
    )
