"""Pictures of depth: the regions of depth at least r of a planar sample, and the points that were released."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpaudit.contract import Panel, Shape
from learners.geometry.clipping import Corners, clip, square
from learners.halfspaces.depth.depth_regions import DepthRegions

__all__ = ["contours", "depth_panel", "region_of_depth"]

LEVELS = 5


def region_of_depth(regions: DepthRegions, level: int) -> Corners:
    """Return the corners of T(level) in the plane, in order around it; fewer than three where it has no area.

    Every coordinate direction is among the normals, so the square that is cut can be any that holds the points.
    """
    reach = int(abs(regions.points).max(initial=0)) + 1
    corners = square(-reach, reach)
    for (a, b), low, high in zip(regions.normals.tolist(), *map(list, regions.bounds(level)), strict=True):
        for sign, bound in ((1, -int(low)), (-1, int(high))):
            corners = clip(corners, [sign * (a * x + b * y) + bound for x, y in corners])
    return corners


def contours(regions: DepthRegions, levels: int = LEVELS) -> list[tuple[int, Corners]]:
    """Return some depths up to the greatest, evenly spread and ascending, each with its region."""
    total = int(regions.weights.sum())
    deepest = next((r for r in range(total, 0, -1) if region_of_depth(regions, r)), 0)
    chosen = sorted({-(-deepest * i // levels) for i in range(1, levels + 1)} - {0})
    return [(level, region_of_depth(regions, level)) for level in chosen]


def depth_panel(
    side: int, regions: DepthRegions, sample: Sequence[Shape], released: Sequence[tuple[Fraction, ...]]
) -> Panel:
    """Return the panel of depth contours over the grid {0 .. side}^2, the sample's markers and the released points."""
    found = contours(regions)
    shapes = [
        Shape("polygon", tuple((float(x), float(y)) for x, y in corners), "blue", 0.12, 0.8, label=f"depth >= {level}")
        for level, corners in found
    ]
    points = tuple((float(p[0]), float(p[1])) for p in released)
    marks = Shape("points", points, "orange", marker="cross", sizes=(10.0,) * len(points), label="released")
    n = int(regions.weights.sum())
    deepest = found[-1][0] if found else 0
    caption = (
        f"Tukey depth of {n} examples: regions of points at least so deep, the deepest {deepest}, where n/3 is "
        f"{n / 3:.0f}; and the points that were released."
    )
    margin = 0.06 * side
    ends = (-margin, side + margin)
    return Panel(caption, ends, ends, (*shapes, *sample, marks), x_label="x_1", y_label="x_2")
