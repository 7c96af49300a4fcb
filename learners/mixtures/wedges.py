"""Pairs of halfplanes through public points, and the errors of all of them without a sum over points for each pair.

The halfplanes are the two sides of K lines. Two lines cross at an abscissa; left of it one of them is the lower one and
right of it the other, so the points in a wedge between them are the points below (or above) one line on one side of the
crossing, and of the other line on the other side. With cumulative sums of the gains below and above each line, by
abscissa, each wedge costs a few look-ups: O(K m + K^2) in place of the K^2 m of a matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Bools, Floats, Integers, Sums
from .public_family import Functional

# Pairs of halfplanes whose errors are held at once.
STRIP = 2**22
# Pairs of lines that are looked up at once: what is held of them stays in a cache.
TILE = 2**15
# The most cumulative sums that are held; 200 public points with 10,000 others take 4e8.
TABLE_CELLS = 2**30
# Up to this side, abscissae of crossings are quotients of integers below 2^52, whose floors are right in floats.
FLOAT_SIDE = 2**16


# Of each type of sums, one that holds two of them.
PACKED: dict[type[np.generic], type[np.generic]] = {np.int16: np.int32, np.int32: np.int64, np.int64: np.complex128}


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

    @classmethod
    def of(cls, halfspaces: tuple[Functional, ...], points: Integers, gains: Integers, base: int, side: int) -> Wedges:
        """Return the wedges; `InputError` if they take too many sums. Points that gain nothing are left out."""
        useful = gains != 0
        useful[:1] = True
        points = points[useful]
        gains = gains[useful]
        cells = len(halfspaces) * (len(np.unique(points[:, 0])) + 1)
        if cells > TABLE_CELLS:
            raise InputError(
                f"{len(halfspaces) // 2} lines through public points take {cells} sums of errors, "
                f"more than the {TABLE_CELLS} that are held ({2 * TABLE_CELLS >> 30} to {8 * TABLE_CELLS >> 30} GB)"
            )
        return cls(halfspaces, points, gains, base, side)

    @cached_property
    def _lines(self) -> tuple[Integers, Integers]:
        """Rows (u, v, t) of {u x + v y <= t}, v >= 0, from flat to steep, and the numbers (K, 2) of both halfspaces.

        What is below a vertical line is what lies right of it, as for a line that is almost vertical and ascends. The
        first number is that of the halfspace below, the second that of the one above.
        """
        rows = np.array(self.halfspaces[::2], dtype=np.int64)
        # Turned so that v >= 0, and a vertical line as if it ascended steeply.
        turned = (rows[:, 1] < 0) | ((rows[:, 1] == 0) & (rows[:, 0] > 0))
        rows = np.where(turned[:, None], -rows, rows)
        # Slopes are quotients of integers of at most 18 bits: different ones differ by more than their rounding.
        with np.errstate(divide="ignore"):
            order = np.lexsort((rows[:, 2], -rows[:, 0] / rows[:, 1]))
        # Unturned, {<w, x> >= t} is above.
        below = 2 * np.arange(len(rows)) + ~turned
        return rows[order], np.stack([below, below ^ 1], axis=1)[order]

    @cached_property
    def _columns(self) -> Bools:
        """Whether points have the abscissa v, for v = -1 .. side."""
        present = np.zeros(self.side + 2, dtype=np.bool_)
        present[self.points[:, 0] + 1] = True
        return present

    @cached_property
    def _ranks(self) -> Integers:
        """The number of distinct abscissae of the points that are at most v, for v = -1 .. side."""
        return np.cumsum(self._columns, dtype=np.int64)

    @cached_property
    def _sums(self) -> tuple[Sums, Sums]:
        """The gains (K, columns + 1, 2) below and above each line in the first columns, and (columns + 1,) of all.

        Points on the line are in both. A column is an abscissa of points.
        """
        order = np.argsort(self.points[:, 0], kind="stable")
        points = self.points[order].astype(np.float64)
        ends = np.flatnonzero(np.append(np.diff(points[:, 0]) != 0, True))
        total = float(np.abs(self.gains).sum(dtype=np.float64)) + self.base
        kind: type[np.int16 | np.int32 | np.int64] = np.int64
        if total < 2**15:
            kind = np.int16
        elif total < 2**31:
            kind = np.int32
        gains = self.gains[order].astype(kind)
        rows, _ = self._lines
        sums = np.zeros((len(rows), len(ends) + 1, 2), dtype=kind)
        for start in range(0, len(rows), step := max(1, STRIP // max(1, len(points)))):
            part = slice(start, start + step)
            # Exact: below 2^38 with 18 bits of side.
            heights = rows[part, :2].astype(np.float64) @ points.T - rows[part, 2:]
            for side, held in enumerate((heights <= 0, heights >= 0)):
                # The points stand by abscissa, so a running sum over them is one over columns.
                sums[part, 1:, side] = np.cumsum(held * gains, axis=1, dtype=kind)[:, ends]
        return sums, np.append(0, np.cumsum(gains, dtype=kind)[ends]).astype(kind)

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

    def errors(self, block: int) -> Sums:
        """Return the errors of the hypotheses of a block, exactly, as the shortest integers that hold all sums."""
        sums, every = self._sums
        base = every.dtype.type(self.base)
        if block == 0:
            below, above = sums[:, -1].T
            return np.asarray(base + np.concatenate([every[:1], below, above, below + above - every[-1]]))
        start, end = self._strips[block - 1]
        width = end - start
        tile = max(1, TILE // (end - start))
        found = np.empty(4 * start * width + 2 * width * (width - 1), dtype=every.dtype)
        wedges = found[: 4 * start * width].reshape(4, start, width)
        steep = np.arange(start, end)
        for first in range(0, start, tile):
            flat = np.arange(first, min(first + tile, start))
            self._wedges(flat[:, None], steep, wedges[:, first : first + tile])
        i, j = np.triu_indices(width, 1)
        self._wedges(start + i, start + j, found[4 * start * width :].reshape(4, -1))
        found += base
        return found

    def _wedges(self, flat: Integers, steep: Integers, found: Sums) -> None:
        """Put the sums of gains in the four wedges of pairs of lines into `found` (4, pairs): see `SIDES`.

        Left of the crossing the steeper line is the lower one. Where lines are parallel nothing is left of it, the
        first line being the lower one.
        """
        sums, every = self._sums
        upto, touched = self._crossings(flat, steep)
        i = self._at(flat, upto)
        j = self._at(steep, upto)
        all_i = sums[flat, -1]
        all_j = sums[steep, -1]
        found[0] = j[..., 0] - i[..., 0] + all_i[..., 0]
        found[1] = i[..., 1] - j[..., 1] + all_j[..., 1]
        # Between the lines every point is below one or above the other, and those that are both lie between.
        left = every[upto]
        found[2] = i[..., 0] + j[..., 1] - left
        found[3] = left - i[..., 1] - j[..., 0] + (all_i[..., 1] + all_j[..., 0] - every[-1])
        # Where points have the abscissa of the crossing, they are left of it above and right of it here: a point on
        # both lines is in every wedge, and a vertical line bounds what is right of it, or left of it, with itself.
        pair = np.unravel_index(touched, upto.shape)
        lines = [np.broadcast_to(line, upto.shape)[pair] for line in (flat, steep)]
        before = upto[pair] - 1
        i, j = (self._at(line, before) for line in lines)
        all_i, all_j = (sums[line, -1] for line in lines)
        found[0][pair] = j[:, 0] - i[:, 0] + all_i[:, 0]
        found[3][pair] = every[before] - i[:, 1] - j[:, 0] + (all_i[:, 1] + all_j[:, 0] - every[-1])

    def _at(self, lines: Integers, columns: Integers) -> Sums:
        """Return the sums (.., 2) below and above lines in the first columns: both are taken at once."""
        sums, _ = self._sums
        packed = sums.reshape(-1).view(PACKED[sums.dtype.type])
        taken = np.take(packed, lines * sums.shape[1] + columns)
        return np.asarray(taken.view(sums.dtype).reshape(*taken.shape, 2))

    def _crossings(self, flat: Integers, steep: Integers) -> tuple[Integers, Integers]:
        """Return in how many columns the abscissa is at most that of the crossing, and the pairs where it is in one."""
        rows, _ = self._lines
        table: Floats | Integers = rows.astype(np.float64) if self.side <= FLOAT_SIDE else rows
        (u, v, t), (other_u, other_v, other_t) = (np.moveaxis(table[lines], -1, 0) for lines in (flat, steep))
        turn = u * other_v - other_u * v
        moment = t * other_v - other_t * v
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.side <= FLOAT_SIDE:
                # Parallel lines give minus infinity, or nan if they are vertical.
                quotient = np.minimum(np.fmax(moment / turn, -0.5), self.side + 0.5)
                floor = np.floor(quotient)
                whole = floor == quotient
            else:
                floor = np.where(turn == 0, -1, np.clip(moment // turn, -1, self.side))
                whole = floor * turn == moment
        place = floor.astype(np.int64) + 1
        upto = self._ranks[place]
        hits = np.flatnonzero(whole)
        return upto, hits[self._columns[place.ravel()[hits]]]

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
                # Block 0: the empty hypothesis, then the lower sides, the upper sides, and both sides of each line.
                chosen = []
                if place:
                    kind, line = divmod(place - 1, count)
                    chosen = numbers[line].tolist() if kind == 2 else [int(numbers[line, kind])]
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


# Of each wedge, whether it is below (0) or above (1) the flatter and the steeper line.
SIDES = ((0, 0), (1, 1), (0, 1), (1, 0))
