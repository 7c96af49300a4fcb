"""Tukey depth of points in weighted multisets in dimensions 1, 2 and 3, exactly, and the vectors that it needs.

The depth of x is the least weight of a closed halfspace that contains x. Its boundary may be taken through x, and may
be turned a little so that it meets no other direction: what lies on a boundary can only be lost. So with v = y - x,

    td(x) = w(x) + min over generic normals u of the weight of {v : <u, v> > 0}.

All arithmetic is on integers; large ones are Python integers in object arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.contract import InputError

from ...arrays import Exact, Floats, Integers, as_exact
from ...parameters import check_integer


def cross(a: Exact, b: Exact) -> Exact:
    """Return the cross products (m, 3) of vectors of space."""
    return np.stack([a[:, k - 2] * b[:, k - 1] - a[:, k - 1] * b[:, k - 2] for k in range(3)], axis=1)


def primitive(vectors: Exact) -> Exact:
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


MAX_DIMENSION = 3

# Quotients of two distinct pairs of integers below this differ by more than the rounding of a float64.
_SLOPE_LIMIT = 2**25
# Below this, triple products of vectors fit an int64.
_NORMAL_LIMIT = 2**20
_BLOCK = 2**21


def centerpoint_bound(n: int, dimension: int) -> int:
    """Return ceil(n / (d + 1)): some point of R^d has at least this depth in every multiset of n points."""
    check_integer("n", n, 0)
    check_integer("dimension", dimension, 1)
    return -(-int(n) // (int(dimension) + 1))


def tukey_depth(points: ArrayLike, weights: ArrayLike, query: Sequence[int | Fraction]) -> int:
    """Return the depth of one point; see `tukey_depths`."""
    return int(tukey_depths(points, weights, [query])[0])


def tukey_depths(points: ArrayLike, weights: ArrayLike, queries: Sequence[Sequence[int | Fraction]]) -> Integers:
    """Return td(x), the least weight of a closed halfspace containing x, for every query x.

    `points` (m, d), d = 1, 2 or 3, may repeat, coincide with queries, or lie in a flat; `weights` (m,) are >= 0 with a
    sum below 2^63; `queries` are q points with d integer or rational coordinates. Cost O(m log m) for each query in d =
    2, O(m^3) in d = 3. `InputError` if d > 3, a shape does not fit or a weight is negative.

    Notes
    -----
    BMNS, Definition 2.15; equal to the least weight whose removal takes x out of the convex hull (Claim 2.18).
    """
    ps = np.asarray(points)
    ws = np.asarray(weights, dtype=np.int64)
    if ps.ndim != 2 or not 1 <= ps.shape[1] <= MAX_DIMENSION:
        raise InputError(
            f"dimension must be in [1, {MAX_DIMENSION}]: points of shape {ps.shape} have no exact depth here"
        )
    if ws.shape != (len(ps),) or (ws < 0).any():
        raise InputError(f"weights must be {len(ps)} integers >= 0, got {weights!r}")
    if any(len(query) != ps.shape[1] for query in queries):
        raise InputError(f"queries must have {ps.shape[1]} coordinate(s)")
    if not len(queries) or not len(ps):
        return np.zeros(len(queries), dtype=np.int64)
    step = max(1, _BLOCK // len(ps))
    parts = [_block(ps, ws, queries[i : i + step]) for i in range(0, len(queries), step)]
    return np.concatenate(parts)


def _block(points: Exact, weights: Integers, queries: Sequence[Sequence[int | Fraction]]) -> Integers:
    vectors = _vectors(points, queries)
    if points.shape[1] == 1:
        found = _line(vectors[..., 0], weights)
    elif points.shape[1] == 2:
        found = _plane(vectors, np.broadcast_to(weights, vectors.shape[:2]))
    else:
        found = np.array([_space(v, weights) for v in vectors])
    return found.astype(np.int64)


def _vectors(points: Exact, queries: Sequence[Sequence[int | Fraction]]) -> Exact:
    """Return D (y - x), (q, m, d), with D > 0 the common denominator of query x: int64 where nothing can overflow."""
    common = [lcm(*(int(c.denominator) for c in query)) for query in queries]
    scaled = [[int(c.numerator) * (d // int(c.denominator)) for c in q] for q, d in zip(queries, common, strict=True)]
    top = max(common) * max(abs(int(points.min())), abs(int(points.max()))) + max(abs(c) for row in scaled for c in row)
    limit = {1: 2**62, 2: _SLOPE_LIMIT, 3: _NORMAL_LIMIT}[points.shape[1]]
    wide = top >= limit
    d = as_exact(common, wide)
    x = as_exact(scaled, wide)
    return np.asarray(d[:, None, None] * as_exact(points, wide)[None] - x[:, None, :])


def _line(v: Exact, weights: Integers) -> Integers:
    right, left = (np.where(side, weights, 0).sum(axis=1) for side in (v >= 0, v <= 0))
    return np.asarray(np.minimum(right, left))


def _plane(v: Exact, weights: Integers) -> Integers:
    """Return the depth of the origin among vectors (q, m, 2) with weights (q, m).

    Opposite rays share a slope. As a line through the origin turns past a slope, its rays change sides together: the
    weight on one side is a running sum, taken where a group of equal slopes ends.
    """
    x = v[..., 0]
    y = v[..., 1]
    zero = (x == 0) & (y == 0)
    sign = np.where((x > 0) | ((x == 0) & (y > 0)), 1, -1)
    unsorted = _slopes(x * sign, y * sign)
    # The weight above a line through the origin, as it turns past one slope after the other.
    order = np.argsort(unsorted, axis=1, kind="stable")
    slopes = np.take_along_axis(unsorted, order, axis=1)
    moving = np.take_along_axis(np.where(zero, 0, sign * weights), order, axis=1)
    above = np.maximum(moving, 0).sum(axis=1)[:, None] - np.cumsum(moving, axis=1)
    total = np.abs(moving).sum(axis=1)[:, None]
    ends = np.ones(slopes.shape, dtype=np.bool_)
    ends[:, :-1] = slopes[:, 1:] != slopes[:, :-1]
    # Rays of equal slope change sides together: only the ends of groups are true positions of the line.
    least = np.where(ends, np.minimum(above, total - above), total).min(axis=1)
    return np.asarray(least + np.where(zero, weights, 0).sum(axis=1))


def _slopes(x: Exact, y: Exact) -> Floats | NDArray[np.object_]:
    """Return numbers ordered like y / x for x >= 0, that of a vertical vector (x = 0) above all others."""
    if x.dtype != object:
        return np.where(x == 0, np.inf, y / np.where(x == 0, 1, x))
    top = int(np.abs(y).max()) + 1
    flat = [Fraction(int(b), int(a)) if a else Fraction(top) for a, b in zip(x.flat, y.flat, strict=True)]
    return np.array(flat, dtype=object).reshape(x.shape)


def _space(v: Exact, weights: Integers) -> int:
    """Return the depth of the origin among vectors (m, 3).

    Every cell of normals has a corner orthogonal to two independent vectors. Near a corner u the weight is that above
    (or below) u's plane plus that of a halfplane among the vectors in the plane: a depth in dimension 2.
    """
    zero = (v == 0).all(axis=1)
    at = int(weights[zero].sum())
    v = v[~zero]
    w = weights[~zero]
    if not len(v):
        return at
    i, j = np.triu_indices(len(v), 1)
    normals = primitive(cross(v[i], v[j]))
    if not len(normals):
        return at + int(_line((v @ v[0])[None], w)[0])
    heights = normals @ v.T
    # The lighter open side of each plane, without what lies on it.
    base = np.minimum((heights > 0) @ w, (heights < 0) @ w)
    inside = heights == 0
    # Two vectors in the plane: a turn of the line frees both, and nothing is added.
    simple = inside.sum(axis=1) == 2
    best = int(base[simple].min()) if simple.any() else int(w.sum())
    rest = np.flatnonzero(~simple & (base < best))
    if len(rest):
        # Vectors in a normal's plane lose a coordinate in which the normal is not 0, all others count as 0.
        keep = np.array([[1, 2], [0, 2], [0, 1]])[np.abs(normals[rest]).argmax(axis=1)]
        flat = np.where(inside[rest][:, :, None], v.T[keep].transpose(0, 2, 1), 0)
        best = min(best, int((base[rest] + _plane(flat, np.where(inside[rest], w, 0))).min()))
    return at + best
