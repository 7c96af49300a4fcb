"""Histograms and sketches, and a table of groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from power_mechanisms.row import LN3, Rng, Row, chance, geometric, response

__all__ = ["ROWS"]

HISTOGRAM = (3, 8, 1, 0, 9, 4, 4, 2, 0, 0, 7, 5, 6, 1, 2, 3, 0, 0, 1, 2)
CELLS = ((0, 5), (1, 19), (2, 30))
"""The cells of a count-min sketch of three rows that count the item of the additional record."""
HASHES = (7, 22, 41)
"""The bits of a Bloom filter that the additional item sets; no other item sets them."""
OTHERS = (1, 3, 12, 18, 27, 33, 50, 61)
BLOOM_EPSILON = 0.7


def two_sided(rng: Rng, epsilon: float, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return an array of two-sided geometric noise."""
    p = -np.expm1(-epsilon)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def histogram(x: int, rng: Rng) -> list[int]:
    counts = np.array(HISTOGRAM)
    counts[13] += x
    return [int(count) for count in counts + two_sided(rng, 1.0, (20,))]


def count_min(x: int, rng: Rng) -> NDArray[np.int64]:
    table = 20 + two_sided(rng, 0.5, (3, 32))
    for cell in CELLS:
        table[cell] += x
    return table


def bloom(x: int, rng: Rng) -> NDArray[np.bool_]:
    bits = np.zeros(64, bool)
    bits[[*OTHERS, *HASHES] if x else list(OTHERS)] = True
    return np.asarray(bits ^ (rng.random(64) > chance(BLOOM_EPSILON)))


def groups(x: int, rng: Rng) -> pd.DataFrame:
    """Return a frame of groups and their noisy means, one of which is left out or is not."""
    names = ["east", "south", "west"] if response(x, rng, LN3) else ["east", "west"]
    sizes = [geometric(12, rng, 1.0) for _ in names]
    return pd.DataFrame({"size": sizes, "mean": rng.normal(5, 1, len(names))}, index=names)


ROWS = (
    Row("histogram", "histogram", histogram, 1.0, "One of twenty noisy counts.", lambda v: v[13] >= 2),
    Row(
        "count-min",
        "sketch",
        count_min,
        1.5,
        "Three of the 96 noisy cells of a count-min sketch, one a row.",
        lambda v: all(v[cell] >= 21 for cell in CELLS),
    ),
    Row(
        "Bloom filter",
        "sketch",
        bloom,
        3 * BLOOM_EPSILON,
        "Three of the 64 bits of a Bloom filter, each flipped at random.",
        lambda v: bool(v[list(HASHES)].all()),
    ),
    Row("groups", "DataFrame", groups, LN3, "A group's row is left out of a frame.", lambda v: "south" in v.index),
)
