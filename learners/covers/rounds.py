"""A round of the Set Cover Learner: the weights of the sets, with what is left to cover known up to noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learners.arrays import Floats
from learners.mechanisms.log_laws import ULP, log_softmax

__all__ = ["Round"]


@dataclass(frozen=True, eq=False)
class Round:
    """A choice of a set h with probability proportional to m_h exp(a q_h), q_h = min{c_h - b/k, -e_h}.

    Parameters
    ----------
    covered, spoiled : array of float64, shape (size,) or (runs, size)
        c_h and e_h, integers: the weight that h covers on the side to be covered and on the other side.
    remaining : int or array of float64, shape (runs,)
        R, what is left to be covered. b is an estimate of it.
    k : int
        The k of the learner.
    rate : float
        a.
    log_measures : array of float64, shape (size,)
        ln m_h.
    """

    covered: Floats
    spoiled: Floats
    remaining: Any
    k: int
    rate: float
    log_measures: Floats

    def log_weights(self, b: Any) -> Floats:
        """Return ln (m_h exp(a q_h)) for estimates b that broadcast against c_h."""
        weights = self.rate * np.minimum(self.covered - b / self.k, -self.spoiled) + self.log_measures
        return np.asarray(weights, dtype=np.float64)

    @property
    def width(self) -> float:
        """The greatest |ln m_h|."""
        return float(np.abs(self.log_measures).max())

    def greatest_score(self, b: float) -> float:
        """Return a bound on |q_h| for estimates in [-b, b]."""
        return float(self.covered.max() + self.spoiled.max()) + b / self.k

    def law_without_noise(self, summands: int = 0) -> tuple[Floats, float]:
        """Return ln Pr[h] (size,) for b = R, and a bound on its error; more than 64 summands must be told."""
        logs = log_softmax(self.log_weights(self.remaining))
        size = self.rate * self.greatest_score(self.remaining) + self.width
        return logs, ULP * (8 * size + 4 * float(-logs.min()) + summands + 64)
