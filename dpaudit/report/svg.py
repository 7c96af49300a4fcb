"""A writer of SVG: elements, words, scales and axes. Every figure of the pages is made of these, and all is escaped.

A length that is a number is in pixels; `along` makes one that is a share of the width, so that words never scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape

from dpaudit.escaping import printable

# From a value to its place.
Scale = Callable[[float], float]


def short(value: float, digits: int = 1) -> str:
    """Return a number with at most `digits` decimals and no trailing zeros."""
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    # Equal figures give equal bytes, on whichever side of 0 rounding came from.
    if text == "-0":
        return "0"
    return text


def along(value: float) -> str:
    """Return a length of `value` per cent of the width."""
    return f"{short(value, 2)}%"


def element(name: str, *inside: str, **attributes: str | float | None) -> str:
    """Return an element with elements inside; names lose a last "_", others become "-", and None is left out.

    >>> element("rect", class_="claim", x=along(12.5), stroke_width=1.50)
    '<rect class="claim" x="12.5%" stroke-width="1.5"/>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(value if isinstance(value, str) else short(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if inside:
        return f"<{name}{given}>{''.join(inside)}</{name}>"
    return f"<{name}{given}/>"


def words(text: str, x: str | float, y: float, anchor: str | None = None, **attributes: str | float | None) -> str:
    """Return words at a place; `anchor` is the part of them that stands there: "start", "middle" or "end"."""
    return element("text", escape(printable(text)), x=x, y=y, text_anchor=anchor, **attributes)


def across(name: str, start: float, end: float, y: float) -> str:
    """Return a horizontal line of a class between two shares of the width."""
    return element("line", class_=name, x1=along(start), x2=along(end), y1=y, y2=y)


def dot(x: float, y: float, name: str = "dot") -> str:
    """Return a dot at a share of the width."""
    return element("circle", class_=name, cx=along(x), cy=y, r=5)


def drawing(said: str, height: float, *inside: str, title: bool = False, name: str | None = None) -> str:
    """Return a figure as wide as its place; a screen reader reads `said`, which is its title too if `title`."""
    titled = []
    if title:
        titled = [element("title", escape(printable(said)))]
    return element("svg", *titled, *inside, role="img", height=height, class_=name, aria_label=said)


def path(points: Iterable[Sequence[float]], closed: bool = False) -> str:
    """Return the data of a path through points in pixels."""
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points) + "Z" * closed


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """Return the scale that maps [low, high] on [start, end], and what lies beyond, infinity included, on the ends."""

    def at(value: float) -> float:
        # Infinity stands at the end of the axis.
        part = 1.0
        if math.isfinite(value):
            part = (value - low) / (high - low)
        return start + (end - start) * min(max(part, 0.0), 1.0)

    return at


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return the multiples in [low, high] of the least step of 1, 2 or 5 times a power of ten with <= `most` steps."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    # 1e-9 keeps a tick whose place is off by rounding alone.
    step = next(m * power for m in (1, 2, 5, 10) if (high - low) / (m * power) <= most + 1e-9)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    # 3 * 0.1 is 0.30000000000000004, and a label shows it.
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def axis(labels: Iterable[tuple[float, str]], y: float, grid: tuple[float, float] | None = None) -> str:
    """Return the words below a horizontal axis, each at its share of the width, with lines of the grid between two y.

    The first one stands wholly right of its place if that is the left end.
    """
    parts = []
    for x, label in labels:
        if grid is not None:
            parts.append(element("line", class_="grid", x1=along(x), x2=along(x), y1=grid[0], y2=grid[1]))
        parts.append(words(label, along(x), y, "middle" if x else "start", class_="t"))
    return "".join(parts)
