"""Typed records: frozen structs that are written as JSON and decoded strictly.

JSON has no infinity and no NaN: an infinity is written as the string "inf" or "-inf", and NaN is refused. A decoder
accepts exactly the fields and the types that a record declares, and its error names the field.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from dpaudit.errors import ToolFault
from dpaudit.jsonable import jsonable

__all__ = ["Extended", "Frozen", "decode", "encodable", "schema_of_type"]

if TYPE_CHECKING:
    Extended = float
else:

    class _Real(type):
        """Makes integers and floats instances of a type that only annotates them."""

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, int | float) and not isinstance(value, bool)

    class Extended(metaclass=_Real):
        """Annotates a real number that may be infinite; JSON holds "inf" or "-inf" then."""


class Frozen(msgspec.Struct, frozen=True, kw_only=False, forbid_unknown_fields=True):
    """Base of every record: its fields are stored, and nothing else is accepted when it is read."""


def encodable(record: Any) -> Any:
    """Return a record as JSON-safe data, infinities as "inf".

    Raises
    ------
    ToolFault
        If a number is NaN.
    """
    return jsonable(msgspec.to_builtins(record, enc_hook=jsonable))


def decode(data: bytes | str, kind: Any) -> Any:
    """Return the record that JSON text holds.

    Parameters
    ----------
    data : bytes or str
        One JSON document.
    kind : type
        The type of the record, or a union of types.

    Raises
    ------
    ToolFault
        If the text is not JSON, or not such a record: the message names the field.
    """
    try:
        return _decoder(kind).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolFault(str(error)) from None


@lru_cache(maxsize=32)
def _decoder(kind: Any) -> Any:
    return msgspec.json.Decoder(kind, dec_hook=_decoded)


def _decoded(kind: type, value: Any) -> Any:
    """Return a value of a type that JSON does not know."""
    if kind is Extended:
        if isinstance(value, Extended):
            return value
        if value in ("inf", "-inf"):
            return float(value)
        raise ValueError(f'Expected a number, "inf" or "-inf", got {value!r:.60}')
    raise NotImplementedError(f"records hold no {kind!r}")


def schema_of_type(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a type that msgspec does not know."""
    if kind is Extended:
        return {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
    raise NotImplementedError(f"records hold no {kind!r}")
