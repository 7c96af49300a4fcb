"""Regular polygons over grids of any side, and the lattice points on both sides of their edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dpaudit.contract import Distribution, Hypothesis

from ..targets import MANY, case, point_array
from .shapes import Halfplane, Intersection

# Of the slopes and offsets of a target, over the side.
DENOMINATOR = 64
# Centre, radius and turn of the triangles of a union.
TWO = (((0.25, 0.3), 0.16, 0.4), ((0.7, 0.7), 0.16, 1.2))


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
        # The side on which the centre lies.
        found.append(Halfplane(-1 if math.sin(angle) > 0 else 1, slope, height))
    return Intersection(tuple(found))


def beside_edges(target: Intersection, side: int, many: int) -> Iterator[tuple[int, int]]:
    """Yield the lattice points just above and just below about `many` places on the edges of a polygon."""
    for corners in target.region(side):
        for halfplane in target.halfplanes:
            # The corners on the line of the halfplane are the ends of its edge.
            ends = [x for x, y in corners if y == halfplane.a * x + halfplane.b]
            if len(ends) < 2:
                continue
            places = max(1, many // (2 * len(target.halfplanes)))
            for i in range(places):
                x = round(min(ends) + (max(ends) - min(ends)) * Fraction(2 * i + 1, 2 * places))
                below = math.floor(halfplane.a * x + halfplane.b)
                # The line may leave the square next to a corner.
                yield from ((x, y) for y in (below, below + 1) if 0 <= y <= side)


def edge_targets(
    target: Hypothesis, parts: tuple[Intersection, ...], side: int, name: str
) -> list[tuple[Hypothesis, Distribution, str]]:
    """Return the case of a target, a polygon or a union of such parts, with all mass next to their edges."""
    points = [point for part in parts for point in beside_edges(part, side, MANY // len(parts))]
    return [case(target, point_array(points), f"{name}, all on both sides of its edges")]
