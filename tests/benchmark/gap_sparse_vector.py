"""Sparse vector that releases by how much an answer is above the noisy threshold, and the wrong variant of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.noise import Array, laplace, on_grid
from benchmark.sparse_vector import BELOW, ENDED

__all__ = ["AdaptiveSVT", "GapSVT"]


@dataclass(frozen=True)
class GapSVT:
    """For each query the gap a_i + Lap(query_scale) - threshold - Lap(threshold_scale) where it is positive.

    Outputs (size, d): -1000 is below, -2000 stands after `cutoff` gaps. (Wang et al., PLDI 2019; in CheckDP
    gapsparsevector. Its badgapsparsevector releases the noisy answer: that is `SparseVectorValues`.)
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    cutoff: int

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        level = self.threshold + laplace(rng, self.threshold_scale, (size, 1))
        gaps = np.array(data) + laplace(rng, self.query_scale, (size, len(data))) - level
        above = gaps >= 0
        before: Array = np.cumsum(above, axis=1) - above
        return np.where(before < self.cutoff, np.where(above, on_grid(gaps), BELOW), ENDED)


@dataclass(frozen=True)
class AdaptiveSVT:
    """Gaps at two prices: a coarse look with much noise, and where it fails a fine one (Ding et al. 2019).

    For each query: a_i + Lap(coarse_scale) is released as a gap, at price 1, where that is at least `margin`; else
    a_i + Lap(fine_scale), at price 2, where its gap is positive; else -1000. After prices that exceed 2 answers - 2
    comes -2000. `leaks`: the coarse answer itself is released, not its gap (CheckDP's badadaptivesparsevector).
    Outputs (size, 2 d): the coarse value of each query, then the fine one, so that their kinds are distinct.
    """

    threshold: float
    threshold_scale: float
    coarse_scale: float
    fine_scale: float
    margin: float
    answers: int
    leaks: bool = False

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        answers, shape = np.array(data), (size, len(data))
        level = self.threshold + laplace(rng, self.threshold_scale, (size, 1))
        coarse, fine = (answers + laplace(rng, scale, shape) for scale in (self.coarse_scale, self.fine_scale))
        high = coarse - level >= self.margin
        low = ~high & (fine >= level)
        price = high + 2 * low
        over = np.cumsum(price, axis=1) - price > 2 * self.answers - 2
        shown = np.where(high, on_grid(coarse if self.leaks else coarse - level), BELOW)
        gaps = np.where(low, on_grid(fine - level), BELOW)
        return np.where(np.hstack([over, over]), ENDED, np.hstack([shown, gaps]))
