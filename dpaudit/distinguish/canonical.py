"""Turn any output into a hashable cell: two outputs share a cell if and only if nobody could tell them apart.

This is the only file that knows kinds of outputs. Post-processing cannot create a leak, so coarser cells would still
give valid bounds; finer ones see more.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.leaves.parts import parts
from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr

__all__ = ["Raised", "canonical", "in_words"]

SPELT = 32
"""Numbers of an array that a label spells out, so that an event can show them; longer arrays have a digest."""


class Raised:
    """The output of a run that ended in an exception: its type, and separately its message."""

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__qualname__
        self.message = str(error)


def canonical(value: Any) -> Hashable:
    """Return the hashable cell of an output.

    Parameters
    ----------
    value : any
        None, a Boolean, an integer, a float (NaN, infinities and -0.0 included), a string, bytes, an exception caught
        as `Raised`, an array, or a list, tuple, set or dictionary of these, ragged or nested.

    Raises
    ------
    InputError
        If the value cannot be taken apart; see `leaves.parts`.
    """
    exact = _BY_TYPE.get(type(value))
    if exact is not None:
        return exact(value)
    if isinstance(value, bool | np.bool_):
        return ("bool", bool(value))
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _float(float(value))
    if value is None or isinstance(value, str | bytes):
        return (type(value).__name__, value)
    if isinstance(value, Raised):
        return ("exception", value.kind, value.message)
    if isinstance(value, BaseException):
        return canonical(Raised(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, list | tuple):
        return _sequence(value)
    if isinstance(value, set | frozenset):
        return ("set", frozenset(canonical(v) for v in value))
    if isinstance(value, Mapping):
        return ("mapping", tuple((canonical(k), canonical(v)) for k, v in value.items()))
    return _other(value)


def _float(value: float) -> Hashable:
    if math.isnan(value):
        return ("float", "nan")
    if value == 0.0 and math.copysign(1.0, value) < 0:
        return ("float", "-0.0")
    return ("float", value)


def _array(value: NDArray[Any]) -> Hashable:
    """Label an array by its shape and its elements; one of many numbers by the bytes of these, which are soon had."""
    if value.size <= SPELT or value.dtype.kind not in "iufb":
        return ("array", value.shape, tuple(canonical(v) for v in value.ravel().tolist()))
    kind = "f" if value.dtype.kind == "f" else "b" if value.dtype.kind == "b" else "i"
    if value.dtype.kind == "u" and value.max() > np.iinfo(np.int64).max:
        return ("array", value.shape, tuple(value.ravel().tolist()))
    wide = np.array(value, dtype={"f": np.float64, "i": np.int64, "b": np.bool_}[kind], order="C")
    if kind == "f":
        wide[np.isnan(wide)] = np.nan  # whatever its payload
    return ("numbers", value.shape, kind, wide.tobytes())


def _sequence(values: Sequence[Any]) -> Hashable:
    return ("sequence", tuple(map(canonical, values)))


def _other(value: Any) -> Hashable:
    """Label complex and rational numbers and everything else by its type and its parts."""
    if isinstance(value, complex | np.complexfloating):
        return ("complex", _float(float(value.real)), _float(float(value.imag)))
    if isinstance(value, Fraction):
        return _rational(value)
    try:
        return ("object", type(value).__qualname__, canonical(parts(value)))
    except InputError as error:
        if not hasattr(value, "predict"):
            raise
        hint = f"{error}; or give {{probe}}=points, to compare hypotheses by their predictions"
        raise InputError(hint, names=("probe",)) from None


def _rational(value: Any) -> Hashable:
    return ("rational", int(value.numerator), int(value.denominator))


_BY_TYPE: dict[type, Callable[[Any], Hashable]] = {
    int: int,
    bool: lambda value: ("bool", value),
    float: _float,
    str: lambda value: ("str", value),
    type(None): lambda value: ("NoneType", value),
    tuple: _sequence,
    list: _sequence,
    Fraction: _rational,
}
"""The commonest kinds, by their exact type: most outputs are one of these, and there are millions of them."""


def in_words(cell: Hashable) -> str:
    """Return a cell as a person would write the output; sets and mappings are sorted, whatever their hash order."""
    if isinstance(cell, tuple) and cell:
        kind, *rest = cell
        if kind in ("bool", "float", "str", "bytes", "NoneType") and len(rest) == 1:
            return str(rest[0]) if kind in ("float", "NoneType") else repr(rest[0])
        if kind == "exception":
            return f"{rest[0]}({rest[1]!r})"
        if kind == "sequence":
            return "(" + ", ".join(in_words(v) for v in rest[0]) + ")"
        if kind == "array":
            return "[" + ", ".join(in_words(v) for v in rest[1]) + "]"
        if kind == "set":
            return "{" + ", ".join(sorted(in_words(v) for v in rest[0])) + "}"
        if kind == "mapping":
            return "{" + ", ".join(f"{in_words(k)}: {in_words(v)}" for k, v in rest[0]) + "}"
        if kind == "numbers":
            shape, _, held = rest
            return f"array of shape {shape} with digest {hashlib.blake2b(held, digest_size=8).hexdigest()}"
        if kind == "object":
            return f"{rest[0]} {in_words(rest[1])}"
    return stable_repr(cell)
