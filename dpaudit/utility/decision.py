"""The decision, by fresh randomness or by exact sums, at which sizes a learner fails too often on a case."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.bounds.limits import MeanTest
from dpaudit.contract import Grade
from dpaudit.seeding import generator
from dpaudit.utility.failure_rate import CaseFailure
from dpaudit.utility.search import RATIO

__all__ = ["Bracket", "Decider"]

BATCH = 250
"""Samples between two looks at a test."""


@dataclass(frozen=True)
class Bracket:
    """A size that fails (0 if none was shown to), a size that suffices (None if none), and the grade of both."""

    lower: int
    upper: int | None
    grade: Grade


class Decider:
    """Decides whether a learner's failure rate at a size is above or below beta.

    Exact sums decide where there are few count vectors. Else test number k, of all that one decider makes, errs with
    probability at most (1 - confidence)/(k (k + 1)) whichever way it answers, so that all its answers are right
    together with probability at least `confidence`: each uses fresh samples, so what is tested next may depend on what
    was found.

    Parameters
    ----------
    beta, confidence : float
        In (0, 1).
    draws : int
        The most samples of one test.
    seed : int
        The root seed.
    """

    def __init__(self, beta: float, confidence: float, draws: int, seed: int) -> None:
        self._beta, self._error, self._draws, self._seed = beta, 1 - confidence, draws, seed
        self.tests = 0
        self._summed: dict[int, bool] = {}

    def bracket(self, failure: CaseFailure, start: int, cap: int, above: int = 0) -> Bracket:
        """Return the largest size shown to fail and the least larger one shown to suffice, near `start`.

        Nothing is shown, at the cost of one test, if the failure rate is not above beta at `above`, where that is > 0.
        """
        exact = failure.exact(start) is not None
        known: dict[int, str] = {}

        def answer(step: int) -> str:
            n = _size(start, step, exact, cap)
            if n not in known:
                known[n] = self.answer(failure, n) if n else "above"
            return known[n]

        if above and self.answer(failure, above) != "above":
            return Bracket(0, None, Grade.STATISTICAL)
        failing = _last(lambda step: answer(step) == "above" and _size(start, step, exact, cap) < cap, 0)
        enough = _last(lambda step: answer(step) != "below" and _size(start, step, exact, cap) < cap, failing) + 1
        lower, upper = (_size(start, step, exact, cap) for step in (failing, enough))
        suffices = answer(enough) == "below"
        return Bracket(lower, upper if suffices else None, Grade.EXACT if exact else Grade.STATISTICAL)

    def answer(self, failure: CaseFailure, n: int) -> str:
        """Return whether the failure rate at n is "above" beta, or "below" or equal; empty if that stays open."""
        interval = failure.exact(n)
        if interval is not None:
            return "above" if interval[0] > self._beta else "below" if interval[1] <= self._beta else ""
        self.tests += 1
        test = MeanTest(self._beta, self._error / (self.tests * (self.tests + 1)))
        for batch in range(math.ceil(self._draws / BATCH)):
            values = failure.draws(n, generator(self._seed, "n*", "decide", self.tests, batch), BATCH)
            if test.take(values):
                break
        return test.answer


def _size(start: int, step: int, exact: bool, cap: int) -> int:
    """Return the size that many steps from the start: one each where sums are exact, else a factor `RATIO`."""
    if exact:
        return min(cap, max(0, start + step))
    size = start * RATIO**step
    return min(cap, max(0, math.floor(size) if step <= 0 else math.ceil(size))) if size >= 1 else 0


def _last(holds: Callable[[int], bool], start: int) -> int:
    """Return the last integer at which a condition holds, for one that holds up to somewhere and not beyond."""
    low = high = start
    step = 1
    if holds(start):
        while holds(high := low + step):
            low, step = high, 2 * step
    else:
        while not holds(low := high - step):
            high, step = low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
