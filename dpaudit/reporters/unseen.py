"""What a black-box audit looked at and could not have seen: the same words in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.reporters.wording import count, significant, value_text

__all__ = [
    "POWER",
    "assumed_text",
    "budget_text",
    "conviction_text",
    "delta_text",
    "errors_text",
    "frontier_text",
    "origin_counts",
    "origin_text",
    "origins_text",
    "power_text",
    "reachable",
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
    one = "main one" if len(_tests(finding)) > 1 else "one"
    likely = "of probability 0.1" if finding["design"] == "sequential" else f"as likely as the {one} tested"
    least = significant(finding["detectable_epsilon"], "up", apart_from=finding["epsilon"], infinity="")
    leak = f"a true epsilon of {least} or more on an event {likely}" if least else _too_likely(finding, likely)
    reached = finding["detectable_delta"] != "inf"
    outright = f"a probability of {delta_text(finding)} or more" if reached else "no probability, however large,"
    return f"{leak}; {outright} of an event impossible on the other side"


def _too_likely(finding: Mapping[str, Any], likely: str) -> str:
    """Say in plain words that no leak would have been convicted, and on which rarer event one would have been."""
    told = f"no leak, however large, on an event {likely}"
    rarer = reachable(finding)
    return told if rarer is None else f"{told}, a true epsilon of {rarer[1]} or more on one of probability {rarer[0]}"


def reachable(finding: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the likeliest event of the frontier on which a leak would be convicted, with the least such epsilon."""
    steps = frontier_text(finding, infinity="")
    return next(((mass, epsilon) for mass, epsilon in steps if epsilon), None)


def conviction_text(finding: Mapping[str, Any]) -> str:
    """Return in a few words from which true epsilon an audit would have convicted, for the cell of a table."""
    least = significant(finding["detectable_epsilon"], "up", apart_from=finding["epsilon"], infinity="")
    if least:
        return f"would convict from {least}"
    if finding["verdict"] == "violation":
        return "convicted"
    rarer = reachable(finding)
    if rarer is None:
        return "no power: so few runs convict no leak, however large"
    return f"no power on the event tested, too likely to show a leak; from {rarer[1]} on one of probability {rarer[0]}"


def assumed_text(finding: Mapping[str, Any]) -> str:
    """Return what the numbers on power assume: that learning the event costs no more than half of the runs."""
    if finding["design"] == "sequential":
        return (
            "This is what bets on a given event convict with half of the runs of a pair that leads from the start: "
            "learning the labels costs about as much, as calibration shows. By an approximation that was compared with "
            "simulated bets."
        )
    return (
        "This is what a given event convicts with half of the confirmation runs: an event that has to be learned does "
        "about as well with all of them, as calibration shows."
    )


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
    return f"{share_text(1 - finding['confidence'])} in all: {', '.join(parts)}{_shared(finding)}"


def _shared(finding: Mapping[str, Any]) -> str:
    """Return how two events share the verdict's error, and which of them is the witness."""
    if len(_tests(finding)) < 2:
        return ""
    main, reserve = _tests(finding)
    best = "main one" if main["epsilon_lower"] >= reserve["epsilon_lower"] else "reserve"
    shares = f"{share_text(main['error'])} for the main one, {share_text(reserve['error'])} for a reserve"
    return f"; two events share the verdict's, {shares}; the witness is the {best}"


def _tests(finding: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the events tested; runs that were stored before there were reserves do not list theirs."""
    tests: Sequence[Mapping[str, Any]] = finding.get("tests", ())
    return tests


def share_text(share: float) -> str:
    """Return a probability of error without the digits that binary fractions add: 0.05, not 0.050000000000000044."""
    return f"{share:.10g}"
