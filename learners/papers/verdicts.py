"""The rule by which numbers become a verdict, the same for every statement.

A check computes what the statement bounds. If a number contradicts the statement, the verdict is "refuted" and the
instance is its witness, whatever was expected. If none does, the statement "holds" where it was checked on all cases
that the summary names, and is "loose" if, besides, the truth is far below its constant. The truth of a claim of privacy
is the supremum over samples of every size, so that "loose" takes a proof of it: a maximum over a few examples, or over
what a search met, may be far below. A single instance that was chosen because it might refute, and does not, leaves the
statement "undecided".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpaudit.contract import Evidence, Pair, Support
from learners.papers.instances import pair_data, plain

__all__ = [
    "LOOSE",
    "TOLERANCE",
    "against",
    "exactly_private",
    "exceeds",
    "judged",
    "leaks",
    "loss_data",
    "supremum_of",
    "supremum_text",
    "tightness",
    "verdict_of",
    "worst_of",
]

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


def supremum_of(tools: Any, learner: Any) -> Any:
    """Return the supremum of a learner's loss, with a short search: `dpaudit supremum` searches longer."""
    return tools.audit_supremum(learner, starts=1, evaluations=20, most=2)


def worst_of(tools: Any, learners: Iterable[Any]) -> tuple[list[Any], Any, dict[str, Any]]:
    """Return the suprema of some learners' losses, the greatest of them, and its witness as data."""
    listed = list(learners)
    found = [supremum_of(tools, learner) for learner in listed]
    worst = max(range(len(found)), key=lambda i: found[i].value)
    return found, found[worst], loss_data(listed[worst], found[worst])


def loss_data(learner: Any, found: Any) -> dict[str, Any]:
    """Return the pair that a search for the supremum of a learner's loss has met, with its loss; {} if it has none."""
    if not hasattr(getattr(found.witness, "data", None), "points"):
        return {}
    return pair_data(learner, found.witness, epsilon=found.attained)


def leaks(found: Any, claimed: float) -> bool:
    """Say whether a supremum exceeds a claim by more than its error."""
    return exceeds(found.value - found.error, claimed)


def verdict_of(found: Any, claimed: float) -> str:
    """Return the verdict on a claim that a supremum does not exceed: "loose" if it is proved to be far below."""
    return tightness(found.value, claimed) if found.support == Support.PROVED else "holds"


def supremum_text(found: Any) -> str:
    """Return a supremum with what it rests on, and the loss that was computed."""
    where = f"computed {found.attained:.4f} at n = {found.n}"
    if found.support == Support.PROVED:
        return f"{found.value:.4f} over samples of every size by proof, {where}"
    return f"at least {found.value:.4f} ({found.support}; {where})"


def exactly_private(tools: Any, learner: Any, what: str) -> Evidence:
    """Return the evidence on a learner's claim from the supremum of its loss; `what` the samples are made of."""
    found = supremum_of(tools, learner)
    return judged(
        verdict_of(found, learner.epsilon),
        failed=leaks(found, learner.epsilon),
        summary=f"worst epsilon over {what}: {supremum_text(found)}, of {learner.epsilon}",
        numbers={"epsilon": found.value, "n": found.n},
        witness=repr(found.witness),
        data=loss_data(learner, found),
    )
