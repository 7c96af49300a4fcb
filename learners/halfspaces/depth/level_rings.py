"""Draws from an exponential mechanism whose candidates are counted in the level sets of the score, and never listed.

Candidates of equal score form rings: the level set {score >= r} without {score >= r + 1}. Rings are found from the
deepest outwards, until what is left has next to no weight; a ring may join several levels, and bounds their scores from
above. A candidate drawn from it is kept with the probability exp(rate (score - bound)), which leaves exactly the law of
the exponential mechanism.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from ...bisection import least
from ...mechanisms import exponential
from .depth_regions import Interval
from .tukey_depth import centerpoint_bound

# Rings end where what is left has at most this share of the weight of the deepest.
SHARE = 2.0**-10


class Counted(Protocol):
    """A set of candidates that knows how many they are."""

    @property
    def size(self) -> int:
        """The number of candidates."""


Region = TypeVar("Region", bound=Counted)
Candidate = TypeVar("Candidate")
Prefix = tuple[Fraction, ...]


@dataclass(frozen=True)
class Ring(Generic[Region]):
    """The candidates in one level set and not in a smaller one (None: nothing), of scores in [least, most]."""

    outer: Region
    inner: Region | None
    least: int
    most: int

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.outer.size - (self.inner.size if self.inner is not None else 0)


def rings(region: Callable[[int], Region], deepest: int, rate: float) -> list[Ring[Region]]:
    """Return rings that hold all candidates, from the deepest outwards, of 1/rate levels each or so.

    `region` returns {score >= r} for r from 0, where it holds all candidates, to the greatest score `deepest`. The
    last ring joins the levels that have next to no weight.
    """
    everything = region(0)
    step = max(1, int(1 / rate))
    found: list[Ring[Region]] = []
    inner: Region | None = None
    level = most = deepest
    while level > 0:
        outer = region(level)
        found.append(Ring(outer, inner, level, most))
        inner = outer
        most = level - 1
        # The deepest ring with a candidate, against all that is left, at its greatest score.
        weight = next((math.log(ring.size) + rate * (ring.most - deepest) for ring in found if ring.size), math.inf)
        left = math.log(everything.size) + rate * (most - deepest)
        if left <= weight + math.log(SHARE):
            break
        # Level 1 has a ring of its own: below it lies what is outside of the hull.
        level = max(level - step, min(level - 1, 1))
    found.append(Ring(everything, inner, 0, most))
    return [ring for ring in found if ring.size]


def draw(
    found: list[Ring[Region]],
    pick: Callable[[Ring[Region]], Candidate],
    score: Callable[[Candidate, int, int], int],
    rate: float,
    rng: np.random.Generator,
    size: int,
) -> list[Candidate]:
    """Return `size` candidates, each with probability exactly proportional to exp(rate score).

    `pick` draws one of a ring, all equally likely; `score` finds that of a candidate, which lies in [least, most].
    """
    sizes = [ring.size for ring in found]
    bounds = np.array([ring.most for ring in found], dtype=np.int64)
    drawn: list[Candidate] = []
    while len(drawn) < size:
        for i in exponential.draw_cells(sizes, bounds, rate, rng, size - len(drawn)).tolist():
            ring = found[i]
            candidate = pick(found[i])
            exact = ring.least == ring.most
            # In a ring of one level the score is known, and nothing is rejected.
            lost = np.array([0 if exact else ring.most - score(candidate, ring.least, ring.most)])
            if exponential.accepted(lost, rng.random(1), rate, rng)[0]:
                drawn.append(candidate)
    return drawn


def by_coordinates(
    dimension: int, select: Callable[[Prefix, int], Iterable[Fraction]], rng: np.random.Generator, size: int
) -> list[Prefix]:
    """Return `size` points: after a prefix that some runs share, `select` draws the next coordinate of each of them."""
    groups: Counter[Prefix] = Counter({(): size})
    for axis in range(dimension):
        found = [(*prefix, x) for prefix, count in groups.items() for x in select(prefix, count)]
        groups = Counter(found)
        if axis == 2:  # equal points of space stand together before they are permuted
            found = list(groups.elements())
    return [found[i] for i in rng.permutation(size)]


class Numbered(Protocol[Region]):
    """Candidates for one coordinate that are numbered: those between two ends, and a uniform one of a ring."""

    def between(self, ends: Interval | None) -> Region:
        """Return those in an interval, or all."""

    def uniform(self, ring: Ring[Region], rng: np.random.Generator) -> Fraction:
        """Return one of a ring, all equally likely."""


class Coordinatewise(Protocol[Region]):
    """Candidates for the points of the plane or of space, one coordinate after the other."""

    def after(self, prefix: Prefix) -> tuple[int, Numbered[Region]]:
        """Return a scale, and the candidates after a prefix times this."""


class Extents(ABC):
    """The regions T(r) of one weighted multiset, by the extents of their slices at a prefix."""

    dimension: ClassVar[int]
    total: int
    """The weight of all points."""

    @abstractmethod
    def interval(self, level: int, prefix: Prefix) -> Interval | None:
        """Return the ends of the coordinate after the prefix over T(level), level >= 1; None if there is none."""

    def deepest(self) -> int:
        """Return the greatest depth of a point."""
        return self.deepest_on((), centerpoint_bound(self.total, self.dimension), self.total)

    def deepest_on(self, prefix: Prefix, known: int, most: int) -> int:
        """Return the greatest depth of a point that begins with the prefix, known to be in [known, most]."""
        return least(lambda level: self.interval(level, prefix) is None, known, most + 1) - 1


class Selection(Generic[Region]):
    """The exponential mechanism, coordinate by coordinate, on candidates that are numbered and never listed.

    `candidates.after(prefix)` returns a scale and the candidates after the prefix, times this. Of these `between` ends
    makes a region, and `uniform` draws one of a ring.
    """

    def __init__(self, candidates: Coordinatewise[Region], extents: Extents, rate: float) -> None:
        self.candidates = candidates
        self.extents = extents
        self.rate = rate
        # Runs on the same sample share coordinates, and ask for the same scores again.
        self._after = lru_cache(2**8)(self._rings)
        self._depth = lru_cache(2**12)(extents.deepest_on)

    def _rings(self, prefix: Prefix) -> list[Ring[Region]]:
        scale, everything = self.candidates.after(prefix)

        def region(level: int) -> Region:
            # Level 0 holds every candidate. Other levels are asked for up to the deepest alone, so that no slice is
            # empty.
            ends = self.extents.interval(level, prefix) if level else None
            return everything.between(ends and (ends[0] * scale, ends[1] * scale))

        if prefix:
            deepest = self.extents.deepest_on(prefix, 0, self.extents.total)
        else:
            deepest = self.extents.deepest()
        return rings(region, deepest, self.rate)

    def draw(self, rng: np.random.Generator, size: int) -> list[Prefix]:
        """Return the points of independent runs."""

        def select(prefix: Prefix, count: int) -> list[Fraction]:
            scale, everything = self.candidates.after(prefix)

            def pick(ring: Ring[Region]) -> Fraction:
                return Fraction(everything.uniform(ring, rng) / scale)

            def score(x: Fraction, low: int, high: int) -> int:
                return self._depth((*prefix, x), low, high)

            return draw(self._after(prefix), pick, score, self.rate, rng, count)

        return by_coordinates(self.extents.dimension, select, rng, size)
