"""Define a row of the table of power, and the noise of known epsilon that leaks are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

__all__ = ["LN3", "Rng", "Row", "chance", "geometric", "laplace", "on_grid", "response"]

Rng: TypeAlias = np.random.Generator

LN3 = math.log(3)
"""The epsilon of a randomised response that tells the truth three times of four."""

GRID = 2.0**-20


@dataclass(frozen=True)
class Row:
    """A mechanism that leaks, and all that is known of its leak.

    Parameters
    ----------
    name : str
        The name in the table.
    kind : str
        The kind of its output.
    mechanism : callable
        ``(data, rng) -> output``.
    epsilon : float
        The exact epsilon at delta 0 of the two neighbours: the supremum over events of the log-ratio of their
        probabilities, in the likelier direction; inf where an output is possible on one side alone.
    leak : str
        One sentence that says what leaks.
    event : callable
        ``output -> bool``: the best event, as if the leak were known, likelier with the second neighbour.
    neighbours : tuple
        The two neighbouring inputs.
    """

    name: str
    kind: str
    mechanism: Callable[[Any, Rng], Any]
    epsilon: float
    leak: str
    event: Callable[[Any], bool]
    neighbours: tuple[Any, Any] = (0, 1)


def chance(epsilon: float) -> float:
    """Return the probability e^epsilon / (1 + e^epsilon) with which randomised response tells the truth."""
    return 1 / (1 + math.exp(-epsilon))


def response(x: int, rng: Rng, epsilon: float) -> int:
    """Return the bit x by randomised response: its epsilon is exact, also for what the answer is hidden in."""
    return x if rng.random() < chance(epsilon) else 1 - x


def on_grid(value: float) -> float:
    """Return a number rounded to multiples of 2^-20, so that the bits of a raw double add nothing to the leak."""
    return round(value / GRID) * GRID


def laplace(x: float, rng: Rng, epsilon: float) -> float:
    """Return x with Laplace noise of scale 1 / epsilon, on a grid."""
    return on_grid(x + rng.laplace(scale=1 / epsilon))


def geometric(x: int, rng: Rng, epsilon: float) -> int:
    """Return x with two-sided geometric noise: Pr[noise = k] is proportional to exp(-epsilon |k|)."""
    p = -math.expm1(-epsilon)
    return int(x + rng.geometric(p) - rng.geometric(p))
