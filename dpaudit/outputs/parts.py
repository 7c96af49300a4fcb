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
from functools import cache, partial, reduce, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import DpauditError, InputError
from dpaudit.outputs import objects
from dpaudit.outputs.attributes import PLAIN, added_attributes, attributes
from dpaudit.outputs.beside import NO_STATE, UNSEEN, converted, known_by_name, named, printed
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
    if kind in PLAIN or kind is object or issubclass(kind, np.generic):
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
        return None if isinstance(found, PLAIN) else f"a {type(found).__qualname__}"
    return next((wrong for part in inside if (wrong := _not_plain(part, depth + 1)) is not None), None)


@singledispatch
def parts(value: Any) -> Any:
    """Return an output as plain containers of plain values, of which some may have to be taken apart in turn.

    `InputError` is raised if nothing is known of the type: the message shows how to register it.
    """
    found = _of_others(objects.parts_of_libraries, value)
    return _of_others(objects.parts, value) if found is None else found


def _enum(value: enum.Enum) -> Any:
    """Return a member of an enumeration by its name, and beside it what it holds: all runs may write into that."""
    name = value.name if value.name is not None else repr(value)
    found = {"name": name, "value": value.value} if isinstance(value, enum.Flag) else name
    return converted(found, value, _state_of_member) if vars(value).keys() - _OF_ENUM else found


_OF_ENUM = frozenset({"_name_", "_value_", "__objclass__", "_sort_order_"})
"""Attributes that every member of an enumeration has."""


def _state_of_member(value: enum.Enum) -> dict[str, Any]:
    return {name: part for name, part in attributes(value).items() if name not in _OF_ENUM}


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
    found = {"microseconds": int(since), "nanoseconds": int(getattr(value, "nanosecond", 0)), **_zone(value)}
    if value.tzinfo is None and type(value) is datetime.datetime:
        return found
    return converted(found, value, _unit, _class_of_zone)


def _time(value: datetime.time) -> Any:
    since = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
    found = {"microseconds": since, **_zone(value)}
    return found if value.tzinfo is None else converted(found, value, _class_of_zone)


def _zone(value: datetime.datetime | datetime.time) -> dict[str, Any]:
    """Return the time zone of a value, and which of two equal times on a clock that is set back it is."""
    zone = None if value.tzinfo is None else str(value.tzinfo)
    return {"zone": zone, "offset": str(value.utcoffset()), "fold": value.fold}


def _class_of_zone(value: datetime.datetime | datetime.time) -> dict[str, Any]:
    """Return the class of the object that says the time zone: several libraries have one of each name."""
    kind = type(value.tzinfo)
    return {} if value.tzinfo is None else {"class of the zone": f"{kind.__module__}.{kind.__qualname__}"}


def _timedelta(value: datetime.timedelta) -> Any:
    since = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    found = {"microseconds": since, "nanoseconds": int(getattr(value, "nanoseconds", 0))}
    return found if type(value) is datetime.timedelta else converted(found, value, _unit)


def _unit(value: datetime.datetime | datetime.timedelta) -> dict[str, Any]:
    """Return the unit in which pandas keeps a time."""
    return named(value, ("unit",))


def _fields(value: Any) -> dict[str, Any]:
    return {name: value[name] for name in value.dtype.names or ()}


def _record(value: np.void) -> Any:
    """Return a record by its fields; one that has none by its bytes."""
    fields = _fields(value)
    return converted(fields, value, _of_records, _between_the_fields) if fields else value.tobytes()


def _masked(value: np.ma.MaskedArray[Any, Any]) -> Any:
    """Return the values with what is masked as 0, and the mask; of records each field."""
    if value.dtype.names:
        return converted(_fields(value), value, _of_records, _between_the_fields, _of_subclass, _fill_value)
    mask = np.ma.getmaskarray(value)
    found = {"values": np.where(mask, np.zeros((), value.dtype), np.asarray(value.data)), "mask": np.array(mask)}
    return converted(found, value, _under_the_mask, _fill_value, _of_subclass)


def _under_the_mask(value: np.ma.MaskedArray[Any, Any]) -> dict[str, Any]:
    mask = np.ma.getmaskarray(value)
    data = np.asarray(value.data)
    return {"under the mask": np.where(mask, data, np.zeros((), data.dtype)), "dtype": str(data.dtype)}


def _fill_value(value: np.ma.MaskedArray[Any, Any]) -> dict[str, Any]:
    return {"fill value": value.fill_value}


_OF_MASKED = frozenset(vars(np.ma.masked_array([0], [True]))) | {"_sharedmask", "_baseclass", "_isfield", "_optinfo"}
"""Attributes by which NumPy keeps mask and fill value."""


def _of_subclass(value: NDArray[Any]) -> dict[str, Any]:
    """Return what a class derived from NumPy's arrays adds to an array."""
    return {name: part for name, part in attributes(value).items() if name not in _OF_MASKED}


def _of_records(value: NDArray[Any] | np.void) -> dict[str, Any]:
    return {"dtype": _types_of_fields(value.dtype)}


def _between_the_fields(value: NDArray[Any] | np.void) -> dict[str, Any]:
    """Return that records hold bytes that belong to no field, which may be anything that was in memory there."""
    return {"between the fields": UNSEEN} if _has_gaps(value.dtype) else {}


def _has_gaps(dtype: np.dtype[Any]) -> bool:
    if dtype.subdtype is not None:
        return _has_gaps(dtype.subdtype[0])
    inside = [dtype[name] for name in dtype.names or ()]
    return bool(inside) and (sum(one.itemsize for one in inside) < dtype.itemsize or any(map(_has_gaps, inside)))


def packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of records of the same names and fields, one field behind the other, and without titles."""
    if dtype.subdtype is not None:
        inside, shape = dtype.subdtype
        return np.dtype((packed(inside), shape))
    return dtype if dtype.names is None else np.dtype([(name, packed(dtype[name])) for name in dtype.names])


def _types_of_fields(dtype: np.dtype[Any]) -> Any:
    """Return the types of the fields of records by their names, and where these are stored if not one by one."""
    if dtype.subdtype is not None:
        inside, shape = dtype.subdtype
        return (_types_of_fields(inside), shape)
    if dtype.names is None:
        return str(dtype)
    found = {name: _types_of_fields(dtype[name]) for name in dtype.names}
    fields: Mapping[str, tuple[Any, ...]] = dtype.fields or {}
    titles = {name: fields[name][2] for name in dtype.names if len(fields[name]) > 2}
    plain = packed(dtype)
    usual: Mapping[str, tuple[Any, ...]] = plain.fields or {}
    more: list[Any] = [titles] if titles else []
    if dtype.itemsize != plain.itemsize or any(fields[name][1] != usual[name][1] for name in dtype.names):
        more.append({"places": tuple(fields[name][1] for name in dtype.names), "bytes": dtype.itemsize})
    return (found, *more) if more else found


def _array(value: NDArray[Any]) -> Any:
    """Return arrays of records, times, complex numbers and objects by their parts; what a subclass adds beside them."""
    plain = np.asarray(value)
    kind = plain.dtype.kind
    if not has_numbers(plain.dtype) and plain.dtype.isbuiltin == 2:
        found: Any = converted(_built_in_numbers(plain), plain, _dtype)
    elif plain.dtype.names:
        found = converted(_fields(plain), plain, _of_records, _between_the_fields)
    elif kind in "mM":
        found = {"times": plain.astype(np.int64), "unit": str(np.datetime_data(plain.dtype))}
    elif kind == "c":
        found = {"real": np.ascontiguousarray(plain.real), "imaginary": np.ascontiguousarray(plain.imag)}
    elif kind in "iufb":
        found = plain
    else:  # objects, texts of any length, bytes
        found = {"shape": plain.shape, "values": tuple(plain.ravel().tolist())}
    more = attributes(value) if type(value) is not np.ndarray else None
    return {"array": found, **more} if more else found


def has_numbers(dtype: np.dtype[Any]) -> bool:
    """Say whether a type of arrays is one of NumPy's own types of numbers: it says of some others that they are."""
    return dtype.kind in "iufb" and dtype.isbuiltin != 2


def _built_in_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of a type that another library adds to NumPy, as float8 and int4, in one of NumPy's own."""
    for wider in (np.int64, np.float64, np.complex128):
        if np.can_cast(array.dtype, wider):
            return array.astype(wider)
    return array.astype(np.float64)


def _dtype(value: Any) -> dict[str, Any]:
    return {"dtype": str(value.dtype)}


def _scalar(value: np.generic) -> Any:
    """Return a number of a type that another library adds to NumPy, which its class says."""
    return _built_in_numbers(np.asarray(value)).item()


def _state_of_generator(value: Any) -> dict[str, Any]:
    """Return that a generator has a state: it is the stream of the run, and nobody looks at it."""
    return {"state": UNSEEN}


def _safety(value: uuid.UUID) -> dict[str, Any]:
    """Return whether a UUID says that no other process made the same."""
    return {"is_safe": value.is_safe.name}


def _deque(value: collections.deque[Any]) -> Any:
    return converted(tuple(value), value, lambda held: {"maxlen": held.maxlen})


def _default_dict(value: collections.defaultdict[Any, Any]) -> Any:
    return converted(dict(value), value, _default_factory)


def _default_factory(value: collections.defaultdict[Any, Any]) -> dict[str, Any]:
    factory = value.default_factory
    return {"default_factory": known_by_name(factory) if isinstance(factory, NO_STATE) else factory}


def _chain_map(value: collections.ChainMap[Any, Any]) -> Any:
    return converted(dict(value), value, lambda held: {"maps": tuple(held.maps)})


def _typed_array(value: array.array[Any]) -> Any:
    return converted(tuple(value), value, lambda held: {"typecode": held.typecode})


def _view(value: memoryview) -> Any:
    return converted(value.tobytes(), value, _of_view)


def _of_view(value: memoryview) -> dict[str, Any]:
    return {"format": value.format, "shape": value.shape, "readonly": value.readonly}


def _match(value: re.Match[Any]) -> Any:
    """Return a match by where it is found; it is printed without the text around it."""
    found = {"pattern": value.re, "text": value.string, "spans": tuple(value.regs)}
    return {**found, "start": value.pos, "end": value.endpos}


def _message(value: email.message.Message[Any, Any]) -> Any:
    """Return a message by its headers as they are written and its content; what it makes of these is made again."""
    headers = tuple((name, str(text)) for name, text in value.raw_items())
    found = {"headers": headers, "payload": value.get_payload()}
    return converted(found, value, _of_message)


def _of_message(value: email.message.Message[Any, Any]) -> dict[str, Any]:
    read = {"_headers", "_payload", "policy"}
    held = {name: part for name, part in vars(value).items() if name not in read}
    return {**held, "policy": type(value.policy).__qualname__}


def _subclass_of(base: type, function: Callable[[Any], Any], value: Any) -> Any:
    """Return what a function makes of instances of a class; of a derived class its attributes beside that."""
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


def _added(base: type, value: Any) -> dict[str, Any]:
    """Return what a class derived from one of the table adds to it, and what it prints in its own way."""
    found = added_attributes(value, base)
    printing = any(
        vars(kind).keys() & {"__repr__", "__str__"} for kind in type(value).__mro__[: type(value).__mro__.index(base)]
    )
    return found | printed(value, found) if printing else found


_TABLE: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((enum.Enum,), _enum),
    ((fractions.Fraction,), _fraction),
    ((decimal.Decimal,), _decimal),
    ((complex, np.complexfloating), lambda value: {"real": float(value.real), "imaginary": float(value.imag)}),
    ((datetime.datetime,), _datetime),
    ((datetime.date,), lambda value: {"day": value.toordinal()}),
    ((datetime.time,), _time),
    ((datetime.timedelta,), _timedelta),
    ((uuid.UUID,), lambda value: converted(value.bytes, value, _safety)),
    ((pathlib.PurePath,), str),
    ((range, slice), lambda value: {"start": value.start, "stop": value.stop, "step": value.step}),
    ((logging.Logger,), lambda value: value.name),
    (
        (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator),
        lambda value: converted(type(value).__qualname__, value, _state_of_generator),
    ),
    (
        (np.datetime64, np.timedelta64),
        lambda value: {"time": int(value.astype(np.int64)), "unit": str(np.datetime_data(value.dtype))},
    ),
    ((collections.deque,), _deque),
    ((collections.defaultdict,), _default_dict),
    ((collections.ChainMap,), _chain_map),
    ((array.array,), _typed_array),
    ((memoryview,), _view),
    ((re.Match,), _match),
    ((email.message.Message,), _message),
)
"""The functions that take values of each type apart; the state of a random generator or a logger is no output."""

_OF_NUMPY: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (np.generic, _scalar),
    (np.void, _record),
    (np.ma.MaskedArray, _masked),
    (np.ndarray, _array),
)
"""Those of NumPy's own types, which look themselves at what a derived class adds."""

for _types, _function in _TABLE:
    for _type in _types:
        parts.register(_type, partial(_subclass_of, _type, _function))
for _type, _function in _OF_NUMPY:
    parts.register(_type, _function)
