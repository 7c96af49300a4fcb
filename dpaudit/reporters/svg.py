"""From a matplotlib figure to SVG that can stand in a page: small, reproducible, themed, without clashing ids."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from html import escape
from typing import TYPE_CHECKING

from dpaudit.harmless import harmless
from dpaudit.reporters.compact import compact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AREA", "BOUND", "CLAIM", "EXACT", "GRID", "INK", "OTHER", "draw", "drawn", "legend", "themed"]

# Okabe and Ito's palette, told apart with every common colour blindness. A page turns each colour into a CSS variable,
# so that a figure follows the page's light or dark theme.
INK, GRID, EXACT, CLAIM, BOUND, AREA, OTHER = (
    "#1b1b1b",
    "#d8d8d8",
    "#0072b2",
    "#d55e00",
    "#8a5a83",
    "#f0e4ee",
    "#6b6b6b",
)
_VARIABLES = {
    INK: "ink",
    GRID: "grid",
    EXACT: "exact",
    CLAIM: "claim",
    BOUND: "bound",
    AREA: "area",
    OTHER: "other",
}

_SIZE = (5.0, 3.2)
_STYLE = {
    # Text stays text: small files that can be searched and read aloud. Its extent is measured in DejaVu Sans, which
    # comes with matplotlib and is wider than what pages use, so that labels never grow into each other.
    "svg.fonttype": "none",
    "svg.hashsalt": "dpaudit",
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "lines.linewidth": 1.8,
    "path.simplify": True,
}


def draw(name: str, description: str, paint: Callable[[Figure], None]) -> str:
    """Return a figure as an inline SVG element.

    Parameters
    ----------
    name : str
        Unique in the page; every id in the figure starts with it.
    description : str
        What the figure is, for those who cannot see it; its caption says what it shows.
    paint : callable
        Draws on the figure that it is given; the style is in force while it runs.
    """
    with _styled():
        figure = _painted(paint)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _inline(text.getvalue(), name, description)


def drawn(paint: Callable[[Figure], None]) -> Figure:
    """Return a figure in the style of the reports and on white, for whoever shows or saves it himself."""
    with _styled():
        figure = _painted(paint)
    figure.set_facecolor("white")
    return figure


def _styled() -> AbstractContextManager[None]:
    """Let the style of the reports be in force."""
    from matplotlib import style

    # "default" first: what a user's matplotlibrc says must not change a byte.
    return style.context(["default", _STYLE])


def _painted(paint: Callable[[Figure], None]) -> Figure:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    FigureCanvasSVG(figure)
    paint(figure)
    return figure


def legend(figure: Figure, first: Sequence[str]) -> None:
    """Put the legend above the axes, where it can cover nothing; the labels in `first`, what was measured, lead."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: first.index(labels[i]) if labels[i] in first else len(first))
    figure.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="outside upper left",
        ncols=2,
        handlelength=1.8,
        columnspacing=1.4,
    )


def _inline(svg: str, name: str, description: str) -> str:
    """Return the SVG element alone, its ids prefixed, its colours as CSS variables, described for screen readers."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r'<svg\b[^>]*?(viewBox="[^"]*")[^>]*>', r"<svg \1>", body, count=1).replace("xlink:href", "href")
    # Only inside tags: a label such as "0.5108" is text and stays what it is.
    body = re.sub(r"<[^>]*>", lambda tag: _retag(tag.group(), name), compact(body))
    return body.replace("<svg", f'<svg role="img" aria-label="{escape(harmless(description))}"', 1)


def _retag(tag: str, name: str) -> str:
    """Return a tag with prefixed ids, the page's font and the page's colours."""
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    tag = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", tag)
    tag = re.sub(r" font-family: [^;\"]+;", "", re.sub(r"font: ([\d.]+px) [^;\"]+;", r"font-size: \1;", tag))
    return re.sub(r"#[0-9a-fA-F]{6}\b", lambda found: themed(found.group().lower()), tag)


def themed(colour: str) -> str:
    """Return the CSS variable of a colour of the palette, other colours as they are."""
    return f"var(--figure-{_VARIABLES[colour]}, {colour})" if colour in _VARIABLES else colour
