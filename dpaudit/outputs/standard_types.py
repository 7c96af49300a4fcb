"""Types of the standard library taken apart: times, numbers, collections, enumerations, messages."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import email.message
import enum
import fractions
import random
import re
import uuid
from functools import reduce
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dpaudit.outputs.attributes import attributes
from dpaudit.outputs.metadata import NO_STATE, UNSEEN, WithMetadata, converted, known_by_name, named
from dpaudit.outputs.types import Parts

# Attributes that every member of an enumeration has.
_OF_ENUM = frozenset({"_name_", "_value_", "__objclass__", "_sort_order_"})
_EPOCH = datetime.datetime(1970, 1, 1)
K = TypeVar("K")
V = TypeVar("V")
Message: TypeAlias = "email.message.Message[Any, Any]"
RandomGenerator: TypeAlias = "random.Random | np.random.Generator | np.random.RandomState | np.random.BitGenerator"
DefaultDict: TypeAlias = "collections.defaultdict[Any, Any]"


def enumeration(value: enum.Enum) -> str | Parts | WithMetadata:
    """Return a member of an enumeration by its name, with its attributes: all runs may write into these."""
    found: str | Parts = value.name if value.name is not None else repr(value)
    if isinstance(value, enum.Flag):
        found = {"name": found, "value": value.value}
    if vars(value).keys() - _OF_ENUM:
        return converted(found, value, _state_of_member)
    return found


def _state_of_member(value: enum.Enum) -> Parts:
    return {name: part for name, part in attributes(value).items() if name not in _OF_ENUM}


def fraction(value: fractions.Fraction) -> Parts:
    """Return a fraction as a float, and exactly."""
    try:
        number = float(value)
    except OverflowError:
        number = float("inf") if value > 0 else float("-inf")
    return {"value": number, "numerator": value.numerator, "denominator": value.denominator}


def decimal_number(value: decimal.Decimal) -> Parts:
    """Return a decimal number as a float, and exactly."""
    sign, digits, exponent = value.as_tuple()
    # Text of more than 4300 digits is no integer for Python.
    whole = reduce(lambda number, digit: 10 * number + digit, digits, 0)
    number = float("nan") if value.is_nan() else float(value)
    return {"value": number, "sign": sign, "digits": whole, "exponent": exponent}


def complex_number(value: complex) -> Parts:
    """Return a complex number by its two parts."""
    return {"real": float(value.real), "imaginary": float(value.imag)}


def moment(value: datetime.datetime) -> str | Parts | WithMetadata:
    """Return a date with a time by the clock, and its time zone."""
    # NaT of pandas is an instance of datetime.
    if value != value:
        return "NaT"
    since = (value.replace(tzinfo=None, fold=0) - _EPOCH) // datetime.timedelta(microseconds=1)
    # Nanoseconds are those of a Timestamp of pandas.
    found = {"microseconds": int(since), "nanoseconds": int(getattr(value, "nanosecond", 0)), **_zone(value)}
    if value.tzinfo is None and type(value) is datetime.datetime:
        return found
    return converted(found, value, _unit, _class_of_zone)


def day(value: datetime.date) -> Parts:
    """Return a date as a number of days."""
    return {"day": value.toordinal()}


def time_of_day(value: datetime.time) -> Parts | WithMetadata:
    """Return a time by the clock, and its time zone."""
    since = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
    found = {"microseconds": since, **_zone(value)}
    if value.tzinfo is None:
        return found
    return converted(found, value, _class_of_zone)


def _zone(value: datetime.datetime | datetime.time) -> Parts:
    """Return the time zone of a value, and which of two equal times on a clock that is set back it is."""
    zone = None if value.tzinfo is None else str(value.tzinfo)
    return {"zone": zone, "offset": str(value.utcoffset()), "fold": value.fold}


def _class_of_zone(value: datetime.datetime | datetime.time) -> Parts:
    """Return the class of the object that says the time zone: several libraries have one of each name."""
    if value.tzinfo is None:
        return {}
    kind = type(value.tzinfo)
    return {"class of the zone": f"{kind.__module__}.{kind.__qualname__}"}


def duration(value: datetime.timedelta) -> Parts | WithMetadata:
    """Return a duration; one of pandas has nanoseconds and a unit."""
    since = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    found = {"microseconds": since, "nanoseconds": int(getattr(value, "nanoseconds", 0))}
    if type(value) is datetime.timedelta:
        return found
    return converted(found, value, _unit)


def _unit(value: datetime.datetime | datetime.timedelta) -> Parts:
    """Return the unit in which pandas keeps a time."""
    return named(value, ("unit",))


def unique_id(value: uuid.UUID) -> WithMetadata:
    """Return a UUID by its bytes."""
    return converted(value.bytes, value, _safety)


def _safety(value: uuid.UUID) -> Parts:
    """Return whether a UUID says that no other process made the same."""
    return {"is_safe": value.is_safe.name}


def bounds(value: range | slice) -> Parts:
    """Return a range or a slice by its bounds and its step."""
    return {"start": value.start, "stop": value.stop, "step": value.step}


def random_generator(value: RandomGenerator) -> WithMetadata:
    """Return a random generator by its class: its state is the stream of the run, and nobody looks at it."""
    return converted(type(value).__qualname__, value, _state_of_generator)


def _state_of_generator(value: RandomGenerator) -> Parts:
    return {"state": UNSEEN}


def double_ended_queue(value: collections.deque[V]) -> WithMetadata:
    """Return a deque by its elements."""
    return converted(tuple(value), value, lambda held: {"maxlen": held.maxlen})


def default_dict(value: DefaultDict) -> WithMetadata:
    """Return a dictionary with defaults by its items."""
    return converted(dict(value), value, _default_factory)


def _default_factory(value: DefaultDict) -> Parts:
    factory = value.default_factory
    if isinstance(factory, NO_STATE):
        return {"default_factory": known_by_name(factory)}
    return {"default_factory": factory}


def chain_map(value: collections.ChainMap[K, V]) -> WithMetadata:
    """Return a chain of mappings by the items that it shows, with its mappings as metadata."""
    return converted(dict(value), value, lambda held: {"maps": tuple(held.maps)})


def typed_array(value: array.array[int] | array.array[float] | array.array[str]) -> WithMetadata:
    """Return an array of the standard library by its elements."""
    return converted(tuple(value), value, lambda held: {"typecode": held.typecode})


def view(value: memoryview) -> WithMetadata:
    """Return a view of memory by its bytes."""
    return converted(value.tobytes(), value, _of_view)


def _of_view(value: memoryview) -> Parts:
    return {"format": value.format, "shape": value.shape, "readonly": value.readonly}


def match_of_pattern(value: re.Match[str] | re.Match[bytes]) -> Parts:
    """Return a match by where it is found; it is printed without the text around it."""
    found: Parts = {"pattern": value.re, "text": value.string, "spans": tuple(value.regs)}
    return {**found, "start": value.pos, "end": value.endpos}


def message(value: Message) -> WithMetadata:
    """Return a message by its headers as they are written and its content; it derives all else from these."""
    headers = tuple((name, str(text)) for name, text in value.raw_items())
    found = {"headers": headers, "payload": value.get_payload()}
    return converted(found, value, _of_message)


def _of_message(value: Message) -> Parts:
    read = {"_headers", "_payload", "policy"}
    held = {name: part for name, part in vars(value).items() if name not in read}
    return {**held, "policy": type(value.policy).__qualname__}
