"""The sparse vector technique: the sound variants, and the wrong ones that were published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.noise import Array, laplace, on_grid

__all__ = [
    "ABORTED",
    "BELOW",
    "ENDED",
    "NumericalSVT",
    "SparseVector",
    "SparseVectorPair",
    "SparseVectorValues",
    "patterns",
]

BELOW, ENDED, ABORTED = -1000.0, -2000.0, -1
"""Stand-ins for an answer below the threshold, and after the end among values and among bits."""


@dataclass(frozen=True)
class SparseVector:
    """For each query, whether a_i + Lap(query_scale) >= threshold + Lap(threshold_scale): outputs (size, d).

    1 is above, 0 below, -1 stands after `cutoff` answers above (None: no end). The threshold's noise is drawn
    once, or with `fresh` again after each answer above.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    cutoff: int | None
    fresh: bool = False

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        outputs = np.full((size, len(data)), ABORTED, dtype=np.int8)
        level = self.threshold + laplace(rng, self.threshold_scale, size)
        left = np.full(size, len(data) if self.cutoff is None else self.cutoff)
        for i, answer in enumerate(data):
            above = answer + laplace(rng, self.query_scale, size) >= level
            outputs[:, i] = np.where(left > 0, above, ABORTED)
            hit = above & (left > 0)
            left -= hit
            if self.fresh:
                level = np.where(hit, self.threshold + laplace(rng, self.threshold_scale, size), level)
        return outputs


@dataclass(frozen=True)
class SparseVectorValues:
    """As `SparseVector`, but the noisy answer that was compared is itself the output: floats (size, d).

    -1000 is below, -2000 stands after the end.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    cutoff: int

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        noisy = np.array(data) + laplace(rng, self.query_scale, (size, len(data)))
        level = self.threshold + laplace(rng, self.threshold_scale, (size, 1))
        above, before = _answers(noisy >= level)
        outputs = np.where(above, on_grid(noisy), BELOW)
        return np.where(before < self.cutoff, outputs, ENDED)


@dataclass(frozen=True)
class SparseVectorPair:
    """The outputs of two mechanisms on the same input, side by side: floats (size, 2 d)."""

    values: SparseVectorValues
    bits: SparseVector

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        return np.hstack([self.values(data, rng, size), self.bits(data, rng, size)])


@dataclass(frozen=True)
class NumericalSVT:
    """Sparse vector that answers with a third, fresh noise (Wang et al., PLDI 2019): floats (size, d).

    Where a_i + Lap(query_scale) >= threshold + Lap(threshold_scale) the output is a_i + Lap(value_scale),
    else 0; -1000 stands after `cutoff` answers above.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    value_scale: float
    cutoff: int

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        answers = np.array(data)
        shape = (size, len(data))
        level = self.threshold + laplace(rng, self.threshold_scale, (size, 1))
        above, before = _answers(answers + laplace(rng, self.query_scale, shape) >= level)
        outputs = np.where(above, on_grid(answers + laplace(rng, self.value_scale, shape)), 0.0)
        return np.where(before < self.cutoff, outputs, BELOW)


def _answers(above: Array) -> tuple[Array, Array]:
    """Return which answers are above, and how many were above before each."""
    return above, np.cumsum(above, axis=1) - above


def patterns(length: int, cutoff: int | None) -> Iterator[tuple[int, ...]]:
    """Yield every output of `SparseVector` on `length` queries."""
    if length == 0 or cutoff == 0:
        yield (ABORTED,) * length
        return
    for bit in (0, 1):
        left = None if cutoff is None else cutoff - bit
        yield from ((bit, *rest) for rest in patterns(length - 1, left))
