"""Verification of sample complexities of counts, calls and subsamples; docs/research/results.md has the proofs."""

from __future__ import annotations

import math
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


def subsamples(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends for a hypothesis with which many of those of subsamples agree at each point."""
    m = count(numbers, "subsamples", 1)
    points = count(numbers, "points", 2)
    rivals = count(numbers, "rivals", 1)
    depth = count(numbers, "depth", 1, m)
    fair = bool(count(numbers, "fair", 0, 1))
    rate = positive(numbers, "rate")
    if fair and (points != 2 or rivals != 3 or depth != -(-m // 2) or not 2 * alpha < 1):
        raise ValueError("labels of unseen points are fair only for all labellings of two points and alpha below 1/2")

    def grown(tilt: Fraction, mass: Fraction, n: int) -> Enclosure:
        """Return a bound on E exp(tilt A), A the subsamples that have no example of a mass, or are wrong there."""
        unseen = Enclosure.of(1 - mass / m) ** n
        weight = Enclosure.exp(tilt) - 1
        if fair:
            weight = HALF * weight
        return (1 + weight * unseen) ** m

    def most(mass: Fraction, n: int) -> Decimal:
        """Return a bound on the chance that more than half of the subsamples are wrong at a point."""
        least = m // 2 + 1
        wrong = (1 - float(mass) / m) ** n / 2
        # The best tilt, up to rounding; any one gives a bound.
        odds = least * (1 - wrong) / (max(1, m - least) * wrong) if 0 < wrong < 1 else math.e
        tilt = Fraction(max(0.0, min(math.log(odds), 50.0)))
        return (grown(tilt, mass, n) / Enclosure.exp(tilt * least)).high

    def upper(n: int) -> Decimal:
        mass = alpha if fair else min(alpha / (points - 1), Fraction(1, points))
        failing = odds_to_chance(rivals * grown(rate, mass, n) / Enclosure.exp(rate * depth)).high
        if not fair:
            return failing
        return UP.add(failing, UP.add(most(mass, n), most(Fraction(1, 2), n)))

    return lambda n: Decimal(0), upper
