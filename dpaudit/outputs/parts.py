"""The table of types: how an output of a type becomes plain containers, numbers, text and categories.

`register_flattener` adds a type. Whatever the table does not know is taken apart by the array protocols, its
attributes, its elements or its own `repr`; an object with none of these is refused.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import email.message
import enum
import fractions
import logging
import pathlib
import random
import re
import uuid
from collections.abc import Callable, Mapping
from functools import cache, partial, singledispatch
from typing import Any, TypeVar

import numpy as np

from dpaudit.errors import DpauditError, InputError
from dpaudit.outputs import numpy_parts, objects, standard_types
from dpaudit.outputs.attributes import PLAIN, added_attributes
from dpaudit.outputs.metadata import Flat, converted, printed
from dpaudit.outputs.types import Flatten, Parts
from dpaudit.withheld import foreign, raised_words

V = TypeVar("V")
R = TypeVar("R")

# The types that a user has registered; they are sent to worker processes with their work.
REGISTERED: dict[type, Flatten] = {}

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
        these, and must use nothing but the output. With several jobs it is sent to the workers, so it must pickle.

    Raises
    ------
    InputError
        If `kind` is no type or a plain one, or `function` cannot be called. What `function` returns is checked when it
        returns.

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
    if kind in PLAIN or kind is object or issubclass(kind, np.generic):
        raise InputError.of("type", kind, "a class of your own; plain types are taken apart as they are")
    if not callable(function):
        raise InputError.of("function", function, "a callable that takes an output")
    REGISTERED[kind] = function
    parts.register(kind, partial(_registered, kind, function))


def learn(registered: Mapping[type, Flatten]) -> None:
    """Register what another process has registered."""
    for kind, function in registered.items():
        if REGISTERED.get(kind) is not function:
            register_flattener(kind, function)


def _registered(kind: type, function: Flatten, value: Any) -> Flat:
    found: Flat = _of_others(function, value)
    wrong = _not_plain(found, 0)
    if wrong is not None:
        raise InputError(
            f"the flattener registered for {kind.__qualname__} must return {ALLOWED}; it returned {foreign(wrong)}, in "
            f"{foreign(repr(found)):.100}"
        )
    return found


def _of_others(function: Callable[[V], R], value: V) -> R:
    """Return what a function makes of an output, if the function or the output's methods are third-party code."""
    try:
        return function(value)
    except (DpauditError, RecursionError):
        raise
    # SystemExit too: ending the program is an error of the code that does it.
    except (Exception, SystemExit) as error:
        why = f"an output of type {type(value).__qualname__} cannot be taken apart: {raised_words(error)}"
        raise InputError(why) from error


def _not_plain(found: Any, depth: int) -> str | None:
    """Describe what a registered flattener may not return, or return None if all is plain."""
    if depth > DEPTH:
        return f"containers nested deeper than {DEPTH} levels"
    if isinstance(found, np.ndarray):
        return None if found.dtype.kind in "iufb" else f"a ragged or non-numeric array, of dtype {found.dtype}"
    if isinstance(found, dict):
        inside = [*found, *found.values()]
    elif isinstance(found, list | tuple | set | frozenset):
        inside = list(found)
    else:
        return None if isinstance(found, PLAIN) else f"a {type(found).__qualname__}"
    return next((wrong for part in inside if (wrong := _not_plain(part, depth + 1)) is not None), None)


@singledispatch
def parts(value: Any) -> Any:
    """Return an output as plain containers of plain values; some of these may have to be taken apart in turn.

    `InputError` is raised if nothing is known of the type: the message shows how to register it.
    """
    found = _of_others(objects.parts_of_libraries, value)
    if found is None:
        return _of_others(objects.parts, value)
    return found


def _subclass_of(base: type, function: Callable[[Any], Flat], value: Any) -> Flat:
    """Return what a function makes of instances of a class; of a derived class with its attributes."""
    found = function(value)
    kind: type = type(value)
    if not _may_add(kind, base):
        return found
    return converted(found, value, partial(_added, base))


@cache
def _may_add(kind: type, base: type) -> bool:
    derived = kind.__mro__[: kind.__mro__.index(base)] if base in kind.__mro__ else ()
    library = kind.__module__.partition(".")[0]
    return bool(derived) and library not in ("numpy", "pandas", "email") and not issubclass(kind, enum.Enum)


def _added(base: type, value: Any) -> Parts:
    """Return what a class derived from one of the table adds to it, and what it prints in its own way."""
    found = added_attributes(value, base)
    kinds = type(value).__mro__
    derived = kinds[: kinds.index(base)]
    if any(vars(kind).keys() & {"__repr__", "__str__"} for kind in derived):
        return found | printed(value, found)
    return found


# The functions that take values of each type apart; the state of a random generator or a logger is no output.
_TABLE: tuple[tuple[tuple[type, ...], Callable[[Any], Flat]], ...] = (
    ((enum.Enum,), standard_types.enumeration),
    ((fractions.Fraction,), standard_types.fraction),
    ((decimal.Decimal,), standard_types.decimal_number),
    ((complex, np.complexfloating), standard_types.complex_number),
    ((datetime.datetime,), standard_types.moment),
    ((datetime.date,), standard_types.day),
    ((datetime.time,), standard_types.time_of_day),
    ((datetime.timedelta,), standard_types.duration),
    ((uuid.UUID,), standard_types.unique_id),
    ((pathlib.PurePath,), str),
    ((range, slice), standard_types.bounds),
    ((logging.Logger,), lambda value: value.name),
    (
        (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator),
        standard_types.random_generator,
    ),
    ((np.datetime64, np.timedelta64), numpy_parts.time),
    ((collections.deque,), standard_types.double_ended_queue),
    ((collections.defaultdict,), standard_types.default_dict),
    ((collections.ChainMap,), standard_types.chain_map),
    ((array.array,), standard_types.typed_array),
    ((memoryview,), standard_types.view),
    ((re.Match,), standard_types.match_of_pattern),
    ((email.message.Message,), standard_types.message),
)

# The types of NumPy, whose functions look themselves at what a derived class adds.
_OF_NUMPY: tuple[tuple[type, Callable[[Any], Flat]], ...] = (
    (np.generic, numpy_parts.scalar),
    (np.void, numpy_parts.record),
    (np.ma.MaskedArray, numpy_parts.masked),
    (np.ndarray, numpy_parts.array),
)

for _types, _function in _TABLE:
    for _type in _types:
        parts.register(_type, partial(_subclass_of, _type, _function))
for _type, _function in _OF_NUMPY:
    parts.register(_type, _function)
