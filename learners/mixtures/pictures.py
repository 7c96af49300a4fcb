"""Pictures of learning from private and public examples: both kinds of points, and the regions learned to be 0."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.contract import Panel, Sample, Shape
from learners.geometry.clipping import Corners, clip, square
from learners.geometry.pictures import error_share

__all__ = ["mixture_panel"]

Row = tuple[int | Fraction, ...]


def mixture_panel(side: int, sample: Sample, learned: Sequence[Any], target: Row | None, inside: int = 0) -> Panel:
    """Return the panel over the square [0, side]^2.

    Parameters
    ----------
    learned : sequence
        Hypotheses with `halfspaces` and `flat`, rows (w_1, w_2, t): the label `inside` on the intersection of
        <w, x> >= t and the flat, the other one elsewhere.
    target : (w_1, w_2, t) or None
        What labels 1 where <w, x> >= t.
    inside : {0, 1}
        The label of the regions that are shown.
    """
    shapes = []
    for hypothesis in learned:
        opposite = [tuple(-v for v in row) for row in hypothesis.flat]
        corners = _region(side, [*hypothesis.halfspaces, *hypothesis.flat, *opposite] or None)
        label = f"learned to be {inside}, error {error_share(sample, hypothesis):.3g} on the sample"
        shapes.append(_polygon(corners, "blue", 0.16, label))
    if target is not None:
        shown = target if inside else tuple(-v for v in target)
        shapes.append(_polygon(_region(side, [shown]), "orange", 0.0, f"target: {inside} on this side"))
    margin = 0.06 * side
    ends = (-margin, side + margin)
    caption = (
        f"Public and private examples, and the regions that were learned to be labelled {inside}: intersections of "
        "halfplanes through public points. A region without area is drawn as a line or not at all."
    )
    return Panel(caption, ends, ends, (*shapes, *_markers(sample)), x_label="x_1", y_label="x_2")


def _region(side: int, rows: Sequence[Row] | None) -> Corners:
    """Return the part of the square in all halfplanes; nothing for None, the empty hypothesis."""
    corners = square(0, side) if rows is not None else []
    for a, b, t in rows or ():
        corners = clip(corners, [a * x + b * y - t for x, y in corners])
    return corners


def _polygon(corners: Corners, tone: str, shade: float, label: str) -> Shape:
    points = tuple((float(x), float(y)) for x, y in corners)
    return Shape("polygon", points, tone, shade, 1.2 if shade else 2.0, dashed=not shade, label=label)


def _markers(sample: Sample) -> list[Shape]:
    """Return the markers of public and private points of either label."""
    public = np.zeros(len(sample.labels), dtype=np.bool_) if sample.public is None else sample.public
    shapes = []
    for flag, kind, markers in ((True, "public", ("square", "cross")), (False, "private", ("ring", "dot"))):
        for label, marker in enumerate(markers):
            rows = sample.points[(public == flag) & (sample.labels == label)].tolist()
            points = tuple((float(x), float(y)) for x, y in rows)
            if points:
                shapes.append(Shape("points", points, "ink", marker=marker, label=f"{kind}, labelled {label}"))
    return shapes
