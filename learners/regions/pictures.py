"""Pictures of regions and of the dual plane, and the targets and samples that are pictured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, Panel, Picture, Sample, Shape

from ..arrays import Floats
from ..domains import Grid
from ..geometry.arrangement import Arrangement, half_width
from ..geometry.pictures import panel, regions
from ..geometry.polygons import polygon
from .concepts import Halfplane, Intersection

MOST_POINTS = 128
"""The most distinct points of a pictured sample."""
DENOMINATOR = 64
"""Of the slopes and offsets of a target, over the side."""
REACH = 1.5
"""The panel shows the middle four fifths of the vertices of the sample's lines, and half as much again."""


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


def plane_picture(self: Any, sample: Sample, codes: Any, target: Any = None) -> Picture:
    """Return what a report draws: the sample, the target and some outputs."""
    shapes = regions(self.side, sample, [self.decode(code) for code in codes], target)
    return Picture((panel(self.side, sample, shapes),))


def dual_panels(arrangement: Arrangement, shares: Floats, chosen: Sequence[Halfplane]) -> tuple[Panel, ...]:
    """Return one panel for each copy of the dual plane.

    The arrangement is the sample's own; `shares` (2, cells) are the probabilities of its cells in the copies z = 1 and
    z = -1, of which the darkest is the likeliest. The `chosen` outputs are drawn as points in their copies.
    """
    cells = [tuple((p / q, r / q) for p, r, q in polygon(arrangement, cell)) for cell in range(arrangement.cells)]
    width = float(half_width(arrangement.side))
    x, y = (_reach([point[axis] for cell in cells for point in cell], width) for axis in (0, 1))
    found = []
    for row, z in enumerate((1, -1)):
        mass = float(shares[row].sum())
        shapes = [
            Shape("polygon", cell, "blue", shade=float(np.sqrt(share / shares.max())), width=0.4)
            for cell, share in zip(cells, shares[row], strict=True)
        ]
        dots = tuple((float(h.a), float(h.b)) for h in chosen if h.z == z)
        seen = tuple((a, b) for a, b in dots if x[0] <= a <= x[1] and y[0] <= b <= y[1])
        if dots:
            label = f"selected; {len(seen)} of {len(dots)} in the part shown"
            shapes.append(Shape("points", dots, "orange", marker="cross", label=label))
        caption = (
            f"The dual plane, copy z = {z} with {mass:.3g} of the probability: a point (a, b) is the halfplane "
            f"y {'≥' if z == 1 else '≤'} a x + b, a line is a point of the sample. The darker a cell, the likelier; "
            f"the likeliest of both copies has {float(shares.max()):.3g}."
        )
        found.append(Panel(caption, x, y, tuple(shapes), "a", "b", equal=False))
    return tuple(found)


def _reach(values: list[float], width: float) -> tuple[float, float]:
    """Return the ends of an axis: around most vertices inside the box (corners and sides of the box left out)."""
    inner = [value for value in values if abs(value) < width] or [0.0]
    low, high = (float(end) for end in np.quantile(sorted(set(inner)), (0.1, 0.9)))
    middle, half = (low + high) / 2, max(REACH * (high - low) / 2, 1.0)
    return max(middle - half, -width), min(middle + half, width)
