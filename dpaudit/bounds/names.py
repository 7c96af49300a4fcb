"""The bounds by name."""

from __future__ import annotations

from dpaudit.bounds.base import Bound
from dpaudit.bounds.melded import Melded
from dpaudit.bounds.unconditional import Unconditional
from dpaudit.errors import InputError

__all__ = ["get_bound"]

BOUNDS: dict[str, type[Bound]] = {kind.name: kind for kind in (Melded, Unconditional)}


def get_bound(name: str) -> Bound:
    """Return a bound by name; the choice must not depend on the counts that the bound is then given."""
    if name not in BOUNDS:
        raise InputError.of("bound", name, f"one of {', '.join(BOUNDS)}")
    return BOUNDS[name]()
