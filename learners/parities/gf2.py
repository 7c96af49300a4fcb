"""Linear equations over GF(2), packed into 64-bit words, and random subsamples of them solved for many runs at once.

The equation <r, x> = b is the word with bit i = x_i and bit d = b; a solution r is the word with bit i = r_i. Solution
spaces are never listed.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import FAIL, Sample, count_steps

from ..arrays import Bools, Exact, Floats, Integers, Labels, Words

# The largest number of variables: one bit of the word holds the right-hand side.
MAX_DIMENSION = 63


def pack(bits: Exact | Labels) -> Words:
    """Return the rows (m, d) of zeros and ones as words (m,), column i in bit i."""
    return np.asarray(bits.astype(np.uint64) @ (np.uint64(1) << np.arange(bits.shape[1], dtype=np.uint64)))


def parity(words: Words, width: int = 64) -> Words:
    """Return the number of ones modulo 2 of each word, whose ones are all among the lowest `width` bits."""
    for shift in (32, 16, 8, 4, 2, 1):
        if shift < width:
            words = words ^ words >> np.uint64(shift)
    return words & np.uint64(1)


def echelon(words: Words) -> dict[int, int]:
    """Return a basis of the span of the words, each under its lowest bit, which no other has as its lowest."""
    pivots: dict[int, int] = {}
    count_steps("equations reduced", len(words))
    for word in map(int, words):
        # word & -word is the lowest one: the leading variable of the equation.
        while word and (low := word & -word) in pivots:
            word ^= pivots[low]
        if word:
            pivots[low] = word
    return pivots


class Systems:
    """One system of linear equations for each of `runs` runs, in echelon form.

    Row p of `pivots` holds for every run the equation whose lowest variable is p (0 where there is none), so that the
    pivot variables are leftmost, as in elimination by hand. An added equation that contradicts the others is dropped
    and the run marked as inconsistent.

    `pivots` is (dimension, runs), `rank` and `consistent` are (runs,).
    """

    def __init__(self, dimension: int, runs: int) -> None:
        self.dimension = dimension
        self.pivots = np.zeros((dimension, runs), dtype=np.uint64)
        self.rank = np.zeros(runs, dtype=np.int64)
        self.consistent = np.ones(runs, dtype=np.bool_)

    def add(self, runs: Integers, equations: Words) -> None:
        """Add one equation to each of the given (distinct) runs."""
        count_steps("equations reduced", len(runs))
        for p in range(self.dimension):
            # Forward elimination: the pivot of variable p is subtracted where the equation has that variable.
            equations = equations ^ self.pivots[p, runs] * (equations >> np.uint64(p) & np.uint64(1))
        variables = equations & np.uint64(2**self.dimension - 1)
        fresh = variables != 0
        # No variable is left, but a right-hand side of 1: 0 = 1.
        self.consistent[runs[~fresh & (equations != 0)]] = False
        runs = runs[fresh]
        equations = equations[fresh]
        variables = variables[fresh]
        lowest = variables & (~variables + np.uint64(1))
        # A power of two is exact as a float, and frexp gives its exponent plus one.
        self.pivots[np.frexp(lowest.astype(np.float64))[1] - 1, runs] = equations
        self.rank[runs] += 1

    def add_kept(self, runs: Integers, equations: Words, kept: Bools) -> None:
        """Add to run `runs[i]` the equations j with `kept[i, j]`: one to every run, then a second one, and so on."""
        row, column = np.nonzero(kept)
        amounts = np.bincount(row, minlength=len(runs))
        # The position of each kept equation among those of its run: a run takes one equation at a time.
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
        # Back substitution: the equation of pivot p has only variables above p besides it.
        for p in range(self.dimension - 1, -1, -1):
            equation = self.pivots[p, runs]
            bit = np.uint64(1 << p)
            others = equation & solutions & ~bit
            value = parity(others, self.dimension) ^ equation >> np.uint64(self.dimension)
            solutions = np.where(equation != 0, solutions & ~bit | value << np.uint64(p), solutions)
        return solutions


# Runs that are eliminated together.
RUNS = 2**15
# The most (run, example) cells that are looked at together.
CELLS = 2**22


def equations_of(sample: Sample, dimension: int) -> Words:
    """Return the equations <r, x> = y of the distinct examples as words; see `parities.gf2`."""
    return pack(sample.points) | sample.labels.astype(np.uint64) << np.uint64(dimension)


class Subsampler:
    """Keeps each example of one sample with probability p, and solves the system of the kept ones.

    An example with count c stands for c copies of one equation and takes part unless all are left out: with
    probability 1 - (1 - p)^c.

    `dimension` is d, `keep` the probability p in (0, 1]; `uniform` says whether to answer a uniform solution, or the
    least one.
    """

    def __init__(self, sample: Sample, dimension: int, keep: float, rng: np.random.Generator, *, uniform: bool) -> None:
        self.dimension = dimension
        self.uniform = uniform
        # Any order gives the same solutions; in canonical order the leading coordinates would stay 0 for long.
        order = rng.permutation(len(sample.counts))
        self._equations = equations_of(sample, dimension)[order]
        self._keep = -np.expm1(log_skipped(keep, sample.counts))[order]

    def solve(self, rng: np.random.Generator, runs: int) -> Integers:
        """Return for each of `runs` fresh subsamples a solution, `FAIL` where there is none."""
        codes = np.full(runs, FAIL, dtype=np.int64)
        for start in range(0, runs, RUNS):
            systems = self._eliminate(rng, min(RUNS, runs - start))
            solved = np.flatnonzero(systems.consistent)
            free = np.zeros(len(solved), dtype=np.uint64)
            if self.uniform:
                free = rng.integers(0, 2**self.dimension, size=len(solved), dtype=np.uint64)
            codes[start + solved] = systems.solve(solved, free).astype(np.int64)
        return codes

    def _eliminate(self, rng: np.random.Generator, runs: int) -> Systems:
        """Return the systems of `runs` runs, each of which keeps every equation with its probability.

        A run that is inconsistent needs no more work. One that has the full rank of the points is determined on all of
        them, and the rest of its examples are only checked.
        """
        equations = self._equations
        keep = self._keep
        systems = Systems(self.dimension, runs)
        full = len(echelon(equations & np.uint64(2**self.dimension - 1)))
        active = np.arange(runs)
        start = 0
        expected = np.cumsum(keep)
        while start < len(equations) and len(active):
            # Take about half a basis at a time, so that few equations are reduced after a run is settled.
            goal = expected[start] - keep[start] + max(4, self.dimension / 2)
            stop = min(int(np.searchsorted(expected, goal)) + 1, start + max(1, CELLS // len(active)), len(equations))
            kept = rng.random((len(active), stop - start)) < keep[start:stop]
            systems.add_kept(active, equations[start:stop], kept)
            active = active[systems.consistent[active]]
            settled = systems.rank[active] == full
            _check_rest(systems, active[settled], equations[stop:], keep[stop:], rng)
            active = active[~settled]
            start = stop
        return systems


def log_skipped(keep: float, counts: Integers) -> Floats:
    """Return ln (1 - p)^c for each count c >= 1, the log-probability that no copy of an example is kept."""
    return np.asarray(counts * (math.log1p(-keep) if keep < 1 else -math.inf), dtype=np.float64)


def _check_rest(systems: Systems, runs: Integers, equations: Words, keep: Floats, rng: np.random.Generator) -> None:
    """Mark those of the runs as inconsistent that keep one of the equations which their solutions violate."""
    if not (len(runs) and len(equations)):
        return
    width = systems.dimension
    solutions, group = np.unique(systems.solve(runs, np.zeros(len(runs), dtype=np.uint64)), return_inverse=True)
    start = 0
    while start < len(equations) and len(runs):
        part = slice(start, start + max(1, CELLS // len(runs)))
        start = part.stop
        # Runs with the same solution violate the same equations, so each distinct solution is checked once.
        labels = equations[part] >> np.uint64(width)
        violated = parity(solutions[:, None] & equations[part], width) != labels
        if not violated.any():
            continue
        caught = (violated[group] & (rng.random((len(runs), len(labels))) < keep[part])).any(axis=1)
        systems.consistent[runs[caught]] = False
        runs = runs[~caught]
        group = group[~caught]
