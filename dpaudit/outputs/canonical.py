"""Turn any output into a hashable cell: outputs share a cell only if they are indistinguishable.

docs/research/outputs.md lists the differences that are ignored on purpose. Post-processing cannot create a leak, so
coarser cells would still give valid bounds; finer ones see more.
"""

from __future__ import annotations

import enum
import hashlib
import math
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from dpaudit.errors import InputError, place_of
from dpaudit.jsonable import MOST_BITS, stable_repr
from dpaudit.outputs.attributes import added_attributes
from dpaudit.outputs.metadata import UNSEEN, Metadata, Unseen, WithMetadata
from dpaudit.outputs.numpy_parts import has_numbers
from dpaudit.outputs.parts import REGISTERED, parts
from dpaudit.outputs.types import Array, Parts, Sparse
from dpaudit.withheld import HOW, foreign, hides, kind_words, message_of

# In the place of a type, for a run that was ended: no type has a name of two words.
TIMED_OUT = "timed out"

# Methods that numpy's `RandomState` has and its `Generator` has not, with those that take their place.
_OLD_NAMES = {
    "rand": "random",
    "randn": "standard_normal",
    "randint": "integers",
    "random_sample": "random",
    "random_integers": "integers",
}


class Raised:
    """The output of a run that ended in an exception: its type, and separately its message and its line.

    The `details` are a text of what else the exception holds: notes, attributes, the exceptions of a group and of the
    chain that it came from.
    """

    def __init__(self, error: BaseException) -> None:
        self.details = _details_of(error)
        self.kind = type(error).__qualname__
        self.message = message_of(error)
        self.place = os.path.basename(place_of(error)) if error.__traceback__ else ""
        # Code written for numpy's older interface fails in every run, and the cure is a name.
        if isinstance(error, AttributeError) and isinstance(error.obj, np.random.Generator):
            if error.name in _OLD_NAMES:
                self.message += f"; it has {_OLD_NAMES[error.name]}"

    @classmethod
    def of(cls, kind: str, message: str, place: str = "", details: str = "") -> Raised:
        """Return the output of a run that ended in an exception, by its texts."""
        found = cls.__new__(cls)
        found.kind = kind
        found.message = message
        found.place = place
        found.details = details
        return found

    @property
    def words(self) -> str:
        """The exception as people are shown it, with its line."""
        said = f"{self.kind}: {self.message}"
        if hides():
            said = f"{kind_words(self.kind)} ({HOW})"
        if self.place:
            said += f" ({self.place})"
        return said


# Exceptions behind an exception that are read, and members of a group on each level.
CAUSES = 8


def _details_of(error: BaseException, depth: int = CAUSES) -> str:
    """Return a text of what an exception holds, without its type and its message; "" of nearly all.

    These are its notes, the attributes that were given to it, arguments that its message does not show, the exceptions
    of a group, and the exception that it came from.
    """
    said: list[str] = []
    # Attributes of exceptions are third-party code, and may raise anything.
    try:
        base = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        held = added_attributes(error, base)
        said += [f"note {note}" for note in held.pop("__notes__", ())]
        said += [f"{name} = {_in_short(part)}" for name, part in held.items()]
        said += _names_and_files(error)
        if type(error).__str__ not in _SHOW_ARGUMENTS and error.args:
            said.append(f"arguments {_in_short(error.args)}")
        if depth:
            said += [_origin(other, depth - 1) for other in _sources(error)]
    # Attributes of an exception are third-party code, and may raise anything.
    except Exception:
        said.append("what cannot be shown")
    return "; ".join(said)


def _sources(error: BaseException) -> list[BaseException]:
    """Return the exceptions of a group, and the one that an exception came from, as tracebacks show it."""
    others: list[BaseException] = []
    if isinstance(error, BaseExceptionGroup):
        others += error.exceptions[:CAUSES]
    source = error.__cause__
    if source is None and not error.__suppress_context__:
        source = error.__context__
    if source is not None:
        others.append(source)
    return others


def _origin(other: BaseException, depth: int) -> str:
    said = f"from {type(other).__qualname__}: {message_of(other)}"
    more = _details_of(other, depth)
    return f"{said} {more}" if more else said


def _names_and_files(error: BaseException) -> list[str]:
    """Return the names and files that an exception of Python's own was given, if its message does not show them.

    The object of an `AttributeError` is not read: it is what the mechanism worked with, and no output.
    """
    if not isinstance(error, AttributeError | NameError | ImportError):
        return []
    held = {name: getattr(error, name, None) for name in _NAMED}
    message = str(error)
    return [f"{name} = {part}" for name, part in held.items() if isinstance(part, str) and part not in message]


# Attributes that these exceptions keep where `vars` does not show them.
_NAMED = ("name", "name_from", "path")
# The methods of exceptions whose messages show their arguments.
_SHOW_ARGUMENTS = (BaseException.__str__, OSError.__str__, KeyError.__str__, SyntaxError.__str__, ImportError.__str__)


def _in_short(part: Any) -> str:
    """Return an attribute of an exception as text, or the name of its class if it cannot be taken apart."""
    # The attribute is third-party code, and may raise anything.
    try:
        return in_words(canonical(part))
    except Exception:
        return type(part).__qualname__


def timed_out(seconds: float) -> Raised:
    """Return the output of a run that was ended after so many seconds."""
    return Raised.of(TIMED_OUT, f"after {seconds:g} s")


# The families of numbers.
NUMERIC = frozenset({"bool", "int", "float"})

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
_OF_CONVERSIONS: dict[type, str] = {WithMetadata: "labelled", Unseen: "unseen"}
# The mappings that hold nothing but their items.
_MAPPINGS = frozenset({dict, OrderedDict, Counter, MappingProxyType})
# Modules whose classes derived from plain types hold nothing more.
_OURS = frozenset({"builtins", "numpy", "numpy.rec", "collections"})


def family(kind: type) -> str:
    """Return the name of a type's family; a type of none of them is a family of its own.

    Outputs of one family are taken apart in the same way, and the family is a feature. NumPy's scalars belong with
    Python's, a list with a tuple, and an array whatever its memory order: those differences are ignored on purpose.
    Integers, floats and Booleans of the same value differ. A class that other code derived from a plain type is a
    family of its own, because its instances may hold more.
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
    """Return the name of a value's class; a number of NumPy that is as wide as Python's has the name in Python.

    A sum has the one class or the other by which operand came first, and that says nothing else.
    """
    kind = type(value)
    if isinstance(value, np.number | np.bool_):
        words = str(value.dtype)
        return _OF_PYTHON.get(words, words)
    if isinstance(value, np.str_):
        return "str"
    if isinstance(value, np.bytes_):
        return "bytes"
    return kind.__qualname__ if kind.__module__ == "builtins" else _own(kind)


_OF_PYTHON = {"float64": "float", "int64": "int", "complex128": "complex"}


def dtype_of(value: Array | Sparse) -> str:
    """Return the type of the numbers of an array or sparse matrix; the fields of records are looked at themselves."""
    if value.dtype.names is not None:
        return "records"
    words = _words(value.dtype)
    # Types of different metadata are equal, so that only their text tells them apart.
    if value.dtype.metadata is not None:
        return f"{words} with {dict(value.dtype.metadata)!r:.200}"
    return words


def order_of(value: Array) -> str:
    """Return the order in which the numbers of an array of several dimensions lie in memory."""
    flags = value.flags
    if value.ndim > 1 and flags.f_contiguous and not flags.c_contiguous:
        return "Fortran"
    return "C"


# The types of arrays are few, and NumPy takes long to write one.
_words = cache(str)

# Numbers of an array that a cell spells out, so that an event can show them; longer arrays have a digest.
SPELT = 32


def canonical(value: Any) -> Hashable:
    """Return the hashable cell of an output, or of whatever `outputs.parts` can take apart, ragged or nested.

    A NumPy scalar and Python's, a list and a tuple, and the like share a cell: docs/research/outputs.md lists the
    differences that are ignored. `InputError` is raised if the value cannot be taken apart, or holds itself.
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


def _float(value: float | np.floating) -> Hashable:
    number = float(value)
    # All NaNs share a cell, whatever their bits (docs/research/outputs.md); as a number, NaN would equal no cell.
    if number != number:
        return ("float", "nan")
    # A long double has more digits.
    if number != value:
        return ("long double", repr(value))
    # The two zeros are equal as numbers, so that one of them is a text.
    if number == 0.0 and math.copysign(1.0, number) < 0:
        return ("float", "-0.0")
    return ("float", number)


def _array(value: Array) -> Hashable:
    """Label an array by its shape and its elements, or if they are many by their bytes, which is faster."""
    kind = value.dtype.kind
    if not has_numbers(value.dtype):
        return ("array", value.shape, kind, canonical(parts(value)))
    if kind == "u":
        kind = "i"
    if value.size <= SPELT or value.dtype.itemsize > 8:
        return ("array", value.shape, kind, tuple(map(canonical, np.asarray(value).ravel().tolist())))
    if value.dtype.kind == "u" and int(value.max()) > np.iinfo(np.int64).max:
        return ("array", value.shape, kind, tuple(value.ravel().tolist()))
    wide = np.array(value, dtype=_WIDEST[kind], order="C")
    if kind == "f":
        # A NaN has a payload, which no operation shows.
        wide[np.isnan(wide)] = np.nan
    return ("numbers", value.shape, kind, wide.tobytes())


# Arrays of equal numbers share a cell, however wide their type is.
_WIDEST = {"f": np.dtype(np.float64), "i": np.dtype(np.int64), "b": np.dtype(np.bool_)}


def _exception(value: Raised | BaseException) -> Hashable:
    raised = value if isinstance(value, Raised) else Raised(value)
    if raised.details:
        return ("exception", raised.kind, raised.message, raised.details)
    return ("exception", raised.kind, raised.message)


def _other(value: Any) -> Hashable:
    known = _MET.get()
    if known is not None and id(value) in known:
        return known[id(value)][1]
    cell = ("object", type(value).__qualname__, canonical(parts(value)))
    if known is not None and len(known) < MOST_MET:
        # The object is kept, so that no other gets its place in memory.
        known[id(value)] = (value, cell)
    return cell


# The objects of the batch that this thread labels, by their places in memory, with their cells.
_MET: ContextVar[dict[int, tuple[Any, Hashable]] | None] = ContextVar("met", default=None)
# Objects of a batch whose cells are remembered: those that many outputs hold are met in the first ones.
MOST_MET = 1_000


def canonical_each(values: Iterable[Any]) -> list[Hashable]:
    """Return the cells of a batch of outputs; an object that several of them hold, as a policy, is labelled once."""
    _MET.set({})
    try:
        return list(map(canonical, values))
    finally:
        _MET.set(None)


def _labelled(value: WithMetadata) -> Hashable:
    held = canonical(value.values)
    metadata = _cell_of_metadata(value.metadata)
    if metadata:
        return ("labelled", held, metadata)
    return held


def looked_at(metadata: Metadata) -> Parts:
    """Return the metadata of an output, by names; `UNSEEN` in the place of one that cannot be read."""
    _cell_of_metadata(metadata)
    return metadata.held


def _cell_of_metadata(metadata: Metadata) -> Hashable:
    """Return the cell of the metadata of an output, or None if there is none."""
    if metadata.cell is None and metadata.held:
        cells = []
        for name, part in metadata.held.items():
            try:
                cell = canonical(part)
                hash(cell)
            except (InputError, TypeError):
                metadata.held[name] = UNSEEN
                cell = _UNSEEN
            cells.append((("str", name), cell))
        metadata.cell = ("mapping", tuple(cells))
    return metadata.cell


def holds_unseen(cell: Hashable) -> bool:
    """Say whether a cell is that of an output with a part that cannot be read."""
    if isinstance(cell, tuple | frozenset):
        return cell == _UNSEEN or any(map(holds_unseen, cell))
    return False


_UNSEEN = ("unseen",)

Label: TypeAlias = Callable[[Any], Hashable]

# The functions that label values, by `family`.
_LABELS: dict[str, Label] = {
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

# The commonest kinds, by their exact type: most outputs are one of these, and there are millions of them.
_BY_TYPE: dict[type, Label] = {
    **{kind: _LABELS[family(kind)] for kind in (int, bool, float, str, type(None), tuple, list)},
    Fraction: lambda value: ("rational", int(value.numerator), int(value.denominator)),
}


def in_words(cell: Any, *, fractions: bool = False) -> str:
    """Return a cell as a person would write the output; sets are sorted, whatever their hash order.

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
        case ("exception", kind, message) if kind == TIMED_OUT:
            return f"{TIMED_OUT} {message}"
        case ("exception", kind, message):
            return f"{kind}({message!r})"
        case ("exception", kind, message, details):
            return f"{kind}({message!r}) with {details}"
        case ("sequence", values):
            return f"({', '.join(map(words, values))})"
        case ("array", _, kind, values) if kind in "iufb":
            return f"[{', '.join(map(words, values))}]"
        case ("array", _, _, values):
            return words(values)
        case ("set", values):
            return f"{{{', '.join(sorted(map(words, values)))}}}"
        case ("mapping", items):
            return f"{{{', '.join(f'{words(key)}: {words(value)}' for key, value in items)}}}"
        case ("numbers", shape, _, held):
            return f"array of shape {shape} with digest {hashlib.blake2b(held, digest_size=8).hexdigest()}"
        case ("object", name, parts):
            return f"{name} {words(parts)}"
        case ("labelled", values, metadata):
            return f"{words(values)} with {words(metadata)}"
        case ("unseen",):
            return "what is not looked at"
    return stable_repr(cell)


def contents(data: Any) -> Hashable:
    """Return what plain data, a table or a tensor holds, to show later whether an input was changed.

    None is returned for objects, which may fill caches as they please.
    """
    if isinstance(data, np.ndarray) and data.dtype != object:
        return (data.shape, data.dtype.str, data.tobytes())
    plain = isinstance(data, list | dict | set | bytearray | np.ndarray | tuple) or hasattr(type(data), "__array__")
    if not plain:
        return None
    try:
        return canonical(data)
    # There is an object among them.
    except InputError:
        return None
