"""What a black-box audit looked at and could not have seen: the same words in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from dpaudit.reporters.wording import count, significant, value_text

__all__ = [
    "POWER",
    "budget_text",
    "delta_text",
    "errors_text",
    "frontier_text",
    "origin_counts",
    "origin_text",
    "origins_text",
    "power_text",
    "scores_text",
    "share_text",
    "unseen",
]

POWER = "95 %"
"""The probability of conviction at which `Unseen` states what is detectable."""

_COPIED = (
    "detectable_epsilon",
    "detectable_delta",
    "frontier",
    "design",
    "pairs",
    "events",
    "scores",
    "budget",
    "errors",
)
_PURPOSES = {
    "halving": "to compare the pairs",
    "local": "to vary the best pair",
    "training": "to choose the event",
    "confirmation": "to confirm it",
}
_SEARCHED = "local search from "
_STATEMENTS = {"epsilon_lower": "bound on epsilon"}


def unseen(finding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block "what was not seen" of a privacy finding as data."""
    return {name: finding[name] for name in _COPIED} | {"origins": origin_counts(finding)}


def origin_counts(finding: Mapping[str, Any]) -> dict[str, int]:
    """Return how many pairs were made in each way: the words before an origin's colon.

    The finding lists the origins of the pairs that the audit began with; the others are variations that the local
    search tried.
    """
    kinds = Counter(origin.partition(":")[0].strip() or "origin not given" for origin in finding["origins"])
    varied = finding["pairs"] - len(finding["origins"])
    return dict(kinds) | ({"local search": varied} if varied > 0 else {})


def origin_text(origin: str) -> str:
    """Return how one pair was made; the moves of a local search are counted instead of told one by one."""
    rest = origin
    while rest.startswith(_SEARCHED):
        rest = rest.removeprefix(_SEARCHED)
    moves = (len(origin) - len(rest)) // len(_SEARCHED)
    return f"local search, {moves} moves from {rest}" if moves > 1 else origin


def origins_text(finding: Mapping[str, Any]) -> str:
    """Return the counts of pairs by origin, as "12 crafted, 3 local search"."""
    return ", ".join(f"{count(n)} {kind}" for kind, n in origin_counts(finding).items())


def scores_text(finding: Mapping[str, Any]) -> str:
    """Return the scores that were tried on the pair chosen."""
    return ", ".join(finding["scores"]) or str(finding["distinguisher"])


def frontier_text(finding: Mapping[str, Any], infinity: str = "inf") -> list[tuple[str, str]]:
    """Return (probability on the unlikelier side, least epsilon convicted, rounded up) as text, likelier events first.

    An infinite epsilon says that an event so unlikely would have been convicted at no epsilon.
    """
    return [
        (value_text(mass), significant(epsilon, "up", apart_from=finding["epsilon"], infinity=infinity))
        for mass, epsilon in finding["frontier"]
    ]


def delta_text(finding: Mapping[str, Any]) -> str:
    """Return the least probability of an event impossible on the other side that would be convicted, rounded up."""
    return significant(finding["detectable_delta"], "up", apart_from=finding["delta"])


def power_text(finding: Mapping[str, Any]) -> str:
    """Return what these runs convict with probability `POWER`: an epsilon, and a probability of the impossible."""
    likely = "of probability 0.1" if finding["design"] == "sequential" else "as likely as the witness"
    least = significant(finding["detectable_epsilon"], "up", apart_from=finding["epsilon"], infinity="")
    leak = f"a true epsilon of {least} or more" if least else "no epsilon"
    reached = finding["detectable_delta"] != "inf"
    outright = f"a probability of {delta_text(finding)} or more" if reached else "no probability"
    return f"{leak} on an event {likely}; {outright} of an event impossible on the other side"


def budget_text(finding: Mapping[str, Any]) -> str:
    """Return how the runs were spent."""
    budget = finding["budget"]
    if finding["design"] == "sequential":
        return f"{count(budget['used'])} runs used of {count(budget['allowed'])} allowed, on both sides of all pairs"
    spent = ", ".join(f"{count(budget[name])} {words}" for name, words in _PURPOSES.items() if budget[name])
    return f"runs on each side, all pairs together: {spent}"


def errors_text(finding: Mapping[str, Any]) -> str:
    """Return how the probability of error is split over the statements."""
    errors = sorted(finding["errors"].items(), key=lambda item: (item[0] != "verdict", item[0]))
    parts = [f"{share_text(share)} for the {_STATEMENTS.get(name, name)}" for name, share in errors]
    return f"{share_text(1 - finding['confidence'])} in all: {', '.join(parts)}"


def share_text(share: float) -> str:
    """Return a probability of error without the digits that binary fractions add: 0.05, not 0.050000000000000044."""
    return f"{share:.10g}"
