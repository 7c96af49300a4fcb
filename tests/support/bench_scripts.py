"""The scripts that measure, as modules."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from source_tree import ROOT

__all__ = ["script"]


def script(name: str) -> ModuleType:
    """Return scripts/NAME.py as a module; what stands beside it is found as when it is run."""
    folder = str(ROOT / "scripts")
    if folder not in sys.path:
        sys.path.append(folder)
    return import_module(name)
