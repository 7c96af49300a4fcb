"""The extended domain of BMNS Claim 3.5: coordinates among which Q attains its maximum for every multiset.

T(r), cut by the flat of a prefix x_1 .. x_{i-1}, is a polytope whose corners lie where the flat meets hyperplanes
spanned by the domain. The flat has dimension d - i + 1, so a corner is the only common point of the flat and
d - i + 1 of these hyperplanes. The paper says d - i: with `literal=True` that many subspaces (of any dimension) are
taken, and in the plane the result is the domain itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import comb, lcm

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError

from ...arrays import Exact
from ...domains import Grid
from ...parameters import check_integer
from .depth_regions import DepthRegions, spanned_normals
from .plane_slices import PlaneSlices, crossings, plane_slices
from .tukey_depth import MAX_DIMENSION

MAX_SIDE = {1: 2**20, 2: 16, 3: 1}
"""The largest side, by dimension, at which all tuples of hyperplanes are intersected in seconds; at side 2 in space
there are 2e7 triples."""

_FEW = 128
"""First coordinates up to which all prefixes are listed to count the candidates after them."""


@dataclass(frozen=True)
class ExtendedDomain:
    """Coordinates of the extended domain of a finite set X of points, one axis after the other.

    The coordinates on axis i may depend on those released before (X~_i(prefix)); the paper takes the union over all
    prefixes, which `union` returns.

    `domain` is X: distinct points with d = 1, 2 or 3 coordinates that span the space; `grid` makes one of a grid.
    `literal` takes d - i subspaces, as printed (dimension 1 and 2 only).
    """

    domain: tuple[tuple[int, ...], ...]
    literal: bool = False

    def __post_init__(self) -> None:
        if self.literal and self.dimension > 2:
            raise InputError(f"dimension must be at most 2 for the literal extended domain, got {self.dimension}")

    @classmethod
    def grid(cls, side: int, dimension: int, *, literal: bool = False) -> ExtendedDomain:
        """Return the extended domain of {0 .. side}^dimension; `InputError` if it would take too long."""
        check_integer("dimension", dimension, 1, MAX_DIMENSION)
        check_integer("side", side, 1)
        limit = MAX_SIDE[1 if literal else dimension]
        if side > limit:
            raise InputError(
                f"side must be at most {limit} in dimension {dimension} where coordinates are listed, got {side}: "
                f"every {dimension} of the hyperplanes that grid points span would have to be intersected"
            )
        return _grid(int(side), int(dimension), literal)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return len(self.domain[0])

    def regions(self, points: Exact, weights: NDArray[np.int64]) -> DepthRegions:
        """Return the depth regions of a multiset of points of X."""
        xs = np.asarray(points)
        # Few points span few planes: worth their own normals, where every slice looks at all pairs of these.
        own = self.dimension == 3 and 2 * len(xs) <= len(self.domain)
        return DepthRegions(xs, weights, spanned_normals(xs) if own else _normals(self.domain))

    def coordinates(self, prefix: Sequence[int | Fraction] = ()) -> tuple[Fraction, ...]:
        """Return X~_i(prefix) in order, i = len(prefix) + 1."""
        if not len(prefix) < self.dimension:
            raise InputError(f"prefix must have fewer than {self.dimension} coordinates, got {prefix!r}")
        return self._added(tuple(Fraction(x) for x in prefix), len(prefix))

    def _added(self, prefix: tuple[Fraction, ...], axis: int) -> tuple[Fraction, ...]:
        """Return the coordinates on an axis (from 0) of the points that are found for the prefix."""
        if self.literal or self.dimension == 1:
            return tuple(sorted({Fraction(point[axis]) for point in self.domain}))
        return _coordinates(self.domain, prefix, axis)

    @cached_property
    def slices(self) -> PlaneSlices | None:
        """The slices at the first coordinates in integers, in the plane; None where integers would be too large."""
        if self.literal or self.dimension != 2:
            return None
        normals, offsets = _hyperplanes(self.domain)
        return plane_slices(self.coordinates(), normals.tobytes(), offsets.tobytes())

    def union(self, axis: int) -> tuple[Fraction, ...]:
        """Return X~_axis of the paper (axis = 1 .. d): what iterations 1 .. axis add to it over all their prefixes."""
        check_integer("axis", axis, 1, self.dimension)
        found: set[Fraction] = set()
        for j in range(1, axis + 1):
            for prefix in product(*(self.union(i) for i in range(1, j))):
                found.update(self._added(prefix, axis - 1))
        return tuple(sorted(found))

    @cached_property
    def points(self) -> tuple[tuple[Fraction, ...], ...]:
        """All points that can be released, in lexicographic order."""
        found: list[tuple[Fraction, ...]] = [()]
        for _ in range(self.dimension):
            found = [(*prefix, x) for prefix in found for x in self.coordinates(prefix)]
        return tuple(found)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The greatest number of candidates on each axis, over all prefixes."""
        prefixes: list[tuple[Fraction, ...]] = [()]
        sizes = []
        for _ in range(self.dimension):
            choices = [(prefix, self.coordinates(prefix)) for prefix in prefixes]
            sizes.append(max(len(candidates) for _, candidates in choices))
            prefixes = [(*prefix, x) for prefix, candidates in choices for x in candidates]
        return tuple(sizes)

    @property
    def most(self) -> tuple[int, ...]:
        """An upper bound on the number of candidates on each axis: `sizes` where all prefixes are soon listed.

        Otherwise the first axis is listed, and axis i has at most one candidate for each d - i + 1 of the hyperplanes.
        """
        first = len(self.coordinates())
        if self.dimension == 1 or first <= _FEW:
            return self.sizes
        planes = len(_hyperplanes(self.domain)[0])
        return (first, *(comb(planes, self.dimension - i) for i in range(1, self.dimension)))

    def bound(self) -> int:
        """Return the paper's bound (d |X|^{d^2 (d + 1)})^{2^d} on the size of each axis."""
        d = self.dimension
        return int((d * len(self.domain) ** (d * d * (d + 1))) ** (2**d))


@lru_cache(maxsize=32)
def _grid(side: int, dimension: int, literal: bool) -> ExtendedDomain:
    return ExtendedDomain(tuple(map(tuple, Grid(side, dimension).points().tolist())), literal)


@lru_cache(maxsize=32)
def _normals(domain: tuple[tuple[int, ...], ...]) -> Exact:
    return spanned_normals(np.array(domain, dtype=np.int64))


@lru_cache(maxsize=32)
def _hyperplanes(domain: tuple[tuple[int, ...], ...]) -> tuple[Exact, Exact]:
    """Return normals (k, d) and offsets (k,) of the hyperplanes spanned by points of X."""
    points, rows = np.array(domain, dtype=np.int64), []
    for normal in _normals(domain):
        heights = points @ normal
        for height in np.unique(heights):
            on = points[heights == height]
            if np.linalg.matrix_rank(on - on[0]) == points.shape[1] - 1:
                rows.append((*normal.tolist(), int(height)))
    table = np.array(rows, dtype=np.int64)
    return table[:, :-1], table[:, -1]


@lru_cache(maxsize=8192)
def _coordinates(domain: tuple[tuple[int, ...], ...], prefix: tuple[Fraction, ...], axis: int) -> tuple[Fraction, ...]:
    """Return x_axis of the points where the flat of the prefix meets d - i + 1 hyperplanes and no other point does."""
    normals, offsets = _hyperplanes(domain)
    if axis == 0 and normals.shape[1] == 2 and (found := crossings(normals, offsets)) is not None:
        return found
    scale = lcm(1, *(c.denominator for c in prefix))
    fixed = np.array([int(c * scale) for c in prefix], dtype=np.int64)
    # The wanted coordinate comes first, so that Cramer's rule replaces the first column.
    columns = [axis, *(k for k in range(len(prefix), normals.shape[1]) if k != axis)]
    right = scale * offsets - normals[:, : len(prefix)] @ fixed
    rows = np.column_stack([scale * normals[:, columns], right])
    rows = rows[(rows[:, :-1] != 0).any(axis=1)]
    rows = np.unique(rows // np.gcd.reduce(rows, axis=1)[:, None], axis=0)
    return tuple(sorted(_first_coordinates(rows[:, :-1], rows[:, -1])))


def _first_coordinates(system: Exact, right: Exact) -> set[Fraction]:
    """Return x_1 for every square subsystem <a, x> = b with exactly one solution, by Cramer's rule."""
    if system.shape[1] == 1:
        return {Fraction(int(b), int(a)) for (a,), b in zip(system, right, strict=True)}
    found: set[Fraction] = set()
    replaced = np.column_stack([right, system[:, 1:]])
    for pick in _subsets(len(system), system.shape[1]):
        determinants, numerators = _determinant(system[pick]), _determinant(replaced[pick])
        regular = determinants != 0
        quotients = np.column_stack([numerators[regular], determinants[regular]])
        quotients = quotients // (np.gcd.reduce(quotients, axis=1) * np.sign(quotients[:, 1]))[:, None]
        found |= {Fraction(a, b) for a, b in set(map(tuple, quotients.tolist()))}
    return found


def _subsets(count: int, size: int) -> Iterator[Exact]:
    """Yield the index sets (rows, size) of all subsets of a size of 2 or 3, block by block."""
    i, j = np.triu_indices(count, 1)
    if size == 2:
        yield np.column_stack([i, j])
        return
    for first in range(count - 2):
        later = i > first
        yield np.column_stack([np.full(int(later.sum()), first), i[later], j[later]])


def _determinant(a: Exact) -> Exact:
    """Return the determinants of (rows, k, k), k = 2 or 3, in int64: entries are far below 2^20."""
    if a.shape[1] == 2:
        return np.asarray(a[:, 0, 0] * a[:, 1, 1] - a[:, 0, 1] * a[:, 1, 0])
    terms = [a[:, 0, k] * (a[:, 1, k - 2] * a[:, 2, k - 1] - a[:, 1, k - 1] * a[:, 2, k - 2]) for k in range(3)]
    return np.asarray(terms[0] + terms[1] + terms[2])
