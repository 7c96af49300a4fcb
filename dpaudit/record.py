"""Typed records: frozen structs that are written as JSON and decoded strictly.

JSON has no infinity and no NaN: an infinity is written as the string "inf" or "-inf", and NaN is refused. A decoder
accepts exactly the fields and the types that a record declares, and its error names the field.
"""

from __future__ import annotations

import json
import math
from dataclasses import is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeVar, overload

import msgspec

from dpaudit.contract import EVERY_VERDICT, Verdict
from dpaudit.errors import ToolFault
from dpaudit.escaping import shortened
from dpaudit.jsonable import Json, jsonable

Count = Annotated[int, msgspec.Meta(ge=0)]
Size = Annotated[int, msgspec.Meta(ge=1)]
# No infinity: that is for Extended and NonNegative below.
Amount = Annotated[float, msgspec.Meta(ge=0)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Level = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Words = Annotated[str, msgspec.Meta(min_length=1)]

if TYPE_CHECKING:
    Extended = float
    NonNegative = float
else:

    # A class at run time, since msgspec asks `dec_hook` for types that it does not know; a float for type checkers.
    class _Real(type):
        """Makes the integers and floats from `least` on instances of a type that only annotates them."""

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, int | float) and not isinstance(value, bool) and value >= cls.least

    class Extended(metaclass=_Real):
        """Annotates a real number that may be infinite; JSON holds "inf" or "-inf" then."""

        least = -math.inf
        infinities = ("inf", "-inf")
        allowed = 'a number, "inf" or "-inf"'

    class NonNegative(metaclass=_Real):
        """Annotates a number >= 0 that may be infinite; JSON holds "inf" then."""

        least = 0
        infinities = ("inf",)
        allowed = 'a number >= 0 or "inf"'


_LONGEST_MESSAGE = 500


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every record: its fields are stored, and nothing else is accepted when it is read."""


T = TypeVar("T")


class Unstored(Generic[T]):
    """An attribute of a record that is neither stored nor compared: the process that made the record knows it.

    The class of the record needs ``dict=True``. A record that was read, or made of another one, has the default.
    """

    def __init__(self, default: T, doc: str) -> None:
        self.default = default
        self.name = ""
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...

    @overload
    def __get__(self, record: msgspec.Struct, owner: type) -> T: ...

    def __get__(self, record: msgspec.Struct | None, owner: type) -> Self | T:
        # Python asks only while the record has no value of its own: those come before a descriptor that is not set.
        return self if record is None else self.default

    def note(self, record: msgspec.Struct, value: T) -> None:
        """Let a record know its value."""
        msgspec.structs.force_setattr(record, self.name, value)

    def is_known(self, record: msgspec.Struct) -> bool:
        """Return whether a record was given a value."""
        return self.name in vars(record)


def encodable(record: Any) -> Any:
    """Return a record as JSON-safe data, infinities as "inf" and lone surrogates, which no JSON may hold, escaped.

    `ToolFault` if a number is NaN.
    """
    return _without_surrogates(jsonable(msgspec.to_builtins(record, enc_hook=jsonable)))


def as_json(record: Any) -> bytes:
    """Return a record, or a tuple of such, as one JSON document, which `decode` reads."""
    return json.dumps(encodable(record)).encode()


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        # A file that holds a lone surrogate could not be read again.
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_without_surrogates, value))
    return value


def decode(data: bytes | str, kind: Any, place: object = "") -> Any:
    """Return the record, of a type or a union of types, that one JSON document holds.

    `ToolFault` if the text is not JSON, names a key twice, or is not such a record: the message names the place, if
    that is given, and the field.
    """
    try:
        # Decoded twice: msgspec takes the last of two equal keys, and fields that a plain dataclass does not have.
        found = _decoder(kind).decode(data)
        _refuse_unknown(json.loads(data, object_pairs_hook=_without_doubles), found, "$")
    # Errors of both decoders, and numbers of too many digits.
    except (ValueError, RecursionError) as error:
        message = shortened(str(error), _LONGEST_MESSAGE)
        raise ToolFault(f"{place}: {message}" if place else message) from None
    return found


def _without_doubles(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return an object of JSON; of a key that is named twice every reader takes the value that it likes."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"Object names `{next(name for name in names if names.count(name) > 1):.60}` twice")
    return found


def _refuse_unknown(given: Any, found: Any, path: str) -> None:
    """Raise `ValueError` at a field that a plain dataclass does not declare: msgspec refuses those of structs alone."""
    if isinstance(found, list | tuple):
        for i, (part, item) in enumerate(zip(given, found, strict=True)):
            _refuse_unknown(part, item, f"{path}[{i}]")
    elif isinstance(found, msgspec.Struct):
        for key, name in zip(found.__struct_encode_fields__, found.__struct_fields__, strict=True):
            if key in given:
                _refuse_unknown(given[key], getattr(found, name), f"{path}.{key}")
    elif is_dataclass(found):
        for key in given:
            if key not in found.__dataclass_fields__:
                raise ValueError(f"Object contains unknown field `{key:.60}` - at `{path}`")
            _refuse_unknown(given[key], getattr(found, key), f"{path}.{key}")


@lru_cache(maxsize=32)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=_decoded)


def _decoded(kind: Any, value: Any) -> Any:
    if kind is Verdict:
        return Verdict.of(value)
    if kind not in (Extended, NonNegative):
        raise NotImplementedError(f"records hold no {kind!r}")
    # JSON has no infinities: they are stored as texts.
    number = float(value) if value in kind.infinities else value
    if not isinstance(number, kind):
        raise ValueError(f"Expected {kind.allowed}, got {value!r:.60}")
    return number


def schema_of_type(kind: Any) -> dict[str, Json]:
    """Return the JSON Schema of a type that msgspec does not know."""
    if kind is Verdict:
        return {"type": "string", "enum": list(map(str, EVERY_VERDICT))}
    if kind not in (Extended, NonNegative):
        raise NotImplementedError(f"records hold no {kind!r}")
    number = {"type": "number"}
    if kind.least >= 0:
        number["minimum"] = kind.least
    return {"anyOf": [number, {"enum": list(kind.infinities)}]}
