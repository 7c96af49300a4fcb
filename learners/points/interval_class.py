"""Closed intervals of integers, and the empty one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample
from learners.arrays import Integers
from learners.finite.counting import Numbered, check_code, check_listable, excess_of_ones
from learners.parameters import check_integer

__all__ = ["Intervals", "Span"]


@dataclass(frozen=True)
class Span:
    """The indicator of [a, b]: c(x) = 1 iff a <= x <= b; empty if b < a."""

    a: int
    b: int

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, 1)."""
        return np.asarray((self.a <= points[:, 0]) & (points[:, 0] <= self.b), dtype=np.uint8)

    def __str__(self) -> str:
        return "always 0" if self.b < self.a else f"1 from {self.a} to {self.b}"


@dataclass(frozen=True)
class Intervals(Numbered):
    """The class of the indicators of all [a, b], 0 <= a <= b < domain_size, and of the empty interval.

    Number 0 is the empty interval; the others follow in lexicographic order of (a, b).
    """

    domain_size: int

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)
        check_listable(self)

    @property
    def size(self) -> int:
        """T (T + 1) / 2 + 1 with T = domain_size."""
        return self.domain_size * (self.domain_size + 1) // 2 + 1

    @property
    def vc_dimension(self) -> int:
        """2: no interval labels three points in order 1, 0, 1."""
        return 2

    def _ends(self) -> tuple[Integers, Integers]:
        """Return the ends a and b of all intervals, (size,) each; the empty one is [0, -1]."""
        a, b = np.triu_indices(self.domain_size)
        return np.concatenate([[0], a]).astype(np.int64), np.concatenate([[-1], b]).astype(np.int64)

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, 1)."""
        a, b = self._ends()
        x = points[None, :, 0]
        return np.asarray((a[:, None] <= x) & (x <= b[:, None]), dtype=np.uint8)

    def concept(self, code: int) -> Span:
        """Return the interval with that number."""
        check_code(self, code)
        a, b = self._ends()
        return Span(int(a[code]), int(b[code]))

    def correct(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,): N_0 + sum_{a <= x <= b} (n_1 - n_0)(x)."""
        negatives, excess = excess_of_ones(sample, self.domain_size)
        below = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(excess)])
        a, b = self._ends()
        return np.asarray(negatives + below[b + 1] - below[a], dtype=np.int64)
