"""The noise that mechanisms draw, and the grid that keeps floating-point noise from leaking."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "exponential", "laplace", "on_grid"]

Array = NDArray[Any]

GRID = 2.0**-20


def laplace(rng: np.random.Generator, scale: float, shape: int | tuple[int, ...]) -> Array:
    """Return Laplace noise of density exp(-|x| / scale) / (2 scale); zeros where `scale` is 0."""
    return rng.laplace(0.0, scale, shape)


def exponential(rng: np.random.Generator, scale: float, shape: int | tuple[int, ...]) -> Array:
    """Return exponential noise of mean `scale`."""
    return rng.exponential(scale, shape)


def on_grid(values: Array) -> Array:
    """Return `values` rounded to multiples of 2^-20.

    The benchmark's epsilons are those of real-valued noise. A sum of doubles has another law, on other
    supports for other inputs, and so an infinite epsilon: that leak has a row of its own (`NaiveLaplace`),
    and rounding keeps it out of the others. A grid cell holds some 2^30 doubles, so what remains of it is of
    the order of 1e-9.
    """
    # Adding 0.0 turns -0.0 into 0.0: the sign of a rounded zero would tell more than the rounded value.
    return np.rint(values / GRID) * GRID + 0.0
