"""Panels of learned regions of the plane: the sample, what labelled it, and some outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, runtime_checkable

from dpaudit.contract import Hypothesis, Panel, Sample, Shape

# Diameters of the markers of the heaviest point and of the lightest points.
LARGEST = 9.0
LEAST = 3.0


@runtime_checkable
class HasRegion(Protocol):
    """A hypothesis on the plane that can be drawn."""

    def region(self, side: int) -> Sequence[Sequence[tuple[Fraction, Fraction]]]:
        """Return the vertices of polygons whose union in [0, side]^2 is labelled 1; they may overlap."""


def panel(side: int, sample: Sample, shapes: Sequence[Shape], what: str = "regions") -> Panel:
    """Return the panel of the plane with shapes on it and the sample above them."""
    caption = f"A sample and the {what} that were learned from it; larger markers stand for more examples."
    return framed(side, caption, [*shapes, *examples(sample)])


def framed(side: int, caption: str, shapes: Sequence[Shape], x_label: str = "x", y_label: str = "y") -> Panel:
    """Return the panel of the square [0, side]^2, with a margin around it."""
    ends = (-0.06 * side, side + 0.06 * side)
    return Panel(caption, ends, ends, tuple(shapes), x_label, y_label)


def regions(
    side: int, sample: Sample, hypotheses: Sequence[Hypothesis], target: Hypothesis | None
) -> tuple[Shape, ...]:
    """Return the outlines of the hypotheses, each with its error on the sample, and of the target, if any.

    Each is one that `HasRegion`.
    """
    drawn = [(h, "blue", 0.14, 1.2, f"learned, error {error_share(sample, h):.3g} on the sample") for h in hypotheses]
    drawn += [] if target is None else [(target, "orange", 0.0, 2.0, "target")]
    shapes = []
    for hypothesis, tone, shade, width, label in drawn:
        assert isinstance(hypothesis, HasRegion)
        # An empty region has its entry in the legend all the same.
        for vertices in hypothesis.region(side) or ((),):
            corners = tuple((float(x), float(y)) for x, y in vertices)
            shapes.append(Shape("polygon", corners, tone, shade, width, shade == 0, label=label))
    return tuple(shapes)


def examples(sample: Sample) -> tuple[Shape, ...]:
    """Return the markers of a sample's positive and negative points, their areas growing with the examples there."""
    # Areas are proportional to counts, so diameters to their roots.
    heaviest = math.sqrt(max(sample.counts.tolist(), default=1))
    shapes = []
    for label, marker, word in ((1, "dot", "labelled 1"), (0, "ring", "labelled 0")):
        rows = [i for i, found in enumerate(sample.labels.tolist()) if found == label]
        points = tuple((float(x), float(y)) for x, y in sample.points[rows].tolist())
        sizes = tuple(max(LEAST, LARGEST * math.sqrt(count) / heaviest) for count in sample.counts[rows].tolist())
        if points:
            shapes.append(Shape("points", points, "ink", marker=marker, sizes=sizes, label=f"examples {word}"))
    return tuple(shapes)


def error_share(sample: Sample, hypothesis: Hypothesis) -> float:
    """Return the share of the sample that a hypothesis labels wrongly, 0 for the empty sample."""
    wrong = hypothesis.predict(sample.points) != sample.labels
    return int(sample.counts[wrong].sum()) / max(sample.n, 1)
