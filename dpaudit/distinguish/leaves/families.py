"""Families of types: outputs of one family are taken apart in the same way, and which family it is is a feature.

NumPy's scalars belong with Python's, a list with a tuple, and an array whatever its memory order: those differences are
left alone on purpose. An integer and a float of the same value are told apart, as are a Boolean and an integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from dpaudit.distinguish.canonical import Raised

__all__ = ["families", "family"]

_BASES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    ("complex", (complex, np.complexfloating)),
    ("text", (str,)),
    ("bytes", (bytes, bytearray, memoryview)),
    ("none", (type(None),)),
    ("array", (np.ndarray,)),
    ("mapping", (Mapping,)),
    ("set", (set, frozenset)),
    ("exception", (Raised, BaseException)),
)


@lru_cache(maxsize=4096)
def family(kind: type) -> str:
    """Return the name of a type's family; a type of none of them is a family of its own."""
    import enum

    if issubclass(kind, enum.Enum):
        return f"{kind.__module__}.{kind.__qualname__}"
    if issubclass(kind, np.ma.MaskedArray) or issubclass(kind, np.void):
        return f"{kind.__module__}.{kind.__qualname__}"
    for name, bases in _BASES:
        if issubclass(kind, bases):
            return name
    if kind in (list, tuple):
        return "sequence"
    return f"{kind.__module__}.{kind.__qualname__}"


def families(rows: list[object]) -> set[str]:
    """Return the families of some outputs."""
    return {family(kind) for kind in set(map(type, rows))}
