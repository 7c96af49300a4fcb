"""The row of a mechanism in a check: verdict and numbers, with the counts that they follow from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.tested import CoinCount, bounds_of_hits, lower_bound
from dpaudit.contract import PrivacyVerdict, TaskVerdict, Verdict
from dpaudit.engine.recomputed import HOLDER, LAWS, POWER, at_most, same
from dpaudit.engine.records import Result
from dpaudit.errors import InputError, ToolFault
from dpaudit.exact.finding import LawFinding
from dpaudit.project.settings import Accepted
from dpaudit.record import Amount, Count, Frozen, NonNegative, Probability, Share, Size, Words
from dpaudit.report.columns import numbers_of
from dpaudit.report.view import OneAudit, row_of, view_of

ROUNDING = 1e-9
"""By how much an exact epsilon may exceed a claim without a violation: the error of a delta is not kept."""


class Counted(Frozen, frozen=True, kw_only=True):
    """The point that was tested, and the counts of the event that decided, those of the likelier side first.

    There are no counts of bets. `by_curve` says that the test of a claim that is a curve refutes it by other evidence,
    `gaps` is the number of reasons why the audit could not have seen that the claim fails, and `law_claim` the epsilon
    that exact laws were compared with, if any were.
    """

    epsilon: Amount
    delta: Probability
    hits: tuple[Count, Count] | UnsetType = UNSET
    runs: tuple[Size, Size] | UnsetType = UNSET
    error: Share | UnsetType = UNSET
    sides: Literal[1, 2] = 1
    count: CoinCount | UnsetType = UNSET
    by_curve: bool = False
    gaps: Count = 0
    law_claim: Amount | UnsetType = UNSET

    def __post_init__(self) -> None:
        if len({part is UNSET for part in (self.hits, self.runs, self.error)}) > 1:
            raise InputError("hits, runs and error must be given together")

    @classmethod
    def of(cls, finding: PrivacyFinding | None, law: LawFinding | None) -> Counted | UnsetType:
        """Return what a black-box audit tested, and the claim of an exact one beside it."""
        if finding is None:
            return UNSET
        by_curve, witness = finding.curve_test is not None and finding.curve_test.by_holder, finding.witness
        claimed = UNSET if law is None or law.claimed_epsilon is None else law.claimed_epsilon
        counts: dict[str, Any] = {"by_curve": by_curve, "gaps": len(finding.gaps), "law_claim": claimed}
        if finding.tests and witness.trials and witness.neighbour_trials:
            best = max(finding.tests, key=lambda test: test.epsilon_lower)
            counts |= {"hits": (best.hits, best.neighbour_hits), "runs": (witness.trials, witness.neighbour_trials)}
            counts |= {"error": best.error, "sides": 1 if best.opposite is UNSET else 2, "count": best.count}
        return cls(epsilon=finding.epsilon, delta=finding.delta, **counts)

    @property
    def lower(self) -> float | None:
        """The bound that the counts give; None where there are none."""
        if self.hits is UNSET or self.runs is UNSET or self.error is UNSET:
            return None
        return _lower(self.hits, self.runs, self.count, self.delta, self.error, self.sides)


@lru_cache(maxsize=4096)
def _lower(
    hits: tuple[int, int], runs: tuple[int, int], count: CoinCount | UnsetType, delta: float, error: float, sides: int
) -> float:
    """Return a bound, which equal checks of many days share."""
    at_most("hits", hits[0], runs[0])
    at_most("neighbour_hits", hits[1], runs[1])
    if count is UNSET and (hits, runs, delta, error) in _bounds_known:
        return _bounds_known[hits, runs, delta, error]
    return lower_bound(hits, runs, count, delta=delta, error=error, sides=sides)


AT_ONCE = 2000
"""Bounds that are computed at once: each takes a few kB."""
_bounds_known: dict[tuple[tuple[int, int], tuple[int, int], float, float], float] = {}


def compute_together(rows: Iterable[Standing]) -> None:
    """Compute the bounds that rows will be asked for, those with one delta and one error at once."""
    groups: dict[tuple[float, float], dict[tuple[tuple[int, int], tuple[int, int]], None]] = {}
    for row in rows:
        if (one := row.tested) is UNSET or one.hits is UNSET or one.runs is UNSET or one.error is UNSET:
            continue
        if one.count is UNSET and all(hits <= runs for hits, runs in zip(one.hits, one.runs, strict=True)):
            groups.setdefault((one.delta, one.error), {})[one.hits, one.runs] = None
    for (delta, error), counts in groups.items():
        every = list(counts)
        for some in (every[i : i + AT_ONCE] for i in range(0, len(every), AT_ONCE)):
            hits, runs = zip(*some, strict=True)
            found = bounds_of_hits(hits, runs, delta=delta, error=error)
            _bounds_known.update(zip(((*one, delta, error) for one in some), map(float, found), strict=True))


class Standing(Frozen, frozen=True, kw_only=True):
    """The findings on one mechanism or learner, in numbers.

    The verdict is "accepted" for a violation that is accepted, and "failed" without a finding, with the error as `why`;
    else `why` shows the violation. The `numbers` are those of the columns of reports, by name. What the bound follows
    from is in `tested`. A claim that is a curve is in `curve_claim`, in words, with its kind.
    """

    name: str
    mechanism: str
    verdict: Verdict
    promise: Literal["privacy", "utility"] = "privacy"
    numbers: dict[str, NonNegative] = msgspec.field(default_factory=dict)
    why: str = ""
    accepted: Accepted | None = None
    tested: Counted | UnsetType = UNSET
    curve_claim: tuple[Words, Words] | UnsetType = UNSET


def standing_of(
    name: str, mechanism: str, *found: OneAudit | Result, why: str = "", accepted: Accepted | None = None
) -> Standing:
    """Return what was found of the privacy of one mechanism, or of its utility."""
    promise: Literal["privacy", "utility"] = "utility" if found[0].kind == "utility" else "privacy"
    views = [view_of(one) for one in found]
    row = row_of([replace(view, claim=None) for view in views] if promise == "utility" else views)
    verdict = row.utility_verdict if promise == "utility" else row.privacy_verdict
    numbers = {column: number for column, number in numbers_of(row).items() if number is not None}
    claim = numbers.pop("curve_claim", UNSET)
    if verdict == PrivacyVerdict.VIOLATION and accepted is not None and _most(numbers) <= accepted.epsilon:
        verdict = TaskVerdict.ACCEPTED
    about = {"verdict": verdict, "promise": promise, "numbers": numbers, "curve_claim": claim, "why": why}
    tested = Counted.of(row.blackbox, row.exact)
    return Standing(name=name, mechanism=mechanism, tested=tested, accepted=accepted, **about)


def _most(numbers: Mapping[str, float]) -> float:
    return max(numbers.get("exact_epsilon", 0.0), numbers.get("epsilon_lower", 0.0))


def check_row(row: Standing) -> tuple[str, ...]:
    """Return which numbers of a row do not follow from what it holds, after recomputing those that do.

    Raises
    ------
    ToolFault
        If the bound is not that of the counts, or the verdict not that of the numbers.
    """
    numbers, tested = row.numbers, row.tested
    bound, exact = numbers.get("epsilon_lower"), numbers.get("exact_epsilon")
    claimed = numbers.get("claimed_epsilon", math.inf)
    point = claimed if tested is UNSET else tested.epsilon
    if row.promise != "privacy":
        raise ToolFault("checks are of privacy, and it is of utility")
    if tested is not UNSET and claimed != math.inf:
        same("the epsilon that was tested", point, claimed, "the claimed one")
    named = {LAWS: exact is not None, POWER: "detectable_epsilon" in numbers, HOLDER: tested and tested.by_curve}
    named["bounds on mu"] = "mu_lower" in numbers
    left = [name for name, held in named.items() if held]
    if bound is None and tested is not UNSET:
        raise ToolFault("it has no epsilon_lower, and counts that give one")
    if bound is not None:
        if tested is UNSET:
            raise ToolFault("it has no counts, which every check keeps")
        if (found := tested.lower) is None:
            left.append("bounds of bets")
        else:
            same("epsilon_lower", bound, found)
        if not math.isfinite(bound):
            raise ToolFault(f"epsilon_lower {bound} is no bound that runs can show")
    by_runs = (bound is not None and bound > point) or (tested is not UNSET and tested.by_curve)
    compared = UNSET if tested is UNSET else tested.law_claim
    by_law = exact is not None and exact > (claimed if compared is UNSET else compared)
    # The error of a delta is not kept, and a check may make what runs show meaningless.
    certain = compared is not UNSET and (exact or 0.0) - numbers.get("exact_epsilon_error", 0.0) > compared + ROUNDING
    if row.verdict == TaskVerdict.ACCEPTED and (row.accepted is None or _most(numbers) > row.accepted.epsilon):
        raise ToolFault("the verdict 'accepted' is of more than was accepted")
    gaps = tested is not UNSET and tested.gaps > 0
    unseen, decided = gaps and compared is UNSET, bound is not None or exact is not None
    possible = {
        PrivacyVerdict.VIOLATION: by_runs or by_law,
        TaskVerdict.ACCEPTED: by_runs or by_law,
        PrivacyVerdict.CONSISTENT: not (certain or unseen or (by_runs and not gaps)) and decided,
        PrivacyVerdict.NO_EVIDENCE: not certain and (unseen or tested is UNSET) and decided,
        TaskVerdict.FAILED: not numbers and tested is UNSET,
    }
    if not possible.get(row.verdict):
        raise ToolFault(f"the verdict {row.verdict.word!r} is not what its numbers give")
    return tuple(left)
