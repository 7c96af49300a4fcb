"""The style of figures by matplotlib, and its colours."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AREA", "BOUND", "CLAIM", "EXACT", "INK", "as_svg", "drawn", "legend"]

# Okabe and Ito's palette, told apart with every common colour blindness.
INK, GRID, EXACT, CLAIM, BOUND, AREA = "#1b1b1b", "#d8d8d8", "#0072b2", "#d55e00", "#8a5a83", "#f0e4ee"

_SIZE = (5.0, 3.2)
_STYLE = {
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
    "lines.linewidth": 1.8,
}


def drawn(paint: Callable[[Figure], None]) -> Figure:
    """Return what is painted on a new figure, which belongs to no window."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # "default" first: what a user's matplotlibrc says must not change the figure.
    with style.context(["default", _STYLE]):
        figure = Figure(figsize=_SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        paint(figure)
    return figure


def as_svg(figure: Figure) -> bytes:
    """Return a figure as SVG, the same bytes each time."""
    import matplotlib as mpl

    written = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "dpaudit", "svg.fonttype": "none"}):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "dpaudit"})
    return written.getvalue()


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
