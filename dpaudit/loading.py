"""Public names that are loaded on first use: importing the module that has them costs next to nothing."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; the module `typing` costs more than all of this one
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def load(namespace: dict[str, Any], homes: Mapping[str, str], name: str) -> Any:
    """Return a public name of a module, which keeps it; `homes` has the public names that each module defines."""
    for home, names in homes.items():
        if name in names.split():
            namespace[name] = getattr(import_module(f"dpaudit.{home}"), name)
            return namespace[name]
    raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
