"""Turn any output into a hashable cell: outputs share a cell only if they are indistinguishable.

But for the differences that docs/outputs.md lists as left alone on purpose. Post-processing cannot create a leak, so
coarser cells would still give valid bounds; finer ones see more.
"""

from __future__ import annotations

import enum
import hashlib
import math
import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError, place_of
from dpaudit.jsonable import MOST_BITS, stable_repr
from dpaudit.outputs.attributes import added_attributes
from dpaudit.outputs.beside import UNSEEN, Beside, Labelled, Unseen
from dpaudit.outputs.parts import REGISTERED, has_numbers, parts
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
    """The output of a run that ended in an exception: its type, and separately its message and its line.

    What stands `beside` the message, in words: notes, attributes, the exceptions of a group and those it came from.
    """

    def __init__(self, error: BaseException) -> None:
        self.beside = _beside_message(error)
        self.kind = type(error).__qualname__
        self.message = message_of(error)
        self.place = os.path.basename(place_of(error)) if error.__traceback__ else ""
        if isinstance(error, AttributeError) and isinstance(error.obj, np.random.Generator):
            self.message += f"; it has {_OLD_NAMES[error.name]}" if error.name in _OLD_NAMES else ""

    @classmethod
    def of(cls, kind: str, message: str, place: str = "", beside: str = "") -> Raised:
        """Return the output of a run that ended in an exception, by its texts."""
        found = cls.__new__(cls)
        found.kind, found.message, found.place = kind, message, place
        found.beside = beside
        return found

    @property
    def words(self) -> str:
        """The exception as people are shown it, with its line."""
        said = f"{kind_words(self.kind)} ({HOW})" if hides() else f"{self.kind}: {self.message}"
        return said + (f" ({self.place})" if self.place else "")


CAUSES = 8
"""Exceptions behind an exception that are looked at, and members of a group on each level."""


def _beside_message(error: BaseException, depth: int = CAUSES) -> str:
    """Return in words what an exception holds beside its type and its message; "" of nearly all.

    That are its notes, the attributes that were given to it, arguments that its message does not show, the exceptions
    of a group, and the exception that it came from.
    """
    said: list[str] = []
    try:
        base = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        held = added_attributes(error, base)
        said += [f"note {note}" for note in held.pop("__notes__", ())]
        said += [f"{name} = {_in_short(part)}" for name, part in held.items()]
        said += _named_beside_message(error)
        if type(error).__str__ not in _SHOW_ARGUMENTS and error.args:
            said.append(f"arguments {_in_short(error.args)}")
        others = list(error.exceptions[:CAUSES]) if isinstance(error, BaseExceptionGroup) else []
        source = error.__context__ if error.__cause__ is None and not error.__suppress_context__ else error.__cause__
        others += [] if source is None else [source]
        for other in others if depth else []:
            inside = f"{type(other).__qualname__}: {message_of(other)}", _beside_message(other, depth - 1)
            said.append(f"from {' '.join(filter(None, inside))}")
    except Exception:  # attributes of exceptions are third-party code
        said.append("what cannot be shown")
    return "; ".join(said)


def _named_beside_message(error: BaseException) -> list[str]:
    """Return the names and files that an exception of Python's own was given, where its message does not show them.

    The object of an `AttributeError` is not looked at: it is what the mechanism worked with, and no output.
    """
    held = {name: getattr(error, name, None) for name in _NAMED if isinstance(error, _HAVE_NAMES)}
    message = str(error)
    return [f"{name} = {part}" for name, part in held.items() if isinstance(part, str) and part not in message]


_HAVE_NAMES = (AttributeError, NameError, ImportError)
_NAMED = ("name", "name_from", "path")
"""Attributes that these exceptions keep where `vars` does not show them."""
_SHOW_ARGUMENTS = (BaseException.__str__, OSError.__str__, KeyError.__str__, SyntaxError.__str__, ImportError.__str__)
"""The methods of exceptions whose messages show their arguments."""


def _in_short(part: Any) -> str:
    """Return what an exception holds in words, or its class where it cannot be taken apart."""
    try:
        return in_words(canonical(part))
    except Exception:  # it is an attribute of an exception, and third-party code
        return type(part).__qualname__


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
    ("bytes", (bytes, bytearray)),
    ("none", (type(None),)),
    ("array", (np.ndarray,)),
    ("set", (set, frozenset)),
)
_OF_CONVERSIONS: dict[type, str] = {Labelled: "labelled", Unseen: "unseen"}
_MAPPINGS = frozenset({dict, OrderedDict, Counter, MappingProxyType})
"""The mappings that hold nothing but their items."""
_OURS = frozenset({"builtins", "numpy", "numpy.rec", "collections"})
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
    if kind in _MAPPINGS:
        return "mapping"
    if kind in _OF_CONVERSIONS:
        return _OF_CONVERSIONS[kind]
    if issubclass(kind, Raised | BaseException):
        return "exception"
    if kind.__module__.startswith("scipy.sparse") and hasattr(kind, "tocoo"):
        return "sparse"
    # NumPy derives its durations from integers, and they are none: one has a unit.
    if not issubclass(kind, enum.Enum | np.ma.MaskedArray | np.void | np.timedelta64 | np.memmap):
        for name, bases in _BASES:
            if issubclass(kind, bases) and kind.__module__ in _OURS:
                return name
    return _own(kind)


def _own(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def kind_of(value: object) -> str:
    """Return the family of a value's type."""
    return family(type(value))


def class_of(value: object) -> str:
    """Return the name of a value's class; of a number of NumPy that of its type, of Python's width the name in Python.

    A sum is of the one class or the other by which operand came first, and says nothing else.
    """
    kind = type(value)
    if isinstance(value, np.number | np.bool_):
        words = str(value.dtype)
        return _OF_PYTHON.get(words, words)
    if isinstance(value, np.str_ | np.bytes_):
        return "str" if isinstance(value, str) else "bytes"
    return kind.__qualname__ if kind.__module__ == "builtins" else _own(kind)


_OF_PYTHON = {"float64": "float", "int64": "int", "complex128": "complex"}


def dtype_of(value: Any) -> str:
    """Return the type of the numbers of an array or sparse matrix; the fields of records are looked at themselves."""
    if value.dtype.names is not None:
        return "records"
    words = _words(value.dtype)
    # Types of different metadata are equal.
    return words if value.dtype.metadata is None else f"{words} with {dict(value.dtype.metadata)!r:.200}"


def order_of(value: NDArray[Any]) -> str:
    """Return the order in which the numbers of an array of several dimensions lie in memory."""
    flags = value.flags
    return "Fortran" if value.ndim > 1 and flags.f_contiguous and not flags.c_contiguous else "C"


_words = cache(str)

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
    if not has_numbers(value.dtype):
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
    more = (raised.beside,) if raised.beside else ()
    return ("exception", raised.kind, raised.message, *more)


def _other(value: Any) -> Hashable:
    known = _MET.known
    if known is not None and id(value) in known:
        return known[id(value)][1]
    cell = ("object", type(value).__qualname__, canonical(parts(value)))
    if known is not None and len(known) < MOST_MET:
        known[id(value)] = (value, cell)  # the object is kept, so that no other gets its place in memory
    return cell


class _Met(threading.local):
    known: dict[int, tuple[Any, Hashable]] | None = None


_MET = _Met()
MOST_MET = 1_000
"""Objects of a batch whose cells are remembered: those that many outputs hold are met in the first ones."""


def canonical_each(values: Iterable[Any]) -> list[Hashable]:
    """Return the cells of a batch of outputs; an object that several of them hold, as a policy, is labelled once."""
    _MET.known = {}
    try:
        return list(map(canonical, values))
    finally:
        _MET.known = None


def _labelled(value: Labelled) -> Hashable:
    held = canonical(value.values)
    beside = _cell_beside(value.beside)
    return ("labelled", held, beside) if beside else held


def looked_at(beside: Beside) -> dict[str, Any]:
    """Return what stands beside the values of an output, by names; `UNSEEN` in the place of what nobody can look at."""
    _cell_beside(beside)
    return beside.held


def _cell_beside(beside: Beside) -> Hashable:
    """Return the cell of what stands beside values; None where that is nothing."""
    if beside.cell is None and beside.held:
        cells = []
        for name, part in beside.held.items():
            try:
                cell = canonical(part)
                hash(cell)
            except (InputError, TypeError):
                beside.held[name] = UNSEEN
                cell = _UNSEEN
            cells.append((("str", name), cell))
        beside.cell = ("mapping", tuple(cells))
    return beside.cell


def holds_unseen(cell: Hashable) -> bool:
    """Say whether a cell is that of something of which a part cannot be looked at."""
    if isinstance(cell, tuple | frozenset):
        return cell == _UNSEEN or any(map(holds_unseen, cell))
    return False


_UNSEEN = ("unseen",)

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
    "labelled": _labelled,
    "unseen": lambda value: _UNSEEN,
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
        case ("exception", kind, message, beside):
            return f"{kind}({message!r}) with {beside}"
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
        case ("labelled", values, beside):
            return f"{words(values)} with {words(beside)}"
        case ("unseen",):
            return "what is not looked at"
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
