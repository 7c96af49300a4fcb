"""Intersections of at most three halfspaces: the hypotheses, their numbers and their errors, block by block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Bools, Exact, Integers, Labels
from ..words import linear
from .public_family import Functional

# Numbers of a block of pairs that are held at once.
BLOCK_CELLS = 2**22
# The most hypotheses whose errors are held at once.
MAX_LISTED = 2**23


@dataclass(frozen=True)
class Outside:
    """The hypothesis with one label on an intersection of halfspaces <w, x> >= t with a flat <w, x> = t.

    All else has the other label. Without halfspaces it is the empty hypothesis: nothing is inside.

    Rows of `halfspaces` and `flat`, which meet in the intersection, are (w_1, .., w_d, t); `inside` is the label there.
    """

    halfspaces: tuple[Functional, ...]
    flat: tuple[Functional, ...] = ()
    inside: int = 0

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, d)."""
        inside = np.full(len(points), bool(self.halfspaces))
        xs = np.asarray(points, dtype=np.int64)
        for row in self.halfspaces:
            inside &= xs @ np.array(row[:-1]) >= row[-1]
        for row in self.flat:
            inside &= xs @ np.array(row[:-1]) == row[-1]
        return np.asarray(inside == bool(self.inside), dtype=np.uint8)

    def __str__(self) -> str:
        names = [f"x{i + 1}" for i in range(len((*self.halfspaces, *self.flat, (0,))[0]) - 1)]
        rows = [(row, sign) for rows, sign in ((self.halfspaces, ">="), (self.flat, "=")) for row in rows]
        met = [f"{linear([*zip(row, names, strict=False)])} {sign} {row[-1]}" for row, sign in rows]
        if not self.halfspaces:
            return f"always {1 - self.inside}"
        if self.inside:
            return " and ".join(met)
        return f"not ({' and '.join(met)})"


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Intersections:
    """The empty hypothesis and every collection of 1 .. most <= 3 halfspaces, in blocks: all of them may be too many.

    With a for the label inside and b for the other one, errors = n_a + sum over points inside of (n_b - n_a)(x), where
    n_a counts the examples labelled a. Collections are numbered by size, then in lexicographic order, from one block to
    the next.

    `inside` (K, m) says whether each halfspace contains each point; `gains` (m,) is n_b(x) - n_a(x), `base` n_a for all
    examples, and `most` the most halfspaces of a collection.
    """

    inside: Bools
    gains: Integers
    base: int
    most: int

    @cached_property
    def blocks(self) -> list[tuple[int, int, int]]:
        """The blocks: how many halfspaces a collection has, and the range of its first one."""
        # One row of pairs, or one first halfspace of triples, is a block at least.
        count = len(self.inside)
        rows = max(1, BLOCK_CELLS // max(1, count))
        found = [(0, 0, 1), (1, 0, count)]
        if self.most >= 2:
            found += [(2, start, min(start + rows, count)) for start in range(0, count, rows)]
        if self.most >= 3:
            found += [(3, i, i + 1) for i in range(count)]
        return found

    @cached_property
    def all_errors(self) -> Integers:
        """The errors of all collections."""
        return np.concatenate([self.errors(block) for block in range(len(self.blocks))])

    def errors(self, block: int) -> Integers:
        """Return the errors of the collections of a block, exactly."""
        size, start, end = self.blocks[block]
        useful = self.gains != 0
        inside = self.inside[:, useful]
        gains = self.gains[useful]
        if size == 0:
            sums = np.zeros(1, dtype=np.int64)
        elif size == 1:
            sums = inside @ gains
        elif size == 2:
            sums = _pairs(inside[start:], gains, end - start)
        else:
            # Triples with the first halfspace `start`: pairs of the later ones, on the points that it contains.
            rest = inside[end:] & inside[start]
            sums = _pairs(rest, gains, len(rest))
        return np.asarray(self.base + sums, dtype=np.int64)

    def members(self, indices: Integers) -> list[tuple[int, ...]]:
        """Return the collections with these numbers."""
        return members_of(indices, len(self.inside), self.most)


def _pairs(inside: Bools, gains: Integers, rows: int) -> Integers:
    """Return the sums of gains in common of the pairs i < j with i < rows, in lexicographic order, by exact floats."""
    sums = np.zeros((rows, len(inside)), dtype=np.int64)
    # Gains as digits << shift, every sum of absolute digits below 2^53.
    small = float(np.abs(gains).sum(dtype=np.float64)) < 2**52
    for shift, digits in [(0, gains)] if small else [(0, gains & (2**26 - 1)), (26, gains >> 26)]:
        # Every partial sum is an integer that the type holds exactly, in whatever order it is summed.
        dtype = np.float32 if np.abs(digits).sum() < 2**24 else np.float64
        matrix = inside.astype(dtype)
        for start in range(0, rows, 256):
            block = slice(start, min(start + 256, rows))
            # Entry (i, j) is the sum of gains over the points in both halfspaces.
            product = (matrix[block] * digits.astype(dtype)) @ matrix[start:].T
            sums[block, start:] += product.astype(np.int64) << shift
    return np.asarray(sums[np.arange(len(inside)) > np.arange(rows)[:, None]])


def members_of(indices: Integers, count: int, most: int) -> list[tuple[int, ...]]:
    """Return the collections with these numbers: 0 is empty, then by size, then in lexicographic order."""
    blocks = [0, *np.cumsum([math.comb(count, size) for size in range(most + 1)]).tolist()]
    found: list[tuple[int, ...]] = [()] * len(indices)
    for size in range(1, most + 1):
        which = np.flatnonzero((indices >= blocks[size]) & (indices < blocks[size + 1]))
        rank = indices[which] - blocks[size]
        first = np.zeros(len(which), dtype=np.int64)
        columns = []
        for left in range(size - 1, -1, -1):
            # Collections whose next member is below i: those that begin at `first` and not at i.
            tails = np.array([0, *np.cumsum([math.comb(count - 1 - i, left) for i in range(count)])])
            rank = rank + tails[first]
            member = np.searchsorted(tails, rank, side="right") - 1
            rank = rank - tails[member]
            first = member + 1
            columns.append(member)
        for place, members in zip(which.tolist(), np.array(columns).T.tolist(), strict=True):
            found[place] = tuple(members)
    return found
