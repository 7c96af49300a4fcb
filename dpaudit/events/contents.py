"""Tell whether an input is still what it was."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.outputs.canonical import canonical

__all__ = ["contents"]


def contents(data: Any) -> Hashable:
    """Return what plain data, a table or a tensor holds; None for objects, which may fill caches as they please."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return (data.shape, data.dtype.str, data.tobytes())
    plain = isinstance(data, list | dict | set | bytearray | np.ndarray | tuple) or hasattr(type(data), "__array__")
    try:
        return canonical(data) if plain else None
    except InputError:  # an object among them
        return None
