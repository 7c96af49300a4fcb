"""Targets and samples for pictures: regular polygons over the grid, labelling points spread over it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, Sample
from learners.domains import Grid
from learners.regions.halfplane_class import Halfplane
from learners.regions.polygon_class import Intersection

__all__ = ["MOST_POINTS", "regular_polygon", "uniform_sample"]

MOST_POINTS = 128
"""The most distinct points of a pictured sample."""
DENOMINATOR = 64
"""Of the slopes and offsets of a target, over the side."""


def regular_polygon(
    side: int, k: int, centre: tuple[float, float] = (0.5, 0.5), radius: float = 0.3, turn: float = 0.4
) -> Intersection:
    """Return k halfplanes around a centre, in units of the side, the first with its normal at the angle `turn`.

    Halfplane i holds the p with <(cos t, sin t), p - centre> <= radius, t = turn + 2 pi i / k, up to rounding of slope
    and offset. No angle may be a multiple of pi, which is a vertical line.
    """
    found = []
    for i in range(k):
        angle = turn + 2 * math.pi * i / k
        slope = Fraction(-math.cos(angle) / math.sin(angle)).limit_denominator(DENOMINATOR)
        offset = (radius + math.cos(angle) * centre[0] + math.sin(angle) * centre[1]) / math.sin(angle)
        height = Fraction(offset).limit_denominator(DENOMINATOR) * side
        found.append(Halfplane(-1 if math.sin(angle) > 0 else 1, slope, height))
    return Intersection(tuple(found))


def uniform_sample(side: int, target: Hypothesis, n: int, rng: np.random.Generator) -> Sample:
    """Return n examples from the uniform law on the grid, or on `MOST_POINTS` random points of a larger one."""
    if (side + 1) ** 2 <= MOST_POINTS:
        points = Grid(side, 2).points()
    else:
        found = {(int(x), int(y)) for x, y in rng.integers(0, side + 1, (MOST_POINTS, 2))}
        points = np.array(sorted(found), dtype=np.int64)
    law = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    return Grid(side, 2).draw(target, law, n, rng)
