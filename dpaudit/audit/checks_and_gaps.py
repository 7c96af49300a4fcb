"""Checks of randomness and state, the gaps of an audit, and the verdict that follows from both.

A gap is a reason why the audit could not have seen that the claim fails. Checks and gaps are data: `report.words` makes
words of them and nothing else does. A new kind of gap is a new class here, a member of `Gap`, and its words there.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from scipy.special import chdtrc

from dpaudit.contract import Made, Pair, PrivacyVerdict
from dpaudit.errors import InputError
from dpaudit.events.event import Tally
from dpaudit.family_wise import FamilyWise
from dpaudit.outputs.canonical import canonical
from dpaudit.record import Count, Frozen, Size, Words


class CheckName(enum.StrEnum):
    """The question that a check asks of a mechanism."""

    INPUTS = "inputs"
    """Whether runs leave their inputs as they are."""
    GENERATOR = "generator"
    """Whether all randomness comes from the generator that is passed."""
    ADVANCED = "advanced"
    """Whether the generator that is passed is advanced, and not only copied; in a finding only if it is not."""
    SEED = "seed"
    """Whether different generators give different outputs."""
    STATE = "state"
    """Whether outputs depend on earlier calls: their order or their number."""
    PROCESS = "process"
    """Whether outputs depend on the process that makes them; in a finding only if they do."""
    ORDER = "order"
    """Whether consecutive runs on one input depend on each other; asked where the generator does not decide alone."""
    WORKERS = "workers"
    """Whether workers repeat each other's streams."""
    CALLS = "calls"
    """Whether runs of one call depend on each other: counts of calls differ too much; in a finding only if they do."""


class Answer(enum.StrEnum):
    """The answer of a check; all but the first two are findings against the mechanism."""

    PASSED = "passed"
    NOT_ASKED = "not asked"
    """Another answer, or what was declared, leaves nothing to ask."""
    GLOBAL = "global generator"
    """Equal generators gave equal outputs only where the global ones were set back too: a warning."""
    OWN = "own randomness"
    """Equal generators gave different outputs, and were not used: a warning."""
    UNMOVED = "never advanced"
    """The generator is read and not advanced, and no output showed that noise comes from a copy of it: a warning."""
    DEPENDS = "depends"
    """The outputs depend on what they must not depend on: it makes an audit meaningless."""


class Check(Frozen, frozen=True):
    """One check of a mechanism's randomness or state.

    Attributes
    ----------
    name : CheckName
        The question.
    answer : Answer
        The answer.
    runs : int
        Runs that it took, on both sides together; a run that serves several checks counts with the first of them.
    """

    name: CheckName
    answer: Answer
    runs: Count

    @property
    def meaningless(self) -> bool:
        """Whether the answer makes the audit meaningless."""
        return self.answer == Answer.DEPENDS

    @property
    def passed(self) -> bool:
        """Whether there is nothing to report."""
        return self.answer in (Answer.PASSED, Answer.NOT_ASKED)


class AllRaised(Frozen, frozen=True, tag="all raised", tag_field="kind"):
    """Every run that decided ended in an exception, or nearly every one.

    Attributes
    ----------
    raised, runs : int
        Runs that did, and all of them.
    usual : str
        The most frequent exception: its type, with its message if there are few.
    error_type : str
        Its type.
    place : str
        The file and the line that raised it, if they are known.
    """

    raised: Size
    runs: Size
    usual: Words
    error_type: Words
    place: str = ""


class Constant(Frozen, frozen=True, tag="constant", tag_field="kind"):
    """The runs that decided gave one outcome on both sides, or too few others to refute the claim.

    Attributes
    ----------
    alike, runs : int
        Runs with the commonest outcome, and all of them.
    """

    alike: Size
    runs: Size

    @property
    def varied(self) -> bool:
        """Whether other outcomes were not rare: what is missing is then runs, not another input."""
        return self.runs - self.alike > RARE_SHARE * self.runs


class Identical(Frozen, frozen=True, tag="identical", tag_field="kind"):
    """The two inputs of every pair are the same.

    Attributes
    ----------
    pairs : int
        How many pairs there are.
    """

    pairs: Size


class Powerless(Frozen, frozen=True, tag="powerless", tag_field="kind"):
    """No leak, however large, would have been detected, neither on the event tested nor on those of the frontier."""


class FewRuns(Frozen, frozen=True, tag="few runs", tag_field="kind"):
    """The runs that decided are fewer than can refute the claim at all.

    Attributes
    ----------
    runs, least : int
        Runs on each side, and the least number that could.
    trials : int
        The least `trials` with which one pair has so many.
    """

    runs: Count
    least: Size
    trials: Size


class NotLookedAt(Frozen, frozen=True, tag="not looked at", tag_field="kind"):
    """Output components were not analysed.

    Attributes
    ----------
    parts : tuple of str
        The parts.
    """

    parts: tuple[Words, ...]


class Meaningless(Frozen, frozen=True, tag="meaningless", tag_field="kind"):
    """A check of randomness and state failed, after which counts of runs say nothing of the mechanism.

    Attributes
    ----------
    check : CheckName
        The check.
    """

    check: CheckName


Gap = AllRaised | Constant | Identical | Powerless | FewRuns | NotLookedAt | Meaningless | FamilyWise


# A mechanism whose outcomes are nearly all alike has others in no more than this share of the runs.
RARE_SHARE = 0.01
# The share of runs that must return something: below it even the likeliest of what is returned is rarer than the
# event of probability 0.01 of the frontier, and the power stated is that of distinguishing exceptions.
RETURNED_SHARE = 0.01


@dataclass(frozen=True)
class Observations:
    """The runs that decided, on both sides together.

    `different` of them had another outcome than the commonest one; `raised` counts exceptions by type, message and
    line, or by type alone. The runs failed the `checks`.
    """

    runs: int
    different: int
    raised: Counter[tuple[str, ...]]
    checks: tuple[Check, ...] = ()


# About the probability with which runs of calls are said to depend on each other although they are independent: up to
# five times as much where calls have the fewest hits (2 x 10^5 simulated audits at 1e-5).
DEPENDENT = 1e-6
# The least variance of the hits of a call, on average, with which calls are compared.
CALL_VARIANCE = 2.0


def calls_agree(sides: Iterable[tuple[int, int, int, float]], sets: int = 1) -> bool:
    r"""Say whether hits differ from call to call no more than those of independent runs do.

    Of each side the hits are given, the runs, the calls, and the sum of h_i^2 / n_i over calls of n_i runs with h_i
    hits. With p = sum h / sum n the statistic is sum (h_i - n_i p)^2 / (n_i p (1 - p)), near chi-squared with a degree
    of freedom less on each side than there are calls. A value that all runs of a call share adds to it as n does. The
    error is shared by so many `sets` that are tried.
    """
    statistic = 0.0
    freedom = 0
    for hits, runs, calls, scatter in sides:
        # With hardly a hit in each call the statistic is far from chi-squared.
        variance = hits * (runs - hits) / max(runs, 1) ** 2
        if calls > 1 and variance * runs >= CALL_VARIANCE * calls:
            statistic += (scatter - hits**2 / runs) / variance
            freedom += calls - 1
    return plausible(statistic, freedom, sets)


def plausible(statistic: float, freedom: int, sets: int) -> bool:
    """Say whether independent runs may well have a chi-squared statistic, the greatest of so many `sets`."""
    return not freedom or float(chdtrc(freedom, statistic)) * sets >= DEPENDENT


def different(data: Tally, neighbour: Tally) -> int:
    """Return how many outcomes of both sides together are not the commonest one."""
    both = data + neighbour
    return both.total() - max(both.values(), default=0)


def few_runs(confirming: int, least: int) -> FewRuns:
    """Return the gap where so many runs on each side decided, and it takes `least` to refute the claim at all."""
    # A fifth of the trials of one pair chooses the event (`request.TRAINING_SHARE`): confirmation has four fifths.
    return FewRuns(confirming, least, -(-least * 5 // 4) + 1)


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

    Runs with another outcome than the commonest one, and runs that returned something, are too few where all of them on
    one side could not refute the claim. `confirming` runs on each side decided, of which it takes `least` to refute the
    claim at all; `detectable` is the least true epsilon that is detected.
    """
    # Exceptions are outputs like others; but where hardly anything else is returned, nothing else was audited.
    raised = seen.raised.total()
    returned = seen.runs - raised
    found: list[Gap] = []
    rare = returned < max(least, RETURNED_SHARE * seen.runs)
    # Where all runs are too few, it is not because of some that raised.
    if raised and rare and (least <= confirming or returned < raised):
        usual = min(seen.raised, key=lambda kind: (-seen.raised[kind], kind))
        found.append(AllRaised(raised, seen.runs, ": ".join(usual[:2]), usual[0], "".join(usual[2:])))
    elif seen.different == 0 or seen.different < least <= confirming:
        found.append(Constant(seen.runs - seen.different, seen.runs))
    if all(map(identical, pairs)):
        found.append(Identical(len(pairs)))
    if confirming < least:
        found.append(few_runs(confirming, least))
    elif math.isinf(detectable):
        found.append(Powerless())
    if not_looked_at:
        found.append(NotLookedAt(not_looked_at))
    return (*found, *(Meaningless(check.name) for check in checks if check.meaningless))


def verdict_of(refuted: bool, gaps: Sequence[Gap], *, run_by_run: bool) -> PrivacyVerdict:
    """Return the verdict: silence counts only where there is no gap, and a violation only where runs are evidence.

    They are not where a check makes them meaningless. Only bets on coins that are drawn for single runs (`run_by_run`)
    are valid in whatever state earlier runs leave a mechanism, or its process gives it.
    """
    checks = {gap.check for gap in gaps if isinstance(gap, Meaningless)}
    if run_by_run:
        # The claim is assumed to hold in every state, so that a coin guessed too often refutes it in any.
        checks -= {CheckName.STATE, CheckName.PROCESS}
    if checks:
        return PrivacyVerdict.NO_EVIDENCE
    if refuted:
        return PrivacyVerdict.VIOLATION
    if gaps:
        return PrivacyVerdict.NO_EVIDENCE
    return PrivacyVerdict.CONSISTENT


def identical(pair: Pair) -> bool:
    """Say whether both inputs of a pair are the same, as far as they can be compared."""
    first, second = pair.sides
    if first is second or isinstance(first, Made):
        return bool(first is second)  # what is made from somebody's data differs
    # Arrays, tables and tensors compare element by element, and each refuses in its own way.
    with suppress(Exception):
        return bool(first == second)
    with suppress(InputError):
        return canonical(first) == canonical(second)
    return False
