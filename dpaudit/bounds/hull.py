"""The lower convex hull of points in the plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["lower_hull"]

Array = NDArray[np.float64]


def lower_hull(x: Array, y: Array) -> NDArray[np.int64]:
    """Return which points are corners of the greatest convex function that is nowhere above the points.

    Parameters
    ----------
    x, y : array of float64, shape (m,)
        The coordinates, m >= 1, in lexicographic order: of points with one x only the first, lowest one counts.

    Returns
    -------
    array of int64, shape (k,)
        Ascending indices, from the first point to the lowest of those with the greatest x. Slopes between successive
        corners increase strictly.
    """
    corners: list[int] = []
    for i in range(len(x)):
        if corners and x[i] == x[corners[-1]]:
            continue
        while len(corners) > 1:
            a, b = corners[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.array(corners, dtype=np.int64)
