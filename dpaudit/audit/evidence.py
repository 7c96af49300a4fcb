"""Decide whether an audit could have seen that the claim fails; if not, say why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpaudit.audit.checks import Check
from dpaudit.audit.no_evidence import AllRaised, Constant, FewRuns, Gap, Identical, Meaningless, NotLookedAt, Powerless
from dpaudit.contract import Made, Pair, Verdict
from dpaudit.errors import InputError
from dpaudit.events.histogram import Tally
from dpaudit.outputs.canonical import canonical

__all__ = ["Observations", "different", "gaps_of", "identical", "verdict_of"]

RETURNED_SHARE = 0.01
"""The share of runs that must return something: below it even the likeliest of what is returned is rarer than the
event of probability 0.01 of the frontier, and the power that is stated is that of telling exceptions apart."""


@dataclass(frozen=True)
class Observations:
    """The runs that decided, on both sides together.

    Attributes
    ----------
    runs : int
        How many there were.
    different : int
        How many of them had another outcome than the commonest one.
    raised : Counter
        How many ended in an exception, by its type and message.
    """

    runs: int
    different: int
    raised: Counter[str]


def different(data: Tally, neighbour: Tally) -> int:
    """Return how many outcomes of both sides together are not the commonest one."""
    both = data + neighbour
    return both.total() - max(both.values(), default=0)


def gaps_of(
    seen: Observations,
    *,
    pairs: Sequence[Pair],
    confirming: int,
    least: int,
    detectable: float,
    not_looked_at: tuple[str, ...] = (),
    checks: Iterable[Check] = (),
) -> tuple[Gap, ...]:
    """Return the reasons why an audit could not have seen that the claim fails; none if it could.

    Runs with another outcome than the commonest one, and runs that returned something, are too few where they could not
    refute the claim by themselves, had all of them been on one side.

    Parameters
    ----------
    seen : Observations
        The runs that decided.
    pairs : sequence of Pair
        The pairs that were audited.
    confirming, least : int
        Runs on each side that decided, and the least number that can refute the claim at all.
    detectable : float
        The least true epsilon that would have been detected.
    not_looked_at : tuple of str
        Parts of the output that took no part.
    checks : iterable of Check
        The checks of randomness and state.
    """
    raised = seen.raised.total()
    returned = seen.runs - raised
    found: list[Gap] = []
    if raised and returned < max(least, RETURNED_SHARE * seen.runs):
        usual = min(seen.raised, key=lambda kind: (-seen.raised[kind], kind))
        found.append(AllRaised(raised, seen.runs, usual))
    elif seen.different == 0 or seen.different < least <= confirming:
        found.append(Constant(seen.runs - seen.different, seen.runs))
    if all(map(identical, pairs)):
        found.append(Identical(len(pairs)))
    if confirming < least:
        found.append(FewRuns(confirming, least, -(-least * 5 // 4) + 1))
    elif math.isinf(detectable):
        found.append(Powerless())
    if not_looked_at:
        found.append(NotLookedAt(not_looked_at))
    return (*found, *(Meaningless(check.name) for check in checks if check.meaningless))


def verdict_of(refuted: bool, gaps: Sequence[Gap]) -> Verdict:
    """Return the verdict: a violation stays one whatever the gaps, and silence counts only where there is none."""
    if refuted:
        return Verdict.VIOLATION
    return Verdict.NO_EVIDENCE if gaps else Verdict.CONSISTENT


def identical(pair: Pair) -> bool:
    """Say whether both inputs of a pair are the same, as far as they can be compared."""
    first, second = pair.sides
    if first is second or isinstance(first, Made):
        return bool(first is second)  # what is made from somebody's data differs
    try:
        return bool(first == second)
    except Exception:  # arrays, tables and tensors compare element by element, and each refuses in its own way
        pass
    try:
        return canonical(first) == canonical(second)
    except InputError:
        return False
