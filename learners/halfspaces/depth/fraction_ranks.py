"""Ranks of fractions with bounded denominators among all of their kind, by floor sums; none is listed.

The number of reduced p/q in [0, x] with q <= N is, by Moebius inversion over the common divisor d of a pair,

    sum over d of mu(d) S(floor(N/d), x),   S(v, x) = sum over q <= v of (floor(q x) + 1),

with O(sqrt N) values of floor(N/d), and S a floor sum found by a Euclidean descent. Distinct fractions differ by more
than 1/N^2, so that bisection on multiples of 1/N^2 finds the one of a given rank.

A corner of T(r) on the grid {0 .. s}^2 is where two lines a x + b y = c with |a|, |b| <= s cross: its x is p/q with
q <= 2 s^2, a difference of two products. On the line x = p/q a corner lies on such a line, y = (c q - a p)/(b q), so
that y q is a fraction with a denominator of at most s. All these numbers are candidates on large grids of the plane, as
far as they lie in [0, s]: a set that holds the corners, which is all that Claim 3.5 of BMNS asks for, and depends on no
sample. Q is constant between the ends of the T(r), so that the candidates in T(r) are those of a range of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import InputError

from ...arrays import Integers
from ...bisection import least
from ...mechanisms.exponential import uniform_below
from ...parameters import check_integer
from .depth_regions import Interval
from .level_rings import Prefix, Ring


def floor_sum(count: int, p: int, r: int, q: int) -> int:
    """Return the sum of floor((p x + r)/q) over x = 0 .. count - 1, q > 0, for integers of any size."""
    total = 0
    while True:
        total += (count - 1) * count // 2 * (p // q) + count * (r // q)
        p = p % q
        r = r % q
        top = p * count + r
        if top < q:
            return total
        # The lattice points under the line, counted along the other axis.
        count = top // q
        r = top % q
        p, q = q, p


def floor_sums(counts: ArrayLike, factors: ArrayLike, divisors: ArrayLike, shifts: ArrayLike) -> Integers:
    """Return the sums over 0 <= i < count of floor((factor i + shift)/divisor), arrays (k,) or numbers >= 0.

    Factors and shifts times greatest count must be below 2^63 by twice the divisor, as must the sums.
    """
    n, a, m, b = (np.array(row, dtype=np.int64) for row in np.broadcast_arrays(counts, factors, divisors, shifts))
    total = np.zeros(len(n), dtype=np.int64)
    open_ones = np.arange(len(n))
    while len(open_ones):
        total[open_ones] += n * (n - 1) // 2 * (a // m) + n * (b // m)
        a = a % m
        b = b % m
        reached = a * n + b
        going = reached >= m
        open_ones = open_ones[going]
        reached = reached[going]
        # The lattice points under the line, counted along the other axis.
        smaller = a[going]
        a = m[going]
        m = smaller
        n = reached // a
        b = reached % a
    return total


@lru_cache(maxsize=8)
def _quotients(most: int) -> tuple[Integers, Integers]:
    """Return the values v of floor(most/d), and the sum of mu(d) over the d with each."""
    mertens: dict[int, int] = {}

    def summed(v: int) -> int:
        """Return mu(1) + .. + mu(v), for v = floor(most/k)."""
        if v not in mertens:
            total = 1
            d = 2
            while d <= v:
                last = v // (v // d)
                total -= (last - d + 1) * summed(v // d)
                d = last + 1
            mertens[v] = total
        return mertens[v]

    values = []
    weights = []
    d = 1
    while d <= most:
        # The d with the same floor(most/d) form a range.
        last = most // (most // d)
        values.append(most // d)
        weights.append(summed(last) - (summed(d - 1) if d > 1 else 0))
        d = last + 1
    return np.array(values, dtype=np.int64), np.array(weights, dtype=np.int64)


@dataclass(frozen=True)
class Span:
    """Candidates with ranks in [start, stop)."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.stop - self.start


def rank_within(ring: Ring[Span], index: int) -> int:
    """Return the rank of a candidate, numbered within its ring."""
    inner = ring.inner or Span(ring.outer.start, ring.outer.start)
    left = inner.start - ring.outer.start
    if index < left:
        return ring.outer.start + index
    return inner.stop + index - left


@dataclass(frozen=True)
class FractionRanks:
    """The fractions p/q in [0, top] with 1 <= q <= `most`, in order, numbered from 0.

    `top` is an integer; most^3 and top most^2 must be below 2^63.
    """

    most: int
    top: int

    def __post_init__(self) -> None:
        check_integer("most", self.most, 1)
        check_integer("top", self.top, 0)
        if self.most**2 * max(self.most + 1, 2 * self.top) >= 2**63:
            raise InputError(
                f"most and top must leave most^3 and most^2 top below 2^63, got {self.most} and {self.top}"
            )

    @cached_property
    def size(self) -> int:
        """The number of the fractions."""
        return self.at_most(Fraction(self.top))

    def at_most(self, x: Fraction) -> int:
        """Return how many are at most x, of denominator at most most^2."""
        if x < 0:
            return 0
        values, weights = _quotients(self.most)
        slope = min(x, Fraction(self.top))
        return int((weights * (floor_sums(values + 1, slope.numerator, slope.denominator, 0) + values)).sum())

    def below(self, x: Fraction) -> int:
        """Return how many are below x, which is one of them or not."""
        # x itself is among those at most x if it is a candidate.
        return self.at_most(x) - (x.denominator <= self.most and 0 <= x <= self.top)

    def at(self, rank: int) -> Fraction:
        """Return the fraction of a rank."""
        if not 0 <= rank < self.size:
            raise InputError(f"rank must be in [0, {self.size}), got {rank}")
        # Distinct fractions differ by more than 1/most^2: a step of the bisection holds one at most.
        unit = self.most**2
        first = least(lambda k: self.at_most(Fraction(k, unit)) > rank, -1, self.top * unit)
        return greatest_below(Fraction(first, unit), self.most)

    def between(self, ends: Interval | None) -> Span:
        """Return those in an interval, or all."""
        if ends is None:
            return Span(0, self.size)
        return Span(self.below(ends[0]), self.at_most(ends[1]))

    def uniform(self, ring: Ring[Span], rng: np.random.Generator) -> Fraction:
        """Return one of a ring, all equally likely."""
        return self.at(rank_within(ring, uniform_below(ring.size, rng, 1)[0]))


# Up to this side the depth of a candidate is found in float64, exactly (2 s^5 < 2^52).
MAX_FRACTION_SIDE = 1000


@dataclass(frozen=True)
class PlaneFractions:
    """The candidates on the grid {0 .. side}^2: `firsts`, and second coordinates `after` each of them."""

    side: int

    @cached_property
    def firsts(self) -> FractionRanks:
        """All p/q in [0, side] with q <= 2 side^2."""
        return FractionRanks(2 * self.side**2, self.side)

    def after(self, prefix: Prefix) -> tuple[int, FractionRanks]:
        """Return 1 and the first coordinates; or q and all y q, for the candidates y on the line x = p/q."""
        if not prefix:
            return 1, self.firsts
        q = prefix[0].denominator
        return q, FractionRanks(self.side, self.side * q)

    @cached_property
    def most(self) -> tuple[int, int]:
        """The number of first coordinates, and the greatest number of second ones."""
        return self.firsts.size, FractionRanks(self.side, 2 * self.side**3).size


def greatest_below(x: Fraction, most: int) -> Fraction:
    """Return the greatest fraction <= x with a denominator <= most: a neighbour of x in the Stern-Brocot tree."""
    if x.denominator <= most:
        return x
    p0 = 0
    q0 = 1
    p1 = 1
    q1 = 0
    n = x.numerator
    d = x.denominator
    # Convergents of the continued fraction, as long as the denominator is small enough.
    while q0 + (a := n // d) * q1 <= most:
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    k = (most - q0) // q1
    # One of the two lies on either side of x.
    ends = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
    return ends[0] if ends[0] <= x else ends[1]
