"""Pictures of the dual plane: the cells of an arrangement, shaded by their probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit.contract import Panel, Shape
from learners.arrays import Floats
from learners.geometry.arrangement import Arrangement, half_width
from learners.geometry.cells import polygon
from learners.regions.halfplane_class import Halfplane

__all__ = ["dual_panels"]

REACH = 1.5
"""The panel shows the middle four fifths of the vertices of the sample's lines, and half as much again."""

Points = tuple[tuple[float, float], ...]


def dual_panels(arrangement: Arrangement, shares: Floats, chosen: Sequence[Halfplane]) -> tuple[Panel, ...]:
    """Return one panel for each copy of the dual plane.

    Parameters
    ----------
    arrangement : Arrangement
        The cells of the sample's own arrangement.
    shares : array, shape (2, cells)
        Probabilities of the cells in the copies z = 1 and z = -1; the darkest cell of both is the likeliest.
    chosen : sequence of Halfplane
        Outputs, drawn as points in their copies.
    """
    cells: list[Points] = [
        tuple((p / q, r / q) for p, r, q in polygon(arrangement, cell)) for cell in range(arrangement.cells)
    ]
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
