"""The hook by which findings reach what shows them, which stands above them.

The package of the public names fills it. Nothing is imported here, as that package imports this module.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package's own module, which imports this one
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from matplotlib.figure import Figure

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


# Loads what shows findings, when it is asked for; `connect` sets it.
_load_presenter: Callable[[], Presenter]


def connect(presenter: Callable[[], Presenter]) -> None:
    """Connect findings with what shows them."""
    global _load_presenter
    _load_presenter = presenter


def presenter() -> Presenter:
    """Return what shows findings."""
    return _load_presenter()
