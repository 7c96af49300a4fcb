"""Thresholds on an interval of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample
from learners.arrays import Integers
from learners.finite.counting import Numbered, check_code, check_listable, excess_of_ones
from learners.parameters import check_integer

__all__ = ["Threshold", "Thresholds"]


@dataclass(frozen=True)
class Threshold:
    """The threshold c_j(x) = 1 iff x < j."""

    j: int

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, 1)."""
        return np.asarray(points[:, 0] < self.j, dtype=np.uint8)

    def __str__(self) -> str:
        return f"1 below {self.j}"


@dataclass(frozen=True)
class Thresholds(Numbered):
    """The class of the thresholds c_0 .. c_{domain_size} on {0 .. domain_size - 1}; c_0 is 0 everywhere."""

    domain_size: int

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)

    @property
    def size(self) -> int:
        """The number of concepts, domain_size + 1."""
        return self.domain_size + 1

    @property
    def vc_dimension(self) -> int:
        """1: no threshold labels a point 0 and a greater one 1."""
        return 1

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, 1)."""
        check_listable(self)
        return np.asarray(points[None, :, 0] < np.arange(self.size)[:, None], dtype=np.uint8)

    def concept(self, code: int) -> Threshold:
        """Return c_code."""
        check_code(self, code)
        return Threshold(int(code))

    def correct(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,).

        c_j is right on the positive examples below j and the negative ones from j on:
        N_0 + sum_{x < j} (n_1(x) - n_0(x)).
        """
        check_listable(self)
        negatives, excess = excess_of_ones(sample, self.domain_size)
        return negatives + np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(excess)])

    def runs(self, sample: Sample) -> tuple[list[int], Integers]:
        """Return the first codes of the runs of equal score, and how many examples each run labels correctly.

        Thresholds j in (x, x'] label alike, x and x' being neighbouring points of the sample: the runs start at 0 and
        at x + 1 for each of its points x. Neighbouring runs may have equal scores. The domain may have 2^64 points.
        """
        positive = sample.labels == 1
        negatives = int(sample.counts[~positive].sum())
        if not len(sample.counts):
            return [0], np.array([0], dtype=np.int64)
        values = sample.points[:, 0]
        first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        excess = np.add.reduceat(np.where(positive, sample.counts, -sample.counts), first)
        starts = [0, *(int(x) + 1 for x in values[first])]
        return starts, negatives + np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(excess)])
