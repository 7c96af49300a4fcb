"""The choosing mechanism: the exponential mechanism over the few solutions that some example supports."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from dpaudit.contract import InputError
from learners.arrays import Floats
from learners.mechanisms import exponential
from learners.mechanisms.composition import Cost
from learners.mechanisms.log_laws import ULP, log_above, log_below
from learners.parameters import check_integer

Solution = TypeVar("Solution", bound=Hashable)


@dataclass(frozen=True)
class Choosing:
    """Choose among the solutions with q >= 1 with weights exp(epsilon q / 4), if the best noisy score is large.

    q(S, f) >= 0 counts support: replacing one example moves every q by at most 1, lifts at most k solutions from 0 to 1
    and drops at most k from 1 to 0 (k = `growth`). With omega = 2 + (4/epsilon) ln(2 k/delta) and
    t = omega + (2/epsilon) ln(1/(2 delta)):

        if max q + Lap(2/epsilon) < t: nothing; else f with q(f) >= 1, in proportion to exp(epsilon q/4).

    (epsilon, delta)-privacy under replacement, with G = {f : q(S, f) >= 1}, Z the sum of its weights, rho = epsilon/4:

    - The test costs epsilon/2: max q has sensitivity 1.
    - If max q(S) >= omega, then Z >= e^(rho omega). Weights on G and G' differ by the factor e^rho, and at most k
      solutions join, with weight e^rho: Z' <= e^rho (Z + k). So Pr[f] <= e^(2 rho) (1 + k/Z) Pr'[f] on G and G', and
      the at most k solutions that leave have probability at most k e^rho / Z. Both excesses together are at most
      2 k e^(2 rho - rho omega) = delta. With the test: (epsilon/2 + 2 rho, delta) = (epsilon, delta).
    - If max q(S) < omega, the test is passed with probability at most e^(-(t - omega) epsilon/2) / 2 = delta, and
      failing it is (epsilon/2)-private.

    Utility: from max q >= t + (2/epsilon) ln(1/(2 beta)) on, the test is passed with probability 1 - beta.

    Parameters
    ----------
    epsilon, delta : Fraction
        The guarantee; delta in (0, 1/2].
    growth : int
        k.

    Notes
    -----
    The mechanism is Beimel, Nissim and Stemmer's (2013); constants and proof are for replacement and are our own.
    """

    epsilon: Fraction
    delta: Fraction
    growth: int

    def __post_init__(self) -> None:
        check_integer("growth", self.growth, 1)
        if not (self.epsilon > 0 and 0 < self.delta <= Fraction(1, 2)):
            raise InputError(f"epsilon must be > 0 and delta in (0, 1/2], got {self.epsilon!r} and {self.delta!r}")

    @property
    def cost(self) -> Cost:
        """The guarantee of a call."""
        return Cost(self.epsilon, self.delta, "choosing")

    @property
    def rate(self) -> float:
        """The inverse temperature of the choice."""
        return float(self.epsilon) / 4

    @property
    def scale(self) -> float:
        """The scale of the test's noise."""
        return 2 / float(self.epsilon)

    @property
    def threshold(self) -> float:
        """The threshold t."""
        omega = 2 + 2 * self.scale * math.log(2 * self.growth / float(self.delta))
        return omega + self.scale * math.log(1 / (2 * float(self.delta)))

    def score_needed(self, beta: float) -> float:
        """Return the maximum score from which on the test is passed with probability 1 - beta (beta <= 1/2)."""
        return self.threshold + self.scale * math.log(1 / (2 * beta))

    def draw(self, scores: Mapping[Solution, int], rng: np.random.Generator, size: int) -> list[Solution | None]:
        """Return the choices of `size` independent calls, None for nothing, given the scores that are at least 1."""
        chosen: list[Solution | None] = [None] * size
        top = max(scores.values(), default=0)
        passed = np.flatnonzero(top + rng.laplace(0.0, self.scale, size) >= self.threshold)
        if len(passed) and scores:
            solutions = list(scores)
            picks = exponential.draw(np.array(list(scores.values())), self.rate, rng, len(passed))
            for run, pick in zip(passed, picks, strict=True):
                chosen[run] = solutions[pick]
        return chosen

    def log_law(self, scores: Mapping[Solution, int]) -> tuple[Floats, float, float]:
        """Return the log-probabilities of the solutions in their order, that of nothing, and a bound on the error."""
        if not scores:
            return np.zeros(0), 0.0, 0.0
        top, t = max(scores.values()) / self.scale, self.threshold / self.scale
        z = np.array((self.threshold - max(scores.values())) / self.scale)
        logs, error = exponential.log_law(np.array(list(scores.values())), self.rate)
        total = error + ULP * (8 * abs(t) + 5 * top + 9 + float(-logs.min()))
        return logs + float(log_above(z)), float(log_below(z)), total
