"""Arrays narrow and wide, images and sparse matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from power_mechanisms.row import LN3, Rng, Row, laplace, response

__all__ = ["ROWS"]

SIDE = 16
CHECKERED = (-1.0) ** np.add.outer(np.arange(SIDE), np.arange(SIDE))


def last_of_five(x: int, rng: Rng) -> NDArray[np.float64]:
    values = rng.normal(size=5)
    values[4] = laplace(x, rng, 1.0)
    return values


def one_of_200(x: int, rng: Rng) -> NDArray[np.float64]:
    values = rng.normal(size=200)
    values[150] = laplace(x, rng, 2.0)
    return values


def one_of_2000(x: int, rng: Rng) -> NDArray[np.float64]:
    values = rng.normal(size=2000)
    if x:
        values[1234] = abs(values[1234])
    return values


def all_of_100(x: int, rng: Rng) -> NDArray[np.float64]:
    return rng.normal(0.5 if response(x, rng, 2.0) else -0.5, 1, size=100)


def image(x: int, rng: Rng) -> NDArray[np.uint8]:
    faint = 6 if response(x, rng, 2.0) else -6
    return np.clip(rng.normal(128, 20, (SIDE, SIDE)) + faint * CHECKERED, 0, 255).astype(np.uint8)


def sparse_pattern(x: int, rng: Rng) -> Any:
    """Return a sparse row of a thousand, ten or eleven of which are stored; column 700 is one of them or is not."""
    columns = rng.choice(700, 10, replace=False)
    if response(x, rng, LN3):
        columns = np.append(columns, 700)
    return sparse.csr_matrix((rng.normal(size=columns.size), np.sort(columns), [0, columns.size]), shape=(1, 1000))


ROWS = (
    Row("last of five", "array", last_of_five, 1.0, "The last of five numbers.", lambda v: v[4] >= 1),
    Row("one of 200", "wide array", one_of_200, 2.0, "Number 150 of 200.", lambda v: v[150] >= 1),
    Row(
        "one of 2000",
        "wide array",
        one_of_2000,
        math.inf,
        "Number 1234 of 2,000 is never negative.",
        lambda v: v[1234] < 0,
        neighbours=(1, 0),
    ),
    Row(
        "all of 100",
        "wide array",
        all_of_100,
        2.0,
        "The common sign of the means of a hundred normal numbers.",
        lambda v: v.sum() > 0,
    ),
    Row(
        "watermark",
        "image",
        image,
        2.0,
        "The sign of a faint checkered pattern in noise of 16 by 16 pixels.",
        lambda v: (v * CHECKERED).sum() > 0,
    ),
    Row(
        "sparse pattern",
        "scipy.sparse",
        sparse_pattern,
        LN3,
        "Whether column 700 of 1,000 is stored.",
        lambda v: 700 in v.indices,
    ),
)
