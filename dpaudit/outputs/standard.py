"""The parts of values of the standard library."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import logging
import random
import uuid
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

__all__ = ["TABLE"]


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


def _complex(value: complex) -> Any:
    return {"real": float(value.real), "imaginary": float(value.imag)}


def _datetime(value: datetime.datetime) -> Any:
    if value != value:  # pandas' NaT says that it is a datetime
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


def _ends(value: range | slice) -> Any:
    return {"start": value.start, "stop": value.stop, "step": value.step}


def _mapping(value: Mapping[Any, Any]) -> Any:
    return dict(value)


def _kind(value: Any) -> Any:
    """Return the name of the class alone: the state of a random generator is no output."""
    return type(value).__qualname__


TABLE: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (enum.Enum, _enum),
    (fractions.Fraction, _fraction),
    (decimal.Decimal, _decimal),
    (complex, _complex),
    (np.complexfloating, _complex),
    (datetime.datetime, _datetime),
    (datetime.date, lambda value: {"day": value.toordinal()}),
    (datetime.time, _time),
    (datetime.timedelta, _timedelta),
    (uuid.UUID, lambda value: value.bytes),
    (range, _ends),
    (slice, _ends),
    (logging.Logger, lambda value: value.name),
    (random.Random, _kind),
    (np.random.Generator, _kind),
    (np.random.RandomState, _kind),
    (np.random.BitGenerator, _kind),
)
"""The steps by which values of each type are taken apart."""
