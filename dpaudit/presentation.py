"""Questions that findings ask modules above them: how they are shown, and if they follow from their counts.

The package of the public names registers both. Findings stand below what they ask, so nothing here or there names it.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in the package's own module, which imports this one
if TYPE_CHECKING:
    from typing import Any

_modules: list[str] = []


def register(shows: str, recomputes: str) -> None:
    """Register the modules of the functions `brief`, `page`, `figure` and `notebook`, and of `recomputed`."""
    _modules[:] = [shows, recomputes]


def shown(form: str, finding: Any) -> Any:
    """Return a finding in one of the four forms."""
    return getattr(import_module(_modules[0]), form)(finding)


def recomputed(finding: Any) -> None:
    """Let a stored finding know what of it could not be recomputed; raise `ToolFault` if what could differs."""
    import_module(_modules[1]).recomputed(finding)
