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

import numpy as np

from learners.arrays import Integers
from learners.halfspaces.depth.depth_regions import DepthRegions, StepFunction

__all__ = ["PlanePoints", "PlaneSlices", "plane_slices", "step_values"]

Coordinates = tuple[Fraction, ...]

_LIMIT = 2**62
_BLOCK = 2**22


def step_values(step: StepFunction, numerators: Integers, denominators: Integers) -> Integers:
    """Return the values of a step function at p/q, q > 0, for numbers whose cross products fit an int64."""
    found = np.zeros(len(numerators), dtype=np.int64)
    for level, lower, upper in zip(step.levels, step.lower, step.upper, strict=True):
        above = numerators * lower.denominator >= denominators * lower.numerator
        below = numerators * upper.denominator <= denominators * upper.numerator
        found[above & below] = level
    return found


@dataclass(frozen=True, eq=False)
class PlaneSlices:
    """The slices of an extended domain at all of its first coordinates.

    Attributes
    ----------
    firsts : tuple of Fraction
        The first coordinates p/q, increasing.
    p, q : arrays of int64
        Their numerators and denominators.
    normals, offsets : arrays of int64, shapes (k, 2) and (k,)
        The spanned lines that are not vertical, a x + b y = c with b > 0.
    scale : int
        L.
    """

    firsts: Coordinates
    p: Integers
    q: Integers
    normals: Integers
    offsets: Integers
    scale: int

    def seconds(self, index: int) -> Integers:
        """Return the candidates of a slice, increasing, as integers y L q."""
        a, b = self.normals.T
        return np.unique((self.offsets * self.q[index] - a * self.p[index]) * (self.scale // b))

    @cached_property
    def _listed(self) -> list[Integers]:
        return [self.seconds(i) for i in range(len(self.firsts))]

    @cached_property
    def sizes(self) -> Integers:
        """How many candidates each slice has."""
        a, b = self.normals.T
        step = max(1, _BLOCK // len(self.offsets))
        parts = []
        for start in range(0, len(self.p), step):
            p, q = self.p[start : start + step, None], self.q[start : start + step, None]
            keys = np.sort((self.offsets * q - a * p) * (self.scale // b), axis=1)
            parts.append((np.diff(keys, axis=1) != 0).sum(axis=1) + 1)
        return np.concatenate(parts)

    def coordinates(self, index: int) -> Coordinates:
        """Return the candidates of a slice."""
        whole = self.scale * int(self.q[index])
        return tuple(Fraction(key, whole) for key in self.seconds(index).tolist())

    def ends(self, regions: DepthRegions, level: int, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the ends (low, high) of T(level) on chosen slices, as integers y L q; low > high where it is empty."""
        low, high = regions.bounds(level)
        a, b = regions.normals.T.astype(np.int64)
        p, q = self.p[chosen, None], self.q[chosen, None]
        sloped, upright = b != 0, b == 0
        factor = self.scale // np.abs(b[sloped])
        # Dividing by b < 0 turns the interval around.
        down, up = b[sloped] < 0, np.sign(b[sloped])
        lower = np.where(down, high[sloped], low[sloped])
        upper = np.where(down, low[sloped], high[sloped])
        bottom = (up * factor * (lower * q - a[sloped] * p)).max(axis=1)
        top = (up * factor * (upper * q - a[sloped] * p)).min(axis=1)
        inside = ((low[upright] * q <= a[upright] * p) & (a[upright] * p <= high[upright] * q)).all(axis=1)
        return bottom, np.where(inside, top, bottom - 1)

    def first_values(self, regions: DepthRegions) -> Integers:
        """Return Q at every first coordinate."""
        if not regions.weights.any():
            return np.zeros(len(self.p), dtype=np.int64)
        return step_values(regions.function(), self.p, self.q)

    def depths(self, regions: DepthRegions, chosen: Sequence[int]) -> Iterator[Integers]:
        """Yield for each chosen slice, by its index, the depths of its candidates."""
        width = max(1, _BLOCK // len(regions.normals))
        for start in range(0, len(chosen), width):
            block = np.asarray(chosen[start : start + width], dtype=np.int64)
            yield from self._block(regions, block)

    def _block(self, regions: DepthRegions, block: Integers) -> Iterator[Integers]:
        candidates = [self._listed[i] if len(block) == len(self.p) else self.seconds(i) for i in block.tolist()]
        found = [np.zeros(len(keys), dtype=np.int64) for keys in candidates]
        rest = np.arange(len(block))
        for level in regions.levels if regions.weights.any() else ():
            if level > int(regions.weights.sum()):
                break
            low, high = self.ends(regions, level, block[rest])
            kept = low <= high
            rest, low, high = rest[kept], low[kept], high[kept]
            # Regions shrink as levels grow: a slice that misses one misses the next.
            if not len(rest):
                break
            for i, bottom, top in zip(rest.tolist(), low.tolist(), high.tolist(), strict=True):
                first, last = candidates[i].searchsorted(bottom), candidates[i].searchsorted(top, side="right")
                found[i][first:last] = level
        yield from found


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


class PlanePoints(Sequence[Coordinates]):
    """All points of the slices in lexicographic order, each made when it is asked for."""

    def __init__(self, slices: PlaneSlices) -> None:
        self._slices = slices
        self._ends = np.cumsum(slices.sizes)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, index: object) -> Coordinates:  # type: ignore[override]  # no slices of it are needed
        if not isinstance(index, int | np.integer):
            raise TypeError(f"index must be an integer, got {index!r}")
        place = range(len(self))[int(index)]
        row = int(np.searchsorted(self._ends, place, side="right"))
        within = place - int(self._ends[row]) + int(self._slices.sizes[row])
        key = int(self._slices.seconds(row)[within])
        return self._slices.firsts[row], Fraction(key, self._slices.scale * int(self._slices.q[row]))

    def __iter__(self) -> Iterator[Coordinates]:
        for row, x in enumerate(self._slices.firsts):
            for y in self._slices.coordinates(row):
                yield x, y

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PlanePoints):
            return self._slices is other._slices
        return NotImplemented

    def __hash__(self) -> int:
        return id(self._slices)
