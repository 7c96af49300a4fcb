"""Hooks of findings for what stands above them: how they are shown, and whether they follow from their counts.

The package of the public names fills both. Nothing is imported here, as that package imports this module.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package's own module, which imports this one
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from matplotlib.figure import Figure

    Recomputer = Callable[[Any], Any]

    class Presenter(Protocol):
        """Shows findings of every kind."""

        def brief(self, finding: Any) -> str:
            """Return the verdict, what it rests on, and what repeats it."""

        def page(self, finding: Any) -> str:
            """Return all that a finding says."""

        def figure(self, finding: Any) -> Figure:
            """Return the figure of a finding."""

        def notebook(self, finding: Any) -> str:
            """Return a finding as HTML."""


# These load what stands above findings when it is asked for; both are set by `connect`.
_load_presenter: Callable[[], Presenter]
_load_recomputer: Callable[[], Recomputer]


def connect(presenter: Callable[[], Presenter], recomputer: Callable[[], Recomputer]) -> None:
    """Connect findings with what shows them, and with what recomputes them."""
    global _load_presenter, _load_recomputer
    _load_presenter = presenter
    _load_recomputer = recomputer


def presenter() -> Presenter:
    """Return what shows findings."""
    return _load_presenter()


def recompute(finding: Any) -> None:
    """Let a stored finding know what of it could not be recomputed; raise `ToolFault` if what could differs."""
    _load_recomputer()(finding)
