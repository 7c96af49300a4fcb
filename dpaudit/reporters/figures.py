"""The figures of a learner, as inline SVG with captions."""

from __future__ import annotations

from dpaudit.reporters.failure_figure import failure_figure
from dpaudit.reporters.privacy_figure import privacy_figure
from dpaudit.reporters.row import Row

__all__ = ["figures"]


def figures(row: Row, name: str) -> list[tuple[str, str]]:
    """Return (SVG element, caption) of every figure that the row has data for.

    Parameters
    ----------
    row : Row
        What is known of the learner.
    name : str
        Unique in the page: the ids in the figures start with it.
    """
    drawn = (privacy_figure(row, f"{name}-privacy"), failure_figure(row, f"{name}-failure"))
    return [figure for figure in drawn if figure is not None]
