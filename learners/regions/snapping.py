"""From a random dual point to an output that does not depend on the sample: the region of the full grid it lies in.

The dual lines of all grid points cut the box into the cells of the full grid; halfplanes of one cell label the whole
domain alike. Where the grid is small its cells are listed, and the output is the cell. Where it is large the output is
the largest dyadic square that contains the point and is crossed by no line of the full grid. Both are functions of the
exact real point alone, so they cost no privacy, and neither shows the cell of the sample, as the digits of a point
that was rounded inside that cell would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Bools
from ..geometry.arrangement import Arrangement, sweep
from ..geometry.polygons import Box, area, polygon, vertex_mean
from ..halfspaces.depth.fraction_ranks import floor_sum

# The largest side whose full-grid cells are listed as outputs and atoms.
LISTED_SIDE = 6

Point = tuple[Fraction, Fraction]
Region = tuple[int, Fraction, Fraction]
"""(z, a, b): the copy z of the dual plane, and a point that stands for a region of the full grid."""
Resolver = Callable[[int, Box, int], Region | None]


@dataclass(frozen=True, eq=False)
class FullGrid:
    """The cells of the arrangement of all dual lines of a small grid.

    The grid is {0 .. side}^2. `points` has one point (a, b) in each cell, the mean of its vertices; `areas`, which sum
    to (4 d^2)^2, are those of the cells. `below` (cells, (d + 1)^2) says whether each grid point (lexicographic order)
    lies below the line y = a x + b of each cell; `index` leads from the column counts of a line (see `columns`) to the
    number of the cell.
    """

    side: int
    points: tuple[Point, ...]
    areas: tuple[Fraction, ...]
    below: Bools
    index: dict[tuple[int, ...], int]

    def locate(self, box: Box) -> int | None:
        """Return the cell that contains the box, None if some line of the full grid meets it."""
        a_low, a_high, b_low, b_high, q = box
        # b_low - 1 counts the points strictly below, so that a box whose corner lies on a line is not taken for free.
        low = columns(self.side, a_low, b_low - 1, q)
        if low == columns(self.side, a_high, b_high, q):
            return self.index[low]
        return None


def columns(side: int, p: int, r: int, q: int) -> tuple[int, ...]:
    """Return for x = 0 .. side how many y of {0 .. side} have y <= (p x + r)/q; r - 1 for r makes it y < (p x + r)/q.

    Every count is non-decreasing in p and r, as x >= 0.
    """
    return tuple([min(max((p * x + r) // q + 1, 0), side + 1) for x in range(side + 1)])


@lru_cache(maxsize=8)
def full_grid(side: int) -> FullGrid:
    """Return the listed cells of the full grid; side at most 16 (they are about side^4 / 2)."""
    if side > 16:
        raise InputError(f"side must be at most 16 to list the cells of the full grid, got {side}")
    grid = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    arrangement: Arrangement = sweep(grid, [(1, 0)] * len(grid), side)
    shapes = [polygon(arrangement, cell) for cell in range(arrangement.cells)]
    points = tuple(vertex_mean(shape) for shape in shapes)
    keys = [
        columns(side, a.numerator * b.denominator, b.numerator * a.denominator, a.denominator * b.denominator)
        for a, b in points
    ]
    below = np.array([[y < key[x] for x, y in grid] for key in keys], dtype=np.bool_)
    index = {key: cell for cell, key in enumerate(keys)}
    return FullGrid(side, points, tuple(map(area, shapes)), below, index)


def count_below(side: int, p: int, r: int, q: int) -> int:
    """Return how many points of the grid have y <= (p x + r)/q: the sum of `columns`, in O(log side) steps."""
    # Reflected in x, the line ascends.
    if p < 0:
        return count_below(side, -p, r + p * side, q)
    if p == 0:
        return (side + 1) * min(max(r // q + 1, 0), side + 1)
    # Columns before `first` are empty, those from `full` on hold all points.
    first = min(max(-(r // p), 0), side + 1)
    full = min(max(-((r - q * side) // p), first), side + 1)
    middle = full - first
    inside = floor_sum(middle, p, p * first + r, q) + middle if middle else 0
    return inside + (side + 1 - full) * (side + 1)


def dyadic_square(side: int, box: Box, bits: int) -> Point | None:
    """Return the centre of the largest dyadic square around the box's point that no line of the full grid meets.

    Squares have sides 2^-l, l an integer; the smaller squares around the point lie in the larger ones, so l is found
    by bisection. None if `bits` digits do not decide.
    """
    # No square as large as the box is free: with corners on a dyadic lattice it meets the line b = 0.
    low = -2 * side.bit_length() - 3
    high = bits - 2 * side.bit_length() - 8
    if not _free(side, box, high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        free = _free(side, box, middle)
        if free is None:
            return None
        low, high = (low, middle) if free else (middle, high)
    corner = _square(box, high)
    assert corner is not None
    unit = Fraction(1, 2) ** high
    return (corner[0] + Fraction(1, 2)) * unit, (corner[1] + Fraction(1, 2)) * unit


def _square(box: Box, level: int) -> tuple[int, int] | None:
    """Return the corner, in units of 2^-level, of the square that contains the box; None if it meets several."""
    *ends, q = box
    scaled = [(end << level) // q if level >= 0 else end // (q << -level) for end in ends]
    if scaled[0] == scaled[1] and scaled[2] == scaled[3]:
        return (scaled[0], scaled[2])
    return None


def _free(side: int, box: Box, level: int) -> bool | None:
    """Return whether the closed square of that level around the box is met by no line; None if undecided."""
    corner = _square(box, level)
    if corner is None:
        return None
    i, j = corner
    if level >= 0:
        p = i
        r = j
        q = 1 << level
        step = 1
    else:
        step = 1 << -level
        p = i * step
        r = j * step
        q = 1
    # Points up to the line through the lower corner and through the upper one: the counts are equal exactly if no line
    # of the full grid meets the closed square between them.
    return count_below(side, p, r - 1, q) == count_below(side, p + step, r + step, q)


def region_of(side: int) -> Resolver:
    """Return what maps z and a box around an exact dual point to its region, None if the box is too large to say."""
    grid = full_grid(side) if side <= LISTED_SIDE else None

    def resolve(z: int, box: Box, bits: int) -> Region | None:
        if grid is None:
            centre = dyadic_square(side, box, bits)
            return None if centre is None else (z, *centre)
        found = grid.locate(box)
        return None if found is None else (z, *grid.points[found])

    return resolve


def check_regions(regions: Any, count: int) -> tuple[Region, ...]:
    """Return `regions` if they are `count` halfplanes (z, a, b), else raise `InputError`."""
    good = isinstance(regions, tuple) and len(regions) == count
    if not good or not all(isinstance(r, tuple) and len(r) == 3 and r[0] in (-1, 1) for r in regions):
        raise InputError(f"code must hold {count} halfplanes (z, a, b) with z = 1 or -1, got {regions!r:.200}")
    if not all(isinstance(value, Fraction | int) for region in regions for value in region[1:]):
        raise InputError(f"code must hold rational a and b, got {regions!r:.200}")
    return tuple(regions)
