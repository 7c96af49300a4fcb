"""Random subsamples of parity examples, eliminated for many runs at once; solution spaces are never listed."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import FAIL, Sample
from learners.arrays import Floats, Integers, Words
from learners.parities.gf2 import Systems, pack, parity, rank

__all__ = ["Subsampler", "equations_of"]


RUNS = 2**15
"""Runs that are eliminated together."""
CELLS = 2**22
"""The most (run, example) cells that are looked at together."""


def equations_of(sample: Sample, dimension: int) -> Words:
    """Return the equations <r, x> = y of the distinct examples as words; see `parities.gf2`."""
    return pack(sample.points) | sample.labels.astype(np.uint64) << np.uint64(dimension)


class Subsampler:
    """Keeps each example of one sample with probability p, and solves the system of the kept ones.

    An example with count c stands for c copies of one equation and takes part unless all are left out: with
    probability 1 - (1 - p)^c.

    Parameters
    ----------
    sample : Sample
        The examples.
    dimension : int
        The number d of variables.
    keep : float
        The probability p, in (0, 1].
    uniform : bool
        Whether to answer a uniform solution; the least one otherwise.
    """

    def __init__(self, sample: Sample, dimension: int, keep: float, rng: np.random.Generator, *, uniform: bool) -> None:
        self.dimension = dimension
        self.uniform = uniform
        # Any order gives the same solutions; in canonical order the leading coordinates would stay 0 for long.
        order = rng.permutation(len(sample.counts))
        self._equations = equations_of(sample, dimension)[order]
        self._keep = _at_least_once(keep, sample.counts)[order]

    def solve(self, rng: np.random.Generator, runs: int) -> Integers:
        """Return for each of `runs` fresh subsamples a solution, `FAIL` where there is none."""
        starts = range(0, runs, RUNS)
        parts = [self._solve(rng, min(RUNS, runs - start)) for start in starts]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def _solve(self, rng: np.random.Generator, runs: int) -> Integers:
        systems = _eliminate(self._equations, self._keep, self.dimension, rng, runs)
        solved = np.flatnonzero(systems.consistent)
        free = np.zeros(len(solved), dtype=np.uint64)
        if self.uniform:
            free = rng.integers(0, 2**self.dimension, size=len(solved), dtype=np.uint64)
        codes = np.full(runs, FAIL, dtype=np.int64)
        codes[solved] = systems.solve(solved, free).astype(np.int64)
        return codes


def _at_least_once(p: float, counts: Integers) -> Floats:
    """Return 1 - (1 - p)^c for each count c >= 1."""
    if p >= 1:
        return np.ones(len(counts))
    return np.asarray(-np.expm1(counts * math.log1p(-p)), dtype=np.float64)


def _eliminate(equations: Words, keep: Floats, dimension: int, rng: np.random.Generator, runs: int) -> Systems:
    """Return the systems of `runs` runs, each of which keeps equation j with probability `keep[j]`.

    A run that is inconsistent needs no more work. One that has the full rank of the points is determined on all of
    them, and the rest of its examples are only checked.
    """
    systems = Systems(dimension, runs)
    full = rank(equations & np.uint64(2**dimension - 1))
    active, start = np.arange(runs), 0
    expected = np.cumsum(keep)
    while start < len(equations) and len(active):
        # Take about half a basis at a time, so that few equations are reduced after a run is settled.
        goal = expected[start] - keep[start] + max(4, dimension / 2)
        stop = min(int(np.searchsorted(expected, goal)) + 1, start + max(1, CELLS // len(active)), len(equations))
        kept = rng.random((len(active), stop - start)) < keep[start:stop]
        systems.add_kept(active, equations[start:stop], kept)
        active = active[systems.consistent[active]]
        settled = systems.rank[active] == full
        _check_rest(systems, active[settled], equations[stop:], keep[stop:], rng)
        active, start = active[~settled], stop
    return systems


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
        labels = equations[part] >> np.uint64(width)
        violated = parity(solutions[:, None] & equations[part], width) != labels
        if not violated.any():
            continue
        caught = (violated[group] & (rng.random((len(runs), len(labels))) < keep[part])).any(axis=1)
        systems.consistent[runs[caught]] = False
        runs, group = runs[~caught], group[~caught]
