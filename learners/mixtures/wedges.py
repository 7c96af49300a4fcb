"""Pairs of halfplanes through public points, and the errors of all of them without a sum over points for each pair.

The halfplanes are the two sides of K lines. Two lines cross at an abscissa; left of it one of them is the lower one and
right of it the other, so the points in a wedge between them are the points below (or above) one line on one side of the
crossing, and of the other line on the other side. With cumulative sums of the gains below and above each line, by
abscissa, each wedge costs a few look-ups: O(K m + K^2) in place of the K^2 m of a matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Floats, Integers
from learners.mixtures.public_family import Functional

STRIP = 2**22
"""Pairs of halfplanes whose errors are held at once."""
TILE = 2**16
"""Pairs of lines that are looked up at once: what is held of them stays in a cache."""
TABLE_CELLS = 2**30
"""The most cumulative sums that are held; 200 public points with 10,000 others take 4e8."""
FLOAT_SIDE = 2**16
"""Up to this side, abscissae of crossings are quotients of integers below 2^52, whose floors are right in floats."""


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Wedges:
    """The empty hypothesis, and every one and two of the halfplanes that K lines bound, in blocks with their errors.

    Errors are `base` plus the sum of `gains` over the points inside; see `intersections.Intersections`. Hypotheses are
    numbered block by block. Block 0 has the empty one, the sides of the lines, and the lines themselves, where opposite
    sides meet; each further block the pairs of two lines of which the steeper one is in a strip.

    `halfspaces` are rows (w_1, w_2, t) of {<w, x> >= t}, opposite ones next to each other; `points` (m, 2) are
    distinct, with coordinates in 0 .. side.
    """

    halfspaces: tuple[Functional, ...]
    points: Integers
    gains: Integers
    base: int
    side: int

    @cached_property
    def _lines(self) -> tuple[Integers, Integers]:
        """Rows (u, v, t) of {u x + v y <= t}, v >= 0, from flat to steep, and the numbers (K, 2) of both halfspaces.

        What is below a vertical line is what lies right of it, as for a line that is almost vertical and ascends. The
        first number is that of the halfspace below, the second that of the one above.
        """
        rows = np.array(self.halfspaces[::2], dtype=np.int64)
        turned = (rows[:, 1] < 0) | ((rows[:, 1] == 0) & (rows[:, 0] > 0))
        rows = np.where(turned[:, None], -rows, rows)
        # Slopes are quotients of integers of at most 18 bits: different ones differ by more than their rounding.
        with np.errstate(divide="ignore"):
            order = np.lexsort((rows[:, 2], -rows[:, 0] / rows[:, 1]))
        # Unturned, {<w, x> >= t} is above.
        below = 2 * np.arange(len(rows)) + ~turned
        return rows[order], np.stack([below, below ^ 1], axis=1)[order]

    @cached_property
    def _ranks(self) -> Integers:
        """How many of the distinct abscissae of the points are at most v, for v = -2 .. side + 1."""
        present = np.zeros(self.side + 4, dtype=np.int64)
        present[self.points[:, 0] + 2] = 1
        return np.cumsum(present)

    @cached_property
    def _sums(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The gains (K, columns + 1) below and above each line in the first columns, and (columns + 1,) of all points.

        Points on the line are in both. A column is an abscissa of points.
        """
        order = np.argsort(self.points[:, 0], kind="stable")
        points, gains = self.points[order].astype(np.float64), self.gains[order]
        ends = np.flatnonzero(np.append(np.diff(points[:, 0]) != 0, True))
        total = float(np.abs(gains).sum(dtype=np.float64))
        kind = np.int16 if total < 2**14 else np.int32 if total < 2**30 else np.int64
        gains, (rows, _) = gains.astype(kind), self._lines
        sums = np.zeros((2, len(rows), len(ends) + 1), dtype=kind)
        for start in range(0, len(rows), step := max(1, STRIP // max(1, len(points)))):
            part = slice(start, start + step)
            # Exact: below 2^38 with 18 bits of side.
            heights = rows[part, :2].astype(np.float64) @ points.T - rows[part, 2:]
            for table, held in ((sums[0], heights <= 0), (sums[1], heights >= 0)):
                table[part, 1:] = np.cumsum(held * gains, axis=1, dtype=kind)[:, ends]
        return sums[0], sums[1], np.concatenate([[0], np.cumsum(gains, dtype=kind)[ends]]).astype(kind)

    @cached_property
    def _strips(self) -> list[tuple[int, int]]:
        """The ranges of the steeper lines."""
        count = len(self.halfspaces) // 2
        width = max(1, STRIP // max(1, 4 * count))
        return [(start, min(start + width, count)) for start in range(0, count, width)]

    @property
    def blocks(self) -> range:
        """The numbers of the blocks."""
        return range(1 + len(self._strips))

    def errors(self, block: int) -> Integers:
        """Return the errors of the hypotheses of a block, exactly."""
        below, above, every = self._sums
        if block == 0:
            sides = [table[:, -1].astype(np.int64) for table in (below, above)]
            return self.base + np.concatenate([[0], *sides, sides[0] + sides[1] - every[-1]])
        start, end = self._strips[block - 1]
        width, tile = end - start, max(1, TILE // (end - start))
        found = np.empty((4, start, width), dtype=below.dtype)
        steep = np.arange(start, end)
        for first in range(0, start, tile):
            flat = np.arange(first, min(first + tile, start))
            self._wedges(flat[:, None], steep, found[:, first : first + tile])
        i, j = np.triu_indices(width, 1)
        corner = np.empty((4, len(i)), dtype=below.dtype)
        self._wedges(start + i, start + j, corner)
        return self.base + np.concatenate([found.ravel(), corner.ravel()]).astype(np.int64)

    def _wedges(self, flat: Integers, steep: Integers, found: NDArray[Any]) -> None:
        """Put the sums of gains in the four wedges of pairs of lines into `found` (4, pairs): see `SIDES`.

        The left part ends before the crossing or with it. Where lines are parallel it is empty, the first line being
        the lower one; where the steeper one is vertical, its points belong to the side that it bounds.
        """
        below, above, every = self._sums
        before, upto = self._crossings(flat, steep)
        i, j = flat * below.shape[1], steep * below.shape[1]
        lines, columns = (below.ravel(), above.ravel()), below.shape[1]
        low_i, low_j = np.take(lines[0], i + before), np.take(lines[0], j + before)
        high_i, high_j = np.take(lines[1], i + upto), np.take(lines[1], j + upto)
        all_i, all_j = i + columns - 1, j + columns - 1
        # Below both: left of the crossing the steeper line is the lower one, right of it the other.
        found[0] = low_j + (lines[0][all_i] - low_i)
        found[1] = high_i + (lines[1][all_j] - high_j)
        # Between the lines, every point is below one or above the other; those that are both lie between.
        found[2] = np.take(lines[0], i + upto) + high_j - every[upto]
        right = lines[1][all_i] - np.take(lines[1], i + before) + lines[0][all_j] - low_j
        found[3] = right - (every[-1] - every[before])

    def _crossings(self, flat: Integers, steep: Integers) -> tuple[Integers, Integers]:
        """Return in how many columns the abscissa is below that of the crossing, and in how many it is at most that."""
        rows, _ = self._lines
        table: Floats | Integers = rows.astype(np.float64) if self.side <= FLOAT_SIDE else rows
        (u, v, t), (other_u, other_v, other_t) = (table[lines].transpose(2, 0, 1) if lines.ndim > 1 else table[lines].T
                                                  for lines in (flat, steep))  # fmt: skip
        turn = u * other_v - other_u * v
        moment = t * other_v - other_t * v
        parallel = turn == 0
        turn = np.where(parallel, 1, turn)
        moment = np.where(parallel, -turn, np.clip(moment, -turn, (self.side + 1) * turn))
        if self.side <= FLOAT_SIDE:
            quotient = moment / turn
            floor = np.floor(quotient)
            whole = floor == quotient
        else:
            floor = moment // turn
            whole = floor * turn == moment
        place = floor.astype(np.int64) + 2
        return self._ranks[place - whole], self._ranks[place]

    def members(self, indices: Integers) -> list[tuple[int, ...]]:
        """Return the numbers of the halfspaces of the hypotheses with these numbers."""
        _, numbers = self._lines
        count = len(numbers)
        sizes = [1 + 3 * count] + [4 * (end - start) * start + 2 * (end - start) * (end - start - 1)
                                   for start, end in self._strips]  # fmt: skip
        ends = np.cumsum(sizes)
        found: list[tuple[int, ...]] = []
        for index in indices.tolist():
            block = int(np.searchsorted(ends, index, side="right"))
            place = index - int(ends[block] - sizes[block])
            if block:
                i, j, wedge = self._pair(place, *self._strips[block - 1])
                chosen = [int(numbers[line, side]) for line, side in zip((i, j), SIDES[wedge], strict=True)]
            else:
                kind, line = divmod(place - 1, count) if place else (3, 0)
                chosen = numbers[line].tolist()[: 2] if kind == 2 else [int(numbers[line, kind])] if kind < 2 else []
            found.append(tuple(sorted(chosen)))
        return found

    def _pair(self, place: int, start: int, end: int) -> tuple[int, int, int]:
        """Return the two lines and the wedge of a place in a strip."""
        width = end - start
        if place < 4 * start * width:
            wedge, place = divmod(place, start * width)
            return place // width, start + place % width, wedge
        wedge, place = divmod(place - 4 * start * width, width * (width - 1) // 2)
        i, j = np.triu_indices(width, 1)
        return start + int(i[place]), start + int(j[place]), wedge


SIDES = ((0, 0), (1, 1), (0, 1), (1, 0))
"""Of each wedge, whether it is below (0) or above (1) the flatter and the steeper line."""
