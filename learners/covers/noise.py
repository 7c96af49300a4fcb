"""Noise on a whole number, rounded up to a whole number, and the exact law of a cover round that uses it.

A round chooses h with probability proportional to m_h exp(a q_h), q_h = min{c_h - b/k, -e_h}, where m_h is the measure
of h, c_h and e_h what it covers and spoils, and b = R + v with v = ceil(w - offset), w ~ Lap(scale). Rounding up keeps
what the analysis of the Set Cover Learner uses: R - 2 offset <= b <= R whenever |w| <= offset, and shifting R by one
shifts b by one. With an integer b all scores k q_h are integers, which exact samplers need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.covers.logs import log_softmax, log_sum
from learners.mechanisms.laplace import log_above, log_below, log_between

__all__ = ["RoundedNoise", "round_law"]

Floats = NDArray[np.float64]

ULP = 2.0**-52
MAX_VALUES = 2**14


@dataclass(frozen=True)
class RoundedNoise:
    """v = ceil(w - offset) with w ~ Lap(scale)."""

    scale: float
    offset: float

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Return `size` values, (size,)."""
        return np.ceil(rng.laplace(0.0, self.scale, size) - self.offset).astype(np.int64)

    def log_law(self, low: int, high: int) -> Floats:
        """Return ln Pr[v <= low], ln Pr[v = low + 1], .., ln Pr[v = high], ln Pr[v > high].

        ceil(w - offset) <= v exactly if w <= v + offset. The argument (v + offset)/scale is rounded twice, which moves
        each probability by a relative 2^-52 (|v| + offset) max(1, 2/scale) at most.
        """
        z = [(v + self.offset) / self.scale for v in range(low, high + 1)]
        middle = [log_between(start, 1 / self.scale) for start in z[:-1]]
        return np.array([float(log_below(np.array(z[0]))), *middle, float(log_above(np.array(z[-1])))])


def round_law(
    covered: Floats,
    spoiled: Floats,
    remaining: int,
    k: int,
    rate: float,
    log_measures: Floats,
    noise: RoundedNoise | None,
) -> tuple[Floats, float]:
    """Return ln p(h) for all h (size,), and a bound on the absolute error.

    q_h = -e_h for v up to k (c_h + e_h) - R: below the least of these the softmax is that of -e, above the greatest
    that of c, and in between there are finitely many v. All terms are positive, so errors are those of one term and of
    a sum of floats.

    Parameters
    ----------
    covered, spoiled : array of float64, shape (size,)
        c_h and e_h, integers.
    remaining : int
        R.
    k : int
        The k of the learner.
    rate : float
        a.
    log_measures : array of float64, shape (size,)
        ln m_h.
    noise : RoundedNoise or None
        None for b = R.

    Raises
    ------
    InputError
        If the sample has too many examples for the sum.
    """
    width = float(np.abs(log_measures).max())
    if noise is None:
        logs = log_softmax(rate * np.minimum(covered - remaining / k, -spoiled) + log_measures)
        size = float(covered.max() + spoiled.max() + remaining / k)
        return logs, ULP * (8 * (rate * size + width) + 4 * float(-logs.min()) + len(logs) + 64)
    breaks = k * (covered + spoiled) - remaining
    low, high = int(breaks.min()), int(breaks.max())
    if high - low > MAX_VALUES:
        raise InputError("the sample has too many examples for the exact law; run has no such limit")
    shifts = np.arange(low, high + 2)
    q = np.minimum(covered - (remaining + shifts[:, None]) / k, -spoiled)
    # The first row is right for all v <= low, the last for all v > high, where b shifts every score alike.
    logs = log_sum(log_softmax(rate * q + log_measures) + noise.log_law(low, high)[:, None])
    reach = max(abs(low), abs(high)) + 1 + noise.offset
    size = float(covered.max() + spoiled.max()) + (remaining + reach) / k
    terms = 12 * (rate * size + width) + 4 * reach * max(1.0, 2 / noise.scale) + 4 * float(-logs.min())
    return logs, ULP * (terms + len(shifts) + len(logs) + 64)
