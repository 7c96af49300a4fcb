"""The examples that remain in a greedy search for literals, and the number that each literal contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample

from ..arrays import Integers, Labels

PRODUCT = 2**16
"""The most cells of the sample that one matrix product looks at."""


@dataclass(frozen=True)
class Remaining:
    """The examples that no chosen literal contradicts.

    `rows` (r,) are their rows in the sample, `totals` (2,) how many there are with label 0 and with label 1, as whole
    numbers, and `ones` (2, d) how many of these have a 1 in each coordinate.
    """

    rows: NDArray[Any]
    totals: NDArray[Any]
    ones: NDArray[Any]


class GreedyCounts:
    """Counts of a sample, kept up to date while literals are chosen.

    Each choice costs the smaller of the examples deleted and those left, so a whole run costs about one pass.

    The sample has points of the Boolean cube. Scores are multiplied by k, which makes them integers; `idle` says
    whether choosing no literal is a candidate, the last one.
    """

    def __init__(self, sample: Sample, k: int, *, idle: bool) -> None:
        self._k = k
        self._idle = idle
        # The narrowest type in which all partial sums, integers of at most n, are exact.
        number = np.float32 if sample.n < 2**24 else np.float64 if sample.n < 2**53 else np.int64
        bits = sample.points.astype(np.uint8)
        self._columns: Labels = np.ascontiguousarray(bits.T)
        self._points: NDArray[Any] = bits.astype(number)
        by_label = np.stack([np.where(sample.labels == y, sample.counts, 0) for y in (0, 1)])
        self._weights: NDArray[Any] = by_label.astype(number)

    def start(self) -> Remaining:
        """Return the whole sample."""
        rows = np.arange(len(self._points), dtype=np.int32)
        return Remaining(rows, self._weights.sum(axis=1), self._sums(rows))

    def _sums(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return how many of these rows, with their weights, have a 1 in each coordinate, (2, d), by label.

        Small products stay on one thread: on a busy machine the threads of a large one wait for each other.
        """
        step = max(1, PRODUCT // self._points.shape[1])
        sums: NDArray[Any] = np.zeros((2, self._points.shape[1]), dtype=self._points.dtype)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            sums += self._weights[:, part] @ self._points[part]
        return sums

    def after(self, state: Remaining, literal: int) -> Remaining:
        """Return what remains when the examples that `literal` contradicts are deleted."""
        # v_i is false where x_i = 0, not v_i where x_i = 1.
        deleted = self._columns[literal // 2][state.rows] == literal % 2
        rows = state.rows[~deleted]
        if len(rows) == len(state.rows):
            return state
        few = rows if 2 * len(rows) <= len(state.rows) else state.rows[deleted]
        totals = self._weights[:, few].sum(axis=1)
        ones = self._sums(few)
        if few is rows:
            return Remaining(rows, totals, ones)
        return Remaining(rows, state.totals - totals, state.ones - ones)

    def scores(self, state: Remaining) -> Integers:
        """Return k q(l) for the literals v_1, not v_1, v_2, ... and, where it is a candidate, for none of them."""
        contradicted, total = self.contradicted(state), int(state.totals[0])
        scores = np.minimum(self._k * contradicted[0] - total, -self._k * contradicted[1])
        return np.append(scores, -total) if self._idle else scores

    def contradicted(self, state: Remaining) -> Integers:
        """Return how many examples each literal contradicts, (2, 2 d), by label."""
        ones, totals = state.ones.astype(np.int64), state.totals.astype(np.int64)
        return np.stack([totals[:, None] - ones, ones], axis=2).reshape(2, -1)
