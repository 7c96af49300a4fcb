"""Integer vectors up to their length: primitive directions and cross products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Integers", "cross", "primitive"]

Integers = NDArray[Any]
"""int64, or Python integers in an object array where products could pass int64."""


def cross(a: Integers, b: Integers) -> Integers:
    """Return the cross products (m, 3) of vectors of space."""
    return np.stack([a[:, k - 2] * b[:, k - 1] - a[:, k - 1] * b[:, k - 2] for k in range(3)], axis=1)


def primitive(vectors: Integers) -> Integers:
    """Return the distinct directions, up to sign, of the vectors (m, d) that are not 0, in lexicographic order.

    Each stands as coprime integers, the first that is not 0 positive.
    """
    v = vectors[(vectors != 0).any(axis=1)]
    if not len(v):
        return np.asarray(v)
    v = v // np.gcd.reduce(v, axis=1)[:, None]
    lead = v[np.arange(len(v)), (v != 0).argmax(axis=1)]
    v = v * np.where(lead > 0, 1, -1)[:, None]
    if v.dtype == object:
        return np.array(sorted(set(map(tuple, v.tolist()))), dtype=object)
    v = v[np.lexsort(v.T[::-1])]
    return np.asarray(v[np.append(True, (v[1:] != v[:-1]).any(axis=1))])
