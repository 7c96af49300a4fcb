"""The row of a mechanism in a check: verdict and numbers, with the counts that they follow from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.tested import CoinCount, lower_bound
from dpaudit.contract import Verdict
from dpaudit.engine.recomputed import LAWS, at_most, same
from dpaudit.engine.records import Result
from dpaudit.errors import ToolFault
from dpaudit.project.settings import Accepted
from dpaudit.record import Amount, Count, Frozen, NonNegative, Probability, Share, Size
from dpaudit.report.columns import numbers_of
from dpaudit.report.view import row_of

ROUNDING = 1e-9
"""By how much an exact epsilon may exceed a claim without a violation: the error of a delta is not kept."""


class Counted(Frozen, frozen=True, kw_only=True):
    """The point that was tested, and the counts of the event that decided, those of the likelier side first.

    There are no counts of bets. `by_curve` says that the test of a claim that is a curve refutes it by other evidence.
    """

    epsilon: Amount
    delta: Probability
    hits: tuple[Count, Count] | UnsetType = UNSET
    runs: tuple[Size, Size] | UnsetType = UNSET
    error: Share | UnsetType = UNSET
    sides: Literal[1, 2] = 1
    count: CoinCount | UnsetType = UNSET
    by_curve: bool = False

    @classmethod
    def of(cls, finding: PrivacyFinding | None) -> Counted | UnsetType:
        """Return what a black-box audit tested."""
        if finding is None:
            return UNSET
        by_curve, witness = finding.curve_test is not None and finding.curve_test.by_holder, finding.witness
        bare = cls(epsilon=finding.epsilon, delta=finding.delta, by_curve=by_curve)
        if not finding.tests or not witness.trials or not witness.neighbour_trials:
            return bare
        best = max(finding.tests, key=lambda test: test.epsilon_lower)
        return replace(
            bare,
            hits=(best.hits, best.neighbour_hits),
            runs=(witness.trials, witness.neighbour_trials),
            error=best.error,
            sides=1 if best.opposite is UNSET else 2,
            count=best.count,
        )

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
    return lower_bound(hits, runs, count, delta=delta, error=error, sides=sides)


class Standing(Frozen, frozen=True, kw_only=True):
    """The findings on one mechanism or learner, in numbers.

    The verdict is "accepted" for a violation that is accepted, and "failed" without a finding, with the error as `why`;
    else `why` shows the violation. The `numbers` are those of the columns of reports, by name. What the bound follows
    from is in `tested`; rows of an earlier version lack it.
    """

    name: str
    mechanism: str
    verdict: Verdict
    promise: Literal["privacy", "utility"] = "privacy"
    numbers: dict[str, NonNegative] = msgspec.field(default_factory=dict)
    why: str = ""
    accepted: Accepted | None = None
    tested: Counted | UnsetType = UNSET


def standing_of(
    name: str, mechanism: str, *results: Result, why: str = "", accepted: Accepted | None = None
) -> Standing:
    """Return what was found of the privacy of one mechanism, or of its utility."""
    promise: Literal["privacy", "utility"] = "utility" if results[0].kind == "utility" else "privacy"
    row = row_of([replace(one, claim=None) for one in results] if promise == "utility" else results)
    verdict = row.utility_verdict if promise == "utility" else row.privacy_verdict
    numbers = {column: number for column, number in numbers_of(row).items() if number is not None}
    if verdict == Verdict.VIOLATION and accepted is not None and _most(numbers) <= accepted.epsilon:
        verdict = Verdict.ACCEPTED
    found = Standing(name=name, mechanism=mechanism, verdict=verdict, promise=promise, numbers=numbers)
    return replace(found, why=why, accepted=accepted, tested=Counted.of(row.blackbox))


def _most(numbers: Mapping[str, float]) -> float:
    """Return the greatest epsilon that was found."""
    return max(numbers.get("exact_epsilon", 0.0), numbers.get("epsilon_lower", 0.0))


def check_row(row: Standing) -> tuple[str, ...]:
    """Return which numbers of a row do not follow from what it holds, after recomputing those that do.

    Raises
    ------
    ToolFault
        If the bound is not that of the counts, or the verdict not that of the numbers.
    """
    numbers, tested, left = row.numbers, row.tested, []
    bound, exact = numbers.get("epsilon_lower"), numbers.get("exact_epsilon")
    claimed = numbers.get("claimed_epsilon", math.inf)
    refuted = certain = False
    if exact is not None:
        left.append(LAWS)
        refuted, certain = exact > claimed, exact - numbers.get("exact_epsilon_error", 0.0) > claimed + ROUNDING
    if bound is not None:
        point = claimed if tested is UNSET else tested.epsilon
        found = None if tested is UNSET else tested.lower
        if found is None:
            left.append("bounds of bets" if tested is not UNSET else "bounds of an earlier version, without counts")
        else:
            same("epsilon_lower", bound, found)
        if not math.isfinite(bound):
            raise ToolFault(f"epsilon_lower {bound} is no bound that runs can show")
        refuted |= bound > point or (tested is not UNSET and tested.by_curve)
        certain |= bound > point and row.verdict != Verdict.NO_EVIDENCE  # a check may make runs meaningless
    accused = row.verdict in (Verdict.VIOLATION, Verdict.ACCEPTED)
    if row.verdict == Verdict.ACCEPTED and (row.accepted is None or _most(numbers) > row.accepted.epsilon):
        raise ToolFault("the verdict 'accepted' is of more than was accepted")
    if row.promise == "privacy" and ((accused and not refuted) or (certain and not accused)):
        raise ToolFault(f"the verdict {row.verdict.value!r} is not what its numbers give")
    return tuple(left)
