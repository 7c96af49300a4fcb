"""A figure that a notebook shows as a picture where it is the last line of a cell."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

# Dots per inch of the picture in a notebook: a figure is 600 of them wide.
DPI = 120


class NotebookFigure(Figure):
    """A figure of matplotlib that notebooks draw without pyplot.

    IPython draws other figures only once pyplot has been imported there. One that belongs to no window is shown once:
    pyplot does not know it, so that it does not draw it at the end of the cell again.
    """

    def _repr_png_(self) -> bytes:
        """Return the figure as PNG, for a notebook."""
        written = io.BytesIO()
        self.savefig(written, format="png", dpi=DPI)
        return written.getvalue()
