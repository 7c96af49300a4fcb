"""Regions of a grid: listed as labellings with exact measures where there are few, and described in every case.

Halfplanes and triangles have Lebesgue measure on their dual points, as a share of the whole. A selection with weights
exp(rate q) has constant likelihood ratios on labellings, so an audit loses nothing by looking at them alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpaudit.contract import Hypothesis, InputError

from ..arrays import Bools, Exact, Floats, Integers, Labels
from ..domains import Grid
from ..geometry.sign_counts import count_sign_patterns
from ..parameters import check_integer
from .snapping import check_regions, full_grid

# The largest side whose labellings by triangles are listed.
TRIANGLE_SIDE = 4
# Larger numbers of regions, by their logarithms, are no floats.
MOST_LOG = 700.0

Region = tuple[Any, ...]
"""(z, a, b) of a halfplane, or the functional (w_1, .., w_d, t) of a halfspace."""


@dataclass(frozen=True, eq=False)
class Family:
    """Distinct labellings of a grid, each with its measure and one tuple of regions that makes it.

    A label of `labels` (size, (d + 1)^2) is 1 where all halfplanes of the tuple contain the point; grid points stand in
    lexicographic order. `volumes` are the measures up to a common factor, `regions` one tuple of halfplanes (z, a, b),
    or of halfspaces, for each labelling, sorted.
    """

    labels: Labels
    volumes: tuple[int, ...]
    regions: tuple[tuple[Region, ...], ...]

    @classmethod
    def of_functionals(cls, labels: Labels, functionals: Exact) -> Family:
        """Return the family of equal measures whose labellings have the regions (functional,)."""
        return cls(labels, (1,) * len(labels), tuple((tuple(row),) for row in functionals.tolist()))

    def __len__(self) -> int:
        return len(self.regions)

    @cached_property
    def log_shares(self) -> Floats:
        """Logarithms of the shares of the whole measure; each rounded twice, errors below 2^-52 (2 |ln share| + 2)."""
        total = sum(self.volumes)
        return np.array([_log_ratio(volume, total) for volume in self.volumes])


@dataclass(frozen=True)
class Regions:
    """The regions of a grid that a learner selects among, with their measure.

    `listing` lists the regions; learners take their numbers as outputs where they are few enough to be `listed`.
    `count` returns their number without a list, and `masks` their labellings as increasing integers, where there is
    such a way.
    `region` returns the one that a family lists as these halfplanes, or halfspaces; `drawn` the one that an output
    stands for where they are not listed, by default `region` of as many `halfplanes`. `measures` and `labellings`
    return V and D; by default both are ln N, for N listed regions of equal measure.
    """

    side: int
    listing: Callable[[], Family]
    region: Callable[[tuple[Region, ...]], Hypothesis]
    measures: Callable[[], float] | None = None
    labellings: Callable[[], float] | None = None
    listed: bool = True
    halfplanes: int = 0
    drawn: Callable[[Any], Hypothesis] | None = None
    count: Callable[[], int] | None = None
    masks: Callable[[], Integers] | None = None

    @property
    def size(self) -> int:
        """The number of listed regions; `InputError` where they are not listed."""
        if self.count is None:
            return len(self.family)
        self._check_listed()
        return self.count()

    @property
    def family(self) -> Family:
        """The listed regions; `InputError` where they are not listed."""
        self._check_listed()
        return self.listing()

    def _check_listed(self) -> None:
        if not self.listed:
            raise InputError(f"side must be small enough to list the regions, got {self.side}; run has no such limit")

    @property
    def log_behaviours(self) -> float:
        """D: the logarithm of a bound on the number of different regions on the grid."""
        if self.labellings is None:
            return math.log(self.size)
        return self.labellings()

    @property
    def log_ratio(self) -> float:
        """V: a bound on ln(whole measure / least measure of regions that agree on a sample)."""
        if self.measures is None:
            return self.log_behaviours
        return self.measures()

    def rivals(self, harmless: Callable[[Labels], Bools] | None = None) -> float:
        """Return a bound on the measure of all other regions over that of the regions that label a sample alike.

        Where the regions are listed, without those that are `harmless`, given their labels. `InputError` if the bound
        is beyond any float.
        """
        if self.measures is None and harmless is None:
            return float(self.size - 1)
        if not self.listed:
            return above(self.log_ratio)
        volumes = self.family.volumes
        least = min(volumes)
        counted = sum(volumes) - least
        if harmless is not None:
            counted = sum(volumes[i] for i in np.flatnonzero(~harmless(self.family.labels)).tolist())
        return math.nextafter(float(Fraction(counted, least)), math.inf)

    def decode(self, code: Any) -> Hypothesis:
        """Return the region that an output stands for."""
        if not self.listed:
            if self.drawn:
                return self.drawn(code)
            return self.region(check_regions(code, self.halfplanes))
        check_integer("code", code, 0, len(self.family) - 1)
        return self.region(self.family.regions[int(code)])


def above(log: float) -> float:
    """Return a number above that with the logarithm; `InputError` if it is beyond any float."""
    if log >= MOST_LOG:
        raise InputError(f"there are more than exp({MOST_LOG}) regions, for which no bound of all cases is computed")
    return math.exp(log) * (1 + 1e-9)


def _log_ratio(small: int, large: int) -> float:
    """Return ln(small / large) from a correctly rounded quotient of mantissas."""
    # The quotient of shifted integers lies near 1, whatever their size, and is rounded once.
    shift = large.bit_length() - small.bit_length()
    return math.log((small << shift) / large) - shift * math.log(2)


def masks_of(labels: Labels) -> list[int]:
    """Return the labellings (size, m) as integers of m bits, the first point highest."""
    return [int("".join(map(str, row)), 2) for row in labels.tolist()]


def labels_of(masks: Iterable[int], width: int) -> Labels:
    """Return the labellings (size, width) with these masks."""
    return np.array([[int(c) for c in format(mask, f"0{width}b")] for mask in masks], dtype=np.uint8)


@lru_cache(maxsize=16)
def halfplane_count(side: int) -> int:
    """Return the size of `halfplane_family`, without a list: the labellings by functionals of (x, y, 1)."""
    return count_sign_patterns(np.insert(Grid(side, 2).points(), 2, 1, axis=1))


def halfplane_masks(side: int) -> Integers:
    """Return the labellings of {0 .. side}^2 by halfplanes as masks, increasing; side at most 6.

    But for the constants, each cuts the order of the points across a primitive vector e, and along e among equals,
    between two points P and P + e; see `halfspaces.plane_dichotomies`.
    """
    points = Grid(side, 2).points()
    bits = 1 << np.arange(len(points) - 1, -1, -1)
    whole = int(bits.sum())
    a, b = np.meshgrid(np.arange(side + 1), np.arange(-side, side + 1), indexing="ij")
    kept = (np.gcd(a, b) == 1) & ((a > 0) | (b > 0))
    found = [np.array([0, whole])]
    for e in np.stack([a[kept], b[kept]], axis=1):
        height = points @ np.array([-e[1], e[0]])
        order = np.lexsort((points @ e, height))
        # Neighbours of the same height differ by e, as all points of the line between two of the grid are in it.
        cuts = np.flatnonzero(np.diff(height[order]) == 0)
        masks = np.cumsum(bits[order])[cuts]
        found += [masks, whole - masks]
    return np.unique(np.concatenate(found))


@lru_cache(maxsize=8)
def halfplane_family(side: int) -> Family:
    """Return the labellings of {0 .. side}^2 by the halfplanes of the dual box, in lexicographic order.

    The halfplane (z, a, b) of a labelling is a point of a cell of the full grid; see `regions.snapping`.
    """
    grid = full_grid(side)
    found: dict[int, tuple[Region, Fraction]] = {}
    # With z = 1 a halfplane contains the points that are not below its line, with z = -1 the others.
    for z, rows in ((1, ~grid.below), (-1, grid.below)):
        for mask, point, area in zip(masks_of(rows.astype(np.uint8)), grid.points, grid.areas, strict=True):
            halfplane, total = found.get(mask, ((z, *point), Fraction(0)))
            found[mask] = halfplane, total + area
    common = math.lcm(*(area.denominator for _, area in found.values()))
    entries: list[Entry] = [(mask, int(area * common), (halfplane,)) for mask, (halfplane, area) in found.items()]
    return family_of(entries, (side + 1) ** 2)


@lru_cache(maxsize=4)
def triangle_family(side: int) -> Family:
    """Return the labellings by intersections of three halfplanes, side at most `TRIANGLE_SIDE`.

    Labellings are masks; the measures of pairs and then of triples are sums over the masks of halfplanes.
    """
    if side > TRIANGLE_SIDE:
        raise InputError(f"side must be at most {TRIANGLE_SIDE} to list the labellings by triangles, got {side}")
    halfplanes = listed_entries(halfplane_family(side))
    return family_of(joined(joined(halfplanes, halfplanes), halfplanes), (side + 1) ** 2)


Entry = tuple[int, int, tuple[Region, ...]]


def family_of(found: list[Entry], width: int) -> Family:
    """Return the family of the labellings with these masks of `width` points, in lexicographic order."""
    masks, volumes, regions = zip(*sorted(found, key=lambda entry: entry[0]), strict=True)
    return Family(labels_of(masks, width), volumes, regions)


def listed_entries(family: Family) -> list[Entry]:
    """Return the mask, the measure and the regions of each labelling."""
    return list(zip(masks_of(family.labels), family.volumes, family.regions, strict=True))


def joined(left: list[Entry], right: list[Entry]) -> list[Entry]:
    """Return the mask and the measure of each intersection, and the first tuple that makes it."""
    volumes: dict[int, int] = {}
    makers: dict[int, tuple[Region, ...]] = {}
    for mask, volume, regions in left:
        for other, size, region in right:
            # The measure of a labelling is the sum over all pairs that give it.
            if (both := mask & other) in volumes:
                volumes[both] += volume * size
            else:
                volumes[both] = volume * size
                makers[both] = tuple(sorted(regions + region))
    return [(mask, volume, makers[mask]) for mask, volume in volumes.items()]
