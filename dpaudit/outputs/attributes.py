"""The attributes of an object, those in its slots included, and the state that it would be pickled with."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.outputs.metadata import KINDS, NO_STATE, UNSEEN, known_by_name
from dpaudit.outputs.types import Parts

PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, np.ndarray, np.generic)
PLAIN_BASES: tuple[type, ...] = (str, bytes, bytearray, int, float, list, tuple, dict, set, frozenset)
# The text before the address in the printed form of an object.
ADDRESS = " at 0x"
# Libraries whose classes are not asked for a state: it repeats attributes that are read already.
_STATE_IN_ATTRIBUTES = ("pydantic", "torch")


def attributes(value: Any) -> Parts:
    """Return the attributes of an object without those that have no state of their own."""
    return {name: part for name, part in all_attributes(value).items() if not is_opaque(part)}


def all_attributes(value: Any) -> Parts:
    """Return the attributes of an object, those in its slots included."""
    kind: type = type(value)
    slots = _slots(kind)
    held: Parts = dict(getattr(value, "__dict__", {}))
    # Most classes have no slots, and their attributes are read for every output.
    if not slots:
        return held
    found = _in_slots(value, slots) | held
    return {str(name): part for name, part in found.items()}


def added_attributes(value: Any, base: type) -> Parts:
    """Return the attributes that an object has beyond those of a class that its own class is derived from."""
    every: Parts = dict(getattr(value, "__dict__", {}))
    kind = type(value)
    derived = kind.__mro__[: kind.__mro__.index(base)]
    names = [name for one in derived if "__slots__" in vars(one) for name in _own_slots(one)]
    every |= _in_slots(value, names)
    return {str(name): known_by_name(part, value) if is_opaque(part) else part for name, part in every.items()}


def _in_slots(value: Any, names: Iterable[str]) -> Parts:
    """Return the attributes in slots; a slot that nothing was written to has none."""
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def is_opaque(part: Any) -> bool:
    """Say whether an attribute is no value, but known by its name or by its place in memory."""
    return type(part) not in PLAIN and _shows_nothing(part)


@lru_cache(maxsize=KINDS)
def has_state(kind: type) -> bool:
    """Say whether instances of a class may be pickled with more than their attributes."""
    if issubclass(kind, type) or kind.__module__.partition(".")[0] in _STATE_IN_ATTRIBUTES:
        return False
    own = _has_own_state(kind)
    # Instances of these are pickled with their values, by a method of their own.
    if issubclass(kind, PLAIN_BASES):
        return own
    return own or kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__


def _has_own_state(kind: type) -> bool:
    """Say whether a class defines its state itself."""
    return getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None)


def more_state(value: Any) -> Parts:
    """Return what an object would be pickled with beyond its attributes."""
    known = all_attributes(value)
    arguments, state, _ = _reduced(value)
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
        # Python's own state of an object with slots: its dictionary or None, and its slots.
        state = {**(state[0] or {}), **state[1]}
    if isinstance(state, dict):
        state = {str(name): part for name, part in state.items() if known.get(str(name), UNSEEN) is not part}
    found: Parts = {}
    if state:
        found["state"] = state
    if not isinstance(value, PLAIN_BASES):
        inside = {id(part) for part in known.values()}
        made = tuple(part for part in arguments if id(part) not in inside)
        if made:
            found["made of"] = made
    return found


@lru_cache(maxsize=KINDS)
def _slots(kind: type) -> tuple[str, ...]:
    return tuple(name for base in kind.__mro__ for name in _own_slots(base))


def _own_slots(kind: type) -> tuple[str, ...]:
    """Return the slots of one class, by the names under which its instances have them."""
    slots = vars(kind).get("__slots__") or ()
    if isinstance(slots, str):
        slots = (slots,)
    names = []
    for name in slots:
        # Python renames what begins with two underscores.
        private = name.startswith("__") and not name.endswith("__")
        names.append(f"_{kind.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _shows_nothing(value: Any) -> bool:
    """Say whether an attribute is known by its place in memory alone, as functions, locks and loggers are."""
    if isinstance(value, PLAIN):
        return False
    if isinstance(value, NO_STATE):
        return True
    if _has_dictionary(value) or isinstance(value, Collection) or hasattr(value, "__array__"):
        return False
    return state_of(value) is None and ADDRESS in repr(value)


def _has_dictionary(value: Any) -> bool:
    return bool(getattr(value, "__dict__", None))


def state_of(value: Any) -> Parts | None:
    """Return what an object of compiled code would be pickled with, or None if that is nothing."""
    kind: type = type(value)
    if isinstance(value, (type, *NO_STATE)) or _slots(kind) or _has_dictionary(value):
        return None
    # Classes refuse pickling with exceptions of many types.
    try:
        arguments, state, held = _reduced(value)
    except Exception:
        return None
    made = arguments + held
    if state is None and not made:
        return None
    return {"made of": made, "state": state}


def _reduced(value: Any) -> tuple[tuple[Any, ...], Any, tuple[tuple[Any, ...], ...]]:
    """Return what an object is pickled with, except its class: arguments, state, and elements and items."""
    reduced = value.__reduce_ex__(4)
    # A name: the object is found again where it was defined.
    if isinstance(reduced, str):
        return (), None, ()
    arguments = tuple(
        known_by_name(part) if isinstance(part, NO_STATE) else part for part in reduced[1] if not isinstance(part, type)
    )
    # Elements and items stand apart from the state.
    held = tuple(tuple(part) for part in reduced[3:5] if part is not None)
    state = reduced[2] if len(reduced) > 2 else None
    return arguments, state, held
