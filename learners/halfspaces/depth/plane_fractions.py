"""Points of large grids of the plane, selected by coordinates from candidates that are numbered and never listed.

A corner of T(r) on the grid {0 .. s}^2 is where two lines a x + b y = c with |a|, |b| <= s cross: its x is p/q with
q <= 2 s^2, a difference of two products. On the line x = p/q a corner lies on such a line, y = (c q - a p)/(b q), so
that y q is a fraction with a denominator of at most s. All these numbers are the candidates here, as far as they lie in
[0, s]: a set that holds the corners, which is all that Claim 3.5 of BMNS asks for, and depends on no sample.

Q is constant between the ends of the T(r), so that the candidates fall into rings of equal score: candidates in T(r)
and not in T(r + 1), counted by ranks. Rings are found from the deepest outwards. A ring may join several levels, and
bounds their scores from above; a candidate drawn from it is kept with the probability exp(rate (score - bound)), which
leaves exactly the law of the exponential mechanism.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from learners.arrays import Integers
from learners.halfspaces.depth.depth_extents import DepthExtents, Interval
from learners.halfspaces.depth.fraction_ranks import FractionRanks
from learners.mechanisms import exponential

MAX_FRACTION_SIDE = 1000
"""Up to this side the depth of a candidate is found in float64, exactly (2 s^5 < 2^52)."""
SHARE = 2.0**-10
"""Rings end where what is left has at most this share of the weight of the deepest."""


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
class Ring:
    """Candidates with ranks in [start, stop) and not in [inner_start, inner_stop), of scores in [least, most]."""

    start: int
    stop: int
    inner_start: int
    inner_stop: int
    least: int
    most: int

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.stop - self.start - (self.inner_stop - self.inner_start)

    def rank(self, index: int) -> int:
        """Return the rank of a candidate, numbered within the ring."""
        left = self.inner_start - self.start
        return self.start + index if index < left else self.inner_stop + index - left


def rings(
    ranks: FractionRanks, interval: Callable[[int], Interval | None], deepest: int, rate: float, *, whole: bool = False
) -> list[Ring]:
    """Return the rings of a score whose level sets {score >= r} are intervals, from the deepest outwards.

    The rings hold all candidates. Each has 1/rate levels or so, the last all that are left once they weigh at most
    `SHARE` of the deepest; `whole` gives a ring to every level.

    `interval` returns the ends of {score >= r} for r from 1 to `deepest`, the greatest score, which may be 0.
    """
    step = 1 if whole else max(1, int(1 / rate))
    found: list[Ring] = []
    inner, level = (0, 0), deepest
    above = deepest
    while level > 0:
        ends = interval(level)
        assert ends is not None
        outer = ranks.below(ends[0]), ranks.at_most(ends[1])
        if not found:
            inner = (outer[0], outer[0])
        found.append(Ring(*outer, *inner, level, above))
        inner, above = outer, level - 1
        left = math.log(ranks.size) + rate * (above - deepest)
        if not whole and left <= math.log(SHARE * max(1, found[0].size)):
            break
        level = max(level - step, 1 if level > 1 else 0)
    found.append(Ring(0, ranks.size, *inner, 0, above))
    return [ring for ring in found if ring.size]


def draw(
    found: list[Ring],
    ranks: FractionRanks,
    score: Callable[[Fraction, int, int], int],
    rate: float,
    rng: np.random.Generator,
    size: int,
) -> list[Fraction]:
    """Return `size` candidates, each with probability exactly proportional to exp(rate score).

    `score` finds that of a candidate, which lies in [least, most].
    """
    sizes, bounds = [ring.size for ring in found], np.array([ring.most for ring in found], dtype=np.int64)
    drawn: list[Fraction] = []
    while len(drawn) < size:
        chosen = [found[i] for i in exponential.draw_cells(sizes, bounds, rate, rng, size - len(drawn))]
        indices = exponential.uniform_within([ring.size for ring in chosen], rng)
        for ring, index in zip(chosen, indices, strict=True):
            x = ranks.at(ring.rank(index))
            lost = 0 if ring.least == ring.most else ring.most - score(x, ring.least, ring.most)
            if exponential.kept(lost, rate, rng):
                drawn.append(x)
    return drawn


class FractionSelection:
    """The exponential mechanism, coordinate by coordinate, on the candidates of a large grid."""

    def __init__(self, candidates: PlaneFractions, points: Integers, weights: Integers, rate: float) -> None:
        self.candidates, self.rate = candidates, rate
        self.extents = DepthExtents(points, weights, candidates.side)
        self.rings_on = lru_cache(2**8)(self._rings_on)
        self.first_score, self.score = lru_cache(2**12)(self.extents.deepest_on), lru_cache(2**12)(self.extents.depth)

    @cached_property
    def first_rings(self) -> list[Ring]:
        """The rings of the first coordinate."""
        return rings(self.candidates.firsts, self.extents.first, self.extents.deepest(), self.rate)

    def _rings_on(self, x: Fraction) -> list[Ring]:
        """Return the rings of the second coordinate."""

        def scaled(level: int) -> Interval | None:
            ends = self.extents.second(level, x)
            return None if ends is None else (ends[0] * x.denominator, ends[1] * x.denominator)

        deepest = self.extents.deepest_on(x, 0, self.extents.total)
        return rings(self.candidates.seconds(x), scaled, deepest, self.rate)

    def draw(self, rng: np.random.Generator, size: int) -> list[tuple[Fraction, Fraction]]:
        """Return the points of independent runs."""
        firsts = draw(self.first_rings, self.candidates.firsts, self.first_score, self.rate, rng, size)
        found = []
        for x, count in Counter(firsts).items():
            q, ranks = x.denominator, self.candidates.seconds(x)

            def score(z: Fraction, least: int, most: int, x: Fraction = x, q: int = q) -> int:
                return self.score((x, z / q))

            found += [(x, z / q) for z in draw(self.rings_on(x), ranks, score, self.rate, rng, count)]
        return [found[i] for i in rng.permutation(size)]
