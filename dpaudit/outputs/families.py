"""Families of types: outputs of one family are taken apart in the same way, and which family it is is a feature.

NumPy's scalars belong with Python's, a list with a tuple, and an array whatever its memory order: those differences are
left alone on purpose. An integer and a float of the same value are told apart, as are a Boolean and an integer. A class
derived from one of these by anybody else is a family of its own, because its instances may hold more.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import numpy as np

from dpaudit.outputs.parts import REGISTERED
from dpaudit.outputs.raised import Raised

__all__ = ["NUMERIC", "families", "family", "kind_of"]

NUMERIC = frozenset({"bool", "int", "float"})

_BASES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    ("complex", (complex, np.complexfloating)),
    ("text", (str,)),
    ("bytes", (bytes, bytearray, memoryview)),
    ("none", (type(None),)),
    ("array", (np.ndarray,)),
    ("mapping", (dict,)),
    ("set", (set, frozenset)),
)
_OURS = frozenset({"builtins", "numpy", "collections"})
"""Modules whose classes derived from plain types hold nothing more."""

_known: dict[type, str] = {}


def family(kind: type) -> str:
    """Return the name of a type's family; a type of none of them is a family of its own."""
    if REGISTERED and any(base in REGISTERED for base in kind.__mro__):
        return _own(kind)
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = _family(kind)
    return found


def _family(kind: type) -> str:
    if kind in (list, tuple):
        return "sequence"
    if issubclass(kind, Raised | BaseException):
        return "exception"
    if kind.__module__.startswith("scipy.sparse") and hasattr(kind, "tocoo"):
        return "sparse"
    if not issubclass(kind, enum.Enum | np.ma.MaskedArray | np.void):
        for name, bases in _BASES:
            if issubclass(kind, bases) and kind.__module__ in _OURS:
                return name
        if issubclass(kind, Mapping) and not issubclass(kind, dict):
            return "mapping"
    return _own(kind)


def _own(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def families(rows: list[object]) -> set[str]:
    """Return the families of some outputs."""
    return {family(kind) for kind in set(map(type, rows))}


def kind_of(value: object) -> str:
    """Return the family of a value's type."""
    return family(type(value))
