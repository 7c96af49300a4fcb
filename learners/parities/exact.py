"""The law of the private parity learner in exact rationals, by going through every subset of the distinct examples.

Slow and obvious, and derived apart from `parities.law`: it is the reference for enclosures of the worst epsilon.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from dpaudit.contract import FAIL, InputError, Sample
from learners.parities.gf2 import pack

__all__ = ["MOST_EXAMPLES", "MOST_SUBSETS", "rational_law"]

MOST_SUBSETS = 2**14
"""Subsets times parities that one law goes through."""
MOST_EXAMPLES = 2000
"""Examples, copies included: the probabilities have denominators that grow with their number."""


def rational_law(
    sample: Sample, dimension: int, keep: Fraction, coin: Fraction, *, uniform: bool = True
) -> dict[int, Fraction]:
    """Return the probabilities of `FAIL` and of r = 0 .. 2^d - 1.

    For every set T of distinct examples, the probability that exactly these are kept (at least one copy each), times
    (1 - coin), is shared equally by the r that satisfy all of T (or goes to the least one, if not `uniform`); if there
    is none it goes to `FAIL`, as does the coin.

    Raises
    ------
    InputError
        If the sample has too many examples, or subsets, to go through.
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
        chance, alive = 1 - coin, set(codes)
        for taken, skip, right in zip(kept, skips, agree, strict=True):
            chance *= 1 - skip if taken else skip
            alive &= right if taken else alive
        heirs = sorted(alive) if uniform else sorted(alive)[:1]
        for heir in heirs or [FAIL]:
            law[heir] += chance / max(1, len(heirs))
    return law
