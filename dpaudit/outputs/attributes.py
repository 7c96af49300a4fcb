"""Parts of an object beside its values: attributes, slots, and what it would be pickled with."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.outputs.beside import KINDS, NO_STATE, UNSEEN, known_by_name

PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, np.ndarray, np.generic)
PLAIN_BASES: tuple[Any, ...] = (str, bytes, bytearray, int, float, list, tuple, dict, set, frozenset)
ADDRESS = " at 0x"
"""The text before the address in the printed form of an object."""


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, those of its slots included, but for what has no state of its own."""
    return {name: part for name, part in all_attributes(value).items() if not is_opaque(part)}


def all_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, those of its slots included."""
    kind: type = type(value)
    slots = _slots(kind)
    if not slots:
        return dict(getattr(value, "__dict__", {}))
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return {str(name): part for name, part in found.items()}


def added_attributes(value: Any, base: type) -> dict[str, Any]:
    """Return the attributes that an object has beyond what is read of instances of a class that its own is made of."""
    every = dict(getattr(value, "__dict__", {}))
    kind = type(value)
    derived = kind.__mro__[: kind.__mro__.index(base)]
    names = [name for one in derived if "__slots__" in vars(one) for name in _own_slots(one)]
    every |= {name: getattr(value, name) for name in names if hasattr(value, name)}
    return {str(name): known_by_name(part, value) if is_opaque(part) else part for name, part in every.items()}


def is_opaque(part: Any) -> bool:
    """Return whether an attribute is no value, but known by its name or by its place in memory."""
    return type(part) not in PLAIN and _shows_nothing(part)


@lru_cache(maxsize=KINDS)
def has_state(kind: type) -> bool:
    """Say whether instances of a class may be pickled with more than their attributes."""
    if issubclass(kind, type) or kind.__module__.partition(".")[0] in ("pydantic", "torch"):
        return False
    own = getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None)
    if issubclass(kind, PLAIN_BASES):  # these are pickled with their values
        return own
    return own or kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__


def more_state(value: Any) -> dict[str, Any]:
    """Return what an object would be pickled with beyond its attributes."""
    known = all_attributes(value)
    made, state, _ = _reduced(value)  # elements and items are read as such
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # with slots
        state = {**(state[0] or {}), **state[1]}
    if isinstance(state, dict):
        state = {str(name): part for name, part in state.items() if known.get(str(name), UNSEEN) is not part}
    inside = {id(part) for part in known.values()}
    made = () if isinstance(value, PLAIN_BASES) else tuple(part for part in made if id(part) not in inside)
    return {**({"state": state} if state else {}), **({"made of": made} if made else {})}


@lru_cache(maxsize=KINDS)
def _slots(kind: type) -> tuple[str, ...]:
    return tuple(name for base in kind.__mro__ for name in _own_slots(base))


def _own_slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__") or ()
    names = []
    for name in (slots,) if isinstance(slots, str) else slots:
        private = name.startswith("__") and not name.endswith("__")
        names.append(f"_{kind.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _shows_nothing(value: Any) -> bool:
    """Say whether an attribute is known by its place in memory alone, as functions, locks and loggers are."""
    if isinstance(value, PLAIN):
        return False
    if isinstance(value, NO_STATE):
        return True
    if getattr(value, "__dict__", None) or isinstance(value, Collection) or hasattr(value, "__array__"):
        return False
    return state_of(value) is None and ADDRESS in repr(value)


def state_of(value: Any) -> Any:
    """Return what an object of compiled code would be pickled with; None where that is nothing."""
    kind: type = type(value)
    if isinstance(value, (type, *NO_STATE)) or _slots(kind) or getattr(value, "__dict__", None):
        return None
    try:
        made, state, held = _reduced(value)
    except Exception:  # classes refuse pickling with exceptions of many types
        return None
    made += held
    if state is None and not made:
        return None
    return {"made of": made, "state": state}


def _reduced(value: Any) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Return what an object is made of when it is pickled, but for its class; its state; its elements and items."""
    reduced = value.__reduce_ex__(4)
    if isinstance(reduced, str):
        return (), None, ()
    made = tuple(
        known_by_name(part) if isinstance(part, NO_STATE) else part for part in reduced[1] if not isinstance(part, type)
    )
    held = tuple(tuple(part) for part in reduced[3:5] if part is not None)  # elements and items, where they stand apart
    return made, reduced[2] if len(reduced) > 2 else None, held
