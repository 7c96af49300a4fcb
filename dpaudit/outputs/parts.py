"""The table of types: how an output of a type becomes plain containers, numbers, text and categories.

`register_flattener` adds a type. Whatever the table does not know is taken apart by the array protocols, its
attributes, its elements or its own `repr`; an object with none of these is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, singledispatch
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.outputs import arrays, libraries, objects, standard

__all__ = ["REGISTERED", "learn", "parts", "register_flattener"]

REGISTERED: dict[type, Callable[[Any], Any]] = {}
"""The types that a user has registered; worker processes are told of them with their work."""

ALLOWED = "numbers, text, bytes, None, arrays of numbers, or lists, tuples, dictionaries and sets of these"
DEPTH = 32


def register_flattener(kind: type, function: Callable[[Any], Any]) -> None:
    """Say how outputs of a type become numbers and categories.

    Parameters
    ----------
    kind : type
        The type; its subclasses are taken apart in the same way. Plain types (numbers, text, bytes, lists, tuples,
        dictionaries, sets and arrays) are taken apart as they are.
    function : callable
        Maps an output to numbers, text, bytes, None, arrays of numbers, or lists, tuples, dictionaries and sets of
        these, with nothing but the output to go by. With several jobs it travels to the workers, so it must pickle.

    Raises
    ------
    InputError
        If `kind` is no type or a plain one, or `function` cannot be called. Of what `function` returns, when it does.

    Examples
    --------
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> register_flattener(Interval, lambda interval: (interval.low, interval.high))
    >>> parts(Interval(0, 1))
    (0, 1)
    """
    if not isinstance(kind, type):
        raise InputError.of("type", kind, "a class")
    if kind in objects.PLAIN or kind is object or issubclass(kind, np.generic):
        raise InputError.of("type", kind, "a class of your own; plain types are taken apart as they are")
    if not callable(function):
        raise InputError.of("function", function, "a callable that takes an output")
    REGISTERED[kind] = function
    parts.register(kind, partial(_registered, kind, function))


def learn(registered: Mapping[type, Callable[[Any], Any]]) -> None:
    """Register what another process has registered."""
    for kind, function in registered.items():
        if REGISTERED.get(kind) is not function:
            register_flattener(kind, function)


def _registered(kind: type, function: Callable[[Any], Any], value: Any) -> Any:
    """Return what a user's function makes of an output, if it is plain."""
    found = function(value)
    wrong = _not_plain(found, 0)
    if wrong is not None:
        raise InputError(
            f"the flattener registered for {kind.__qualname__} must return {ALLOWED}; it returned {wrong}, in "
            f"{found!r:.100}"
        )
    return found


def _not_plain(found: Any, depth: int) -> str | None:
    """Say what of the parts is not plain; None if all is."""
    if depth > DEPTH:
        return f"containers nested deeper than {DEPTH} levels"
    if isinstance(found, np.ndarray):
        return None if found.dtype.kind in "iufb" else f"a ragged or non-numeric array, of dtype {found.dtype}"
    if isinstance(found, dict):
        inside = [*found, *found.values()]
    elif isinstance(found, list | tuple | set | frozenset):
        inside = list(found)
    else:
        return None if isinstance(found, objects.PLAIN) else f"a {type(found).__qualname__}"
    return next((wrong for part in inside if (wrong := _not_plain(part, depth + 1)) is not None), None)


@singledispatch
def parts(value: Any) -> Any:
    """Return an output as plain containers of plain values, of which some may have to be taken apart in turn.

    Raises
    ------
    InputError
        If nothing is known of the type: the message says how to register it.
    """
    found = libraries.parts(value)
    return objects.parts(value) if found is None else found


for _kind, _function in (*standard.TABLE, *arrays.TABLE):
    parts.register(_kind, _function)
