"""The arrangement of the dual lines of weighted grid points, with the area of every cell, in integers only.

The point (x, y) of the grid {0 .. d}^2 is dual to the line b = y - x a on the box [-A, A]^2, A = 2 d^2; the dual point
(a, b) is the line y = a x + b, and (x, y) lies below that line exactly if its dual line lies below (a, b).

A cell is bounded by lines that change at its vertices only. With P_i(a) = y_i a - x_i a^2 / 2, the antiderivative of
line i, the integral of (upper - lower) over the cell telescopes into terms P_i(a) - P_j(a) at vertices of lines i and
j, where a = (y_i - y_j) / (x_i - x_j) makes them +-T with

    T = (y_i - y_j)^2 / (2 |x_i - x_j|),

+T for a cell to the left or right of the vertex, -T for one above or below it, and into terms at the sides a = +-A.
Source of the arrangement: KMMS, algorithm Select Halfplane, steps 1 to 4.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter

import numpy as np

from dpaudit.contract import InputError, count_steps

from ..arrays import Integers
from ..parameters import check_integer

# Stands for the opening vertex of a cell that begins at the left side of the box.
LEFT = -1

_SHIFT = 64
_MARK = 2 * _SHIFT

Vertex = tuple[int, int, int]


def half_width(side: int) -> int:
    """Return A = 2 side^2: the dual box is [-A, A]^2."""
    return 2 * side * side


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The cells of the dual arrangement inside the box.

    `side` is d of the grid {0 .. d}^2; `lines` are the distinct points (x, y), then (0, -A) and (0, A) for the lower
    and upper side of the box. `areas` are those of the cells times 2^precision, each within `slack` of the truth.
    `below` (cells, 2) is the weight labelled 0 and 1 of the lines below each cell, `lower` and `upper` (cells,) the
    lines that bound each cell where it opens, and `opening` (cells, 2) two lines that cross there; `LEFT` for the left
    side of the box.
    """

    side: int
    lines: list[tuple[int, int]]
    areas: list[int]
    precision: int
    slack: int
    below: Integers
    lower: Integers
    upper: Integers
    opening: Integers

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.areas)


def sweep(
    points: Sequence[tuple[int, int]], weights: Sequence[tuple[int, int]], side: int, extra_precision: int = 0
) -> Arrangement:
    """Return the arrangement of the dual lines of distinct points, by a sweep from left to right.

    O(n^2 log n) integer operations. Every vertex is (p/q, r/q) with q <= d, sides of the box included, so a triangle of
    vertices has area |det|/2 >= 1/(2 q q' q'') >= 1/(2 d^3), and so has every cell: with precision
    7 bits(d) + 128 + bits(n) the relative error of each area is below 2^-100.

    The points are distinct, in {0 .. side}^2, side >= 1 of any size; each weight (m0, m1) is how many examples labelled
    0 and 1 stand there, below 2^63 in all. `InputError` otherwise. `extra_precision` are more binary places than the
    2^-100 needs.
    """
    _check(points, weights, side)
    width = half_width(side)
    lines = [(int(x), int(y)) for x, y in points] + [(0, -width), (0, width)]
    packed = [int(m0) | int(m1) << _SHIFT for m0, m1 in weights] + [1 << _MARK] * 2
    precision = 7 * side.bit_length() + 128 + len(lines).bit_length() + extra_precision
    state = _Sweep(lines, packed, width, precision)
    state.run(_events(lines, width, side))
    found = state.result(side)
    count_steps("cells made", found.cells)
    return found


def _check(points: Sequence[tuple[int, int]], weights: Sequence[tuple[int, int]], side: int) -> None:
    check_integer("side", side, 1)
    for point in points:
        if not (0 <= point[0] <= side and 0 <= point[1] <= side):
            raise InputError(f"points must lie on the grid {{0 .. {side}}}^2, got {tuple(point)}")
    if len({(int(x), int(y)) for x, y in points}) != len(points) or len(weights) != len(points):
        raise InputError(f"points must be distinct, one weight each; got {len(points)} points, {len(weights)} weights")
    if any(min(pair) < 0 for pair in weights) or sum(sum(pair) for pair in weights) >= 2**63:
        raise InputError("weights must be >= 0 and sum to less than 2^63")


def _events(lines: list[tuple[int, int]], width: int, side: int) -> list[Vertex]:
    """Return (abscissa, i, j) of all crossings strictly inside -A < a < A, from left to right.

    Two distinct abscissae p/q and p'/q' with q, q' <= d differ by at least 1/d^2, so the floor of the abscissa times
    2^S with S = 2 bits(d) + 4 orders them exactly and is equal for equal ones.
    """
    shift = 2 * side.bit_length() + 4
    low = -width << shift
    high = width << shift
    events: list[Vertex] = []
    ordered = sorted(range(len(lines)), key=lambda i: lines[i][0])
    for rank, i in enumerate(ordered):
        x, y = lines[i]
        shifted = y << shift
        # Of two crossing lines the one with the greater x comes second, so that denominators are positive.
        found = [
            ((shifted - (lines[j][1] << shift)) // (x - lines[j][0]), j, i) for j in ordered[:rank] if lines[j][0] < x
        ]
        events += [event for event in found if low < event[0] < high]
    events.sort()
    return events


class _Sweep:
    """The state of the sweep: lines from bottom to top, and the open cell of each gap between neighbours.

    Gap p lies between the lines at positions p and p + 1. `prefix[p]` packs the weights of the lines at positions
    0 .. p; a cell is inside the box if exactly one of the two box lines is below it.
    """

    def __init__(self, lines: list[tuple[int, int]], packed: list[int], width: int, precision: int) -> None:
        self.lines = lines
        self.packed = packed
        self.width = width
        self.precision = precision
        # Just right of a = -A: by the height y + x A, and of lines that meet there the steeper falls below.
        self.order = sorted(range(len(lines)), key=lambda i: (lines[i][1] + lines[i][0] * width, -lines[i][0]))
        self.position = [0] * len(lines)
        for p, i in enumerate(self.order):
            self.position[i] = p
        self.prefix = list(accumulate(packed[i] for i in self.order))
        self.areas: list[int] = []
        self.sums: list[int] = []
        self.lower = array("q")
        self.upper = array("q")
        self.opening = array("q")
        self.open = [self._new_cell(p, (LEFT, LEFT)) for p in range(len(lines) - 1)]
        for p, cell in enumerate(self.open):
            self.areas[cell] -= self._between(self.order[p + 1], self.order[p], -width)

    def _new_cell(self, gap: int, vertex: tuple[int, int]) -> int:
        self.lower.append(self.order[gap])
        self.upper.append(self.order[gap + 1])
        self.opening.extend(vertex)
        self.sums.append(self.prefix[gap])
        self.areas.append(0)
        return len(self.areas) - 1

    def _between(self, up: int, low: int, a: int) -> int:
        """Return 2^precision (P_up(a) - P_low(a)) at an integer a, exactly."""
        x, y = self.lines[up]
        u, v = self.lines[low]
        return (2 * (y - v) * a - (x - u) * a * a) << (self.precision - 1)

    def _term(self, i: int, j: int) -> int:
        """Return the floor of 2^precision T for two crossing lines."""
        x, y = self.lines[i]
        u, v = self.lines[j]
        return ((y - v) ** 2 << (self.precision - 1)) // abs(x - u)

    def run(self, events: list[Vertex]) -> None:
        """Pass all crossings; those at one abscissa together."""
        for _, together in groupby(events, key=itemgetter(0)):
            # Alone, a crossing exchanges two neighbours; several at one abscissa may be one vertex of many lines.
            (_, i, j), *others = group = list(together)
            if others:
                self._cross_all(group)
            else:
                self._cross(min(self.position[i], self.position[j]), 2)
        for p, cell in enumerate(self.open):
            self.areas[cell] += self._between(self.order[p + 1], self.order[p], self.width)

    def _cross_all(self, group: list[Vertex]) -> None:
        """Pass several vertices with one abscissa: maximal blocks of neighbours that cross there."""
        # Neighbours that cross here; a run of consecutive positions is one vertex.
        links = sorted(
            min(p, q) for p, q in ((self.position[i], self.position[j]) for _, i, j in group) if abs(p - q) == 1
        )
        for _, run in groupby(enumerate(links), key=lambda link: link[1] - link[0]):
            (_, first), *rest = run
            self._cross(first, len(rest) + 2)

    def _cross(self, first: int, lines: int) -> None:
        """Pass the vertex of the lines at positions first .. first + lines - 1, which reverses them."""
        order = self.order
        areas = self.areas
        cells = self.open
        last = first + lines - 1
        vertex = (order[first], order[first + 1])
        terms = [self._term(order[p], order[p + 1]) for p in range(first, last)]
        # The cells below and above the vertex meet there the two outermost lines alone.
        extreme = terms[0] if lines == 2 else self._term(order[first], order[last])
        if first > 0:
            areas[cells[first - 1]] -= extreme
        if last < len(order) - 1:
            areas[cells[last]] -= extreme
        for p, term in zip(range(first, last), terms, strict=True):
            areas[cells[p]] += term
        order[first : last + 1] = order[first : last + 1][::-1]
        # The lines are reversed, so the weights below each position change up to the last but one.
        below = self.prefix[first - 1] if first else 0
        for p in range(first, last + 1):
            below += self.packed[order[p]]
            self.prefix[p] = below
            self.position[order[p]] = p
        for p, term in zip(range(first, last), reversed(terms), strict=True):
            cells[p] = self._new_cell(p, vertex)
            areas[cells[p]] += term

    def result(self, side: int) -> Arrangement:
        """Return the cells inside the box."""
        # Exactly one of the two box lines is below a cell of the box.
        inside = [c for c, packed in enumerate(self.sums) if packed >> _MARK == 1]
        mask = (1 << _SHIFT) - 1
        sums = [(self.sums[c] & mask, self.sums[c] >> _SHIFT & mask) for c in inside]
        return Arrangement(
            side=side,
            lines=self.lines,
            areas=[self.areas[c] for c in inside],
            precision=self.precision,
            # One floor a vertex; a convex cell has at most one edge a line and two on the sides.
            slack=len(self.lines) + 2,
            below=np.array(sums, dtype=np.int64).reshape(-1, 2),
            lower=np.array(self.lower, dtype=np.int64)[inside],
            upper=np.array(self.upper, dtype=np.int64)[inside],
            opening=np.array(self.opening, dtype=np.int64).reshape(-1, 2)[inside],
        )
