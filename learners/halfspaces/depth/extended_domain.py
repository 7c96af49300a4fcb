"""The extended domain of BMNS Claim 3.5: coordinates among which Q attains its maximum for every multiset.

T(r), cut by the flat of a prefix x_1 .. x_{i-1}, is a polytope whose corners lie where the flat meets hyperplanes
spanned by the domain. The flat has dimension d - i + 1, so a corner is the only common point of the flat and
d - i + 1 of these hyperplanes. The paper says d - i: with `literal=True` that many subspaces (of any dimension) are
taken, and in the plane the result is the domain itself.

In the plane candidates and depths of many vertical slices at once are found in integers. On the line x_1 = p/q a corner
of T(r) lies on a spanned line a x + b y = c, so that y L q = (c q - a p) L/b is an integer for L the least common
multiple of all |b|. Candidates are such integers, increasing, and the slice of T(r) is an interval of them: the two
ends, for all slices together, are extremes over the normals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import comb, lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.contract import InputError

from ...arrays import Exact, Integers
from ...domains import Grid
from ...parameters import check_integer
from .depth_regions import DepthRegions, StepFunction, spanned_normals
from .tukey_depth import MAX_DIMENSION, cross

Coordinates = tuple[Fraction, ...]

_LIMIT = 2**62
_BLOCK = 2**20
# Cells of a table of quotients.
_TABLE = 2**26


def crossings(normals: Integers, offsets: Integers) -> Coordinates | None:
    """Return x of the points where two of the lines <u, .> = c cross, increasing; None if they have large entries.

    By pairs of directions: x = (c_1 b_2 - c_2 b_1)/(a_1 b_2 - a_2 b_1). Of a quotient as it comes, only whether it
    occurs is kept, in a table of numerators and denominators.
    """
    entry = int(np.abs(normals).max())
    height = int(np.abs(offsets).max())
    most = 2 * entry * max(height, 1)
    deepest = 2 * entry**2
    if (2 * most + 1) * (deepest + 1) > _TABLE:
        return None
    directions, place = np.unique(normals, axis=0, return_inverse=True)
    groups = [offsets[place.reshape(-1) == i] for i in range(len(directions))]
    seen = np.zeros((deepest + 1, 2 * most + 1), dtype=np.bool_)
    for i, (a, b) in enumerate(directions.tolist()):
        for j, (c, d) in enumerate(directions[i + 1 :].tolist(), start=i + 1):
            under = a * d - b * c
            sign = 1 if under > 0 else -1
            # Cramer's rule for one line of either direction; the sign makes the denominator positive.
            seen[abs(under), (sign * np.subtract.outer(d * groups[i], b * groups[j])).ravel() + most] = True
    q, p = np.nonzero(seen)
    p -= most
    divisor = np.gcd(p, q)
    pairs = np.unique(np.stack([p // divisor, q // divisor], axis=1), axis=0)
    # Quotients of integers so small are ordered like their rounded values.
    order = np.argsort(pairs[:, 0] / pairs[:, 1])
    return tuple(Fraction(a, b) for a, b in pairs[order].tolist())


def step_values(step: StepFunction, numerators: Integers, denominators: Integers) -> Integers:
    """Return the values of a step function at p/q, q > 0, for numbers whose cross products fit an int64."""
    found = np.zeros(len(numerators), dtype=np.int64)
    for level, lower, upper in zip(step.levels, step.lower, step.upper, strict=True):
        above = numerators * lower.denominator >= denominators * lower.numerator
        below = numerators * upper.denominator <= denominators * upper.numerator
        found[above & below] = level
    return found


@dataclass(frozen=True, eq=False, repr=False)
class PlaneSlices(Sequence[Coordinates]):
    """The slices of an extended domain at all of its first coordinates.

    As a sequence, all points of the slices in lexicographic order, each made when it is asked for.

    `firsts` are the first coordinates p/q, increasing, with their `p` and `q`; `normals` (k, 2) and `offsets` (k,) the
    spanned lines that are not vertical, a x + b y = c with b > 0; `scale` is L.
    """

    firsts: Coordinates
    p: Integers
    q: Integers
    normals: Integers
    offsets: Integers
    scale: int

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        row = int(np.searchsorted(self._ends, place, side="right"))
        within = place - int(self._ends[row]) + int(self.sizes[row])
        key = int(self.seconds(row)[within])
        return self.firsts[row], Fraction(key, self.scale * int(self.q[row]))

    def __iter__(self) -> Iterator[Coordinates]:
        for row, x in enumerate(self.firsts):
            yield from ((x, y) for y in self.coordinates(row))

    def seconds(self, index: int) -> Integers:
        """Return the candidates of a slice, increasing, as integers y L q."""
        a, b = self.normals.T
        return np.unique((self.offsets * self.q[index] - a * self.p[index]) * (self.scale // b))

    @cached_property
    def sizes(self) -> Integers:
        """The number of candidates of each slice."""
        a, b = self.normals.T
        step = max(1, _BLOCK // len(self.offsets))
        parts = []
        for start in range(0, len(self.p), step):
            p = self.p[start : start + step, None]
            q = self.q[start : start + step, None]
            keys = np.sort((self.offsets * q - a * p) * (self.scale // b), axis=1)
            parts.append((np.diff(keys, axis=1) != 0).sum(axis=1) + 1)
        return np.concatenate(parts)

    @cached_property
    def _ends(self) -> Integers:
        return np.cumsum(self.sizes)

    def coordinates(self, index: int) -> Coordinates:
        """Return the candidates of a slice."""
        whole = self.scale * int(self.q[index])
        return tuple(Fraction(key, whole) for key in self.seconds(index).tolist())

    def first_values(self, regions: DepthRegions) -> Integers:
        """Return Q at every first coordinate."""
        return step_values(regions.first_function, self.p, self.q)

    def depths(self, regions: DepthRegions, chosen: Sequence[int]) -> Iterator[Integers]:
        """Yield for each chosen slice, by its index, the depths of its candidates."""
        values = np.array([0, *regions.levels], dtype=np.int64)
        width = max(1, _BLOCK // max(1, regions.ends[0].size))
        for start in range(0, len(chosen), width):
            block = np.asarray(chosen[start : start + width], dtype=np.int64)
            for i, bottom, top in zip(block.tolist(), *self._intervals(regions, block), strict=True):
                candidates = self.seconds(i)
                kept = bottom <= top
                # The intervals are nested: a candidate has the level of the last that holds it.
                steps = np.zeros(len(candidates) + 1, dtype=np.int64)
                np.add.at(steps, candidates.searchsorted(bottom[kept]), 1)
                np.add.at(steps, candidates.searchsorted(top[kept], side="right"), -1)
                yield values[np.cumsum(steps[:-1])]

    def _intervals(self, regions: DepthRegions, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the ends (slices, levels) of T(level) on chosen slices as y L q, in reverse if it is empty."""
        low, high = regions.ends
        a, b = regions.normals.T.astype(np.int64)
        p = self.p[chosen, None, None]
        q = self.q[chosen, None, None]
        sloped = b != 0
        upright = b == 0
        # Dividing by b < 0 turns the interval around.
        factor = np.sign(b[sloped]) * (self.scale // np.abs(b[sloped]))
        lower = np.where(b[sloped] < 0, high[:, sloped], low[:, sloped]) * factor
        upper = np.where(b[sloped] < 0, low[:, sloped], high[:, sloped]) * factor
        shift = a[sloped] * factor * p
        bottom = (lower * q - shift).max(axis=2)
        top = (upper * q - shift).min(axis=2)
        across = a[upright] * p
        inside = ((low[:, upright] * q <= across) & (across <= high[:, upright] * q)).all(axis=2)
        return bottom, np.where(inside, top, bottom - 1)


# The largest side, by dimension, at which all tuples of hyperplanes are intersected in seconds; at side 2 in space
# there are 2e7 triples.
MAX_SIDE = {1: 2**20, 2: 16, 3: 1}
# The same where the candidates on an axis are those after all prefixes together: 4,123 at side 4 in the plane.
MAX_FIXED_SIDE = {**MAX_SIDE, 2: 4}

# First coordinates up to which all prefixes are listed to count the candidates after them.
_FEW = 128


@dataclass(frozen=True)
class ExtendedDomain:
    """Coordinates of the extended domain of a finite set X of points, one axis after the other.

    The coordinates on axis i may depend on those released before (X~_i(prefix)); the paper takes the union over all
    prefixes, which `union` returns, and which is the same after every prefix if the domain is `fixed`.

    `domain` is X: distinct points with d = 1, 2 or 3 coordinates that span the space; `grid` makes one of a grid.
    `literal` takes d - i subspaces, as printed (dimension 1 and 2 only).
    """

    domain: tuple[tuple[int, ...], ...]
    literal: bool = False
    fixed: bool = False

    def __post_init__(self) -> None:
        if self.literal and self.dimension > 2:
            raise InputError(f"dimension must be at most 2 for the literal extended domain, got {self.dimension}")

    @classmethod
    def grid(cls, side: int, dimension: int, *, literal: bool = False, fixed: bool = False) -> ExtendedDomain:
        """Return the extended domain of {0 .. side}^dimension; `InputError` if it would take too long."""
        check_integer("dimension", dimension, 1, MAX_DIMENSION)
        check_integer("side", side, 1)
        limit = (MAX_FIXED_SIDE if fixed else MAX_SIDE)[1 if literal else dimension]
        if side > limit:
            raise InputError(
                f"side must be at most {limit} in dimension {dimension} where coordinates are listed, got {side}: "
                f"every {dimension} of the hyperplanes that grid points span would have to be intersected"
            )
        return _grid(int(side), int(dimension), literal, fixed)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return len(self.domain[0])

    def regions(self, points: ArrayLike, weights: NDArray[np.int64]) -> DepthRegions:
        """Return the depth regions of a multiset of points of X."""
        xs = np.asarray(points)
        # Few points span few planes: worth their own normals, where every slice looks at all pairs of these.
        own = self.dimension == 3 and 2 * len(xs) <= len(self.domain)
        return DepthRegions(xs, weights, spanned_normals(xs) if own else _normals(self.domain))

    def coordinates(self, prefix: Sequence[int | Fraction] = ()) -> Coordinates:
        """Return X~_i(prefix) in order, i = len(prefix) + 1; X~_i of the paper if the domain is `fixed`."""
        if not len(prefix) < self.dimension:
            raise InputError(f"prefix must have fewer than {self.dimension} coordinates, got {prefix!r}")
        if self.fixed:
            return self._unions[len(prefix)]
        return self._added(tuple(Fraction(x) for x in prefix), len(prefix))

    def _added(self, prefix: Coordinates, axis: int) -> Coordinates:
        """Return the coordinates on an axis (from 0) of the points that are found for the prefix."""
        if self.literal or self.dimension == 1:
            return tuple(sorted({Fraction(point[axis]) for point in self.domain}))
        return _coordinates(self.domain, prefix, axis)

    @cached_property
    def slices(self) -> PlaneSlices | None:
        """The slices at the first coordinates in integers, in the plane; None where integers would be too large."""
        if self.literal or self.fixed or self.dimension != 2:
            return None
        firsts = self.coordinates()
        normals, offsets = _hyperplanes(self.domain)
        sloped = normals[:, 1] != 0
        sign = np.sign(normals[sloped, 1])
        rows = normals[sloped] * sign[:, None]
        right = offsets[sloped] * sign
        scale = int(np.lcm.reduce(np.unique(rows[:, 1]).astype(object)))
        p, q = np.array([x.as_integer_ratio() for x in firsts], dtype=np.int64).T
        entry = int(np.abs(rows).max())
        height = int(np.abs(right).max())
        top = int(np.abs(p).max()) * entry + int(q.max()) * max(height, 1)
        # Cross products with a corner of some T(r), whose coordinates are of the same kind, must fit too.
        fits = 2 * scale * top < _LIMIT and 2 * top**2 < _LIMIT
        if fits:
            return PlaneSlices(firsts, p, q, rows, right, scale)
        return None

    def union(self, axis: int) -> Coordinates:
        """Return X~_axis of the paper (axis = 1 .. d): what iterations 1 .. axis add to it over all their prefixes."""
        check_integer("axis", axis, 1, self.dimension)
        found: set[Fraction] = set()
        for j in range(1, axis + 1):
            for prefix in product(*(self.union(i) for i in range(1, j))):
                found.update(self._added(prefix, axis - 1))
        return tuple(sorted(found))

    @cached_property
    def _unions(self) -> tuple[Coordinates, ...]:
        return tuple(self.union(axis) for axis in range(1, self.dimension + 1))

    @cached_property
    def points(self) -> tuple[Coordinates, ...]:
        """All points that can be released, in lexicographic order."""
        return self.prefixes(self.dimension)

    def prefixes(self, axis: int) -> tuple[Coordinates, ...]:
        """Return all that can be released on the first axes, in lexicographic order."""
        if not axis:
            return ((),)
        return tuple((*prefix, x) for prefix in self.prefixes(axis - 1) for x in self.coordinates(prefix))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The greatest number of candidates on each axis, over all prefixes."""
        if self.fixed:
            return tuple(map(len, self._unions))
        axes = range(self.dimension)
        return tuple(max(len(self.coordinates(prefix)) for prefix in self.prefixes(axis)) for axis in axes)

    @property
    def most(self) -> tuple[int, ...]:
        """An upper bound on the number of candidates on each axis: `sizes` where all prefixes are soon listed.

        Otherwise the first axis is listed, and axis i has at most one candidate for each d - i + 1 of the hyperplanes.
        """
        first = len(self.coordinates())
        if self.fixed or self.dimension == 1 or first <= _FEW:
            return self.sizes
        planes = len(_hyperplanes(self.domain)[0])
        return (first, *(comb(planes, self.dimension - i) for i in range(1, self.dimension)))

    def bound(self) -> int:
        """Return the paper's bound (d |X|^{d^2 (d + 1)})^{2^d} on the size of each axis."""
        d = self.dimension
        return int((d * len(self.domain) ** (d * d * (d + 1))) ** (2**d))


@lru_cache(maxsize=32)
def _grid(side: int, dimension: int, literal: bool, fixed: bool) -> ExtendedDomain:
    return ExtendedDomain(tuple(map(tuple, Grid(side, dimension).points().tolist())), literal, fixed)


@lru_cache(maxsize=32)
def _normals(domain: tuple[tuple[int, ...], ...]) -> Exact:
    return spanned_normals(np.array(domain, dtype=np.int64))


@lru_cache(maxsize=32)
def _hyperplanes(domain: tuple[tuple[int, ...], ...]) -> tuple[Integers, Integers]:
    """Return normals (k, d) and offsets (k,) of the hyperplanes spanned by points of X."""
    points = np.array(domain, dtype=np.int64)
    rows = []
    for normal in _normals(domain):
        heights = points @ normal
        for height in np.unique(heights):
            on = points[heights == height]
            # Points of X at one height span a hyperplane if they do not lie in a smaller flat.
            if np.linalg.matrix_rank(on - on[0]) == points.shape[1] - 1:
                rows.append((*normal.tolist(), int(height)))
    table = np.array(rows, dtype=np.int64)
    return table[:, :-1], table[:, -1]


@lru_cache(maxsize=8192)
def _coordinates(domain: tuple[tuple[int, ...], ...], prefix: Coordinates, axis: int) -> Coordinates:
    """Return x_axis of the points where the flat of the prefix meets d - i + 1 hyperplanes and no other point does."""
    normals, offsets = _hyperplanes(domain)
    if axis == 0 and normals.shape[1] == 2 and (found := crossings(normals, offsets)) is not None:
        return found
    scale = lcm(1, *(c.denominator for c in prefix))
    fixed = np.array([int(c * scale) for c in prefix], dtype=np.int64)
    # The wanted coordinate comes first, so that Cramer's rule replaces the first column.
    columns = [axis, *(k for k in range(len(prefix), normals.shape[1]) if k != axis)]
    # The hyperplanes cut with the flat of the prefix: what is left of each equation.
    right = scale * offsets - normals[:, : len(prefix)] @ fixed
    rows = np.column_stack([scale * normals[:, columns], right])
    rows = rows[(rows[:, :-1] != 0).any(axis=1)]
    rows = np.unique(rows // np.gcd.reduce(rows, axis=1)[:, None], axis=0)
    return tuple(sorted(_first_coordinates(rows[:, :-1], rows[:, -1])))


def _first_coordinates(system: Integers, right: Integers) -> set[Fraction]:
    """Return x_1 for every square subsystem <a, x> = b with exactly one solution, by Cramer's rule."""
    if system.shape[1] == 1:
        return {Fraction(int(b), int(a)) for (a,), b in zip(system, right, strict=True)}
    found: set[Fraction] = set()
    replaced = np.column_stack([right, system[:, 1:]])
    for pick in _subsets(len(system), system.shape[1]):
        determinants = _determinant(system[pick])
        numerators = _determinant(replaced[pick])
        regular = determinants != 0
        quotients = np.column_stack([numerators[regular], determinants[regular]])
        quotients = quotients // (np.gcd.reduce(quotients, axis=1) * np.sign(quotients[:, 1]))[:, None]
        found |= {Fraction(a, b) for a, b in set(map(tuple, quotients.tolist()))}
    return found


def _subsets(count: int, size: int) -> Iterator[Integers]:
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
    return np.asarray((a[:, 0] * cross(a[:, 1], a[:, 2])).sum(axis=1))
