"""Vertical slices of the plane's extended domain, in integers: candidates and depths of many slices at once.

On the line x_1 = p/q a corner of T(r) lies on a spanned line a x + b y = c, so that y L q = (c q - a p) L/b is an
integer for L the least common multiple of all |b|. Candidates are such integers, increasing, and the slice of T(r) is
an interval of them: the two ends, for all slices together, are extremes over the normals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...arrays import Integers
from .depth_regions import DepthRegions, StepFunction

Coordinates = tuple[Fraction, ...]

_LIMIT = 2**62
_BLOCK = 2**20
_TABLE = 2**26
"""Cells of a table of quotients."""


def crossings(normals: Integers, offsets: Integers) -> Coordinates | None:
    """Return x of the points where two of the lines <u, .> = c cross, increasing; None if they have large entries.

    By pairs of directions: x = (c_1 b_2 - c_2 b_1)/(a_1 b_2 - a_2 b_1). Of a quotient as it comes, only whether it
    occurs is kept, in a table of numerators and denominators.
    """
    entry, height = int(np.abs(normals).max()), int(np.abs(offsets).max())
    most, deepest = 2 * entry * max(height, 1), 2 * entry**2
    if (2 * most + 1) * (deepest + 1) > _TABLE:
        return None
    directions, place = np.unique(normals, axis=0, return_inverse=True)
    groups = [offsets[place.reshape(-1) == i] for i in range(len(directions))]
    seen = np.zeros((deepest + 1, 2 * most + 1), dtype=np.bool_)
    for i, (a, b) in enumerate(directions.tolist()):
        for j, (c, d) in enumerate(directions[i + 1 :].tolist(), start=i + 1):
            under = a * d - b * c
            sign = 1 if under > 0 else -1
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
            for y in self.coordinates(row):
                yield x, y

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
            p, q = self.p[start : start + step, None], self.q[start : start + step, None]
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
        if not regions.weights.any():
            return np.zeros(len(self.p), dtype=np.int64)
        return step_values(regions.first_function, self.p, self.q)

    def depths(self, regions: DepthRegions, chosen: Sequence[int]) -> Iterator[Integers]:
        """Yield for each chosen slice, by its index, the depths of its candidates."""
        if not regions.weights.any():
            yield from (np.zeros(len(self.seconds(i)), dtype=np.int64) for i in chosen)
            return
        values = np.array([0, *regions.levels], dtype=np.int64)
        width = max(1, _BLOCK // regions.ends[0].size)
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
        p, q = self.p[chosen, None, None], self.q[chosen, None, None]
        sloped, upright = b != 0, b == 0
        # Dividing by b < 0 turns the interval around.
        factor = np.sign(b[sloped]) * (self.scale // np.abs(b[sloped]))
        lower = np.where(b[sloped] < 0, high[:, sloped], low[:, sloped]) * factor
        upper = np.where(b[sloped] < 0, low[:, sloped], high[:, sloped]) * factor
        shift = a[sloped] * factor * p
        bottom, top = (lower * q - shift).max(axis=2), (upper * q - shift).min(axis=2)
        across = a[upright] * p
        inside = ((low[:, upright] * q <= across) & (across <= high[:, upright] * q)).all(axis=2)
        return bottom, np.where(inside, top, bottom - 1)


@lru_cache(maxsize=8)
def plane_slices(firsts: Coordinates, normals: bytes, offsets: bytes) -> PlaneSlices | None:
    """Return the slices at the first coordinates, for lines given as bytes of int64; None if int64 is too small."""
    rows, right = np.frombuffer(normals, dtype=np.int64).reshape(-1, 2), np.frombuffer(offsets, dtype=np.int64)
    sloped = rows[:, 1] != 0
    rows, right = rows[sloped], right[sloped]
    sign = np.sign(rows[:, 1])
    rows, right = rows * sign[:, None], right * sign
    scale = int(np.lcm.reduce(np.unique(rows[:, 1]).astype(object)))
    p = np.array([x.numerator for x in firsts], dtype=np.int64)
    q = np.array([x.denominator for x in firsts], dtype=np.int64)
    entry, height = int(np.abs(rows).max()), int(np.abs(right).max())
    top = int(np.abs(p).max()) * entry + int(q.max()) * max(height, 1)
    # Cross products with a corner of some T(r), whose coordinates are of the same kind, must fit too.
    if 2 * scale * top >= _LIMIT or 2 * top**2 >= _LIMIT:
        return None
    return PlaneSlices(firsts, p, q, rows, right, scale)
