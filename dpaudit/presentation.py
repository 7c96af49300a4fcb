"""Questions that findings ask modules above them: how they are shown, and if they follow from their counts.

The package of the public names registers both. Findings stand below what they ask, so nothing here or there names it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package's own module, which imports this one
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_registered: list[Callable[[], Any]] = []


def register(load: Callable[[], Any], load_check: Callable[[], Any]) -> None:
    """Register what is loaded when first asked.

    These are the module of the functions `brief`, `page`, `figure` and `notebook` of a finding, and that of the
    function `recomputed`.
    """
    _registered[:] = [load, load_check]


def shown(form: str, finding: Any) -> Any:
    """Return a finding in one of the four forms."""
    return getattr(_registered[0](), form)(finding)


def recomputed(finding: Any) -> None:
    """Let a stored finding know what of it could not be recomputed; raise `ToolFault` if what could differs."""
    _registered[1]().recomputed(finding)
