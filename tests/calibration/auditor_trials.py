"""Auditing a mechanism of known privacy many times: the trials that the auditor stands before its own court."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from auditor_cases import BY_NAME, Case

import dpaudit
from dpaudit import seeding
from dpaudit.audit.finding import PowerAt
from dpaudit.audit.power import Power, detectable_epsilon_by_bets
from dpaudit.bounds.detectable import detectable_epsilon
from dpaudit.bounds.melded import Melded

CONFIDENCE = 0.95
LEVEL = 1 - CONFIDENCE


@dataclass(frozen=True)
class Trial:
    """The way a case is audited.

    Parameters
    ----------
    case : str
        Name of the case.
    condition : str
        "boundary": the pair (1, 0) and the case's exact epsilon as the claim; "swapped": the same with the pair (0, 1);
        "no signal": the pair (0, 0) and the claim epsilon = 0; "wrong sign" (design "given" only): the event is
        likelier on the other side than assumed, and the claim is epsilon = 0.
    design : str
        "fixed" and "sequential" are those of `audit_privacy`; "given" tests the case's own event with the
        melded bound, and "bets given" bets on it, so that nothing is chosen.
    trials : int
        Runs a side of each pair.
    pairs : int
        How many pairs, all alike, each as tempting as the others.
    jobs : int
        As for joblib.
    noise : float
        1 is the noise that the claim needs, or less.
    """

    case: str
    condition: str = "boundary"
    design: str = "fixed"
    trials: int = 2_000
    pairs: int = 1
    jobs: int = 1
    noise: float = 1.0

    @property
    def of(self) -> Case:
        """The case itself."""
        return BY_NAME[self.case]

    @property
    def claim(self) -> float:
        """The claimed epsilon."""
        return self.of.epsilon if self.condition in ("boundary", "swapped") else 0.0

    @property
    def inputs(self) -> tuple[int, int]:
        """The pair."""
        return {"boundary": (1, 0), "swapped": (0, 1), "no signal": (0, 0), "wrong sign": (0, 1)}[self.condition]

    def accused(self, seeds: Sequence[int]) -> list[bool]:
        """Return for each seed whether an audit accuses: by its verdict, or by a bound above a claim that is exact."""
        return self._given(seeds) if self.design == "given" else [self._audit(seed) for seed in seeds]

    def _given(self, seeds: Sequence[int]) -> list[bool]:
        """Judge by the counts of the case's own event, which is assumed to be likelier on the pair's first input."""
        mechanism = self.of.mechanism(self.noise)
        hits = np.zeros((2, len(seeds)), dtype=np.int64)
        for at, seed in enumerate(seeds):
            for side, data in enumerate(self.inputs):
                rng = seeding.generator(seed, "calibrate", mechanism.name, self.condition, side)
                hits[side, at] = self.of.event(mechanism(data, rng, self.trials), self.noise).sum()
        n = self.trials
        p_values = Melded().p_value(hits[0], n, hits[1], n, epsilon=self.claim, delta=self.of.delta)
        judged: list[bool] = (p_values <= LEVEL).tolist()
        return judged

    def _audit(self, seed: int) -> bool:
        given = self.design == "bets given"
        finding = dpaudit.audit_privacy(
            Indicator(self.of, self.noise) if given else self.of.make(self.noise),
            [self.inputs] * self.pairs,
            epsilon=self.claim,
            delta=self.of.delta,
            trials=self.trials,
            confidence=CONFIDENCE,
            seed=seed,
            n_jobs=self.jobs,
            batched=given or self.of.batched,
            execution=dpaudit.Execution(sequential=given or self.design == "sequential"),
        )
        return finding.verdict == "violation" or (self.noise == 1.0 and finding.epsilon_lower > self.claim)


@dataclass(frozen=True)
class Indicator:
    """A batched mechanism that says only whether the case's own event happened."""

    case: Case
    noise: float

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Any:
        return self.case.event(self.case.mechanism(self.noise)(data, rng, size), self.noise).astype(int)


@lru_cache(maxsize=64)
def predicted_runs(case: Case, noise: float) -> int:
    """Return the least confirmation runs a side by whose `detectable_epsilon` the case is detected at this noise."""
    test = {"epsilon": case.epsilon, "delta": case.delta, "gamma": LEVEL}
    truth, mass = case.epsilon_at(noise), case.mass(noise)
    return _least(lambda runs: detectable_epsilon(Melded(), mass, runs, runs, **test) <= truth)


@lru_cache(maxsize=64)
def predicted_bets(case: Case, noise: float) -> int:
    """Return the same for bets: runs a side, two sides together."""
    test = {"epsilon": case.epsilon, "delta": case.delta, "gamma": LEVEL}
    truth, mass = case.epsilon_at(noise), case.mass(noise)
    return _least(lambda runs: detectable_epsilon_by_bets(mass, 2 * runs, **test) <= truth, start=64)


def _least(enough: Callable[[int], bool], start: int = 2) -> int:
    """Return the least number of runs that is enough, if more always are."""
    high = start
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def trials_for(confirmation: int) -> int:
    """Return the runs a side of one pair of which the fixed design leaves so many for the confirmation."""
    return math.ceil(1.25 * confirmation) + 1


def skip_power() -> None:
    """Leave out what no verdict depends on and most of a small audit's time goes into: its power."""
    nothing = Power(math.inf, PowerAt.FRONTIER, (), math.inf)
    for name in ("of_test", "of_bets"):
        setattr(Power, name, staticmethod(lambda *_: nothing))


def seeds_of(trial: Trial, number: int) -> list[int]:
    """Return the root seeds of audits: no two trials share one."""
    drawn: list[int] = seeding.generator(0, "calibrate", repr(trial)).integers(0, 2**62, number).tolist()
    return drawn
