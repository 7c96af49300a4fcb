"""Points of large grids of the plane, selected by coordinates from candidates that are numbered and never listed.

A corner of T(r) on the grid {0 .. s}^2 is where two lines a x + b y = c with |a|, |b| <= s cross: its x is p/q with
q <= 2 s^2, a difference of two products. On the line x = p/q a corner lies on such a line, y = (c q - a p)/(b q), so
that y q is a fraction with a denominator of at most s. All these numbers are the candidates here, as far as they lie in
[0, s]: a set that holds the corners, which is all that Claim 3.5 of BMNS asks for, and depends on no sample.

Q is constant between the ends of the T(r), so that the candidates in T(r) are those of a range of ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from ...arrays import Integers
from ...mechanisms.exponential import uniform_below
from .depth_extents import DepthExtents
from .depth_regions import Interval
from .fraction_ranks import FractionRanks
from .level_rings import Ring, draw, rings

MAX_FRACTION_SIDE = 1000
"""Up to this side the depth of a candidate is found in float64, exactly (2 s^5 < 2^52)."""


@dataclass(frozen=True)
class PlaneFractions:
    """The candidates on the grid {0 .. side}^2: `firsts`, and for each of them `seconds`."""

    side: int

    @cached_property
    def firsts(self) -> FractionRanks:
        """All p/q in [0, side] with q <= 2 side^2."""
        return FractionRanks(2 * self.side**2, self.side)

    def seconds(self, x: Fraction) -> FractionRanks:
        """All y q, for the candidates y on the line x = p/q."""
        return FractionRanks(self.side, self.side * x.denominator)

    @cached_property
    def most(self) -> tuple[int, int]:
        """The number of first coordinates, and the greatest number of second ones."""
        return self.firsts.size, FractionRanks(self.side, 2 * self.side**3).size


@dataclass(frozen=True)
class Span:
    """Candidates with ranks in [start, stop)."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.stop - self.start


def spans(ranks: FractionRanks, interval: Callable[[int], Interval | None]) -> Callable[[int], Span]:
    """Return the function that gives the candidates of a score of at least r, for the ends of {score >= r}, r >= 1."""

    def span(level: int) -> Span:
        ends = interval(level) if level else (Fraction(0), Fraction(ranks.top))
        assert ends is not None, "no level above the greatest score is asked for"
        return Span(ranks.below(ends[0]), ranks.at_most(ends[1]))

    return span


def rank_within(ring: Ring[Span], index: int) -> int:
    """Return the rank of a candidate, numbered within its ring."""
    inner = ring.inner or Span(ring.outer.start, ring.outer.start)
    left = inner.start - ring.outer.start
    return ring.outer.start + index if index < left else inner.stop + index - left


class FractionSelection:
    """The exponential mechanism, coordinate by coordinate, on the candidates of a large grid."""

    def __init__(self, candidates: PlaneFractions, points: Integers, weights: Integers, rate: float) -> None:
        self.candidates, self.rate = candidates, rate
        self.extents = DepthExtents(points, weights, candidates.side)
        # Runs on the same sample share coordinates, and ask for the same scores again.
        self._on = lru_cache(2**8)(self._rings_on)
        self._greatest, self._depth = lru_cache(2**12)(self.extents.deepest_on), lru_cache(2**12)(self.extents.depth)

    @cached_property
    def _rings(self) -> list[Ring[Span]]:
        """The rings of the first coordinate."""
        return rings(spans(self.candidates.firsts, self.extents.first), self.extents.deepest(), self.rate)

    def _rings_on(self, x: Fraction) -> list[Ring[Span]]:
        """Return the rings of the second coordinate, in ranks of y q."""

        def scaled(level: int) -> Interval | None:
            ends = self.extents.second(level, x)
            return None if ends is None else (ends[0] * x.denominator, ends[1] * x.denominator)

        deepest = self.extents.deepest_on(x, 0, self.extents.total)
        return rings(spans(self.candidates.seconds(x), scaled), deepest, self.rate)

    def draw(self, rng: np.random.Generator, size: int) -> list[tuple[Fraction, Fraction]]:
        """Return the points of independent runs."""

        def from_ranks(ranks: FractionRanks) -> Callable[[Ring[Span]], Fraction]:
            return lambda ring: ranks.at(rank_within(ring, uniform_below(ring.size, rng, 1)[0]))

        found: list[tuple[Fraction, Fraction]] = []
        firsts = draw(self._rings, from_ranks(self.candidates.firsts), self._greatest, self.rate, rng, size)
        for x, count in Counter(firsts).items():

            def score(z: Fraction, least: int, most: int, x: Fraction = x) -> int:
                return self._depth((x, z / x.denominator))

            drawn = draw(self._on(x), from_ranks(self.candidates.seconds(x)), score, self.rate, rng, count)
            found += [(x, z / x.denominator) for z in drawn]
        return [found[i] for i in rng.permutation(size)]
