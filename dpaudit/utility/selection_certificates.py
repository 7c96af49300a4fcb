"""Verification of sample complexities of selections in a row; docs/research/results.md has the proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from dpaudit.utility.certificate_numbers import Numbers, count, drops, kept, odds_to_chance, positive
from dpaudit.utility.decimals import UP, Enclosure

# The greatest depth that a recursion goes through.
MOST_GAP = 2**11
# The names of the numbers of candidates on each axis.
AXES = ("first", "second", "third")

Ends = tuple[Callable[[int], Decimal], Callable[[int], Decimal]]


def selections(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends of the probability that exponential mechanisms in a row lose a part of n in depth."""
    rate = positive(numbers, "rate")
    part = Fraction(count(numbers, "numerator", 1), count(numbers, "denominator", 1))
    strict = count(numbers, "strict", 0, 1)
    sizes = [count(numbers, axis, 1) for axis in AXES if axis in numbers]
    if not sizes:
        raise ValueError("there must be a number of candidates")

    def upper(n: int) -> Decimal:
        gap = math.floor(n * part) + 1 if strict else math.ceil(n * part)
        if gap > MOST_GAP:
            raise ValueError(f"a recursion over {gap} depths is too long")
        powers = Enclosure.exp(-rate).powers(gap)
        chance = [Decimal(1), *[Decimal(0)] * gap]
        for size in reversed(sizes):
            tails = [odds_to_chance((size - 1) * power).high for power in powers]
            # A selection that loses t more brings the chance from that of what is left to that of t less.
            rises = [UP.subtract(chance[left], chance[left + 1]) for left in range(gap)]
            chance = [
                _sum(chance[left], [(rises[left - t], tails[t]) for t in range(1, left + 1)]) for left in range(gap + 1)
            ]
        return chance[gap]

    return lambda n: Decimal(0), upper


def _sum(first: Decimal, terms: list[tuple[Decimal, Decimal]]) -> Decimal:
    total = first
    for rise, tail in terms:
        total = UP.add(total, UP.multiply(max(Decimal(0), rise), tail))
    return total


def outputs(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends for weights exp(-rate W) among at most so many outputs, one of which has W = 0 on any sample."""
    size = positive(numbers, "outputs")
    each = kept(alpha, drops(positive(numbers, "rate"), 1)[1])
    return lambda n: Decimal(0), lambda n: (size * each**n).high
