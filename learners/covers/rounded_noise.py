"""Noise on what is left to cover, rounded up to a whole number, and the exact law of a round over it.

b = R + v with v = ceil(w - offset), w ~ Lap(scale). Rounding up keeps what the analysis of the Set Cover Learner uses:
R - 2 offset <= b <= R whenever |w| <= offset, and shifting R by one shifts b by one. With an integer b all scores k q_h
are integers, which exact samplers need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.arrays import Floats
from learners.covers.rounds import Round
from learners.mechanisms.laplace import log_above, log_below, log_between
from learners.mechanisms.log_laws import ULP, log_softmax, log_sum

__all__ = ["RoundedNoise"]


MAX_VALUES = 2**14


@dataclass(frozen=True)
class RoundedNoise:
    """v = ceil(w - offset) with w ~ Lap(scale); v = 0 for scale 0."""

    scale: float
    offset: float

    def estimate(self, remaining: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return b for each R, (runs,)."""
        if not self.scale:
            return remaining
        return remaining + np.ceil(rng.laplace(0.0, self.scale, len(remaining)) - self.offset).astype(np.int64)

    def log_law(self, low: int, high: int) -> Floats:
        """Return ln Pr[v <= low], ln Pr[v = low + 1], .., ln Pr[v = high], ln Pr[v > high].

        ceil(w - offset) <= v exactly if w <= v + offset. The argument (v + offset)/scale is rounded twice, which moves
        each probability by a relative 2^-52 (|v| + offset) max(1, 2/scale) at most.
        """
        z = [(v + self.offset) / self.scale for v in range(low, high + 1)]
        middle = [log_between(start, 1 / self.scale) for start in z[:-1]]
        return np.array([float(log_below(np.array(z[0]))), *middle, float(log_above(np.array(z[-1])))])

    def round_law(self, a_round: Round) -> tuple[Floats, float]:
        """Return ln p(h) (size,), and a bound on the absolute error.

        q_h = -e_h for v up to k (c_h + e_h) - R: below the least of these the softmax is that of -e, above the greatest
        that of c, and in between there are finitely many v. All terms are positive, so errors are those of one term and
        of a sum of floats.

        Raises
        ------
        InputError
            If the sample has too many examples for the sum.
        """
        sets = len(a_round.covered)
        if not self.scale:
            return a_round.law_without_noise(sets)
        breaks = a_round.k * (a_round.covered + a_round.spoiled) - a_round.remaining
        low, high = int(breaks.min()), int(breaks.max())
        if high - low > MAX_VALUES:
            raise InputError("the sample has too many examples for the exact law; run has no such limit")
        shifts = np.arange(low, high + 2)
        # The first row is right for all v <= low, the last for all v > high, where b shifts every score alike.
        weights = a_round.log_weights(a_round.remaining + shifts[:, None])
        logs = log_sum(log_softmax(weights) + self.log_law(low, high)[:, None])
        reach = max(abs(low), abs(high)) + 1 + self.offset
        size = a_round.greatest_score(a_round.remaining + reach)
        exponents = 12 * (a_round.rate * size + a_round.width) + 4 * reach * max(1.0, 2 / self.scale)
        return logs, ULP * (exponents + 4 * float(-logs.min()) + len(shifts) + sets + 64)
