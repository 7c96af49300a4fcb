"""All labellings of grid points by discs, their complements and halfplanes, with one integer representation of each.

Lifted to (x, y, x^2 + y^2), points lie on a paraboloid, and those labellings are the ones by halfspaces. A labelling
can be moved until its boundary plane is spanned by three lifted points; the points on the plane are in convex position
(they lie on a circle or, lifted over a line, on a parabola), so halfplanes of the plane label exactly the cyclic runs
of them. Hence the labellings are: the points on one side of a spanned plane, and a cyclic run of the points on it.
"""

from __future__ import annotations

from functools import cmp_to_key, lru_cache

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Integers
from learners.domains import Grid
from learners.regions.planar.families import Family

__all__ = ["disc_family", "lifted"]

Functional = tuple[int, int, int, int]


def lifted(points: Integers) -> Integers:
    """Return (x, y, x^2 + y^2) for points (m, 2), (m, 3)."""
    x, y = points[:, 0], points[:, 1]
    return np.stack([x, y, x * x + y * y], axis=1)


@lru_cache(maxsize=4)
def disc_family(side: int) -> Family:
    """Return the labellings of {0 .. side}^2 in lexicographic order, with equal measures.

    The region of a labelling, ((u, v, w, t),) in integers, labels 1 where u x + v y + w (x^2 + y^2) >= t; no point of
    the grid lies on its boundary.
    """
    points = lifted(Grid(side, 2).points())
    found: dict[bytes, Functional] = {}
    for plane in _spanned_planes(points):
        _add_turns(points, plane, found)
    keys = sorted(found)
    labels = np.array([np.frombuffer(key, dtype=np.uint8) for key in keys])
    return Family(labels, (1,) * len(keys), tuple((found[key],) for key in keys))


def _spanned_planes(points: Integers) -> Integers:
    """Return the distinct planes (n_1, n_2, n_3, offset) through three lifted points, coprime, up to sign.

    Three points of the paraboloid are never on a line, so every triple spans a plane.
    """
    i, j = np.triu_indices(len(points), 1)
    planes = []
    for k in range(len(points)):
        later = i > k
        normals = np.cross(points[i[later]] - points[k], points[j[later]] - points[k])
        found = np.concatenate([normals, (normals @ points[k])[:, None]], axis=1)
        found //= np.gcd.reduce(found, axis=1)[:, None]
        lead = found[np.arange(len(found)), (found != 0).argmax(axis=1)]
        planes.append(np.unique(found * np.sign(lead)[:, None], axis=0) if len(found) else found)
    return np.unique(np.concatenate(planes), axis=0)


def _add_turns(points: Integers, plane: Integers, found: dict[bytes, Functional]) -> None:
    """Add the labellings by slight turns of one plane, about lines that cut off a cyclic run of the points on it."""
    heights = points @ plane[:3] - plane[3]
    on = np.flatnonzero(heights == 0)
    kept = [0, 1] if plane[2] else [1, 2] if plane[0] else [0, 2]
    ring = on[_cyclic(points[on][:, kept])]
    above, below = (heights > 0).astype(np.uint8), (heights < 0).astype(np.uint8)
    for run, small in _runs(points, ring, kept):
        factor = 1 + int(np.abs(points @ small[:3] - small[3]).max())
        for sign, labels in ((1, above), (-1, below)):
            labels = labels.copy()
            labels[run] = 1
            if (key := labels.tobytes()) not in found:
                whole = sign * factor * plane + small
                found[key] = tuple((whole // np.gcd.reduce(whole)).tolist())


def _cyclic(corners: Integers) -> NDArray[np.intp]:
    """Return the order of points in convex position around their mean, exactly."""
    steps = len(corners) * corners - corners.sum(axis=0)
    upper = (steps[:, 1] > 0) | ((steps[:, 1] == 0) & (steps[:, 0] > 0))
    # Within a half turn the angle grows as the cotangent x/y falls; sums of squares keep apart what floats would not.
    turn = cmp_to_key(lambda i, j: int(steps[i, 1] * steps[j, 0] - steps[i, 0] * steps[j, 1]))
    return np.array(sorted(range(len(steps)), key=lambda i: (not upper[i], turn(i))), dtype=np.intp)


def _runs(points: Integers, ring: Integers, kept: list[int]) -> list[tuple[Integers, Integers]]:
    """Return every cyclic run of the ring with a functional (u, v, w, t) that is positive on it and negative beside it.

    It vanishes on the line through the middles of the two edges where the run begins and ends, all entries doubled.
    """
    size = len(ring)
    runs: list[tuple[Integers, Integers]] = [(ring[:0], np.array([0, 0, 0, 1])), (ring, np.array([0, 0, 0, -1]))]
    corners = points[ring][:, kept]
    for first in range(size):
        for length in range(1, size):
            run = np.take(ring, range(first, first + length), mode="wrap")
            start = corners[first - 1] + corners[first]
            end = corners[(first + length - 1) % size] + corners[(first + length) % size]
            normal = np.array([start[1] - end[1], end[0] - start[0]])
            small = np.zeros(4, dtype=np.int64)
            small[kept] = 2 * normal
            small[3] = normal @ start
            inside = points[run[0]] @ small[:3] - small[3]
            runs.append((run, small * (1 if inside > 0 else -1)))
    return runs
