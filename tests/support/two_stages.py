"""Tests of a rate in two stages, whose second one is needed only where the first leaves a doubt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.stats import binom


@dataclass(frozen=True)
class TwoStages:
    """The test that of `number` outcomes at most `most` are true, which ends where of the `first` at most `few` are.

    It fails only where the test of all outcomes would, so it has no more false alarms. What it misses besides are
    faults of which the first outcomes show no more than `few`: `failing` says how often it fails.
    """

    number: int
    most: int
    first: int
    few: int = 0

    def failing(self, rate: float) -> float:
        """Return the probability that the test fails where each outcome is true with probability `rate`."""
        doubtful = range(self.few + 1, self.first + 1)
        rest = self.number - self.first
        return sum(float(binom.pmf(k, self.first, rate) * binom.sf(self.most - k, rest, rate)) for k in doubtful)

    def hold(self, outcomes: Callable[[Sequence[int]], Sequence[bool]], seeds: Sequence[int]) -> None:
        """Raise `AssertionError` if too many outcomes are true; they are asked for by the seeds of a stage."""
        assert len(seeds) == self.number
        assert self.few <= self.most
        found = sum(outcomes(seeds[: self.first]))
        if found > self.few:
            found += sum(outcomes(seeds[self.first :]))
        assert found <= self.most, f"{found} of {self.number}"
