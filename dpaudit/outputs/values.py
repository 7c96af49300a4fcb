"""Inputs and outputs as JSON values of their own types, so that a certificate can hold them and give them back."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from dpaudit.contract import Domain, Sample
from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.types import Array
from dpaudit.record import Count, Frozen
from dpaudit.withheld import foreign

if TYPE_CHECKING:
    import pandas as pd

# Values of more numbers and texts than this are referred to: people should be able to read a certificate too.
MOST_ITEMS = 10_000
DEPTH = 20
# Longer integers are referred to: they have more digits than `dpaudit.certificate_grammar` reads.
MOST_BITS = 9_900
DType = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"
]  # fmt: skip
Container = Literal["list", "tuple", "set", "frozenset"]
_CONTAINERS: dict[type, Container] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
_DTYPES: dict[str, DType] = {name: name for name in get_args(DType)}
_MADE: dict[Container, type] = {name: kind for kind, name in _CONTAINERS.items()}


class NonFinite(Frozen, frozen=True, tag="number", tag_field="kind"):
    """A float that JSON does not have.

    Attributes
    ----------
    value : {"nan", "inf", "-inf"}
        The float.
    """

    value: Literal["nan", "inf", "-inf"]


class Items(Frozen, frozen=True, tag="items", tag_field="kind"):
    """A list, a tuple or a set.

    Attributes
    ----------
    type : {"list", "tuple", "set", "frozenset"}
        Which of them.
    items : tuple of JsonValue
        The elements; those of sets are sorted.
    """

    type: Container
    items: tuple[JsonValue, ...]


class Entries(Frozen, frozen=True, tag="entries", tag_field="kind"):
    """A dictionary, in its order.

    Attributes
    ----------
    items : tuple of (JsonValue, JsonValue)
        The keys with their values.
    """

    items: tuple[tuple[JsonValue, JsonValue], ...]


class Numbers(Frozen, frozen=True, tag="array", tag_field="kind"):
    """An array of numbers; a NumPy scalar has the shape ().

    Attributes
    ----------
    dtype : str
        The name of the type of the elements.
    shape : tuple of int
        The shape.
    items : tuple of JsonValue
        The elements in C order.
    """

    dtype: DType
    shape: tuple[Count, ...]
    items: tuple[JsonValue, ...]


class Frame(Frozen, frozen=True, tag="frame", tag_field="kind"):
    """A pandas DataFrame of numbers and texts with rows numbered from 0.

    Attributes
    ----------
    columns : tuple of (str, JsonValue)
        The columns, each with its name.
    """

    columns: tuple[tuple[str, JsonValue], ...]


class Examples(Frozen, frozen=True, tag="sample", tag_field="kind"):
    """A learner's sample.

    Attributes
    ----------
    points : tuple of tuple of int
        The distinct points.
    labels : tuple of int
        Their labels.
    counts : tuple of int
        The number of times that each occurs.
    public : tuple of bool or None
        Whether each is public; None if the learner knows no public examples.
    """

    points: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...]
    counts: tuple[int, ...]
    public: tuple[bool, ...] | None


class Failed(Frozen, frozen=True, tag="exception", tag_field="kind"):
    """The output of a run that ended in an exception.

    Attributes
    ----------
    type : str
        The name of its class.
    message : str
        Its message.
    """

    type: str
    message: str


JsonValue = None | bool | int | float | str | NonFinite | Items | Entries | Numbers | Frame | Examples | Failed


def encode_value(value: Any, most: int = MOST_ITEMS) -> JsonValue:
    """Return a value as JSON data from which `decode_value` makes an equal one, of the same type.

    `InputError` is raised if its type is not known, or it holds more than `most` numbers and texts.
    """
    return _encoded(value, [most], DEPTH)


def _encoded(value: Any, left: list[int], depth: int) -> JsonValue:
    left[0] -= 1
    if left[0] < 0 or depth == 0:
        raise InputError(f"the value holds more than {MOST_ITEMS} parts, or nests deeper than {DEPTH} levels")
    kind = type(value)
    # Exact types: those of a subclass, as numpy.float64 of float, would not come back as they were.
    if kind is int and value.bit_length() > MOST_BITS:
        raise InputError(f"a certificate holds no integers of more than {MOST_BITS} bits")
    plain = value is None or kind in (bool, int) or (kind is float and math.isfinite(value))
    if plain or (kind is str and (value.isprintable() or value.isascii())):
        return cast(JsonValue, value)
    if kind is float:
        return _non_finite(value)
    if kind in _CONTAINERS:
        # The order of a set differs between processes.
        items = sorted(value, key=stable_repr) if isinstance(value, set | frozenset) else value
        return Items(_CONTAINERS[kind], tuple(_encoded(one, left, depth - 1) for one in items))
    if kind is dict:
        pairs = ((_encoded(k, left, depth - 1), _encoded(v, left, depth - 1)) for k, v in value.items())
        return Entries(tuple(pairs))
    if kind is Raised:
        if value.details:
            raise InputError("a certificate holds of an exception its type and its message, and no notes or causes")
        return Failed(value.kind, value.message)
    if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.name in _DTYPES:
        return _array(value, left, depth)
    # Of pandas; polars has a class of that name too.
    if kind.__name__ == "DataFrame" and hasattr(value, "iloc"):
        return _frame(value, left, depth)
    if isinstance(value, Sample):
        return _sample(value)
    raise InputError(f"a certificate holds no values of type {foreign(kind.__qualname__)}")


def _non_finite(value: float) -> NonFinite:
    if math.isnan(value):
        return NonFinite("nan")
    if value > 0:
        return NonFinite("inf")
    return NonFinite("-inf")


def _array(value: Array | np.generic, left: list[int], depth: int) -> Numbers:
    if value.size > left[0]:
        raise InputError(f"the array holds more than {MOST_ITEMS} numbers")
    items = tuple(_encoded(one, left, depth - 1) for one in value.ravel().tolist())
    return Numbers(_DTYPES[value.dtype.name], value.shape, items)


def _frame(value: pd.DataFrame, left: list[int], depth: int) -> Frame:
    names = list(value.columns)
    plain = all(type(name) is str for name in names) and len(set(names)) == len(names)
    if not plain or not value.index.equals(type(value)(index=range(len(value))).index):
        raise InputError("a certificate holds data frames with distinct texts as names and rows numbered from 0")
    columns = [value[name].to_numpy() for name in names]
    if not len(value) and any(part.dtype.kind not in "biuf" for part in (value.index, *columns)):
        raise InputError("a certificate holds no data frame without rows whose types are not those of numbers")
    parts = (column.tolist() if column.dtype == object else column for column in columns)
    return Frame(tuple((name, _encoded(part, left, depth - 1)) for name, part in zip(names, parts, strict=True)))


def _sample(value: Sample) -> Examples:
    if len(value.counts) > MOST_ITEMS:
        raise InputError(f"the sample holds more than {MOST_ITEMS} distinct examples")
    public = None
    if value.public is not None:
        public = tuple(map(bool, value.public))
    points = tuple(tuple(map(int, row)) for row in value.points.tolist())
    return Examples(points, tuple(map(int, value.labels)), tuple(map(int, value.counts)), public)


def decode_value(value: JsonValue, domain: Domain | None = None) -> Any:
    """Return the encoded value; samples are built by the `domain` of the learner that takes them.

    `InputError` is raised if an array's elements do not fit its shape, a frame's columns are of several lengths, a set
    or a dictionary cannot hold what is in it, or a sample's domain is not given.
    """
    match value:
        case NonFinite():
            return float(value.value)
        case Items() | Entries():
            try:
                if isinstance(value, Entries):
                    return {decode_value(k, domain): decode_value(v, domain) for k, v in value.items}
                return _MADE[value.type](decode_value(one, domain) for one in value.items)
            except TypeError as error:
                raise InputError(f"a set or a dictionary holds what cannot be in one: {error!s:.200}") from None
        case Numbers():
            return _decoded_array(value)
        case Frame():
            import pandas as pd

            columns = {name: decode_value(column, domain) for name, column in value.columns}
            try:
                return pd.DataFrame(columns)
            except ValueError as error:
                raise InputError(f"the columns of a frame do not fit together: {error!s:.200}") from None
        case Examples():
            if domain is None:
                raise InputError("the certificate's inputs are a learner's samples: give the learner as the mechanism")
            if not value.points:
                return domain.empty_sample()
            public = None
            if value.public is not None:
                public = list(value.public)
            return domain.sample(list(value.points), list(value.labels), list(value.counts), public)
        case Failed():
            return Raised.of(value.type, value.message)
    return value


def _decoded_array(value: Numbers) -> Array | np.generic:
    if len(value.items) != math.prod(value.shape):
        raise InputError(f"an array of shape {value.shape} has {len(value.items)} elements")
    elements = [decode_value(one) for one in value.items]
    try:
        # Before version 2, NumPy takes numbers out of range modulo 2^bits.
        if np.issubdtype(value.dtype, np.integer):
            limits = np.iinfo(value.dtype)
            if not all(limits.min <= one <= limits.max for one in elements):
                raise OverflowError("out of range")
        array = np.array(elements, dtype=value.dtype).reshape(value.shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the elements of an array are not of type {value.dtype}: {error}") from None
    # Of the shape (), NumPy makes a scalar of it.
    found: Array | np.generic = array if value.shape else array[()]
    return found


def digest_of(value: Any) -> str:
    """Return 128 bits by which a value is known again, in hexadecimal; "" if its type cannot be taken apart.

    It is BLAKE2b of the value's canonical cell, so that equal values have equal digests in every process. A digest of
    data that has few possible values can be guessed.
    """
    try:
        text = stable_repr(_sample(value) if isinstance(value, Sample) else canonical(value))
    except (InputError, TypeError):
        return ""
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
