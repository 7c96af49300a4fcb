"""The parts of objects that no table knows: named elements, attributes, elements, state, or how they are shown."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import AsyncIterable, Awaitable, Collection, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.errors import InputError

__all__ = ["PLAIN", "attributes", "parts"]

PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, np.ndarray, np.generic)
_BASES: tuple[Any, ...] = (str, bytes, bytearray, int, float, list, tuple, dict, set, frozenset)
_NO_STATE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.MethodWrapperType)
_ADDRESS = " at 0x"
KINDS = 256
"""Classes whose nature is remembered: it is asked of every output."""


def parts(value: Any) -> Any:
    """Return the parts of an object.

    Raises
    ------
    InputError
        If it shows nothing, or only once it is run.
    """
    waits, named, base = _nature(value.__class__)
    if waits:
        if inspect.iscoroutine(value):
            value.close()  # or it warns that nobody awaited it
        raise InputError(
            f"an output is a {type(value).__qualname__}, which shows nothing until it is run: return what it makes, "
            "as list(output)"
        )
    held = attributes(value)
    if named:
        return {**dict(zip(value._fields, value, strict=True)), **held}
    if base is not None:  # a class derived from a plain one may hold more than that
        return {"value": base(value), **held}
    if held or dataclasses.is_dataclass(value):
        return held
    if hasattr(value, "numerator") and hasattr(value, "denominator"):
        return {"numerator": int(value.numerator), "denominator": int(value.denominator)}
    if isinstance(value, Collection):
        return tuple(value)
    state = _state(value)
    if state is not None:
        return state
    shown = repr(value)
    if _ADDRESS not in shown:
        return shown
    name = type(value).__qualname__
    why = (
        f"an output of type {name} cannot be taken apart: {shown:.100}; say how, by "
        f"dpaudit.register_flattener({name}, lambda output: ...), or return numbers, text, arrays or containers of "
        "these"
    )
    if hasattr(value, "predict"):
        hint = "{why}; or give {probe:=points}, to compare hypotheses by their predictions"
        raise InputError(hint, names=("probe",), why=why)
    raise InputError(why)


@lru_cache(maxsize=KINDS)
def _nature(kind: type) -> tuple[bool, bool, type | None]:
    """Return whether a class shows nothing until it is run, whether it is a named tuple, and its plain base."""
    waits = issubclass(kind, Iterator | Awaitable | AsyncIterable)
    base = next((base for base in _BASES if issubclass(kind, base)), None)
    return waits, base is tuple and hasattr(kind, "_fields"), base


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, those of its slots included, but for what has no state of its own."""
    kind: type = type(value)
    found = {name: getattr(value, name) for name in _slots(kind) if hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return {str(name): part for name, part in found.items() if type(part) in PLAIN or not _shows_nothing(part)}


@lru_cache(maxsize=KINDS)
def _slots(kind: type) -> tuple[str, ...]:
    """Return the names of the slots of a class and its bases, as attributes are named."""
    names = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__") or ()
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _shows_nothing(value: Any) -> bool:
    """Say whether an attribute is known by its place in memory alone, as functions, locks and loggers are."""
    if isinstance(value, PLAIN):
        return False
    if isinstance(value, _NO_STATE):
        return True
    if getattr(value, "__dict__", None) or isinstance(value, Collection) or hasattr(value, "__array__"):
        return False
    return _state(value) is None and _ADDRESS in repr(value)


def _state(value: Any) -> Any:
    """Return what an object of compiled code would be pickled with; None where that is nothing."""
    kind: type = type(value)
    if isinstance(value, (type, *_NO_STATE)) or _slots(kind) or getattr(value, "__dict__", None):
        return None
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # what cannot be pickled says so in its own way
        return None
    if isinstance(reduced, str):
        return None
    made, state = [part for part in reduced[1] if not isinstance(part, type)], reduced[2] if len(reduced) > 2 else None
    if state is None and not made:
        return None
    return {"made of": tuple(made), "state": state}
