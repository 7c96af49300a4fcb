"""Turn any output into a hashable cell: outputs share a cell only if nobody could tell them apart.

But for the differences that docs/outputs.md lists as left alone on purpose. Post-processing cannot create a leak, so
coarser cells would still give valid bounds; finer ones see more.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.families import family
from dpaudit.outputs.parts import parts
from dpaudit.outputs.raised import TIMED_OUT, Raised

__all__ = ["Raised", "canonical", "in_words"]

SPELT = 32
"""Numbers of an array that a label spells out, so that an event can show them; longer arrays have a digest."""


def canonical(value: Any) -> Hashable:
    """Return the hashable cell of an output.

    Parameters
    ----------
    value : any
        Whatever `leaves.parts` can take apart, ragged or nested. What is left alone on purpose stands in
        docs/outputs.md: a NumPy scalar and Python's, a list and a tuple, and the like share a cell.

    Raises
    ------
    InputError
        If the value cannot be taken apart, or holds itself.
    """
    exact = _BY_TYPE.get(type(value))
    try:
        return exact(value) if exact else _BY_FAMILY.get(family(type(value)), _other)(value)
    except RecursionError:
        raise InputError(
            f"an output of type {type(value).__qualname__} holds itself, or is nested too deep to be compared; return "
            "what of it matters"
        ) from None


def _float(value: Any) -> Hashable:
    number = float(value)
    if math.isnan(number):
        return ("float", "nan")
    if number == 0.0 and math.copysign(1.0, number) < 0:
        return ("float", "-0.0")
    if number != value:  # a long double
        return ("long double", repr(value))
    return ("float", number)


def _array(value: NDArray[Any]) -> Hashable:
    """Label an array by its shape and its elements; one of many numbers by the bytes of these, which are soon had."""
    kind = value.dtype.kind
    if kind not in "iufb":
        return ("array", value.shape, kind, canonical(parts(value)))
    kind = "i" if kind == "u" else kind
    if value.size <= SPELT or value.dtype.itemsize > 8:
        return ("array", value.shape, kind, tuple(map(canonical, value.ravel().tolist())))
    if value.dtype.kind == "u" and value.max() > np.iinfo(np.int64).max:
        return ("array", value.shape, kind, tuple(value.ravel().tolist()))
    wide: NDArray[Any] = np.array(value, dtype={"f": np.float64, "i": np.int64, "b": np.bool_}[kind], order="C")
    if kind == "f":
        wide[np.isnan(wide)] = np.nan  # whatever its payload
    return ("numbers", value.shape, kind, wide.tobytes())


def _sequence(values: Sequence[Any]) -> Hashable:
    return ("sequence", tuple(map(canonical, values)))


def _mapping(value: Mapping[Any, Any]) -> Hashable:
    return ("mapping", tuple((canonical(k), canonical(v)) for k, v in value.items()))


def _exception(value: Any) -> Hashable:
    raised = value if isinstance(value, Raised) else Raised(value)
    return ("exception", raised.kind, raised.message)


def _sparse(value: Any) -> Hashable:
    """Label a sparse matrix by its stored entries, whatever its format."""
    return ("object", "sparse", canonical({**parts(value), "kind": value.dtype.kind}))


def _other(value: Any) -> Hashable:
    """Label everything else by its type and its parts."""
    return ("object", type(value).__qualname__, canonical(parts(value)))


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

_BY_FAMILY: dict[str, Callable[[Any], Hashable]] = {
    "bool": lambda value: ("bool", bool(value)),
    "int": int,
    "float": _float,
    "complex": lambda value: ("complex", _float(value.real), _float(value.imag)),
    "text": lambda value: ("str", str(value)),
    "bytes": lambda value: ("bytes", bytes(value)),
    "array": _array,
    "sparse": _sparse,
    "set": lambda value: ("set", frozenset(map(canonical, value))),
    "mapping": _mapping,
    "exception": _exception,
}
"""The others, by the families of `leaves.families`."""


def in_words(cell: Hashable) -> str:
    """Return a cell as a person would write the output; sets and mappings are sorted, whatever their hash order."""
    if isinstance(cell, tuple) and cell:
        kind, *rest = cell
        if kind in ("bool", "float", "str", "bytes", "NoneType") and len(rest) == 1:
            return str(rest[0]) if kind in ("float", "NoneType") else repr(rest[0])
        if kind == "exception" and rest[0] == TIMED_OUT:
            return f"{TIMED_OUT} {rest[1]}"
        if kind == "exception":
            return f"{rest[0]}({rest[1]!r})"
        if kind == "sequence":
            return "(" + ", ".join(in_words(v) for v in rest[0]) + ")"
        if kind == "array":
            numbers = rest[1] in "iufb"
            return "[" + ", ".join(map(in_words, rest[2])) + "]" if numbers else in_words(rest[2])
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
