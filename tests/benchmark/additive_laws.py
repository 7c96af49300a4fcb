"""Likelihood ratios where an output is numbers plus independent Laplace noise, or one number plus Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from benchmark.noise import Array
from benchmark.ratio_law import RatioLaw

__all__ = ["clipped", "convolve_power", "gaussian", "laplace_vector"]


def clipped(shift: float, scale: float, cells: int) -> tuple[Array, Array]:
    """Return one coordinate's law of the log-likelihood ratio under both inputs, on 2 cells + 1 levels.

    For y ~ a + Lap(scale) the ratio between a and a' is |shift|/scale wherever y lies beyond a, the negative
    of it beyond a', and linear between. Level j stands for (j - cells) / cells times |shift|/scale; the
    interval between a' and a is cut into `cells` cells, whose probabilities are exact.
    """
    u = abs(shift) / scale
    p, q = np.zeros(2 * cells + 1), np.zeros(2 * cells + 1)
    p[-1] = q[0] = 0.5
    p[0] = q[-1] = 0.5 * np.exp(-u)
    edges = np.arange(cells + 1) * (u / cells)
    inner = 0.5 * np.exp(-edges[:-1]) * -np.expm1(-u / cells)  # by distance from the input that the draw is centred at
    p[1:-1:2], q[1:-1:2] = inner[::-1], inner
    return p, q


def convolve_power(masses: Array, times: int) -> Array:
    """Return the law of the sum of `times` independent levels (terms are positive, so nothing cancels)."""
    total = np.ones(1)
    for _ in range(times):
        total = np.convolve(total, masses)
    return total


def laplace_vector(data: Sequence[float], neighbour: Sequence[float], scale: float) -> RatioLaw:
    """Return the law of the ratio of two vectors plus independent Laplace noise.

    The ratio's logarithm is the sum of the coordinates' (see `clipped`); coordinates that agree add nothing,
    and those that differ must differ by the same amount, so that their levels add up.
    """
    shifts = {abs(a - b) for a, b in zip(data, neighbour, strict=True) if a != b}
    if len(shifts) != 1:
        raise ValueError(f"coordinates must differ by one and the same amount, got {sorted(shifts)}")
    times = sum(a != b for a, b in zip(data, neighbour, strict=True))
    p, q = clipped(shifts.pop(), scale, max(100, 4000 // times))
    return RatioLaw(convolve_power(p, times), convolve_power(q, times), "numeric")


def gaussian(data: float, neighbour: float, scale: float, cells: int = 20_000) -> RatioLaw:
    """Return cells of a number plus Gaussian noise, even from 9 standard deviations below both to 9 above."""
    low, high = min(data, neighbour) - 9 * scale, max(data, neighbour) + 9 * scale
    edges = np.concatenate([[-np.inf], np.linspace(low, high, cells), [np.inf]])

    def masses(centre: float) -> Array:
        z = (edges - centre) / scale
        # Each tail from its own side: differences of numbers next to 1 have no digits left.
        cells: Array = np.where(z[1:] <= 0, np.diff(ndtr(z)), -np.diff(ndtr(-z)))
        return cells

    return RatioLaw(masses(data), masses(neighbour), "numeric")
