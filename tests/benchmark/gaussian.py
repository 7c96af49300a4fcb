"""Gaussian noise by the three textbook samplers, whose doubles leak, and the same rounded to a grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import erfc

from benchmark.noise import Array, on_grid

__all__ = ["SAMPLERS", "Gaussian", "classic_scale"]


def classic_scale(epsilon: float, delta: float) -> float:
    """Return the standard deviation sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, theorem A.1)."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def _uniform(rng: np.random.Generator, size: int) -> Array:
    """Return uniform numbers in (0, 1], whose logarithm is finite."""
    return 1.0 - rng.random(size)


def box_muller(rng: np.random.Generator, size: int) -> Array:
    """Return standard normal numbers: sqrt(-2 ln u) cos(2 pi v) (Box and Muller 1958)."""
    radius = np.sqrt(-2.0 * np.log(_uniform(rng, size)))
    return radius * np.cos(2.0 * np.pi * rng.random(size))


def polar(rng: np.random.Generator, size: int) -> Array:
    """Return standard normal numbers: x sqrt(-2 ln(r) / r) for (x, y) uniform in the disc, r = x^2 + y^2.

    Marsaglia and Bray 1964.
    """
    return _until(size, lambda missing: _polar_batch(rng, missing))


def _polar_batch(rng: np.random.Generator, size: int) -> Array:
    x, y = 2.0 * rng.random((2, size)) - 1.0
    square = x * x + y * y
    inside = (square > 0) & (square < 1)
    x, square = x[inside], square[inside]
    normal: Array = x * np.sqrt(-2.0 * np.log(square) / square)
    return normal


def ziggurat(rng: np.random.Generator, size: int) -> Array:
    """Return standard normal numbers by 256 layers of equal area (Marsaglia and Tsang 2000)."""
    magnitudes = _until(size, lambda missing: _ziggurat_batch(rng, missing))
    return np.where(rng.random(size) < 0.5, -magnitudes, magnitudes)


LAYERS = 256
BASE = 3.6541528853610088
"""The point where the tail begins, at which 256 layers of equal area end in a point at height 1."""


@cache
def _layers() -> tuple[Array, Array]:
    """Return edges x_0 > x_1 = BASE > .. > x_256 = 0 and the heights exp(-x^2 / 2) of x_1 .. x_256.

    Each layer from x_i down to x_(i+1) has the area that the lowest one has with the tail; x_0 is that area over
    the height at BASE.
    """
    height = math.exp(-0.5 * BASE**2)
    area = BASE * height + math.sqrt(math.pi / 2) * float(erfc(BASE / math.sqrt(2)))
    edges, heights = [area / height, BASE], [height]
    for _ in range(LAYERS - 2):
        heights.append(heights[-1] + area / edges[-1])
        edges.append(math.sqrt(-2.0 * math.log(heights[-1])))
    return np.array([*edges, 0.0]), np.array([*heights, 1.0])


def _ziggurat_batch(rng: np.random.Generator, size: int) -> Array:
    edges, heights = _layers()
    layer = rng.integers(0, LAYERS, size)
    x = rng.random(size) * edges[layer]
    sure = x < edges[layer + 1]
    below = np.where(layer > 0, heights[layer - 1], 0.0)
    y = below + rng.random(size) * (heights[layer] - below)
    kept = sure | ((layer > 0) & (y < np.exp(-0.5 * x * x)))
    in_tail = (layer == 0) & ~sure
    x[in_tail] = _tail(rng, int(in_tail.sum()))
    numbers: Array = x[kept | in_tail]
    return numbers


def _tail(rng: np.random.Generator, size: int) -> Array:
    """Return normal numbers above BASE: BASE - ln(u) / BASE, kept where (ln(u) / BASE)^2 < -2 ln v."""

    def batch(missing: int) -> Array:
        beyond = -np.log(_uniform(rng, missing)) / BASE
        return BASE + beyond[beyond**2 < -2.0 * np.log(_uniform(rng, missing))]

    return _until(size, batch)


def _until(size: int, batch: Callable[[int], Array]) -> Array:
    """Return `size` numbers of batches that may be shorter than asked; each is a sample of its own."""
    parts, missing = [np.empty(0)], size
    while missing > 0:
        parts.append(batch(missing + missing // 2 + 8)[:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts)


SAMPLERS = {"box-muller": box_muller, "polar": polar, "ziggurat": ziggurat}


@dataclass(frozen=True)
class Gaussian:
    """One number plus Gaussian noise: outputs (size,), on the grid or, with `raw`, as doubles come."""

    scale: float
    sampler: str
    raw: bool = False

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        noisy = data + self.scale * SAMPLERS[self.sampler](rng, size)
        return noisy if self.raw else on_grid(noisy)
