"""Simplices and polytopes over small grids in three dimensions (KMMS, Section 6, the extension to R^d).

Where planar regions have Lebesgue measure on their dual points, these have the counting measure: every labelling by a
halfspace weighs 1, and a labelling by simplices as much as there are ordered quadruples of halfspaces that make it.
Either measure does not depend on the sample.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import InputError, Instance, Sample

from ..arrays import Integers, summed
from ..citations import KMMS
from ..covers.accounting import AUDITED, TINY
from ..domains import Grid, grid_rows
from ..halfspaces.concepts import Halfspace, grid_halfspaces, halfspace_count
from ..mechanisms import exponential
from ..parameters import Built
from .concepts import Joins, joins
from .families import Family, Region, Regions, family_of, joined, listed_entries
from .polynomials import sign_patterns
from .region_cover import RegionCover
from .region_selection import RegionSelection
from .shapes import Intersection

DIMENSION = 3
# The largest sides whose regions are listed: 2,702 halfspaces over {0, 1, 2}^3, and the simplices over the cube.
HALFSPACE_SIDE = 2
SIMPLEX_SIDE = 1
# The bound of BMNS, Claim 4.1, 2 |X|^(d + 1).
BEYOND = (
    f"over {{0 .. {HALFSPACE_SIDE + 1}}}^{DIMENSION} there may be "
    f"{2 * (HALFSPACE_SIDE + 2) ** (DIMENSION * (DIMENSION + 1)):,} halfspaces to list"
)
Quadruple = tuple[int, ...]
# The most points whose 2^m subsets are held.
MAX_POINTS = 18


@lru_cache(maxsize=4)
def halfspace_family(side: int) -> Family:
    """Return the labellings of {0 .. side}^3 by halfspaces <w, x> >= t, regions ((w_1, w_2, w_3, t),), side at most 2.

    No point of the grid lies on the boundary of one of these, so that (-w, -t) is its complement.
    """
    if side > HALFSPACE_SIDE:
        raise InputError(f"side must be at most {HALFSPACE_SIDE} to list the halfspaces, got {side}")
    labels, functionals = grid_halfspaces(side, DIMENSION)
    return Family.of_functionals(labels, functionals)


@lru_cache(maxsize=2)
def simplex_family(side: int) -> Family:
    """Return the labellings of the cube by intersections of four halfspaces; side 1."""
    if side > SIMPLEX_SIDE:
        raise InputError(f"side must be at most {SIMPLEX_SIDE} to list the labellings by simplices, got {side}")
    halfspaces = listed_entries(halfspace_family(side))
    pairs = joined(halfspaces, halfspaces)
    return family_of(joined(pairs, pairs), (side + 1) ** DIMENSION)


def halfspace_masks(side: int) -> Integers:
    """Return the labellings of the grid by halfspaces as increasing integers; side 1 or 2."""
    labels, _ = sign_patterns(np.insert(Grid(side, DIMENSION).points(), DIMENSION, 1, axis=1))
    return np.sort(labels @ (1 << np.arange(labels.shape[1] - 1, -1, -1)))


@lru_cache(maxsize=16)
def simplex_count(side: int) -> int:
    """Return the size of `simplex_family`, without the measures and the halfspaces of its labellings."""
    if side > SIMPLEX_SIDE:
        raise InputError(f"side must be at most {SIMPLEX_SIDE} to list the labellings by simplices, got {side}")
    halfspaces = halfspace_masks(side)
    pairs = np.unique(halfspaces[:, None] & halfspaces)
    return len(np.unique(pairs[:, None] & pairs))


def polytope(parts: Sequence[Region]) -> Intersection:
    """Return the intersection of the halfspaces (w_1, w_2, w_3, t)."""
    return Intersection(tuple(Halfspace(tuple(w), t) for *w, t in parts))


def halfspaces(side: int) -> Regions:
    """Return the halfspaces, with equal measure."""
    listing = partial(halfspace_family, side)
    count = partial(halfspace_count, side, DIMENSION)
    masks = partial(halfspace_masks, side)
    return Regions(side, listing, lambda parts: polytope(parts).halfplanes[0], count=count, masks=masks)


def simplices(side: int) -> Regions:
    """Return the intersections of four halfspaces; a labelling measures as much as there are quadruples that give it.

    The least measure is that of one quadruple of the N halfspaces: V = 4 ln N.
    """

    def log_quadruples() -> float:
        return (DIMENSION + 1) * math.log(halfspace_count(side, DIMENSION))

    listed = side <= SIMPLEX_SIDE
    listing = partial(simplex_family, side)
    if not listed:
        return Regions(side, listing, polytope, log_quadruples, log_quadruples, listed, drawn=partial(_simplex, side))
    return Regions(side, listing, polytope, log_quadruples, count=partial(simplex_count, side))


@dataclass(frozen=True)
class Polytopes(Joins):
    """The labellings of the grid by intersections of at most k halfspaces."""

    dimension: ClassVar[int] = DIMENSION
    _regions = Built(joins(halfspaces, united=False))


@dataclass(frozen=True)
class SimplexUnions(Joins):
    """The labellings of the cube by unions of at most k simplices, each the intersection of four halfspaces."""

    dimension: ClassVar[int] = DIMENSION
    _regions = Built(joins(simplices, united=True))


def space_symmetries(self: Any) -> list[Integers]:
    """Return generators of the symmetries of the grid: two permutations of the axes and a reflection.

    They permute the labellings by halfspaces and keep their counting measures.
    """
    reflection, *orders = self.domain.renamings([1, 0, 2], [1, 2, 0])
    return [*orders, reflection]


def _check_points(points: int) -> None:
    if points > MAX_POINTS:
        raise InputError(
            f"the sample must have at most {MAX_POINTS} distinct points where regions are not listed, got {points}: "
            f"their 2^{points} subsets would be held several times"
        )


class TupleCounts:
    """The ordered t-tuples of listed regions by the set of points that all of the tuple contain.

    Masks of m points are subsets of {0 .. m - 1}. With F(T) the number of regions that contain T, F(T)^t tuples of t
    have an intersection that contains T; inclusion and exclusion over the supersets of S leaves those whose
    intersection is S. Both are sums over subcubes, point by point: m 2^m additions of integers.

    `masks` (N,) are for each region the points that it contains, as bits; `points` is m, at most `MAX_POINTS`,
    `components` t; N^t and N^(t - 1) 2^m must be below 2^62.
    """

    def __init__(self, masks: Integers, points: int, components: int) -> None:
        _check_points(points)
        if len(masks) ** (components - 1) * max(len(masks), 1 << points) >= 2**62:
            raise InputError(
                f"{len(masks)} regions make too many {components}-tuples over {points} points to be counted"
            )
        self._masks = masks
        self._points = points
        self._components = components

    @cached_property
    def _containing(self) -> Integers:
        """F (2^m,)."""
        table = np.bincount(self._masks, minlength=1 << self._points).astype(np.int64)
        for bit in range(self._points):
            view = table.reshape(-1, 2, 1 << bit)
            # From sets to all that contain them, one point at a time.
            view[:, 0] += view[:, 1]
        return table

    @cached_property
    def counts(self) -> Integers:
        """The number of tuples that intersect in each set of points (2^m,).

        After the first bits these are tuples whose intersection is right there and contains the rest: never above N^t.
        """
        table = self._containing**self._components
        for bit in range(self._points):
            view = table.reshape(-1, 2, 1 << bit)
            # And back: inclusion and exclusion, point by point.
            view[:, 0] -= view[:, 1]
        return table

    def _ways(self, target: int, more: int) -> Integers:
        """Return for each set A (2^m,) how many tuples of `more` regions intersect, together with A, in the target.

        The sum over target <= T <= A of (-1)^|T - target| F(T)^more; 0 where A does not contain the target.
        """
        table = np.where(np.arange(1 << self._points) & target == target, self._containing**more, 0)
        for bit in range(self._points):
            if not target >> bit & 1:
                view = table.reshape(-1, 2, 1 << bit)
                view[:, 1] = view[:, 0] - view[:, 1]
        return table

    def draw(self, target: int, rng: np.random.Generator, size: int) -> Integers:
        """Return `size` independent uniform tuples (size, t) among those that intersect in the target."""
        chosen = np.zeros((size, self._components), dtype=np.int64)
        now = np.full(size, (1 << self._points) - 1)
        for place in range(self._components):
            # Each region by how many ways the remaining ones complete the intersection.
            ways = self._ways(target, self._components - 1 - place)
            for state in np.unique(now).tolist():
                ends = np.cumsum(np.where(self._masks & target == target, ways[state & self._masks], 0))
                rows = np.flatnonzero(now == state)
                uniform = rng.integers(0, ends[-1], size=len(rows))
                chosen[rows, place] = np.searchsorted(ends, uniform, side="right")
            now &= self._masks[chosen[:, place]]
        return chosen


def _subset_sums(weights: Integers) -> Integers:
    """Return the sum of the weights (m,) in each subset (2^m,)."""
    _check_points(len(weights))
    sums = np.zeros(1, dtype=np.int64)
    for weight in weights.tolist():
        sums = np.concatenate([sums, sums + weight])
    return sums


def _quadruples(
    side: int, rows: Integers, scores: Integers, rate: float, rng: np.random.Generator, size: int
) -> list[Quadruple]:
    """Return sorted quadruples of halfspaces with probabilities proportional to exp(rate score), exactly.

    `scores` (2^m,) are those of the subsets of the m points with some `rows` in the grid that a quadruple contains: a
    score is drawn by the number of quadruples that have it, then one of them uniformly.
    """
    masks = halfspace_family(side).labels[:, rows].astype(np.int64) @ (1 << np.arange(len(rows)))
    table = TupleCounts(masks, len(rows), DIMENSION + 1)
    occurring = np.flatnonzero(table.counts)
    occurring = occurring[np.argsort(scores[occurring], kind="stable")]
    counts = table.counts[occurring]
    values, starts = np.unique(scores[occurring], return_index=True)
    sizes = np.add.reduceat(counts, starts)
    firsts = np.cumsum(counts)[starts] - counts[starts]
    groups = exponential.draw_cells(sizes.tolist(), values, rate, rng, size)
    within = rng.integers(0, sizes[groups])
    drawn = occurring[np.searchsorted(np.cumsum(counts), firsts[groups] + within, side="right")]
    found = np.zeros((size, DIMENSION + 1), dtype=np.int64)
    for target in np.unique(drawn).tolist():
        runs = drawn == target
        found[runs] = np.sort(table.draw(target, rng, int(runs.sum())), axis=1)
    return [tuple(quadruple) for quadruple in found.tolist()]


def _simplex(side: int, code: Any) -> Intersection:
    """Return the simplex with the numbers of its halfspaces as code."""
    regions = halfspace_family(side).regions
    good = isinstance(code, tuple | list) and len(code) == DIMENSION + 1
    if not good or not all(isinstance(i, int | np.integer) and 0 <= i < len(regions) for i in code):
        raise InputError(f"code must be {DIMENSION + 1} numbers of halfspaces below {len(regions)}, got {code!r}")
    return polytope([regions[int(i)][0] for i in code])


@dataclass(frozen=True)
class SimplexSelect(RegionSelection):
    """Select an intersection of four halfspaces over the cube with probability proportional to exp(epsilon q / 2).

    q is the number of examples that it labels correctly. The exponential mechanism runs over all quadruples of the N
    labellings of the grid by halfspaces, 104 for the cube and 2,702 for side 2. For side 1 the output is the number of
    the labelling that the quadruple gives, so that a labelling has as much measure as quadruples make it. For side 2
    it is the quadruple itself, sorted numbers of halfspaces: how the quadruples label the sample is counted exactly,
    without a list of the 5e13, for at most 18 distinct points; see `TupleCounts`. Pure
    epsilon-differential privacy.

    Utility. With probability 1 - b over the coins q >= max q - (2/epsilon) (4 ln N + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^3; 1 or 2.
    epsilon : float
        > 0.
    """

    id: ClassVar[str] = "simplex-select"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)
    source: ClassVar[str] = f"{KMMS}, Proposition 2.5 and Section 6"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Prop2.5", "Proposition 2.5 over quadruples of halfspaces")
    _most_side: ClassVar[int] = HALFSPACE_SIDE
    _regions = Built(simplices)
    symmetries = space_symmetries
    # Simplices are the intersections of four halfspaces; they can be listed for the cube.
    concepts = Built(partial(Polytopes, k=DIMENSION + 1))

    def _unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> Sequence[Hashable]:
        """Return sorted quadruples: a score by the number of quadruples that have it, then one of them uniformly."""
        signed = np.where(sample.labels == 1, sample.counts, -sample.counts)
        rows, gains = summed(grid_rows(sample.points, self.side), signed)
        # The score up to a constant, the negative examples.
        return _quadruples(self.side, rows, _subset_sums(gains), self._rate, rng, size)


@dataclass(frozen=True)
class ConvexPolytope(RegionCover):
    """Convex polytopes with at most k facets: cover the negatives by complements of halfspaces, spare the positives.

    The halfspaces are the labellings of {0 .. side}^3, side at most 2, with equal measure: a region is the number of
    one. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "convex-polytope"
    _regions = Built(halfspaces)
    symmetries = space_symmetries
    concepts = Built(Polytopes)
    # Two rounds, so that all pairs of regions can be listed; with them only the sample's errors can be bounded.
    instance: ClassVar[Instance] = Instance({"side": 1, **TINY, "alpha": 0.74}, n=2, alpha=0.9, beta=0.5)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 1, "k": 2}, n=2, alpha=0.2, beta=0.1),)
    _covered_label: ClassVar[int] = 0
    _most_side: ClassVar[int] = HALFSPACE_SIDE
    _beyond: ClassVar[str] = BEYOND
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, in three dimensions,")


@dataclass(frozen=True)
class SimplexUnion(RegionCover):
    """Unions of at most k simplices over small cubes: cover the positives by simplices, spare the negatives.

    The simplices have the measure of `simplex-select`. A union of polytopes is one of simplices. For side 1 a region is
    the number of a labelling; for side 2 the output is the tuple of the J quadruples of halfspaces, which are drawn as
    by `simplex-select` on what is left of the sample, at most 18 distinct points. See
    `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "simplex-union"
    instance: ClassVar[Instance] = Instance(ConvexPolytope.instance.parameters, n=1, alpha=0.9, beta=0.5)
    audited: ClassVar[tuple[Instance, ...]] = ConvexPolytope.audited
    _covered_label: ClassVar[int] = 1
    _most_side: ClassVar[int] = HALFSPACE_SIDE
    _beyond: ClassVar[str] = BEYOND
    _theorem: ClassVar[tuple[str, str]] = ConvexPolytope._theorem
    _regions = Built(simplices)
    symmetries = space_symmetries
    concepts = Built(SimplexUnions)

    def _unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> Sequence[Hashable]:
        labelled = [np.where(sample.labels == label, sample.counts, 0) for label in (1, 0)]
        rows, wanted = summed(grid_rows(sample.points, self.side), labelled[0])
        _, unwanted = summed(grid_rows(sample.points, self.side), labelled[1])
        return [self._drawn_quadruples(rows, wanted, unwanted, rng) for _ in range(size)]

    def _drawn_quadruples(self, rows: Integers, wanted: Integers, unwanted: Integers, rng: np.random.Generator) -> Any:
        """Return the quadruples of all rounds; `wanted` and `unwanted` are the weights of the points in these rows."""
        found = []
        labels = halfspace_family(self.side).labels
        for _ in range(self.rounds):
            b = int(self._noise.estimate(np.array([wanted.sum()]), rng)[0])
            # k q = min{k c - b, -k e}: integers.
            scores = np.minimum(self.k * _subset_sums(wanted) - b, -self.k * _subset_sums(unwanted))
            # Rounded down, the rate is at most that of the claim.
            rate = math.nextafter(self._rate / self.k, 0.0)
            (drawn,) = _quadruples(self.side, rows, scores, rate, rng, 1)
            found.append(drawn)
            left = labels[list(drawn)][:, rows].min(axis=0) == 0
            rows = rows[left]
            wanted = wanted[left]
            unwanted = unwanted[left]
        return tuple(found)


LEARNERS = (SimplexSelect, ConvexPolytope, SimplexUnion)
