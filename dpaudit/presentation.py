"""The way in which findings are shown: the package of the public names registers it, and findings ask for it.

Findings stand below the reports, which know them; so nothing here or there names a report.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package's own module, which imports this one
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_registered: list[Callable[[], Any]] = []


def register(load: Callable[[], Any]) -> None:
    """Register what returns the functions `brief`, `page`, `figure` and `notebook` of a finding, when first asked."""
    _registered[:] = [load]


def shown(form: str, finding: Any) -> Any:
    """Return a finding in one of the four forms."""
    return getattr(_registered[0](), form)(finding)
