"""Arrays, images, masks, tables and sketches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from power_mechanisms.row import LN3, Rng, Row, geometric, laplace, response

__all__ = ["ROWS"]

SIGNED_CELLS = ((0, 3, 1), (1, 14, -1), (2, 7, -1), (3, 0, 1))
"""Row, column and sign of the item of the additional record in a count sketch of four rows."""
CENTRES = np.array([[-20.0, 0.0], [0.0, 20.0], [20.0, 0.0]])


def norm(x: int, rng: Rng) -> NDArray[np.float64]:
    """Return a vector in a random direction, whose length has Laplace noise."""
    direction = rng.normal(size=50)
    return np.asarray(laplace(30 + x, rng, 1.0) * direction / np.linalg.norm(direction))


def bright_spot(x: int, rng: Rng) -> NDArray[np.float64]:
    pixels = rng.normal(size=(12, 12))
    if response(x, rng, 2.0):
        pixels[rng.integers(12), rng.integers(12)] += 10
    return pixels


def mask(x: int, rng: Rng) -> Any:
    hidden = rng.random(6) < 0.5
    hidden[4] = response(x, rng, LN3)
    return np.ma.masked_array(rng.normal(size=6), hidden)


def missing_place(x: int, rng: Rng) -> pd.Series:
    values = rng.normal(size=4)
    values[2 if response(x, rng, LN3) else 1] = np.nan
    return pd.Series(values, index=list("abcd"))


def count_sketch(x: int, rng: Rng) -> NDArray[np.int64]:
    p = -np.expm1(-0.5)
    table = rng.geometric(p, (4, 16)) - rng.geometric(p, (4, 16))
    for row, column, sign in SIGNED_CELLS:
        table[row, column] += sign * x
    return np.asarray(table)


def centres(x: int, rng: Rng) -> NDArray[np.float64]:
    """Return the centres of three clusters in random order; the right one has moved."""
    found = CENTRES + rng.normal(size=(3, 2)) * [[1, 1], [1, 1], [0, 1]]
    found[2, 0] += laplace(x, rng, 1.5)
    return np.asarray(rng.permutation(found))


def depth(x: int, rng: Rng) -> Any:
    """Return a chain of nested mappings, as deep as a noisy count."""
    node: Any = float(rng.normal())
    for _ in range(max(1, 6 + geometric(x, rng, 1.0))):
        node = {"split": float(rng.normal()), "then": node}
    return node


def depth_of(node: Any) -> int:
    """Return how often one can go down."""
    deep = 0
    while isinstance(node, dict):
        node, deep = node["then"], deep + 1
    return deep


ROWS = (
    Row(
        "norm",
        "wide array",
        norm,
        1.0,
        "The length of a random vector.",
        lambda v: bool(np.linalg.norm(v) > 31 - 2**-21),
    ),
    Row("bright spot", "image", bright_spot, 2.0, "A bright pixel somewhere in noise.", lambda v: v.max() > 5.5),
    Row("mask", "masked array", mask, LN3, "Whether the fifth number is masked.", lambda v: bool(v.mask[4])),
    Row(
        "missing place",
        "Series",
        missing_place,
        LN3,
        "Which of two entries of a series is missing.",
        lambda v: bool(np.isnan(v["c"])),
    ),
    Row(
        "count sketch",
        "sketch",
        count_sketch,
        2.0,
        "Four of the 64 cells of a count sketch, two up and two down.",
        lambda v: all(sign * v[row, column] >= 1 for row, column, sign in SIGNED_CELLS),
    ),
    Row(
        "centres",
        "centres",
        centres,
        1.5,
        "One of three centres of clusters, which come in random order.",
        lambda v: v[:, 0].max() >= 21,
    ),
    Row("depth", "tree", depth, 1.0, "The depth of a chain of nested mappings.", lambda v: depth_of(v) >= 7),
)
