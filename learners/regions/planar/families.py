"""Halfplanes and triangles over a small grid, one for each labelling, with the exact measure of each labelling.

The measure is Lebesgue's on the dual points, as a share of the whole. A selection with weights exp(rate q) has constant
likelihood ratios on labellings, so an audit loses nothing by looking at them alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.regions.planar.dichotomies import dichotomies
from learners.regions.planar.snapping import full_grid

__all__ = ["TRIANGLE_SIDE", "Family", "Region", "family_of", "halfplane_family", "joined", "triangle_family"]

TRIANGLE_SIDE = 4
"""The largest side whose labellings by triangles are listed."""

Region = tuple[Any, ...]
"""(z, a, b) of a halfplane, or the functional (w_1, .., w_d, t) of a halfspace."""


@dataclass(frozen=True, eq=False)
class Family:
    """Distinct labellings of a grid, each with its measure and one tuple of regions that makes it.

    Parameters
    ----------
    labels : array of uint8, shape (size, (d + 1)^2)
        Label 1 where all halfplanes of the tuple contain the point; grid points in lexicographic order.
    volumes : tuple of int
        Measures of the labellings, up to a common factor.
    regions : tuple of tuples of (z, a, b)
        One tuple of halfplanes, or halfspaces, for each labelling, sorted.
    """

    labels: NDArray[np.uint8]
    volumes: tuple[int, ...]
    regions: tuple[tuple[Region, ...], ...]

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def log_shares(self) -> NDArray[np.float64]:
        """Logarithms of the shares of the whole measure; each rounded twice, errors below 2^-52 (2 |ln share| + 2)."""
        total = sum(self.volumes)
        return np.array([_log_ratio(volume, total) for volume in self.volumes])


def _log_ratio(small: int, large: int) -> float:
    """Return ln(small / large) from a correctly rounded quotient of mantissas."""
    shift = large.bit_length() - small.bit_length()
    return math.log((small << shift) / large) - shift * math.log(2)


@lru_cache(maxsize=8)
def halfplane_family(side: int) -> Family:
    """Return the labellings by halfplanes, side at most 6."""
    labels, halfplanes = dichotomies(side)
    grid = full_grid(side)
    areas = dict.fromkeys((row.tobytes() for row in labels), Fraction(0))
    for rows in (~grid.below, grid.below):
        for row, value in zip(rows.astype(np.uint8), grid.areas, strict=True):
            areas[row.tobytes()] += value
    common = math.lcm(*(value.denominator for value in areas.values()))
    volumes = tuple(int(value * common) for value in areas.values())
    return Family(labels, volumes, tuple((halfplane,) for halfplane in halfplanes))


@lru_cache(maxsize=4)
def triangle_family(side: int) -> Family:
    """Return the labellings by intersections of three halfplanes, side at most `TRIANGLE_SIDE`.

    Labellings are masks; the measures of pairs and then of triples are sums over the masks of halfplanes.
    """
    if side > TRIANGLE_SIDE:
        raise InputError(f"side must be at most {TRIANGLE_SIDE} to list the labellings by triangles, got {side}")
    single = halfplane_family(side)
    masks = [int("".join(map(str, row)), 2) for row in single.labels.tolist()]
    halfplanes = [
        (mask, volume, regions) for mask, volume, regions in zip(masks, single.volumes, single.regions, strict=True)
    ]
    pairs = joined([(mask, volume, regions) for mask, volume, regions in halfplanes], halfplanes)
    triples = joined([(mask, *found) for mask, found in pairs.items()], halfplanes)
    return family_of(triples, single.labels.shape[1])


def family_of(found: dict[int, tuple[int, tuple[Region, ...]]], width: int) -> Family:
    """Return the family of the labellings with these masks of `width` points, in lexicographic order."""
    order = sorted(found)
    labels = np.array([[int(c) for c in format(mask, f"0{width}b")] for mask in order], dtype=np.uint8)
    return Family(labels, tuple(found[m][0] for m in order), tuple(found[m][1] for m in order))


Entry = tuple[int, int, tuple[Region, ...]]


def joined(left: list[Entry], right: list[Entry]) -> dict[int, tuple[int, tuple[Region, ...]]]:
    """Return the measure of each intersection, and the first tuple that makes it."""
    volumes: dict[int, int] = {}
    makers: dict[int, tuple[Region, ...]] = {}
    for mask, volume, regions in left:
        for other, size, region in right:
            both = mask & other
            volumes[both] = volumes.get(both, 0) + volume * size
            if both not in makers:
                makers[both] = tuple(sorted(regions + region))
    return {mask: (volume, makers[mask]) for mask, volume in volumes.items()}
