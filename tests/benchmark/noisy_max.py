"""Report noisy max: the index of the greatest noisy answer, or (wrongly) the noisy answer itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.noise import Array, exponential, laplace, on_grid

__all__ = ["NOISES", "NoisyArgmax", "NoisyMax"]

NOISES = {"laplace": laplace, "exponential": exponential}


@dataclass(frozen=True)
class NoisyArgmax:
    """The index of the greatest of a_i + noise_i: outputs (size,)."""

    noise: str
    scale: float

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        noisy = np.array(data) + NOISES[self.noise](rng, self.scale, (size, len(data)))
        winners: Array = np.argmax(noisy, axis=1)
        return winners


@dataclass(frozen=True)
class NoisyMax:
    """The greatest of a_i + noise_i itself, which leaks: outputs (size,)."""

    noise: str
    scale: float

    def __call__(self, data: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        noisy = np.array(data) + NOISES[self.noise](rng, self.scale, (size, len(data)))
        return on_grid(noisy.max(axis=1))
