"""The power of a black-box audit in words: which leaks it would have detected, and what it looked at."""

from __future__ import annotations

import math
from collections import Counter

from dpaudit.audit.finding import PowerAt, PrivacyFinding
from dpaudit.contract import Origin, OriginKind
from dpaudit.report.numbers import count, significant, value_text

__all__ = [
    "POWER",
    "assumed_text",
    "budget_text",
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
]

POWER = "95 %"
"""The probability of detection at which power is stated."""

_PURPOSES = {
    "halving": "to compare the pairs",
    "local": "to vary the best pair",
    "pilot": "to see what outputs look like",
    "training": "to choose the event",
    "confirmation": "to confirm it",
    "checks": "to check randomness and state",
}
_SELF_EXPLANATORY = (OriginKind.ENUMERATED, OriginKind.GIVEN)
"""Kinds of origin whose text needs no heading."""
_STATEMENTS = {"epsilon_lower": "bound on epsilon"}


def origin_counts(finding: PrivacyFinding) -> dict[str, int]:
    """Return how many pairs were made in each way.

    The finding lists the origins of the pairs that the audit began with; the others are variations that the local
    search tried.
    """
    kinds = Counter(origin.kind.value for origin in finding.origins)
    varied = finding.pairs - len(finding.origins)
    return dict(kinds) | ({"local search": varied} if varied > 0 else {})


def origin_text(origin: Origin) -> str:
    """Return how one pair was made, and by how many moves of the local search it was varied."""
    made = ": ".join(part for part in (origin.kind.value, origin.text) if part)
    if origin.text and origin.kind in _SELF_EXPLANATORY:
        made = origin.text
    if origin.moves > 1:
        return f"local search, {origin.moves} moves from {made}"
    return f"local search from {made}" if origin.moves else made


def origins_text(finding: PrivacyFinding) -> str:
    """Return the counts of pairs by origin, as "12 crafted, 3 local search"."""
    return ", ".join(f"{count(n)} {kind}" for kind, n in origin_counts(finding).items())


def scores_text(finding: PrivacyFinding) -> str:
    """Return the scores that were tried on the pair chosen."""
    return ", ".join(finding.scores) or finding.distinguisher


def frontier_text(finding: PrivacyFinding, infinity: str = "inf") -> list[tuple[str, str]]:
    """Return (probability on the unlikelier side, least epsilon detected, rounded up) as text, likelier events first.

    An infinite epsilon says that an event so unlikely would have been detected at no epsilon.
    """
    return [
        (value_text(mass), significant(epsilon, "up", apart_from=finding.epsilon, infinity=infinity))
        for mass, epsilon in finding.frontier
    ]


def delta_text(finding: PrivacyFinding) -> str:
    """Return the least probability of an event impossible on the other side that would be detected, rounded up."""
    return significant(finding.detectable_delta, "up", apart_from=finding.delta)


def power_text(finding: PrivacyFinding) -> str:
    """Return what these runs detect with probability `POWER`: an epsilon, and a probability of the impossible."""
    likely = _likely(finding)
    least = _least(finding)
    leak = f"a true epsilon of {least} or more on an event {likely}" if least else _too_likely(finding, likely)
    reached = math.isfinite(finding.detectable_delta)
    outright = f"a probability of {delta_text(finding)} or more" if reached else "no probability, however large,"
    return f"{leak}; {outright} of an event impossible on the other side"


def _likely(finding: PrivacyFinding) -> str:
    """Return how likely the event is on which the power is stated."""
    if finding.detectable_at == PowerAt.FRONTIER:
        mass = next(mass for mass, epsilon in finding.frontier if epsilon == finding.detectable_epsilon)
        return f"of probability {value_text(mass)}"
    one = "main one" if len(finding.tests) > 1 else "one"
    event = "of probability 0.1" if finding.design == "sequential" else f"as likely as the {one} tested"
    return f"{event} on the likelier side" if finding.detectable_at == PowerAt.LIKELIER else event


def _least(finding: PrivacyFinding) -> str:
    """Return the least epsilon detected, rounded up; empty where there is none."""
    return significant(finding.detectable_epsilon, "up", apart_from=finding.epsilon, infinity="")


def _too_likely(finding: PrivacyFinding, likely: str) -> str:
    """Say in plain words that no leak would have been detected, and on which rarer event one would have been."""
    told = f"no leak, however large, on an event {likely}"
    rarer = reachable(finding)
    return told if rarer is None else f"{told}, a true epsilon of {rarer[1]} or more on one of probability {rarer[0]}"


def reachable(finding: PrivacyFinding) -> tuple[str, str] | None:
    """Return the likeliest event of the frontier on which a leak would be detected, with the least such epsilon."""
    steps = frontier_text(finding, infinity="")
    return next(((mass, epsilon) for mass, epsilon in steps if epsilon), None)


def assumed_text(finding: PrivacyFinding) -> str:
    """Return what the numbers on power assume: that learning the event costs no more than half of the runs."""
    if finding.design == "sequential":
        return (
            "This is what bets on a given event detect with half of the runs of a pair that leads from the start: "
            "learning the labels costs about as much, as calibration shows. By an approximation that was compared with "
            "simulated bets."
        )
    return (
        "This is what a given event detects with half of the confirmation runs: an event that has to be learned does "
        "about as well with all of them, as calibration shows."
    )


def budget_text(finding: PrivacyFinding) -> str:
    """Return how the runs were spent."""
    budget = finding.budget
    if finding.design == "sequential":
        return f"{count(budget['used'])} runs used of {count(budget['allowed'])} allowed, on both sides of all pairs"
    spent = ", ".join(f"{count(budget[name])} {words}" for name, words in _PURPOSES.items() if budget[name])
    return f"runs on each side, all pairs together: {spent}"


def errors_text(finding: PrivacyFinding) -> str:
    """Return how the probability of error is split over the statements."""
    errors = sorted(finding.errors.items(), key=lambda item: (item[0] != "verdict", item[0]))
    parts = [f"{share_text(share)} for the {_STATEMENTS.get(name, name)}" for name, share in errors]
    return f"{share_text(1 - finding.confidence)} in all: {', '.join(parts)}{_shared(finding)}"


_PLACES, _ARTICLES = ("main one", "second one", "third one"), ("the", "a", "a")


def _shared(finding: PrivacyFinding) -> str:
    """Return how several events share the verdict's error, and which of them is the witness."""
    if len(finding.tests) < 2:
        return ""
    bounds = [test.epsilon_lower for test in finding.tests]
    best = _PLACES[bounds.index(max(bounds))]
    shares = [f"{share_text(test.error)} for {_ARTICLES[i]} {_PLACES[i]}" for i, test in enumerate(finding.tests)]
    number = ("two", "three")[len(bounds) - 2]
    return f"; {number} events share the verdict's, {', '.join(shares)}; the witness is the {best}"


def share_text(share: float) -> str:
    """Return a probability of error without the digits that binary fractions add: 0.05, not 0.050000000000000044."""
    return f"{share:.10g}"
