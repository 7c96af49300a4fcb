"""The pictures that learners offer, as inline SVG: drawn from stored shapes, the same bytes for the same shapes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpaudit.contract import Panel, Shape
from dpaudit.evidence.records import PictureFinding
from dpaudit.report.figures import CaptionedFigure
from dpaudit.report.numbers import count
from dpaudit.report.svg import element, linear, path, short, ticks, words
from dpaudit.report.view import Row
from dpaudit.report.words.claims import label_parameters

_INK = "var(--ink)"
# The colours of the page, so that a picture follows its light or dark theme.
_TONES = {
    "ink": _INK,
    "blue": "var(--okf)",
    "orange": "var(--badf)",
    "purple": "var(--focus)",
    "grey": "var(--nonef)",
}
# Margins left, above and right of the panel, in pixels.
_LEFT = 44
_TOP = 8
_RIGHT = 12
# The greatest width and height of the panel, the room for its axis, and the height of a line of the legend.
_SIZE = 300
_AXIS = 38
_LINE = 15
# The width of a marker in pixels, where a shape does not say it.
_MARKER = 6.0
_TEXT = f"font-size: 10.5px; fill: {_INK}"
# The characters that fit beside the sign of a legend.
_LEGEND_CHARACTERS = 54


def pictures(row: Row, name: str) -> list[CaptionedFigure]:
    """Return each panel of a learner's picture with its caption; ids in it start with `name`, unique in the page."""
    if row.picture is None or not isinstance(finding := row.picture.finding, PictureFinding):
        return []
    parameters = row.picture.parameters
    made = f"{finding.runs} runs on one sample of {count(finding.n)} examples"
    shown = ""
    if parameters != row.parameters:
        shown = f", for {label_parameters(parameters)}"
    return [
        CaptionedFigure(_draw(panel, f"{name}-{i}-clip", row.label), f"{panel.caption} An illustration: {made}{shown}.")
        for i, panel in enumerate(finding.picture.panels, start=1)
    ]


class _Frame:
    """The place of a panel's rectangle on the page, as large as it fits, and the pixels of a unit across and up."""

    def __init__(self, panel: Panel) -> None:
        across, up = (_SIZE / (high - low) for low, high in (panel.x, panel.y))
        self.panel = panel
        # A plane is drawn to scale; a curve fills its panel.
        if panel.equal:
            across = up = min(across, up)
        self.across = across
        self.up = up
        self.right = _LEFT + self.across * (panel.x[1] - panel.x[0])
        self.bottom = _TOP + self.up * (panel.y[1] - panel.y[0])

    def places(self, points: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
        """Return points of the panel in pixels."""
        x0, _ = self.panel.x
        y0, _ = self.panel.y
        # The pixels of a page are counted from the top down.
        return [(_LEFT + (x - x0) * self.across, self.bottom - (y - y0) * self.up) for x, y in points]

    def box(self, style: str | None = None) -> str:
        """Return the rectangle itself."""
        return element("rect", x=_LEFT, y=_TOP, width=self.right - _LEFT, height=self.bottom - _TOP, style=style)

    def axes(self) -> list[str]:
        """Return the lines, numbers and names of both axes."""
        line = "stroke: var(--line); stroke-width: .8"
        parts = []
        to_x = linear(*self.panel.x, _LEFT, self.right)
        to_y = linear(*self.panel.y, self.bottom, _TOP)
        for value in ticks(*self.panel.x, 4):
            x = to_x(value)
            parts.append(element("path", d=path([(x, _TOP), (x, self.bottom)]), style=line))
            parts.append(words(f"{value:g}", x, self.bottom + 13, "middle", style=_TEXT))
        for value in ticks(*self.panel.y, 4):
            y = to_y(value)
            parts.append(element("path", d=path([(_LEFT, y), (self.right, y)]), style=line))
            parts.append(words(f"{value:g}", _LEFT - 5, y + 3.5, "end", style=_TEXT))
        middle = (_LEFT + self.right) / 2
        centre = (_TOP + self.bottom) / 2
        turned = f"rotate(-90 10 {short(centre)})"
        parts.append(words(self.panel.x_label, middle, self.bottom + 27, "middle", style=_TEXT))
        return [*parts, words(self.panel.y_label, 10, centre, "middle", style=_TEXT, transform=turned)]


def _draw(panel: Panel, clip: str, label: str) -> str:
    frame = _Frame(panel)
    legend = _entries(panel.shapes)
    foot = frame.bottom + _AXIS
    height = foot + _LINE * sum(len(lines) for _, lines in legend) + 6
    width = max(_LEFT + _SIZE, frame.right) + _RIGHT
    return element(
        "svg",
        element("defs", element("clipPath", frame.box(), id=clip)),
        *frame.axes(),
        element("g", *(_shape(shape, frame) for shape in panel.shapes), clip_path=f"url(#{clip})"),
        frame.box("fill: none; stroke: var(--nonef); stroke-width: .8"),
        *_legend(legend, foot + 4),
        role="img",
        aria_label=f"{label}. {panel.caption}",
        viewBox=f"0 0 {short(width)} {short(height)}",
    )


def _shape(shape: Shape, frame: _Frame) -> str:
    places = frame.places(shape.points)
    if shape.kind == "points":
        return _markers(shape, places)
    if shape.kind == "disc":
        ((x, y),) = places
        across = shape.radius * frame.across
        up = shape.radius * frame.up
        return element("ellipse", cx=x, cy=y, rx=across, ry=up, style=_style(shape))
    if places:
        return element("path", d=path(places, shape.kind == "polygon"), style=_style(shape))
    return ""


def _style(shape: Shape) -> str:
    colour = _TONES[shape.tone]
    filled = shape.shade > 0 and shape.kind != "line"
    style = "fill: none"
    if filled:
        style = f"fill: {colour}; fill-opacity: {short(shape.shade, 3)}"
    if shape.width > 0:
        style += f"; stroke: {colour}; stroke-width: {short(shape.width)}"
        if shape.dashed:
            style += "; stroke-dasharray: 5 3"
    return style


def _markers(shape: Shape, places: Sequence[tuple[float, float]]) -> str:
    colour = _TONES[shape.tone]
    hollow = shape.marker in ("ring", "cross")
    if hollow:
        style = f"fill: none; stroke: {colour}; stroke-width: 1.4"
    else:
        style = f"fill: {colour}"
    sized = zip(places, shape.sizes or [_MARKER] * len(places), strict=True)
    return element("g", *(_marker(shape.marker, x, y, size) for (x, y), size in sized), style=style)


def _marker(marker: str, x: float, y: float, size: float) -> str:
    corner = f"M{short(x - size / 2)} {short(y - size / 2)}"
    side = short(size)
    if marker == "cross":
        return element("path", d=f"{corner}l{side} {side}m0 -{side}l-{side} {side}")
    if marker == "square":
        return element("path", d=f"{corner}h{side}v{side}h-{side}z")
    return element("circle", cx=x, cy=y, r=size / 2)


def _entries(shapes: Sequence[Shape]) -> list[tuple[Shape, list[str]]]:
    first: dict[str, Shape] = {}
    for shape in shapes:
        if shape.label:
            first.setdefault(shape.label, shape)
    # SVG breaks no lines.
    return [(shape, textwrap.wrap(label, _LEGEND_CHARACTERS)) for label, shape in first.items()]


def _legend(entries: Sequence[tuple[Shape, list[str]]], y: float) -> list[str]:
    parts = []
    for shape, lines in entries:
        if shape.kind == "points":
            parts.append(_markers(replace(shape, sizes=()), [(_LEFT + 8, y)]))
        else:
            box = "m0 -4h16v8h-16z"
            if shape.kind == "line":
                box = "h16"
            parts.append(element("path", d=f"M{_LEFT} {short(y)}{box}", style=_style(shape)))
        for text in lines:
            parts.append(words(text, _LEFT + 24, y + 3.5, "start", style=_TEXT))
            y += _LINE
    return parts
