"""Counts of a histogram over unbounded keys: noisy counts are released where they reach a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.noise import Array

__all__ = ["HIDDEN", "ReleasedCounts", "leak_of_one"]

HIDDEN = -1000
"""Stands for a key that is not released."""


def leak_of_one(epsilon: float, threshold: int) -> float:
    """Return the probability that a key of one record is released: exp(-epsilon (threshold - 1)) / (1 + exp(-epsilon)).

    It is the delta of the mechanism for records that have one key each.
    """
    return math.exp(-epsilon * (threshold - 1)) / (1 + math.exp(-epsilon))


@dataclass(frozen=True)
class ReleasedCounts:
    """Each positive count plus two-sided geometric noise, where that reaches the threshold: outputs (size, keys).

    Keys without a record are never released: their existence is not known.
    """

    epsilon: float
    threshold: int

    def __call__(self, data: Sequence[int], rng: np.random.Generator, size: int) -> Array:
        counts, stop = np.array(data), -math.expm1(-self.epsilon)
        shape = (size, len(data))
        noisy = counts + rng.geometric(stop, shape) - rng.geometric(stop, shape)
        return np.where((counts > 0) & (noisy >= self.threshold), noisy, HIDDEN)
