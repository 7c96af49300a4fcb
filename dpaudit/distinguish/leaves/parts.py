"""The table of types: how an output of a type becomes plain containers, numbers, text and categories.

`register_flattener` adds a type. Whatever the table does not know is taken apart by its dataclass fields, its protocol
(`__array__`, `__dlpack__`), its attributes or its own `repr`; an object with none of these is refused.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import uuid
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterator, Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from dpaudit.errors import InputError

__all__ = ["parts", "register_flattener"]

PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, np.ndarray, np.generic)


def register_flattener(kind: type, function: Callable[[Any], Any]) -> None:
    """Say how outputs of a type become numbers and categories.

    Parameters
    ----------
    kind : type
        The type; its subclasses are taken apart in the same way.
    function : callable
        Maps an output to numbers, text, bytes, None, arrays of numbers, or lists, tuples, dictionaries and sets of
        these, with nothing but the output to go by.

    Raises
    ------
    InputError
        If `kind` is no type, or `function` cannot be called.

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
    if not callable(function):
        raise InputError.of("function", function, "a callable that takes an output")

    def checked(value: Any) -> Any:
        found = function(value)
        if not isinstance(found, PLAIN):
            raise InputError(
                f"the flattener registered for {kind.__qualname__} must return numbers, text, bytes, None, arrays, or "
                f"lists, tuples, dictionaries and sets of these; it returned {found!r:.100} of type "
                f"{type(found).__qualname__}"
            )
        return found

    parts.register(kind, checked)


@singledispatch
def parts(value: Any) -> Any:
    """Return an output as plain containers of plain values.

    Raises
    ------
    InputError
        If nothing is known of the type: the message says how to register it.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, list | tuple):
        return tuple(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Iterator | Awaitable | AsyncIterable):
        raise InputError(
            f"an output is a {type(value).__qualname__}, which shows nothing until it is run: return what it makes, "
            "as list(output)"
        )
    found = _by_library(value)
    if found is not None:
        return found
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return _as_array(value)
    if hasattr(value, "numerator") and hasattr(value, "denominator"):
        return {"numerator": int(value.numerator), "denominator": int(value.denominator)}
    attributes = _attributes(value)
    if attributes:
        return attributes
    if isinstance(value, Collection):
        return tuple(value)
    shown = repr(value)
    if " at 0x" not in shown:
        return shown
    name = type(value).__qualname__
    raise InputError(
        f"an output of type {name} cannot be taken apart: {value!r:.100}; say how, by "
        f"dpaudit.register_flattener({name}, lambda output: ...), or return numbers, text, arrays or containers of these"
    )


def _by_library(value: Any) -> Any:
    """Return the parts of values of libraries that need not be installed; None for all others."""
    library = type(value).__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(value)
    if library == "scipy" and hasattr(value, "tocoo"):
        entries = value.tocoo()
        pattern = (
            np.stack([np.asarray(index) for index in entries.coords])
            if hasattr(entries, "coords")
            else (np.stack([entries.row, entries.col]))
        )
        return {"shape": tuple(value.shape), "pattern": pattern, "values": np.asarray(entries.data)}
    return None


def _pandas(value: Any) -> Any:
    """Return the parts of a Series, DataFrame, Index, Categorical or scalar of pandas."""
    if hasattr(value, "columns"):
        names = [str(name) for name in value.columns]
        columns = {f"{i} {name}": _pandas_values(value.iloc[:, i]) for i, name in enumerate(names)}
        return {"columns": tuple(names), "index": _pandas_values(value.index), "rows": len(value), **columns}
    if hasattr(value, "iloc"):
        return {"name": str(value.name), "index": _pandas_values(value.index), "values": _pandas_values(value)}
    if hasattr(value, "codes") and hasattr(value, "categories"):
        return {"categories": tuple(map(str, value.categories)), "codes": np.asarray(value.codes)}
    if hasattr(value, "to_numpy") and hasattr(value, "__len__"):
        return _pandas_values(value)
    return repr(value)


def _pandas_values(values: Any) -> Any:
    """Return the values of a column or index: numbers as an array, all else as a tuple."""
    if hasattr(values, "cat"):
        return {"categories": tuple(map(str, values.cat.categories)), "codes": np.asarray(values.cat.codes)}
    array = np.asarray(values)
    return array if array.dtype.kind in "iufbc" else tuple(array.tolist())


def _as_array(value: Any) -> Any:
    """Return what an array of another library holds."""
    if hasattr(value, "detach"):  # a tensor that records its gradient gives its values only when told not to
        value = value.detach()
    if hasattr(value, "cpu"):
        value = value.cpu()
    array = np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    if array.dtype == object and array.ndim == 0:
        raise InputError(f"an output of type {type(value).__qualname__} has an __array__ of objects: {value!r:.100}")
    return array


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, those of its slots included."""
    slots = [
        name
        for kind in type(value).__mro__
        for name in ((kind.__dict__.get("__slots__") or ()) if not isinstance(kind.__dict__.get("__slots__"), str)
                     else (kind.__dict__["__slots__"],))
        if name not in ("__dict__", "__weakref__")
    ]  # fmt: skip
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return {str(name): part for name, part in found.items() if not callable(part)}


@parts.register
def _(value: enum.Enum) -> Any:
    return value.name if value.name is not None else repr(value)


@parts.register
def _(value: fractions.Fraction) -> Any:
    number = float(value) if abs(value) < 10**300 else float("inf") * (1 if value > 0 else -1)
    return {"value": number, "numerator": value.numerator, "denominator": value.denominator}


@parts.register
def _(value: decimal.Decimal) -> Any:
    sign, digits, exponent = value.as_tuple()
    whole = int("".join(map(str, digits)) or "0")
    number = float("nan") if value.is_nan() else float(value)
    return {"value": number, "sign": sign, "digits": whole, "exponent": str(exponent) if isinstance(exponent, str)
            else exponent}  # fmt: skip


@parts.register
def _(value: complex) -> Any:
    return {"real": value.real, "imaginary": value.imag}


@parts.register
def _(value: np.complexfloating) -> Any:
    return {"real": float(value.real), "imaginary": float(value.imag)}


@parts.register
def _(value: datetime.datetime) -> Any:
    naive = value.replace(tzinfo=None)
    since = (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    return {"microseconds": since, "zone": str(value.utcoffset()), "fold": value.fold}


@parts.register
def _(value: datetime.date) -> Any:
    return {"day": value.toordinal()}


@parts.register
def _(value: datetime.time) -> Any:
    since = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
    return {"microseconds": since, "zone": str(value.utcoffset()), "fold": value.fold}


@parts.register
def _(value: datetime.timedelta) -> Any:
    return value // datetime.timedelta(microseconds=1)


@parts.register
def _(value: uuid.UUID) -> Any:
    return value.bytes


@parts.register
def _(value: range) -> Any:
    return {"start": value.start, "stop": value.stop, "step": value.step}


@parts.register
def _(value: slice) -> Any:
    return {"start": value.start, "stop": value.stop, "step": value.step}


@parts.register
def _(value: np.datetime64) -> Any:
    return {"time": int(value.astype(np.int64)), "unit": np.datetime_data(value.dtype)[0]}


@parts.register
def _(value: np.timedelta64) -> Any:
    return {"time": int(value.astype(np.int64)), "unit": np.datetime_data(value.dtype)[0]}


@parts.register
def _(value: np.void) -> Any:
    names = value.dtype.names
    return {name: value[name] for name in names} if names else value.tobytes()


@parts.register
def _(value: np.ma.MaskedArray) -> Any:
    return {"values": np.asarray(value.filled(0)), "mask": np.ma.getmaskarray(value)}


@parts.register
def _(value: np.ndarray) -> Any:
    """Return arrays of records, times and complex numbers by their parts, others as they are."""
    if value.dtype.names:
        return {name: parts(value[name]) for name in value.dtype.names}
    if value.dtype.kind in "mM":
        return {"times": value.astype(np.int64), "unit": np.datetime_data(value.dtype)[0]}
    if value.dtype.kind == "c":
        return {"real": np.ascontiguousarray(value.real), "imaginary": np.ascontiguousarray(value.imag)}
    if value.dtype.kind in "OSUV":
        return {"shape": value.shape, "values": tuple(value.ravel().tolist())}
    return value


@parts.register
def _(value: Mapping) -> Any:  # type: ignore[type-arg]
    return dict(value)
