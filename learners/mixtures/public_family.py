"""Halfspaces spanned by public points: the construction A_ConstrHalf of BMN, repaired and literal.

A halfspace is a row (w_1, .., w_d, t) of coprime integers, <w, x> >= t; its opposite is <w, x> <= t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb, log

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Bools, Exact
from ..halfspaces.depth.tukey_depth import primitive
from ..halfspaces.lower_bound import complement, reduced

Functional = tuple[int, ...]

# The most intersections of halfspaces that are counted: 40 seconds for 20 points in three dimensions.
MAX_COLLECTIONS = 2**31
# The most planes in space, whose intersections are drawn by rejection where they are too many to be counted.
MAX_PLANES = 2**16


@dataclass(frozen=True)
class PublicFamily:
    """The family C~_pub and the flat Aff of the public points.

    `halfspaces` are rows (w, t) of distinct closed halfspaces {<w, x> >= t}, opposite ones next to each other; `flat`
    equations <w, x> = t of the smallest flat that contains the public points, none if it is the whole space.
    """

    halfspaces: tuple[Functional, ...]
    flat: tuple[Functional, ...]

    def collections(self, most: int) -> int:
        """Return 1 + sum over j = 1 .. most of C(K, j): collections of halfspaces, and the empty hypothesis."""
        return collections_of(len(self.halfspaces), most)

    @cached_property
    def rows(self) -> Exact:
        """The halfspaces as an array (K, d + 1)."""
        return np.array(self.halfspaces, dtype=np.int64)

    def inside(self, points: Exact, which: Exact | slice = slice(None)) -> Bools:
        """Return whether each halfspace, or each of those with some numbers, cut with the flat, has each point."""
        if not self.halfspaces:
            return np.zeros((0, len(points)), dtype=np.bool_)
        on = np.ones(len(points), dtype=np.bool_)
        for row in self.flat:
            on &= points @ np.array(row[:-1], dtype=np.int64) == row[-1]
        rows = self.rows[which]
        if rows.size and points.size and float(np.abs(rows).max()) * float(np.abs(points).max()) < 2**50:
            # Sums of at most three such products are exact in floats, whose matrix products are faster.
            heights = rows[:, :-1].astype(np.float64) @ points.astype(np.float64).T
            return (heights >= rows[:, -1:]) & on
        return (rows[:, :-1] @ points.T >= rows[:, -1:]) & on


def collections_of(halfspaces: int, most: int) -> int:
    """Return how many hypotheses there are: the empty one and every collection of 1 .. most halfspaces."""
    return 1 + sum(comb(halfspaces, j) for j in range(1, most + 1))


def log_collections(halfspaces: int, most: int) -> float:
    """Return ln of `collections_of`, also where it has millions of digits."""
    most = min(halfspaces, most)
    steps = [log(halfspaces - j) - log(j + 1) for j in range(most)]
    return float(np.logaddexp.reduce(np.cumsum([0.0, *steps])))


def public_family(points: Exact, *, literal: bool = False) -> PublicFamily:
    """Return the family that A_ConstrHalf builds from public points.

    Every set of at most d public points gets a halfspace that it supports. Repaired, the boundary meets the flat Aff
    of the public points in a flat that public points span: its intersection with Aff has dimension dim Aff - 1. Sets
    that leave freedom are completed by other public points, so the family consists of both sides of every hyperplane
    of Aff that public points span. If all are one point, the whole space is the only member.

    Repetitions among the points (m, d) count once. `literal` builds "one arbitrary halfspace" as printed: sets that
    leave freedom (the empty one included) are completed by the directions e_1, e_2, .., which may put all of Aff on the
    boundary. `InputError` if the intersections of at most two halfspaces would be more than `MAX_COLLECTIONS`, or the
    planes in space more than `MAX_PLANES`.
    """
    rows = np.asarray(points, dtype=np.int64)
    return _family(rows.shape[1], tuple(sorted({tuple(row) for row in rows.tolist()})), literal)


# Audits draw many samples with the same few public points.
@lru_cache(maxsize=1024)
def _family(dimension: int, rows: tuple[Functional, ...], literal: bool) -> PublicFamily:
    """Return the family of distinct public points, in lexicographic order."""
    if not rows:
        return PublicFamily((), ())
    distinct = np.array(rows, dtype=np.int64)
    # Coordinates on which the flat of the points projects one to one.
    axes = _pivots(np.unique(distinct - distinct[0], axis=0))
    sets = range(dimension + 1) if literal else [len(axes)]
    planes = sum(comb(len(distinct), size) for size in sets)
    # Literal ones are made one by one.
    spatial = dimension > 2 and not literal

    def too_many(planes: int) -> bool:
        if spatial:
            return planes > MAX_PLANES
        return collections_of(2 * planes, dimension) > MAX_COLLECTIONS

    if not literal and too_many(planes) and planes > 1:
        # Points in special position span fewer hyperplanes than they have subsets: count before giving up.
        planes = len(_spanned(distinct[:, axes]))
    if too_many(planes):
        if spatial:
            limit = f"{MAX_PLANES} planes"
        else:
            limit = f"{MAX_COLLECTIONS} that can be counted"
        raise InputError(
            f"{len(distinct)} distinct public points in dimension {dimension} give up to {planes} hyperplanes and "
            f"{collections_of(2 * planes, dimension)} intersections of halfspaces, more than the {limit}"
        )
    normals = complement(distinct[1:] - distinct[0]).T
    equations = np.column_stack([normals, normals @ distinct[0]])
    flat = tuple(tuple(primitive(row[None])[0].tolist()) for row in equations)
    if literal:
        return PublicFamily(_both_sides(primitive(np.array(list(_completed(distinct, dimension))))), flat)
    if not axes:
        return PublicFamily(((0,) * (dimension + 1),), flat)
    spanned = _spanned(distinct[:, axes])
    # Hyperplanes of the projection are those of the flat, with 0 on the other coordinates.
    lifted = np.zeros((len(spanned), dimension + 1), dtype=np.int64)
    lifted[:, [*axes, dimension]] = spanned
    return PublicFamily(_both_sides(lifted), flat)


def _pivots(rows: Exact) -> list[int]:
    """Return the columns that do not depend on those before, exactly: floats may misjudge large entries."""
    return reduced(rows.tolist(), rows.shape[1])[1]


def _through(points: Exact) -> Exact:
    """Return rows (r, k + 1) of the hyperplanes through k points of R^k each (r, k, k), k <= 3; 0 where dependent."""
    k = points.shape[2]
    # The normal is orthogonal to the edges from the first point.
    edges = points[:, 1:] - points[:, :1]
    if k == 1:
        normals = np.ones((len(points), 1), dtype=np.int64)
    elif k == 2:
        normals = np.column_stack([-edges[:, 0, 1], edges[:, 0, 0]])
    else:
        normals = np.cross(edges[:, 0], edges[:, 1])
    return np.column_stack([normals, (normals * points[:, 0]).sum(axis=1)])


def _spanned(points: Exact) -> Exact:
    """Return the distinct hyperplanes spanned by points of full rank, as rows (w, t), first entry of w positive."""
    k = points.shape[1]
    picks = np.array(list(combinations(range(len(points)), k)), dtype=np.intp)
    return primitive(_through(points[picks]))


def _completed(points: Exact, dimension: int) -> Iterator[Exact]:
    """Yield a hyperplane for every set of at most d points, completed by the directions e_1, e_2, ..."""
    unit = np.eye(dimension, dtype=np.int64)
    for size in range(dimension + 1):
        for pick in combinations(points, size):
            base = pick[0] if pick else np.zeros(dimension, dtype=np.int64)
            # The first independent ones: edges of the set, then directions of the axes.
            vectors = np.array([*(p - base for p in pick[1:]), *unit])
            chosen = vectors[_pivots(vectors.T)[: dimension - 1]]
            yield _through(np.array([[base, *(base + chosen)]]))[0]


def _both_sides(rows: Exact) -> tuple[Functional, ...]:
    return tuple(tuple(side) for row in rows.tolist() for side in (row, [-v for v in row]))
