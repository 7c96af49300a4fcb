"""The labellings of a small grid that halfplanes give."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learners.regions.planar.snapping import Point, full_grid

__all__ = ["dichotomies"]


@lru_cache(maxsize=8)
def dichotomies(side: int) -> tuple[NDArray[np.uint8], tuple[tuple[int, *Point], ...]]:
    """Return all labellings of {0 .. side}^2 by the halfplanes of the dual box, in lexicographic order.

    Returns
    -------
    labels : array of uint8, shape (size, (side + 1)^2)
        f(x, y) = 1 iff z y >= z (a x + b), one row a labelling, without repeats.
    halfplanes : tuple of (z, a, b)
        One halfplane of each, a point of a cell of the full grid.
    """
    grid = full_grid(side)
    found: dict[bytes, tuple[int, *Point]] = {}
    for z in (1, -1):
        rows = (~grid.below if z == 1 else grid.below).astype(np.uint8)
        for row, point in zip(rows, grid.points, strict=True):
            found.setdefault(row.tobytes(), (z, *point))
    keys = sorted(found)
    labels = np.array([np.frombuffer(key, dtype=np.uint8) for key in keys])
    return labels, tuple(found[key] for key in keys)
