"""Single floats: their values, their fractions, how many decimals they have, and whether they are numbers."""

from __future__ import annotations

import math

from power_mechanisms.row import LN3, Rng, Row, laplace, response

__all__ = ["ROWS"]


def count(x: int, rng: Rng) -> float:
    return laplace(x, rng, 1.0)


def fraction_part(x: int, rng: Rng) -> float:
    return float(rng.integers(10**6)) + (rng.integers(512) + 512 * response(x, rng, LN3)) / 1024


def decimals(x: int, rng: Rng) -> float:
    """Return a normal number rounded to two decimals or to four; one in a hundred of the latter looks like two.

    "More than two decimals" is 0.99 times as likely as the answer on both sides, which leaves their ratio as it is.
    """
    return round(float(rng.normal()), 4 if response(x, rng, LN3) else 2)


def missing(x: int, rng: Rng) -> float:
    return math.nan if rng.random() < (0.02 * math.exp(2) if x else 0.02) else float(rng.normal())


ROWS = (
    Row("noisy count", "float", count, 1.0, "A count with Laplace noise.", lambda v: v >= 1),
    Row("fraction part", "float", fraction_part, LN3, "Whether a large number ends above .5.", lambda v: v % 1 >= 0.5),
    Row(
        "decimals",
        "float",
        decimals,
        LN3,
        "The number of decimals that a normal number is rounded to.",
        lambda v: round(v, 2) != v,
    ),
    Row("missing", "float", missing, 2.0, "NaN with probability 0.148 instead of 0.02.", math.isnan),
)
