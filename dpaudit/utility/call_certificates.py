"""Verification of sample complexities of noisy counts and of calls; docs/research/results.md has the proofs."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from dpaudit.utility.certificate_numbers import Numbers, count, odds_to_chance, positive
from dpaudit.utility.decimals import ONE, UP, Enclosure, check_terms, likely, mean

HALF = Enclosure.of(Fraction(1, 2))

Ends = tuple[Callable[[int], Decimal], Callable[[int], Decimal]]


def literals(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends for literals that are deleted where a noisy count of contradictions exceeds a threshold."""
    dimension = count(numbers, "dimension", 1)
    scale = positive(numbers, "scale")
    threshold = positive(numbers, "threshold")

    def upper(n: int) -> Decimal:
        deleted = HALF * Enclosure.exp(-threshold / scale)
        keeps = mean(n, alpha / max(2, dimension), _at_most(threshold, scale, likely(n, alpha / max(2, dimension))))
        some = dimension * keeps + max(2, dimension) * deleted
        return max((2 * dimension * keeps).high, some.high)

    return lambda n: Decimal(0), upper


def _at_most(bound: Fraction, scale: Fraction, counts: range) -> Callable[[int], Enclosure]:
    """Return k -> Pr[k + Lap(scale) <= bound] for consecutive counts, each found from the one before."""
    check_terms(len(counts))
    step = Enclosure.exp(Fraction(1) / scale)
    found: dict[int, Enclosure] = {}
    grown = Enclosure.exp((counts.start - bound) / scale)
    for k in counts:
        found[k] = 1 - HALF * grown if k <= bound else HALF / grown
        grown = grown * step
    return found.__getitem__


def faces(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends for boxes by interior points, one for each face, after a noisy count."""
    dimension = count(numbers, "dimension", 1)
    candidates = count(numbers, "candidates", 2)
    m = count(numbers, "m", 1)
    rate = positive(numbers, "rate")
    scale = Fraction(numbers["scale"])
    sides = 2 * dimension

    def upper(n: int) -> Decimal:
        misses = mean(n, alpha / sides, lambda k: missed[min(k, m)])
        if scale > 0:
            few = _at_most(Fraction(m), scale, likely(n, alpha))
        else:

            def few(k: int) -> Enclosure:
                return ONE if k < m else 1 - ONE

        return UP.add((sides * misses).high, mean(n, alpha, few).high)

    check_terms(m)
    half = -(-m // 2)
    powers = Enclosure.exp(-rate).powers(half)
    # With k of the m values at the face, the best of them has a score of min(k, half), and others m - k at most.
    missed = []
    for k in range(m + 1):
        lead = min(k, half) - (m - k)
        missed.append(odds_to_chance((candidates - 1) * powers[lead]) if lead >= 0 else ONE)
    return lambda n: Decimal(0), upper


def threshold_calls(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends for thresholds by one interior point of the m extremes of either label."""
    candidates = count(numbers, "candidates", 2)
    m = count(numbers, "m", 1)
    rate = positive(numbers, "rate")
    check_terms(m)
    powers = Enclosure.exp(-rate).powers(m)

    def upper(n: int) -> Decimal:
        return odds_to_chance((candidates - 1) * mean(n, alpha, lambda k: powers[min(k, m)])).high

    return lambda n: Decimal(0), upper
