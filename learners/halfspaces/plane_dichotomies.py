"""All labellings of a large grid of the plane by halfplanes, direction by direction, and aggregation over them.

Turn the boundary of a labelling with both labels counterclockwise until it is stopped: it then passes through two grid
points of different labels, next to each other on it. So the labellings are two constants and, for each two points P and
P + e that see each other (e primitive) the two that a slight turn of their line about the middle makes: those that cut
the order of the points by (height across e, place along e) between P and P + e. What a score asks of all labellings is
found for one e at a time from prefixes of this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Sample

from ..arrays import Exact, Integers, Labels
from ..domains import Grid
from ..finite.counting import Numbered, check_code
from ..mechanisms import exponential
from ..parameters import Built, check_integer
from .concepts import MAX_DICHOTOMIES, Halfspace

# Up to this side a pass over all directions takes some tens of seconds.
MAX_PLANE_SIDE = 100
# Up to this side the halfplanes that fit a subsample are counted, direction by direction, in tens of seconds.
MAX_COUNTED_SIDE = 1000
# Up to this many halfplanes are aggregated: the scores are counted for each direction.
MAX_PLANE_SUBSAMPLES = 2**10

Functional = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True)
class PlaneDichotomies(Numbered):
    """The labellings of the grid {0 .. side}^2 by halfplanes.

    Numbers follow the directions; of each, first the labellings with ones after a cut, then those with ones before it,
    both by their cuts. The last two are the constants 1 and 0.
    """

    side: int
    dimension: ClassVar[int] = 2

    domain = Built(Grid)

    @cached_property
    def directions(self) -> Integers:
        """The primitive vectors (k, 2) between grid points, one of each two opposite ones."""
        a, b = np.meshgrid(np.arange(self.side + 1), np.arange(-self.side, self.side + 1), indexing="ij")
        # Every line through two grid points is stopped by neighbours on it, which differ by a primitive vector.
        kept = (np.gcd(a, b) == 1) & ((a > 0) | (b > 0))
        return np.stack([a[kept], b[kept]], axis=1)

    @cached_property
    def steps(self) -> Integers:
        """The differences (k,) of the keys of P + e and P in the direction e."""
        return np.asarray((self.directions**2).sum(axis=1))

    @cached_property
    def units(self) -> Integers:
        """The differences (k,) of keys from one height to the next."""
        return np.asarray(self.side * np.abs(self.directions).sum(axis=1) + 1)

    @cached_property
    def normals(self) -> Integers:
        """The factors (k, 2) that give points their keys in a direction: by height across it, then by place along."""
        a, b = self.directions.T
        return np.stack([a - self.units * b, b + self.units * a], axis=1)

    def cuts(self, index: int) -> Integers:
        """Return the keys of all P with P + e in the grid, increasing, after which the order of e can be cut."""
        a, b = self.directions[index].tolist()
        # The P with P + e in the grid: a box.
        x = np.arange(self.side + 1 - a)
        y = np.arange(max(0, -b), self.side + 1 - max(0, b))
        u, v = self.normals[index]
        return np.sort((u * x[:, None] + v * y).ravel())

    @cached_property
    def firsts(self) -> Integers:
        """The number (directions + 1,) of the first labelling of each direction, and of the constant 1."""
        return np.append(0, np.cumsum(2 * (self.side + 1 - np.abs(self.directions)).prod(axis=1)))

    @property
    def size(self) -> int:
        """The number of labellings."""
        return int(self.firsts[-1]) + 2

    def concept(self, code: int) -> Halfspace:
        """Return the halfplane with that number."""
        check_code(self, code)
        *weights, threshold = self.functional(int(code))
        return Halfspace(tuple(weights), threshold)

    def functional(self, code: int) -> Functional:
        """Return (w_1, w_2, t) of the halfplane with that number."""
        index = int(self.firsts.searchsorted(code, side="right")) - 1
        within = code - int(self.firsts[index])
        if index == len(self.directions):
            return Fraction(0), Fraction(0), Fraction(within)
        cuts = self.cuts(index)
        side, place = divmod(within, len(cuts))
        # The points after the cut, or those up to it.
        sign = 1 - 2 * side
        u, v = self.normals[index].tolist()
        # Twice the key halfway between P and P + e, which no point has.
        middle = 2 * int(cuts[place]) + int(self.steps[index])
        return Fraction(2 * sign * u), Fraction(2 * sign * v), Fraction(sign * middle)

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, 2); `InputError` if there are too many labellings to list."""
        return np.array([concept.predict(points) for concept in self.enumerate()])

    def correct(self, sample: Sample) -> Integers:
        """Refuse to list how many examples each labelling gets right."""
        raise InputError(
            f"side must be smaller for the exact law, got {self.side}: the scores of {self.size} halfplanes would have "
            "to be listed; run has no such limit, and `pair_laws` compares two neighbours without a list"
        )

    @cached_property
    def points(self) -> Integers:
        """The grid's points (N, 2)."""
        return Grid(self.side, 2).points()


@lru_cache(maxsize=4)
def plane_dichotomies(side: int, *, sorted_cuts: bool = True) -> PlaneDichotomies:
    """Return the labellings; `InputError` if a pass over them, which sorts all cuts or not, would take too long."""
    if sorted_cuts and side > MAX_PLANE_SIDE:
        raise InputError(
            f"side must be at most {MAX_PLANE_SIDE} in dimension 2, got {side}: every pass sorts the (side + 1)^2 "
            "points of the grid once for each of some 1.2 side^2 directions"
        )
    if side > MAX_COUNTED_SIDE:
        raise InputError(
            f"side must be at most {MAX_COUNTED_SIDE} in dimension 2, got {side}: halfplanes are counted for each of "
            "some 1.2 side^2 directions between grid points, in tens of seconds"
        )
    return PlaneDichotomies(side)


def unlisted(side: int, dimension: int) -> PlaneDichotomies | None:
    """Return the labellings of a grid of the plane on which `Halfspaces` does not list them; None on other grids."""
    check_integer("side", side, 1)
    check_integer("dimension", dimension, 1)
    listed = 2 * (side + 1) ** (dimension * (dimension + 1)) <= MAX_DICHOTOMIES
    if dimension != 2 or listed:
        return None
    return plane_dichotomies(side)


@dataclass(frozen=True, eq=False)
class PlaneAgreement:
    """Agreement with m labellings, `ones` of which have 1 at each point: q(h) is the least over all points.

    For one direction q of all cuts is the least of two running minima.
    """

    concepts: PlaneDichotomies
    ones: Integers
    m: int

    def scores(self, index: int) -> Integers:
        """Return q of the labellings of a direction in the order of their numbers; last that of the constants."""
        if index == len(self.concepts.directions):
            return np.array([self.ones.min(), self.m - self.ones.max()])
        keys = self.concepts.points @ self.concepts.normals[index]
        order = np.argsort(keys)
        ones = self.ones[order]
        cuts = keys[order].searchsorted(self.concepts.cuts(index))
        # For ones after the cut: all before it have label 0, with which m - ones agree, all after it 1.
        before = np.stack([self.m - np.maximum.accumulate(ones), np.minimum.accumulate(ones)])
        back = ones[::-1]
        after = np.stack([np.minimum.accumulate(back), self.m - np.maximum.accumulate(back)])[:, ::-1]
        return np.asarray(np.minimum(before[:, cuts], after[:, cuts + 1]).ravel())

    @cached_property
    def counts(self) -> Integers:
        """The number of labellings with each score (directions + 1, m + 1); the last row is that of the constants."""
        rows = range(len(self.concepts.directions) + 1)
        return np.array([np.bincount(self.scores(index), minlength=self.m + 1) for index in rows])

    def draw(self, rate: float, rng: np.random.Generator, size: int) -> list[Functional]:
        """Return `size` halfplanes, each with probability exactly proportional to exp(rate q)."""
        totals = self.counts.sum(axis=0)
        occurring = np.flatnonzero(totals)
        found = []
        for cell in exponential.draw_cells(totals[occurring].tolist(), occurring, rate, rng, size).tolist():
            score = int(occurring[cell])
            rank = exponential.uniform_below(int(totals[score]), rng, 1)[0]
            ends = np.cumsum(self.counts[:, score])
            index = int(ends.searchsorted(rank, side="right"))
            within = rank - int(ends[index]) + int(self.counts[index, score])
            # The rank within a direction that the counts lead to.
            place = int(np.flatnonzero(self.scores(index) == score)[within])
            found.append(self.concepts.functional(int(self.concepts.firsts[index]) + place))
        return found
