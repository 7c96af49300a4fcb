"""Turn any output into a hashable cell: outputs share a cell only if they are indistinguishable.

But for the differences that docs/outputs.md lists as left alone on purpose. Post-processing cannot create a leak, so
coarser cells would still give valid bounds; finer ones see more.
"""

from __future__ import annotations

import enum
import hashlib
import math
import os
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError, place_of
from dpaudit.jsonable import MOST_BITS, stable_repr
from dpaudit.outputs.parts import REGISTERED, parts
from dpaudit.withheld import HOW, foreign, hides, kind_words, message_of

TIMED_OUT = "timed out"
"""In the place of a type, for a run that was ended: no type has a name of two words."""


_OLD_NAMES = {
    "rand": "random",
    "randn": "standard_normal",
    "randint": "integers",
    "random_sample": "random",
    "random_integers": "integers",
}
"""Methods that numpy's `RandomState` has and its `Generator` has not, with those that take their place."""


class Raised:
    """The output of a run that ended in an exception: its type, and separately its message and its line."""

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__qualname__
        self.message = message_of(error)
        self.place = os.path.basename(place_of(error)) if error.__traceback__ else ""
        if isinstance(error, AttributeError) and isinstance(error.obj, np.random.Generator):
            self.message += f"; it has {_OLD_NAMES[error.name]}" if error.name in _OLD_NAMES else ""

    @classmethod
    def of(cls, kind: str, message: str, place: str = "") -> Raised:
        """Return the output of a run that ended in an exception, by its texts."""
        found = cls.__new__(cls)
        found.kind, found.message, found.place = kind, message, place
        return found

    @property
    def words(self) -> str:
        """The exception as people are shown it, with its line."""
        said = f"{kind_words(self.kind)} ({HOW})" if hides() else f"{self.kind}: {self.message}"
        return said + (f" ({self.place})" if self.place else "")


def timed_out(seconds: float) -> Raised:
    """Return the output of a run that was ended after so many seconds."""
    return Raised.of(TIMED_OUT, f"after {seconds:g} s")


NUMERIC = frozenset({"bool", "int", "float"})
"""The families of numbers."""

_BASES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    ("complex", (complex, np.complexfloating)),
    ("text", (str,)),
    ("bytes", (bytes, bytearray, memoryview)),
    ("none", (type(None),)),
    ("array", (np.ndarray,)),
    ("mapping", (dict,)),
    ("set", (set, frozenset)),
)
_OURS = frozenset({"builtins", "numpy", "collections"})
"""Modules whose classes derived from plain types hold nothing more."""


def family(kind: type) -> str:
    """Return the name of a type's family; a type of none of them is a family of its own.

    Outputs of one family are taken apart in the same way, and which family it is is a feature. NumPy's scalars belong
    with Python's, a list with a tuple, and an array whatever its memory order: those differences are ignored on
    purpose. Integers, floats and Booleans of the same value differ. A class that other code derived from a plain
    type is a family of its own, because its instances may hold more.
    """
    if REGISTERED and any(base in REGISTERED for base in kind.__mro__):
        return _own(kind)
    return _family(kind)


@cache
def _family(kind: type) -> str:
    if kind in (list, tuple):
        return "sequence"
    if issubclass(kind, Raised | BaseException):
        return "exception"
    if kind.__module__.startswith("scipy.sparse") and hasattr(kind, "tocoo"):
        return "sparse"
    if not issubclass(kind, enum.Enum | np.ma.MaskedArray | np.void):
        for name, bases in _BASES:
            if issubclass(kind, bases) and kind.__module__ in _OURS:
                return name
        if issubclass(kind, Mapping) and not issubclass(kind, dict):
            return "mapping"
    return _own(kind)


def _own(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def kind_of(value: object) -> str:
    """Return the family of a value's type."""
    return family(type(value))


SPELT = 32
"""Numbers of an array that a label spells out, so that an event can show them; longer arrays have a digest."""


def canonical(value: Any) -> Hashable:
    """Return the hashable cell of an output, or of whatever `outputs.parts` can take apart, ragged or nested.

    A NumPy scalar and Python's, a list and a tuple, and the like share a cell: docs/outputs.md has what is left alone
    on purpose. `InputError` is raised if the value cannot be taken apart, or holds itself.
    """
    kind = type(value)
    label = _BY_TYPE.get(kind) or _LABELS.get(family(kind), _other)
    try:
        return label(value)
    except RecursionError:
        raise InputError(
            f"an output of type {foreign(kind.__qualname__)} holds itself, or is nested too deep to be compared; "
            "return what of it matters"
        ) from None


def _float(value: Any) -> Hashable:
    number = float(value)
    if number != number:
        return ("float", "nan")
    if number != value:  # a long double
        return ("long double", repr(value))
    return ("float", "-0.0" if number == 0.0 and math.copysign(1.0, number) < 0 else number)


def _array(value: NDArray[Any]) -> Hashable:
    """Label an array by its shape and its elements; one of many numbers by the bytes of these, which are soon had."""
    kind = value.dtype.kind
    if kind not in "iufb":
        return ("array", value.shape, kind, canonical(parts(value)))
    kind = "i" if kind == "u" else kind
    if value.size <= SPELT or value.dtype.itemsize > 8:
        return ("array", value.shape, kind, tuple(map(canonical, np.asarray(value).ravel().tolist())))
    if value.dtype.kind == "u" and value.max() > np.iinfo(np.int64).max:
        return ("array", value.shape, kind, tuple(value.ravel().tolist()))
    wide: NDArray[Any] = np.array(value, dtype={"f": np.float64, "i": np.int64, "b": np.bool_}[kind], order="C")
    if kind == "f":
        wide[np.isnan(wide)] = np.nan  # whatever its payload
    return ("numbers", value.shape, kind, wide.tobytes())


def _exception(value: Any) -> Hashable:
    raised = value if isinstance(value, Raised) else Raised(value)
    return ("exception", raised.kind, raised.message)


def _other(value: Any) -> Hashable:
    return ("object", type(value).__qualname__, canonical(parts(value)))


_LABELS: dict[str, Callable[[Any], Hashable]] = {
    "bool": lambda value: ("bool", bool(value)),
    "int": int,
    "float": _float,
    "complex": lambda value: ("complex", _float(value.real), _float(value.imag)),
    "text": lambda value: ("str", str(value)),
    "bytes": lambda value: ("bytes", bytes(value)),
    "none": lambda value: ("NoneType", value),
    "array": _array,
    # The stored entries of a sparse matrix, whatever its format.
    "sparse": lambda value: ("object", "sparse", canonical({**parts(value), "kind": value.dtype.kind})),
    "sequence": lambda values: ("sequence", tuple(map(canonical, values))),
    "set": lambda values: ("set", frozenset(map(canonical, values))),
    "mapping": lambda value: ("mapping", tuple((canonical(k), canonical(v)) for k, v in value.items())),
    "exception": _exception,
}
"""The functions that label values, by `family`."""

_BY_TYPE: dict[type, Callable[[Any], Hashable]] = {
    **{kind: _LABELS[family(kind)] for kind in (int, bool, float, str, type(None), tuple, list)},
    Fraction: lambda value: ("rational", int(value.numerator), int(value.denominator)),
}
"""The commonest kinds, by their exact type: most outputs are one of these, and there are millions of them."""


def in_words(cell: Any, *, fractions: bool = False) -> str:
    """Return a cell as a person would write the output; sets and mappings are sorted, whatever their hash order.

    Rationals are written as their cells are, or as `fractions`.
    """
    words = partial(in_words, fractions=fractions)
    match cell:
        case ("rational", top, bottom) if fractions:
            return str(Fraction(top, bottom))
        case ("float" | "NoneType", value):
            return str(value)
        case int() if cell.bit_length() > MOST_BITS:
            digest = hashlib.blake2b(hex(cell).encode(), digest_size=8).hexdigest()
            return f"integer of {cell.bit_length()} bits with digest {digest}"
        case ("bool" | "str" | "bytes", value):
            return repr(value)
        case ("exception", kind, message):
            return f"{TIMED_OUT} {message}" if kind == TIMED_OUT else f"{kind}({message!r})"
        case ("sequence", values):
            return f"({', '.join(map(words, values))})"
        case ("array", _, kind, values):
            return f"[{', '.join(map(words, values))}]" if kind in "iufb" else words(values)
        case ("set", values):
            return f"{{{', '.join(sorted(map(words, values)))}}}"
        case ("mapping", items):
            return f"{{{', '.join(f'{words(key)}: {words(value)}' for key, value in items)}}}"
        case ("numbers", shape, _, held):
            return f"array of shape {shape} with digest {hashlib.blake2b(held, digest_size=8).hexdigest()}"
        case ("object", name, parts):
            return f"{name} {words(parts)}"
    return stable_repr(cell)


def contents(data: Any) -> Hashable:
    """Return what plain data, a table or a tensor holds, to show later whether an input was changed.

    None for objects, which may fill caches as they please.
    """
    if isinstance(data, np.ndarray) and data.dtype != object:
        return (data.shape, data.dtype.str, data.tobytes())
    plain = isinstance(data, list | dict | set | bytearray | np.ndarray | tuple) or hasattr(type(data), "__array__")
    try:
        return canonical(data) if plain else None
    except InputError:  # an object among them
        return None
