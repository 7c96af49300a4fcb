"""Mechanisms that add Laplace noise to numbers, and the truncated geometric mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmark.noise import Array, laplace, on_grid

__all__ = [
    "Laplace",
    "LaplaceParallel",
    "NaiveLaplace",
    "NoisyHistogram",
    "PrefixSum",
    "SmartSum",
    "TruncatedGeometric",
]


@dataclass(frozen=True)
class Laplace:
    """One number plus Laplace noise: outputs (size,)."""

    scale: float

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return on_grid(data + laplace(rng, self.scale, size))


@dataclass(frozen=True)
class NaiveLaplace:
    """One number plus Laplace noise in doubles, as they come: outputs (size,)."""

    scale: float

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return data + laplace(rng, self.scale, size)


@dataclass(frozen=True)
class LaplaceParallel:
    """One number plus independent Laplace noise, `copies` times: outputs (size, copies)."""

    scale: float
    copies: int

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return on_grid(data + laplace(rng, self.scale, (size, self.copies)))


@dataclass(frozen=True)
class NoisyHistogram:
    """Every count plus independent Laplace noise: outputs (size, d)."""

    scale: float

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        return on_grid(np.array(data) + laplace(rng, self.scale, (size, len(data))))


@dataclass(frozen=True)
class PrefixSum:
    """Running sums of the noisy numbers, y_k = sum over i <= k of (a_i + noise_i): outputs (size, d)."""

    scale: float

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        return on_grid(np.cumsum(np.array(data) + laplace(rng, self.scale, (size, len(data))), axis=1))


@dataclass(frozen=True)
class SmartSum:
    """Running sums within blocks of numbers, and a fresh noisy sum at the end of each block: outputs (size, d).

    The output at an end is the block's sum plus noise of `end_scale`; elsewhere it is the output before plus the number
    plus noise of `scale`. CheckDP's smartsum; its badsmartsum forgets the noise at the ends (`end_scale` 0).
    """

    scale: float
    block: int
    end_scale: float

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        numbers = np.array(data)
        outputs = np.empty((size, len(data)))
        before = np.zeros(size)
        for i in range(len(data)):
            if (i + 1) % self.block:
                before = before + numbers[i] + laplace(rng, self.scale, size)
            else:
                before = numbers[i + 1 - self.block : i + 1].sum() + laplace(rng, self.end_scale, size)
            outputs[:, i] = before
        return on_grid(outputs)

    def terms(self, data: Sequence[float]) -> list[float]:
        """Return the numbers to which independent noise is added; outputs are a bijection of the noisy ones."""
        ends = [i % self.block == 0 for i in range(1, len(data) + 1)]
        return [float(sum(data[i + 1 - self.block : i + 1])) if end else data[i] for i, end in enumerate(ends)]


@dataclass(frozen=True)
class TruncatedGeometric:
    """The integer sampler of Balcer and Vadhan for a count in {0 .. maximum}: outputs (size,).

    With k = `bits` it draws U uniformly from {1 .. D} and returns the least z with F(z) >= U, where
    D = (2^(k+1) + 1) (2^k + 1)^(maximum - 1) and F is an integer-valued distribution function centred at
    the count.
    """

    maximum: int
    bits: int

    @cached_property
    def denominator(self) -> int:
        """The number D of equally likely draws."""
        return int((2 ** (self.bits + 1) + 1) * (2**self.bits + 1) ** (self.maximum - 1))

    def cumulative(self, count: int) -> list[int]:
        """Return F(0) .. F(maximum) for the given count."""
        k, n = self.bits, self.maximum
        base = 2**k + 1
        below = [2 ** (k * (count - z)) * base ** (n - (count - z)) for z in range(count)]
        above = [self.denominator - 2 ** (k * (z - count + 1)) * base ** (n - 1 - (z - count)) for z in range(count, n)]
        return [*below, *above, self.denominator]

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        draws = rng.integers(1, self.denominator, size, endpoint=True)
        return np.searchsorted(np.array(self.cumulative(data)), draws, side="left")
