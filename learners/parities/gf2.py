"""Linear equations over GF(2), packed into 64-bit words and solved for many runs at once.

The equation <r, x> = b is the word with bit i = x_i and bit d = b; a solution r is the word with bit i = r_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Bools, Integers, Words

__all__ = ["MAX_DIMENSION", "Systems", "pack", "parity", "rank"]


MAX_DIMENSION = 63
"""The largest number of variables: one bit of the word holds the right-hand side."""


def pack(bits: NDArray[Any]) -> Words:
    """Return the rows (m, d) of zeros and ones as words (m,), column i in bit i."""
    words = np.zeros(len(bits), dtype=np.uint64)
    for i in range(bits.shape[1]):
        words |= bits[:, i].astype(np.uint64) << np.uint64(i)
    return words


def parity(words: Words, width: int = 64) -> Words:
    """Return the number of ones modulo 2 of each word, whose ones are all among the lowest `width` bits."""
    for shift in (32, 16, 8, 4, 2, 1):
        if shift < width:
            words = words ^ words >> np.uint64(shift)
    return words & np.uint64(1)


def rank(words: Words) -> int:
    """Return the dimension of the span of the words."""
    pivots: dict[int, int] = {}
    for word in map(int, words):
        while word and (low := word & -word) in pivots:
            word ^= pivots[low]
        if word:
            pivots[low] = word
    return len(pivots)


class Systems:
    """One system of linear equations for each of `runs` runs, in echelon form.

    Row p of `pivots` holds for every run the equation whose lowest variable is p (0 where there is none), so that the
    pivot variables are leftmost, as in elimination by hand. An added equation that contradicts the others is dropped
    and the run marked as inconsistent.

    Attributes
    ----------
    pivots : array of uint64, shape (dimension, runs)
    rank : array of int64, shape (runs,)
    consistent : array of bool, shape (runs,)
    """

    def __init__(self, dimension: int, runs: int) -> None:
        self.dimension = dimension
        self.pivots = np.zeros((dimension, runs), dtype=np.uint64)
        self.rank = np.zeros(runs, dtype=np.int64)
        self.consistent = np.ones(runs, dtype=np.bool_)

    def add(self, runs: Integers, equations: Words) -> None:
        """Add one equation to each of the given (distinct) runs."""
        for p in range(self.dimension):
            equations = equations ^ self.pivots[p, runs] * (equations >> np.uint64(p) & np.uint64(1))
        variables = equations & np.uint64(2**self.dimension - 1)
        fresh = variables != 0
        self.consistent[runs[~fresh & (equations != 0)]] = False
        runs, equations, variables = runs[fresh], equations[fresh], variables[fresh]
        lowest = variables & (~variables + np.uint64(1))
        # A power of two is exact as a float, and frexp gives its exponent plus one.
        self.pivots[np.frexp(lowest.astype(np.float64))[1] - 1, runs] = equations
        self.rank[runs] += 1

    def add_kept(self, runs: Integers, equations: Words, kept: Bools) -> None:
        """Add to run `runs[i]` the equations j with `kept[i, j]`: one to every run, then a second one, and so on."""
        row, column = np.nonzero(kept)
        amounts = np.bincount(row, minlength=len(runs))
        turn = np.arange(len(row)) - np.repeat(np.cumsum(amounts) - amounts, amounts)
        order = np.argsort(turn.astype(np.int32), kind="stable")
        for piece in np.split(order, np.cumsum(np.bincount(turn))[:-1]) if len(row) else []:
            self.add(runs[row[piece]], equations[column[piece]])

    def solve(self, runs: Integers, free: Words) -> Words:
        """Return the solutions of the given consistent runs whose free variables have the values in the words `free`.

        The map from free values to solutions is a bijection: uniform `free` gives uniform solutions, `free` = 0 the
        particular solution, which is the least solution as an integer.
        """
        solutions = free & np.uint64(2**self.dimension - 1)
        for p in range(self.dimension - 1, -1, -1):
            equation = self.pivots[p, runs]
            bit = np.uint64(1 << p)
            others = equation & solutions & ~bit
            value = parity(others, self.dimension) ^ equation >> np.uint64(self.dimension)
            solutions = np.where(equation != 0, solutions & ~bit | value << np.uint64(p), solutions)
        return solutions
