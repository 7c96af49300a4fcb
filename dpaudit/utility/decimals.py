"""Numbers that are enclosed between decimals, rounded outwards, and means over a binomial count."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul

# Decimal digits of every number.
DIGITS = 40
# Standard deviations of a count that means cover, on either side; what they leave out is accounted for.
SPREAD = 9
# A sum, over one count or two, that may have more terms than these is too long.
MOST_TERMS = 2**18

# The exponents of decimals are far beyond any power that is met here, so that nothing underflows to 0.
DOWN, UP = (Context(DIGITS, way, Emin=-(10**15), Emax=10**15) for way in (ROUND_FLOOR, ROUND_CEILING))


@dataclass(slots=True)
class Enclosure:
    """Two numbers between which a number lies; its arithmetic takes rational numbers as well."""

    low: Decimal
    high: Decimal

    @classmethod
    def of(cls, value: Enclosure | Fraction | int) -> Enclosure:
        """Return the decimals next to a rational number; an enclosure as it is."""
        if isinstance(value, Enclosure):
            return value
        return cls(DOWN.divide(value.numerator, value.denominator), UP.divide(value.numerator, value.denominator))

    @classmethod
    def exp(cls, value: Fraction) -> Enclosure:
        """Return the exponential of a rational number."""
        ends = cls.of(value)
        # Decimal exponentials are rounded half even whatever the context says: step one unit to either side.
        return cls(DOWN.exp(ends.low).next_minus(DOWN), UP.exp(ends.high).next_plus(UP))

    def __add__(self, value: Enclosure | Fraction | int) -> Enclosure:
        other = Enclosure.of(value)
        return Enclosure(DOWN.add(self.low, other.low), UP.add(self.high, other.high))

    def __sub__(self, value: Enclosure | Fraction | int) -> Enclosure:
        other = Enclosure.of(value)
        return Enclosure(DOWN.subtract(self.low, other.high), UP.subtract(self.high, other.low))

    def __rsub__(self, value: Fraction | int) -> Enclosure:
        return Enclosure.of(value) - self

    def __mul__(self, value: Enclosure | Fraction | int) -> Enclosure:
        other = Enclosure.of(value)
        # The usual case, without the four products that signs would need.
        if self.low >= 0 and other.low >= 0:
            return Enclosure(DOWN.multiply(self.low, other.low), UP.multiply(self.high, other.high))
        pairs = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Enclosure(min(DOWN.multiply(a, b) for a, b in pairs), max(UP.multiply(a, b) for a, b in pairs))

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Enclosure) -> Enclosure:
        """Return the quotient by a positive number."""
        # A larger divisor brings a positive end down and a negative one up.
        low = other.high if self.low >= 0 else other.low
        high = other.low if self.high >= 0 else other.high
        return Enclosure(DOWN.divide(self.low, low), UP.divide(self.high, high))

    def __rtruediv__(self, value: Fraction | int) -> Enclosure:
        return Enclosure.of(value) / self

    def __pow__(self, exponent: int) -> Enclosure:
        """Return a power of a number that is not negative."""
        # By repeated squaring: some 2 log2(exponent) products, each rounded outwards.
        found = ONE
        square = self
        while exponent:
            if exponent & 1:
                found = found * square
            square = square * square
            exponent = exponent >> 1
        return found

    def powers(self, most: int) -> list[Enclosure]:
        """Return the powers 0 .. `most`."""
        check_terms(most)
        return list(accumulate([self] * most, mul, initial=ONE))


ZERO = Enclosure.of(0)
ONE = Enclosure.of(1)


def check_terms(n: int) -> None:
    """Raise ValueError where a sum of so many terms, as of examples, is too long: sizes may stem from a file."""
    if n > MOST_TERMS:
        raise ValueError(f"a sum of {n} terms is too long")


def likely(n: int, mass: Fraction) -> range:
    """Return the counts near the mean of Bin(n, mass)."""
    spread = SPREAD * math.sqrt(n * float(mass * (1 - mass))) + 2 * SPREAD
    return range(max(0, math.floor(n * mass - spread)), min(n, math.ceil(n * mass + spread)) + 1)


def binomial(n: int, mass: Fraction, counts: range) -> Iterator[tuple[int, Enclosure]]:
    """Yield consecutive counts with their probabilities under Bin(n, mass)."""
    if mass in (0, 1):
        yield (n if mass else 0), ONE
        return
    # Only the first probability is a product of powers; each further one follows from the one before.
    odds = Enclosure.of(mass / (1 - mass))
    k = counts.start
    chance = math.comb(n, k) * Enclosure.of(mass) ** k * Enclosure.of(1 - mass) ** (n - k)
    for k in counts:
        yield k, chance
        chance = chance * odds * Fraction(n - k, k + 1)


def mean(n: int, mass: Fraction, value: Callable[[int], Enclosure]) -> Enclosure:
    """Return E value(N) for N ~ Bin(n, mass) and values in [0, 1]: counts far from likely may have either."""
    check_terms(n)
    low = high = seen = Decimal(0)
    for k, chance in binomial(n, mass, likely(n, mass)):
        term = value(k)
        low = DOWN.add(low, DOWN.multiply(chance.low, term.low))
        high = UP.add(high, UP.multiply(chance.high, term.high))
        seen = DOWN.add(seen, chance.low)
    # The counts that were left out have at most the probability that is not seen, and a value of at most 1.
    return Enclosure(low, UP.add(high, UP.subtract(Decimal(1), seen)))
