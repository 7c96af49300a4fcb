"""The exact output law of the private parity learner, by dynamic programming over subspaces.

`rational_law` is the same law in exact rationals, by going through every subset of the distinct examples: slow and
obvious, and derived apart, it is the reference for enclosures of the worst epsilon.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpaudit.contract import FAIL, InputError, Sample

from ..arrays import Bools, Floats
from ..mechanisms.log_laws import ULP
from .gf2 import log_skipped, pack, parity


def log_law(sample: Sample, dimension: int, keep: float, coin: float, *, uniform: bool = True) -> tuple[Floats, float]:
    """Return the log-probabilities of `FAIL` and of r = 0 .. 2^d - 1, and a bound on their error.

    With `log_answers` g of one subsample, Pr[r | S] = (1 - coin) g(r) and Pr[fail | S] = 1 - sum_r Pr[r | S]. The error
    of ln Pr[fail] is that of the sum divided by Pr[fail], which is at least `coin`.

    Counts may be huge, all sums are taken on logarithms; the tables have 2^d columns, so d, the `dimension`, must be
    small. `keep` is the probability p in (0, 1] to keep an example, `coin` that to fail at once; `uniform` says whether
    the answer is a uniform solution.
    """
    answers, error, consistent = log_answers(sample, dimension, keep, uniform=uniform)
    solutions = answers + math.log1p(-coin)
    if consistent:  # only the coin fails
        return np.append(math.log(coin) if coin else -np.inf, solutions), error
    # 1 - sum of the others has an absolute error of at most (1 - coin) error + 8 ulp.
    # The only difference that can lose digits, which the error below accounts for.
    failure = 1 - math.fsum(np.exp(solutions))
    slack = (1 - coin) * error + 8 * ULP
    # Of a smaller one not three digits would be right.
    if failure <= 1e3 * slack:
        raise InputError(f"epsilon is too small for the exact law: failure has probability {failure:.1e} only")
    return np.append(math.log(failure), solutions), max(error, 1.001 * slack / failure)


def log_answers(sample: Sample, dimension: int, keep: float, *, uniform: bool = True) -> tuple[Floats, float, bool]:
    """Return ln g(r) for r = 0 .. 2^d - 1, a bound on its error, and whether some r satisfies all examples.

    g(r) is the probability that one subsample is drawn, is consistent, and is answered by r. With V_T the solutions of
    the kept examples T,

        g(r) = sum_T Pr[T] 1[r in V_T] / |V_T|.

    r is in V_T iff every kept example agrees with r, and then V_T is r plus the annihilator of the span W of the kept
    points, of size 2^(d - dim W). So the sum needs only, for every r, the law of W on the event that no example that
    disagrees with r was kept; examples are added one by one to a table of all reachable W. No linear system is solved.
    With `uniform=False` the answer is the least element of V_T instead of a uniform one.

    Error, with u = 2^-53: a factor ln(1 - p)^c has error 10u times its size, a factor ln(1 - (1 - p)^c) at most 26u
    plus 8u times its size, each addition rounds by u times the sum of sizes so far, and joining two entries (logaddexp)
    adds 8u and its own rounding; joining never enlarges the errors of its two arguments. Over m examples whose factors
    have total size at most L, and K subspaces, this gives the bound 2^-52 ((m + 6) (L + 24) + 5 L + K + 8 d), with room
    for one more addition of ln(1 - coin).
    """
    skips = log_skipped(keep, sample.counts)
    # ln(1 - (1 - p)^c) for c copies: a point is in the span once one of them is kept.
    keeps = np.log(-np.expm1(skips))
    # Which examples (rows) agree with which r (columns).
    labels = parity(pack(sample.points)[:, None] & np.arange(2**dimension, dtype=np.uint64), dimension)
    agrees = np.asarray(labels == sample.labels[:, None])
    table = _span_table(sample, dimension, agrees, skips, keeps)
    rows = np.stack([logs + _log_share(space, dimension, uniform) for space, logs in table.items()])
    # A solution that no subsample leaves has probability 0: keep -inf - -inf out of the sum, let ln 0 be -inf.
    top = np.maximum(rows.max(axis=0), np.finfo(np.float64).min)
    with np.errstate(divide="ignore"):
        answers = np.log(np.exp(rows - top).sum(axis=0)) + top
    sizes = float(np.abs(keeps).sum() + np.abs(skips[np.isfinite(skips)]).sum())
    # The bound of the docstring, with L = `sizes` and K = len(rows).
    error = ULP * ((len(skips) + 6) * (sizes + 24) + 5 * sizes + len(rows) + 8 * dimension)
    return answers, error, bool(agrees.all(axis=0).any())


def _span_table(sample: Sample, dimension: int, agrees: Bools, skips: Floats, keeps: Floats) -> dict[int, Floats]:
    """Return ln Pr[span of kept points = W, every kept example agrees with r] for each W (a bit mask), each r."""
    # The span of no points is {0}: the mask with bit 0 alone.
    table: dict[int, Floats] = {1: np.zeros(2**dimension)}
    for x, agree, skip, keep in zip(pack(sample.points), agrees, skips, keeps, strict=True):
        grown: dict[int, Floats] = {}
        for space, logs in table.items():
            joined = _join(space, int(x), dimension)
            if joined == space:
                # x is in the span already: keeping it or not gives the same W, and only where it disagrees it must be
                # skipped.
                parts = {space: np.where(agree, logs, logs + skip)}
            else:
                # Skipped, it leaves W; kept, it enlarges W, and is impossible for the r that it contradicts.
                parts = {space: logs + skip, joined: np.where(agree, logs + keep, -np.inf)}
            for reached, more in parts.items():
                if reached in grown:
                    grown[reached] = np.logaddexp(grown[reached], more)
                else:
                    grown[reached] = more
        table = grown
    return table


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


# Subsets times parities that one law goes through.
MOST_SUBSETS = 2**14
# Examples, copies included: the probabilities have denominators that grow with their number.
MOST_EXAMPLES = 2000


def rational_law(
    sample: Sample, dimension: int, keep: Fraction, coin: Fraction, *, uniform: bool = True
) -> dict[int, Fraction]:
    """Return the probabilities of `FAIL` and of r = 0 .. 2^d - 1.

    For every set T of distinct examples, the probability that exactly these are kept (at least one copy each), times
    (1 - coin), is shared equally by the r that satisfy all of T (or goes to the least one, if not `uniform`); if there
    is none it goes to `FAIL`, as does the coin.

    `InputError` if the sample has too many examples, or subsets, to go through.
    """
    distinct = len(sample.labels)
    if distinct + dimension >= MOST_SUBSETS.bit_length() or sample.n > MOST_EXAMPLES:
        raise InputError(
            f"the sample has {distinct} distinct examples, {sample.n} with copies, on {dimension} variables: too many "
            f"for the exact law, which goes through 2^({distinct} + {dimension}) cases"
        )
    codes = range(2**dimension)
    agree = [
        {r for r in codes if (r & point).bit_count() % 2 == label}
        for point, label in zip(map(int, pack(sample.points)), sample.labels.tolist(), strict=True)
    ]
    skips = [(1 - keep) ** int(count) for count in sample.counts]
    law = {FAIL: coin, **dict.fromkeys(codes, Fraction(0))}
    for kept in itertools.product((False, True), repeat=distinct):
        chance = 1 - coin
        alive = set(codes)
        for taken, skip, right in zip(kept, skips, agree, strict=True):
            chance *= 1 - skip if taken else skip
            alive &= right if taken else alive
        heirs = sorted(alive) if uniform else sorted(alive)[:1]
        for heir in heirs or [FAIL]:
            law[heir] += chance / max(1, len(heirs))
    return law
