"""The pictures that learners offer, as inline SVG: drawn from stored shapes, the same bytes for the same shapes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

from dpaudit.contract import Panel, Shape
from dpaudit.escaping import harmless
from dpaudit.report.numbers import count
from dpaudit.report.row import Row
from dpaudit.report.wording import label_parameters

__all__ = ["pictures"]

_INK = "var(--ink)"
_TONES = {
    "ink": _INK,
    "blue": "var(--okf)",
    "orange": "var(--badf)",
    "purple": "var(--focus)",
    "grey": "var(--nonef)",
}
"""The colours of the page, so that a picture follows its light or dark theme."""
_LEFT, _TOP, _SIZE, _AXIS, _LINE, _RIGHT = 44.0, 8.0, 300.0, 38.0, 15.0, 12.0
"""Margins left, above and right of the panel, its greatest width and height, room for the axis, height of a line."""
_MARKER = 6.0
_TICKS = 5
_TEXT = "font-size: 10.5px"
_LEGEND_CHARACTERS = 54


def pictures(row: Row, name: str) -> list[tuple[str, str]]:
    """Return (SVG element, caption) of each panel of a learner's picture.

    Parameters
    ----------
    row : Row
        What is known of the learner.
    name : str
        Unique in the page: the ids in the figures start with it.
    """
    if row.picture is None:
        return []
    parameters, finding = row.picture
    made = f"{finding.runs} runs on one sample of {count(finding.n)} examples"
    shown = "" if parameters == row.parameters else f", for {label_parameters(parameters)}"
    return [
        (_draw(panel, f"{name}-{i}", row.label), f"{panel.caption} An illustration: {made}{shown}.")
        for i, panel in enumerate(finding.picture.panels, start=1)
    ]


def _draw(panel: Panel, name: str, label: str) -> str:
    """Return one panel as an SVG element."""
    frame = _Frame(panel)
    entries = _entries(panel.shapes)
    height = frame.bottom + _AXIS + _LINE * sum(len(lines) for _, lines in entries) + 6
    width = max(_LEFT + _SIZE, frame.right) + _RIGHT
    clip = f"{name}-clip"
    box = f'x="{_n(_LEFT)}" y="{_n(_TOP)}" width="{_n(frame.width)}" height="{_n(frame.height)}"'
    said = escape(harmless(f"{label}. {panel.caption}"))
    parts = [
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {_n(width)} {_n(height)}">',
        f'<defs><clipPath id="{clip}"><rect {box}/></clipPath></defs>',
        *frame.axes(panel),
        f'<g clip-path="url(#{clip})">',
        *(line for shape in panel.shapes for line in _shape(shape, frame)),
        "</g>",
        f'<rect {box} style="fill: none; stroke: var(--nonef); stroke-width: .8"/>',
        *_legend(entries, frame.bottom + _AXIS),
        "</svg>",
    ]
    return "\n".join(parts)


class _Frame:
    """The place of a panel's rectangle on the page, and the scale from its units to the page's pixels."""

    def __init__(self, panel: Panel) -> None:
        (self.x0, self.x1), (self.y0, self.y1) = panel.x, panel.y
        self.across, self.up = _SIZE / (self.x1 - self.x0), _SIZE / (self.y1 - self.y0)
        if panel.equal:
            self.across = self.up = min(self.across, self.up)
        self.width, self.height = self.across * (self.x1 - self.x0), self.up * (self.y1 - self.y0)
        self.right, self.bottom = _LEFT + self.width, _TOP + self.height

    def place(self, point: Sequence[float]) -> tuple[float, float]:
        """Return a point of the panel in pixels."""
        return _LEFT + (point[0] - self.x0) * self.across, self.bottom - (point[1] - self.y0) * self.up

    def axes(self, panel: Panel) -> Iterator[str]:
        """Yield the numbers and names at the axes."""
        text, line = f"{_TEXT}; fill: {_INK}", "stroke: var(--line); stroke-width: .8"
        for value in _ticks(self.x0, self.x1):
            x = _n(self.place((value, self.y0))[0])
            yield f'<path d="M{x} {_n(_TOP)}V{_n(self.bottom)}" style="{line}"/>'
            yield _words(f"{value:g}", x, _n(self.bottom + 13), text, "middle")
        for value in _ticks(self.y0, self.y1):
            y = self.place((self.x0, value))[1]
            yield f'<path d="M{_n(_LEFT)} {_n(y)}H{_n(self.right)}" style="{line}"/>'
            yield _words(f"{value:g}", _n(_LEFT - 5), _n(y + 3.5), text, "end")
        middle = _n((_LEFT + self.right) / 2)
        yield _words(panel.x_label, middle, _n(self.bottom + 27), text, "middle")
        centre = _n((_TOP + self.bottom) / 2)
        yield _words(panel.y_label, "10", centre, text, "middle", f' transform="rotate(-90 10 {centre})"')


def _words(words: str, x: str, y: str, style: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="{style}"{more}>{escape(harmless(words))}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """Return at most five round numbers in [low, high]."""
    power = 10.0 ** math.floor(math.log10((high - low) / _TICKS))
    step = next(m * power for m in (1, 2, 5, 10, 20) if (high - low) / (m * power) < _TICKS)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _shape(shape: Shape, frame: _Frame) -> Iterator[str]:
    """Yield the elements of a shape."""
    places = [frame.place(point) for point in shape.points]
    if shape.kind == "points":
        yield from _markers(shape, places)
    elif shape.kind == "disc":
        (x, y) = places[0]
        rx, ry = _n(shape.radius * frame.across), _n(shape.radius * frame.up)
        yield f'<ellipse cx="{_n(x)}" cy="{_n(y)}" rx="{rx}" ry="{ry}" style="{_style(shape)}"/>'
    elif places:
        path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in places)
        yield f'<path d="{path}{"Z" if shape.kind == "polygon" else ""}" style="{_style(shape)}"/>'


def _style(shape: Shape) -> str:
    """Return how a polygon, disc or line is filled and outlined."""
    colour = _TONES[shape.tone]
    filled = shape.shade > 0 and shape.kind != "line"
    style = f"fill: {colour}; fill-opacity: {_n(shape.shade, 3)}" if filled else "fill: none"
    if shape.width > 0:
        style += f"; stroke: {colour}; stroke-width: {_n(shape.width)}"
        style += "; stroke-dasharray: 5 3" if shape.dashed else ""
    return style


def _markers(shape: Shape, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yield the markers of points, each with its size, in one group."""
    colour = _TONES[shape.tone]
    hollow = shape.marker in ("ring", "cross")
    style = f"fill: none; stroke: {colour}; stroke-width: 1.4" if hollow else f"fill: {colour}"
    yield f'<g style="{style}">'
    for (x, y), size in zip(places, shape.sizes or [_MARKER] * len(places), strict=True):
        r, across = _n(size / 2), _n(size)
        corner = f"{_n(x - size / 2)} {_n(y - size / 2)}"
        if shape.marker == "cross":
            yield f'<path d="M{corner}l{across} {across}m0 {_n(-size)}l{_n(-size)} {across}"/>'
        elif shape.marker == "square":
            yield f'<path d="M{corner}h{across}v{across}h{_n(-size)}z"/>'
        else:
            yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{r}"/>'
    yield "</g>"


def _entries(shapes: Sequence[Shape]) -> list[tuple[Shape, list[str]]]:
    """Return the first shape of each label, with the label in lines."""
    first: dict[str, Shape] = {}
    for shape in shapes:
        if shape.label:
            first.setdefault(shape.label, shape)
    return [(shape, textwrap.wrap(label, _LEGEND_CHARACTERS)) for label, shape in first.items()]


def _legend(entries: Sequence[tuple[Shape, list[str]]], top: float) -> Iterator[str]:
    """Yield the legend below the panel: a sample of each labelled shape, and its words."""
    y = top + 4
    for shape, lines in entries:
        if shape.kind == "points":
            yield from _markers(replace(shape, sizes=()), [(_LEFT + 8, y)])
        elif shape.kind == "line":
            yield f'<path d="M{_n(_LEFT)} {_n(y)}h16" style="{_style(shape)}"/>'
        else:
            yield f'<path d="M{_n(_LEFT)} {_n(y - 4)}h16v8h-16z" style="{_style(shape)}"/>'
        for words in lines:
            yield _words(words, _n(_LEFT + 24), _n(y + 3.5), f"{_TEXT}; fill: {_INK}", "start")
            y += _LINE


def _n(value: float, digits: int = 1) -> str:
    """Return a number with few digits and no trailing zeros."""
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
