"""The exact output law of the private parity learner, by dynamic programming over subspaces."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample
from learners.gf2 import pack, parity

__all__ = ["log_law"]

Floats = NDArray[np.float64]
ULP = 2.0**-52


def log_law(
    sample: Sample, dimension: int, keep: float, coin: float, *, uniform: bool = True
) -> tuple[Floats, float]:
    """Return the log-probabilities of `FAIL` and of r = 0 .. 2^d - 1, and a bound on their error.

    With V_T the solutions of the kept examples T,

        Pr[r | S] = (1 - coin) sum_T Pr[T] 1[r in V_T] / |V_T|,    Pr[fail | S] = 1 - sum_r Pr[r | S].

    r is in V_T iff every kept example agrees with r, and then V_T is r plus the annihilator of the span W of the kept
    points, of size 2^(d - dim W). So the sum needs only, for every r, the law of W on the event that no example that
    disagrees with r was kept; examples are added one by one to a table of all reachable W. No linear system is solved.
    With `uniform=False` the answer is the least element of V_T instead of a uniform one.

    Error, with u = 2^-53: a factor ln(1 - p)^c has error 10u times its size, a factor ln(1 - (1 - p)^c) at most 26u
    plus 8u times its size, each addition rounds by u times the sum of sizes so far, and joining two entries (logaddexp)
    adds 8u and its own rounding; averages of logarithms never enlarge an error. Over m examples whose factors have
    total size at most L, and K subspaces, this gives the bound 2^-52 ((m + 6) (L + 24) + 5 L + K + 8 d). Failure has
    probability at least `coin`, so for coin = 1/2 the error of its logarithm is no greater; for coin = 0 it is divided
    by that probability.

    Parameters
    ----------
    sample : Sample
        Points (m, d), labels and counts; counts may be huge, all sums are taken on logarithms.
    dimension : int
        d; the tables have 2^d columns, so keep it small.
    keep, coin : float
        The probability p in (0, 1] to keep an example and the probability to fail at once.
    uniform : bool
        Whether the answer is a uniform solution.
    """
    skips = _skips(keep, sample.counts)
    keeps = np.where(np.isfinite(skips), np.log(-np.expm1(np.maximum(skips, -800.0))), 0.0)
    table = _span_table(sample, dimension, skips, keeps)
    rows = np.stack([logs + _log_share(space, dimension, uniform) for space, logs in table.items()])
    with np.errstate(divide="ignore"):  # a solution that no subsample leaves has probability 0
        top = np.maximum(rows.max(axis=0), -1.7e308)
        solutions = np.log(np.exp(rows - top).sum(axis=0)) + top + math.log1p(-coin)
    sizes = float(np.abs(np.maximum(skips, keeps)).sum() + np.abs(skips[np.isfinite(skips)]).sum())
    error = ULP * ((len(skips) + 6) * (sizes + 24) + 5 * sizes + len(rows) + 8 * dimension)
    return _with_failure(solutions, error, coin)


def _skips(keep: float, counts: NDArray[np.int64]) -> Floats:
    """Return ln (1 - p)^c, the log-probability that no copy of an example is kept."""
    return np.full(len(counts), -np.inf) if keep >= 1 else counts * math.log1p(-keep)


def _span_table(sample: Sample, dimension: int, skips: Floats, keeps: Floats) -> dict[int, Floats]:
    """Return ln Pr[span of kept points = W, every kept example agrees with r] for each W (a bit mask), each r."""
    codes = np.arange(2**dimension, dtype=np.uint64)
    table: dict[int, Floats] = {1: np.zeros(2**dimension)}
    packed = pack(sample.points)
    for x, y, skip, keep in zip(packed, sample.labels, skips, keeps, strict=True):
        agrees = parity(codes & x, dimension) == y
        grown: dict[int, Floats] = {}
        for space, logs in table.items():
            joined = _join(space, int(x), dimension)
            if joined == space:
                _merge(grown, space, np.where(agrees, logs, logs + skip))
            else:
                _merge(grown, space, logs + skip)
                _merge(grown, joined, np.where(agrees, logs + keep, -np.inf))
        table = grown
    return table


def _merge(table: dict[int, Floats], space: int, logs: Floats) -> None:
    table[space] = np.logaddexp(table[space], logs) if space in table else logs


@lru_cache(maxsize=2**16)
def _join(space: int, x: int, dimension: int) -> int:
    """Return the span of a subspace and x; a subspace is the bit mask of its elements."""
    if space >> x & 1:
        return space
    return space | sum(1 << (v ^ x) for v in range(2**dimension) if space >> v & 1)


@lru_cache(maxsize=2**16)
def _log_share(space: int, dimension: int, uniform: bool) -> Floats:
    """Return the log-probability with which r is the answer when the kept points span W and r solves the system."""
    codes = np.arange(2**dimension)
    if uniform:
        return np.full(len(codes), math.log(2) * (int(math.log2(space.bit_count())) - dimension))
    members = [v for v in range(2**dimension) if space >> v & 1]
    kernel = [k for k in range(2**dimension) if all((k & v).bit_count() % 2 == 0 for v in members)]
    least = np.all([codes <= codes ^ k for k in kernel], axis=0)
    return np.where(least, 0.0, -np.inf)


def _with_failure(solutions: Floats, error: float, coin: float) -> tuple[Floats, float]:
    """Prepend ln Pr[fail] = ln(1 - sum of the others) and return the error bound for all."""
    failure = 1 - math.fsum(np.exp(solutions))
    slack = error + 8 * ULP
    if failure <= 2 * slack and coin == 0:
        # Only rounding is left of the difference: with no coin a consistent sample never fails.
        return np.concatenate([[-np.inf], solutions]), error
    return np.concatenate([[math.log(failure)], solutions]), max(error, slack / failure)


