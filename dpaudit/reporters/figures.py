"""The figures of a learner, as inline SVG with captions: what was measured, then what the learner offers."""

from __future__ import annotations

from dpaudit.reporters.failure_figure import failure_figure
from dpaudit.reporters.pictures import pictures
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
    settings = [row.in_setting(setting) for setting in row.settings]
    failures = (failure_figure(part, f"{name}-failure-{setting}")
                for part, setting in zip(settings, row.settings, strict=True))  # fmt: skip
    drawn = (privacy_figure(row, f"{name}-privacy"), *failures)
    return [*(figure for figure in drawn if figure is not None), *pictures(row, f"{name}-picture")]
