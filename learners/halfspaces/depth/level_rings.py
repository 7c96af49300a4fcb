"""Draws from an exponential mechanism whose candidates are counted in the level sets of the score, and never listed.

Candidates of equal score form rings: the level set {score >= r} without {score >= r + 1}. Rings are found from the
deepest outwards, until what is left has next to no weight; a ring may join several levels, and bounds their scores from
above. A candidate drawn from it is kept with the probability exp(rate (score - bound)), which leaves exactly the law of
the exponential mechanism.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

import numpy as np

from ...mechanisms import exponential

SHARE = 2.0**-10
"""Rings end where what is left has at most this share of the weight of the deepest."""


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
        inner, most = outer, level - 1
        weight = next((math.log(ring.size) + rate * (ring.most - deepest) for ring in found if ring.size), math.inf)
        left = math.log(everything.size) + rate * (most - deepest)
        if left <= weight + math.log(SHARE):
            break
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
    sizes, bounds = [ring.size for ring in found], np.array([ring.most for ring in found], dtype=np.int64)
    drawn: list[Candidate] = []
    while len(drawn) < size:
        for i in exponential.draw_cells(sizes, bounds, rate, rng, size - len(drawn)).tolist():
            ring, candidate = found[i], pick(found[i])
            exact = ring.least == ring.most
            lost = np.array([0 if exact else ring.most - score(candidate, ring.least, ring.most)])
            if exponential.accepted(lost, rng.random(1), rate, rng)[0]:
                drawn.append(candidate)
    return drawn


def by_coordinates(
    dimension: int, select: Callable[[Prefix, int], Iterable[Fraction]], rng: np.random.Generator, size: int
) -> list[Prefix]:
    """Return `size` points: after a prefix that some runs share, `select` draws the next coordinate of each of them."""
    groups: Counter[Prefix] = Counter({(): size})
    for _ in range(dimension):
        following: Counter[Prefix] = Counter()
        for prefix, count in groups.items():
            following.update((*prefix, x) for x in select(prefix, count))
        groups = following
    found = [point for point, count in groups.items() for _ in range(count)]
    return [found[i] for i in rng.permutation(size)]
