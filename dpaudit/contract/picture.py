"""Pictures as data: what a learner says is to be drawn; nothing here draws.

A picture is a few panels, each a rectangle of the plane with shapes on it, the first at the bottom. Shapes that leave
the rectangle are cut off. Everything is plain JSON in the stored results; reports draw from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.errors import InputError

__all__ = ["KINDS", "MARKERS", "TONES", "Panel", "Picture", "Shape"]

KINDS = ("polygon", "line", "disc", "points")
TONES = ("ink", "blue", "orange", "purple", "grey")
"""Colours that every reader can distinguish, in light and dark pages."""
MARKERS = ("dot", "ring", "cross", "square")

# The most shapes that a picture may have: a page shows many pictures.
MAX_SHAPES = 2048


def _check_numbers(name: str, values: tuple[float, ...]) -> None:
    if not all(isinstance(v, int | float) and math.isfinite(v) for v in values):
        raise InputError.of(name, values, "finite numbers")


@dataclass(frozen=True)
class Shape:
    """Something drawn on a panel.

    Parameters
    ----------
    kind : {"polygon", "line", "disc", "points"}
        A closed polygon, an open line through its points, a disc, or markers.
    points : tuple of (x, y)
        Corners, or where the markers stand; of a disc its centre alone.
    tone : {"ink", "blue", "orange", "purple", "grey"}
        The colour.
    shade : float
        Opacity of the filling of a polygon or disc, in [0, 1]; 0 for an outline alone.
    width : float
        Of outline or line, in the page's pixels, >= 0; 0 for none.
    dashed : bool
        Whether the outline or line is dashed.
    marker : {"dot", "ring", "cross", "square"}
        Of points.
    sizes : tuple of float
        Diameters of the markers in the page's pixels, one each or none for the usual size.
    radius : float
        Of a disc, in the panel's units, > 0.
    label : str
        Its entry in the legend; shapes with the same label share one entry. Empty for none.
    """

    kind: str
    points: tuple[tuple[float, float], ...]
    tone: str = "ink"
    shade: float = 0.0
    width: float = 1.5
    dashed: bool = False
    marker: str = "dot"
    sizes: tuple[float, ...] = ()
    radius: float = 0.0
    label: str = ""

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("kind", self.kind, KINDS),
            ("tone", self.tone, TONES),
            ("marker", self.marker, MARKERS),
        ):
            if value not in allowed:
                raise InputError.among(name, value, allowed)
        # Checked one by one, so that the error shows the point that is at fault.
        for point in self.points:
            if len(point) != 2:
                raise InputError.of("points", point, "pairs (x, y)")
            _check_numbers("points", point)
        _check_numbers("shade, width and radius", (self.shade, self.width, self.radius))
        if not (0 <= self.shade <= 1 and self.width >= 0):
            raise InputError(
                f"shade must be in [0, 1] and width >= 0, got {self.shade!r} and {self.width!r}", parameter="shade"
            )
        if self.kind == "disc" and not (len(self.points) == 1 and self.radius > 0):
            raise InputError(
                f"a disc needs one point and a radius > 0, got {self.points!r} and {self.radius!r}", parameter="points"
            )
        if self.sizes and len(self.sizes) != len(self.points):
            raise InputError(
                f"sizes must be none or one a point; got {len(self.sizes)} for {len(self.points)} points",
                parameter="sizes",
            )
        _check_numbers("sizes", self.sizes)


@dataclass(frozen=True)
class Panel:
    """A rectangle of the plane with shapes on it.

    Parameters
    ----------
    caption : str
        A description of what the panel shows, for readers who cannot see it.
    x, y : (float, float)
        Ends of the axes, least first.
    shapes : tuple of Shape
        The first at the bottom.
    x_label, y_label : str
        What the axes are.
    equal : bool
        Whether both axes have the same scale; otherwise the panel is square.
    """

    caption: str
    x: tuple[float, float]
    y: tuple[float, float]
    shapes: tuple[Shape, ...]
    x_label: str = "x"
    y_label: str = "y"
    equal: bool = True

    def __post_init__(self) -> None:
        if not self.caption:
            raise InputError("caption must say what the panel shows, got ''", parameter="caption", value="")
        for name, ends in (("x", self.x), ("y", self.y)):
            _check_numbers(name, ends)
            if len(ends) != 2 or not ends[0] < ends[1]:
                raise InputError.of(name, ends, "(low, high) with low < high")


@dataclass(frozen=True)
class Picture:
    """A picture of some outputs of a learner.

    Parameters
    ----------
    panels : tuple of Panel
        One or more, at most 2048 shapes together.
    """

    panels: tuple[Panel, ...]

    def __post_init__(self) -> None:
        count = sum(len(panel.shapes) for panel in self.panels)
        if not self.panels or count > MAX_SHAPES:
            raise InputError(f"a picture needs a panel and at most {MAX_SHAPES} shapes; it has {len(self.panels)} "
                             f"panels and {count} shapes")  # fmt: skip
