"""The table of types: how an output of a type becomes plain containers, numbers, text and categories.

`register_flattener` adds a type. Whatever the table does not know is taken apart by the array protocols, its
attributes, its elements or its own `repr`; an object with none of these is refused.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import logging
import random
import uuid
from collections.abc import Callable, Mapping
from functools import partial, reduce, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import DpauditError, InputError
from dpaudit.outputs import objects
from dpaudit.withheld import foreign, raised_words

REGISTERED: dict[type, Callable[[Any], Any]] = {}
"""The types that a user has registered; they are sent to worker processes with their work."""

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
    found = _of_others(function, value)
    wrong = _not_plain(found, 0)
    if wrong is not None:
        raise InputError(
            f"the flattener registered for {kind.__qualname__} must return {ALLOWED}; it returned {foreign(wrong)}, in "
            f"{foreign(repr(found)):.100}"
        )
    return found


def _of_others(function: Callable[[Any], Any], value: Any) -> Any:
    """Return what a function, of a user or one that calls an output's own methods, makes of an output."""
    try:
        return function(value)
    except (DpauditError, RecursionError):
        raise
    except (Exception, SystemExit) as error:  # whatever it is, it is theirs
        why = f"an output of type {type(value).__qualname__} cannot be taken apart: {raised_words(error)}"
        raise InputError(why) from error


def _not_plain(found: Any, depth: int) -> str | None:
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

    `InputError` is raised if nothing is known of the type: the message shows how to register it.
    """
    found = _of_others(objects.parts_of_libraries, value)
    return _of_others(objects.parts, value) if found is None else found


def _enum(value: enum.Enum) -> Any:
    name = value.name if value.name is not None else repr(value)
    return {"name": name, "value": value.value} if isinstance(value, enum.Flag) else name


def _fraction(value: fractions.Fraction) -> Any:
    try:
        number = float(value)
    except OverflowError:
        number = float("inf") if value > 0 else float("-inf")
    return {"value": number, "numerator": value.numerator, "denominator": value.denominator}


def _decimal(value: decimal.Decimal) -> Any:
    sign, digits, exponent = value.as_tuple()
    # Text of more than 4300 digits is no integer for Python.
    whole = reduce(lambda number, digit: 10 * number + digit, digits, 0)
    number = float("nan") if value.is_nan() else float(value)
    return {"value": number, "sign": sign, "digits": whole, "exponent": exponent}


def _datetime(value: datetime.datetime) -> Any:
    if value != value:  # pandas' NaT is an instance of datetime
        return "NaT"
    since = (value.replace(tzinfo=None, fold=0) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    return {"microseconds": int(since), "nanoseconds": int(getattr(value, "nanosecond", 0)), **_zone(value)}


def _time(value: datetime.time) -> Any:
    since = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
    return {"microseconds": since, **_zone(value)}


def _zone(value: datetime.datetime | datetime.time) -> dict[str, Any]:
    """Return the time zone of a value, and which of two equal times on a clock that is set back it is."""
    zone = None if value.tzinfo is None else str(value.tzinfo)
    return {"zone": zone, "offset": str(value.utcoffset()), "fold": value.fold}


def _timedelta(value: datetime.timedelta) -> Any:
    since = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    return {"microseconds": since, "nanoseconds": int(getattr(value, "nanoseconds", 0))}


def _fields(value: Any) -> dict[str, Any]:
    return {name: value[name] for name in value.dtype.names or ()}


def _masked(value: np.ma.MaskedArray[Any, Any]) -> Any:
    """Return the values with what is masked as 0, and the mask; of records each field."""
    if value.dtype.names:
        return _fields(value)
    mask = np.ma.getmaskarray(value)
    return {"values": np.where(mask, np.zeros((), value.dtype), np.asarray(value.data)), "mask": np.array(mask)}


def _array(value: NDArray[Any]) -> Any:
    """Return arrays of records, times, complex numbers and objects by their parts; what a subclass adds beside them."""
    plain = np.asarray(value)
    if plain.dtype.names:
        found: Any = _fields(plain)
    elif plain.dtype.kind in "mM":
        found = {"times": plain.astype(np.int64), "unit": str(np.datetime_data(plain.dtype))}
    elif plain.dtype.kind == "c":
        found = {"real": np.ascontiguousarray(plain.real), "imaginary": np.ascontiguousarray(plain.imag)}
    elif plain.dtype.kind in "OSUV":
        found = {"shape": plain.shape, "values": tuple(plain.ravel().tolist())}
    else:
        found = plain
    more = objects.attributes(value) if type(value) is not np.ndarray else None
    return {"array": found, **more} if more else found


_TABLE: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((enum.Enum,), _enum),
    ((fractions.Fraction,), _fraction),
    ((decimal.Decimal,), _decimal),
    ((complex, np.complexfloating), lambda value: {"real": float(value.real), "imaginary": float(value.imag)}),
    ((datetime.datetime,), _datetime),
    ((datetime.date,), lambda value: {"day": value.toordinal()}),
    ((datetime.time,), _time),
    ((datetime.timedelta,), _timedelta),
    ((uuid.UUID,), lambda value: value.bytes),
    ((range, slice), lambda value: {"start": value.start, "stop": value.stop, "step": value.step}),
    ((logging.Logger,), lambda value: value.name),
    (
        (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator),
        lambda value: type(value).__qualname__,
    ),
    (
        (np.datetime64, np.timedelta64),
        lambda value: {"time": int(value.astype(np.int64)), "unit": str(np.datetime_data(value.dtype))},
    ),
    ((np.void,), lambda value: _fields(value) or value.tobytes()),
    ((np.ma.MaskedArray,), _masked),
    ((np.ndarray,), _array),
)
"""The functions that take values of each type apart; the state of a random generator or a logger is no output."""

for _types, _function in _TABLE:
    for _type in _types:
        parts.register(_type, _function)
