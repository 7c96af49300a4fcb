"""Stable selection: name the best solution if it is best by far (the mechanism A_dist)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Bools
from .composition import Cost
from .log_laws import ULP, log_above, log_below
from .steps import Number, Steps


@dataclass(frozen=True)
class Standing:
    """The best solution (ties broken by its number) and its lead over the second best; None if there is no other."""

    best: int
    gap: Number | None


@dataclass(frozen=True)
class NoisyTest:
    """An (epsilon, delta)-private call that compares a number plus Lap(2/epsilon) with a threshold; delta <= 1/2."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and 0 < self.delta <= Fraction(1, 2)):
            raise InputError(f"epsilon must be > 0 and delta in (0, 1/2], got {self.epsilon!r} and {self.delta!r}")

    @property
    def cost(self) -> Cost:
        """The guarantee of a call."""
        return Cost(self.epsilon, self.delta)

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return 2 / float(self.epsilon)


@dataclass(frozen=True)
class StableSelect(NoisyTest):
    """Name the best solution if its lead, with noise, reaches a threshold.

    With h the best solution, gap = q(h) - q(second best), s = 2/epsilon and t = 2 + s ln(1/(2 delta)): h if
    gap + Lap(s) >= t, else none.

    q has sensitivity 1 under replacement, the family is fixed and ties are broken by number, so the gap has sensitivity
    2. (epsilon, delta)-privacy, for neighbours S and S':

    - the same h is best on both: the answer is a function of gap + Lap(s), whose law moves by the factor
      e^(2/s) = e^epsilon at most;
    - h is best on S and h' on S': q(S, h) - q(S, h') <= q(S', h) - q(S', h') + 2 <= 2, so both gaps are at most 2, and
      either solution is named with probability at most e^(-(t - 2)/s) / 2 = delta. "None" has probability at least
      1 - delta on both sides, so each event has probability at most e^epsilon times its own on the other side + delta.

    A single solution is named always. Utility: gap >= 2 + s ln(1/(4 beta delta)) is named with probability 1 - beta.

    Parameters
    ----------
    epsilon, delta : Fraction
        The guarantee; delta in (0, 1/2].

    Notes
    -----
    Bun, Nissim and Stemmer's calibration Lap(4/epsilon), t = (4/epsilon) ln(2/delta) is private too and loose: it is
    (epsilon/2, delta e^(epsilon/2)/4)-private. Smith and Thakurta's Lap(1/epsilon), t = ln(1/delta)/epsilon is for the
    distance to instability, about half of the gap; on the gap it is only (2 epsilon, delta e^(2 epsilon)/2)-private.
    """

    @property
    def threshold(self) -> float:
        """The threshold t."""
        # 2 is the sensitivity of the gap: a neighbour whose best solution is another one has a gap of 2 at most.
        return 2 + self.scale * math.log(1 / (2 * float(self.delta)))

    def gap_needed(self, beta: float) -> float:
        """Return the gap from which on the best solution is named with probability 1 - beta."""
        return 2 + self.scale * math.log(1 / (4 * beta * float(self.delta)))

    def draw(self, standing: Standing, rng: np.random.Generator, size: int) -> Bools:
        """Return for `size` independent calls whether the best solution is named."""
        if standing.gap is None:
            return np.ones(size, dtype=np.bool_)
        # The mechanism itself: the gap plus Lap(2/epsilon) against the threshold.
        return np.asarray(float(standing.gap) + rng.laplace(0.0, self.scale, size) >= self.threshold, dtype=np.bool_)

    def log_law(self, standing: Standing) -> tuple[float, float, float]:
        """Return ln Pr[named], ln Pr[none] and a bound on their error.

        z = (t - gap)/s has a relative rounding error of a few ulp of t/s + gap/s, which moves both by no more than
        itself; see `mechanisms.log_laws.log_above`.
        """
        if standing.gap is None:
            return 0.0, -math.inf, 0.0
        t = self.threshold / self.scale
        gap = float(standing.gap) / self.scale
        z = np.array((self.threshold - float(standing.gap)) / self.scale)
        return float(log_above(z)), float(log_below(z)), ULP * (6 * abs(t) + 4 * gap + 9)


def standing_of_values(values: Sequence[Number], others: bool = False) -> Standing:
    """Return the standing of solutions 0, 1, 2, ... with the given values.

    `others` says whether there are further solutions, with value 0, that are not listed.
    """
    # Of equal values the least number: a rule that does not depend on the data.
    best = max(range(len(values)), key=lambda i: (values[i], -i))
    rest = [*values[:best], *values[best + 1 :], *([0] if others else [])]
    return Standing(best, values[best] - max(rest) if rest else None)


def standing_of_intervals(score: Steps, length: int, shift: int) -> Standing:
    """Return the standing of the intervals that cut the line at length * i - shift, by the maximum of the score.

    Interval i holds the x with (x + shift) // length = i. Pieces are visited from the highest down, so that the domain
    is never listed.
    """
    order = sorted(range(len(score.values)), key=lambda i: (-score.values[i], score.starts[i]))
    best = (score.starts[order[0]] + shift) // length
    top = score.values[order[0]]
    for i in order:
        first = score.starts[i]
        last = score.starts[i] + score.lengths[i] - 1
        # The highest piece that reaches into another interval gives the second best value.
        if (first + shift) // length != best or (last + shift) // length != best:
            return Standing(best, top - score.values[i])
    return Standing(best, None)
