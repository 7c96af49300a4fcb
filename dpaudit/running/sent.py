"""Bytes between processes: the work that is sent out by pickle, what comes back as plain values and texts."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from string import Formatter
from typing import Any

import msgspec

from dpaudit.errors import DpauditError, Exited, InputError, SharedPart, ToolFault, place_of
from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.places import cloudpickle
from dpaudit.running.run_notes import RunFault
from dpaudit.withheld import raised_words

_UNSENDABLE = (
    "with {timeout}, runs are made in a process of their own, to which data must travel, and something cannot be sent: "
    "{why:.500}; leave it out, or give plain data"
)
MOST_TEXT = 100_000
"""Characters of an exception's message that are sent."""
_ERRORS: dict[str, type[DpauditError]] = {
    kind.__name__: kind for kind in (Exited, SharedPart, RunFault, InputError, ToolFault)
}
"""The types that errors come back as; others of dpaudit come as those that they are derived from."""
_Part = str | tuple[str, str | None]
"""A text, or a parameter with what is shown of its value, if anything is."""


class _Error(msgspec.Struct, array_like=True):
    """An exception by its texts: the `message` in parts, of which a parameter is its name and what is shown of it."""

    kind: str
    message: list[_Part]
    parameter: str | None = None
    allowed: str = ""
    value: str | int | float | bool | None = None


def sendable(value: Any, message: str = _UNSENDABLE, names: tuple[str, ...] = ("timeout",)) -> bytes:
    """Return a value as bytes, with the definitions of the script itself; `InputError` if it cannot be pickled."""
    with suppress(Exception):  # of many types: what pickle raises depends on what it meets
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    try:
        return bytes(cloudpickle().dumps(value, pickle.HIGHEST_PROTOCOL))
    except Exception as error:  # likewise
        raise InputError(message, names=names, why=raised_words(error)) from error


def value_of(content: bytes) -> Any:
    """Return the value that `sendable` made bytes of.

    They must come from the process that asks for the work. Nothing that a worker sends is read so.
    """
    return pickle.loads(content)


def result_as_bytes(call: Callable[[], Any]) -> bytes:
    """Make a call; return the plain values that it returns, as outputs are sent, or what it raises, as texts."""
    try:
        return b"\1" + encode([call()])
    except BaseException as error:  # of any type: the audited code may raise it
        return b"\0" + error_as_bytes(error)


def result_of(content: bytes) -> Any:
    """Return the result of a call; raise the error that it raised."""
    if content[:1] == b"\1":
        return decode(memoryview(content)[1:], 1)[0]
    raise error_of(content[1:])


def error_as_bytes(error: BaseException) -> bytes:
    """Return an exception as its texts; one that is none of dpaudit's becomes a `ToolFault`."""
    kind = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS), ToolFault.__name__)
    if not isinstance(error, DpauditError):
        sent = _Error(ToolFault.__name__, [_clean(f"{raised_words(error)} ({place_of(error)})")])
    elif isinstance(error, InputError):
        value = error.value if isinstance(error.value, float | bool | None) else _clean(str(error.value))
        sent = _Error(kind, _parts(error), error.parameter, _clean(error.allowed), value)
    else:
        sent = _Error(kind, [_clean(str(error))])
    return msgspec.msgpack.encode(sent)


def _clean(text: str) -> str:
    """Return a text that MessagePack has: not too long, and without halves of surrogate pairs."""
    return text[:MOST_TEXT].encode("utf-8", "replace").decode()


def _parts(error: InputError) -> list[_Part]:
    if not error.names:
        return [_clean(error.message)]
    parts, given = list[_Part](), {name: name for name in error.names} | error.values
    for text, field, spec, conversion in (formatter := Formatter()).parse(error.message):
        parts.append(_clean(text))
        if field is not None:
            found, _ = formatter.get_field(field, error.names, given)
            spec = formatter.vformat(spec or "", error.names, given)  # of an error that was sent, its value is one
            if field in error.names or field.isdecimal():
                parts.append((found, _clean(spec.removeprefix("=")) if spec else None))
            else:
                parts.append(_clean(formatter.format_field(formatter.convert_field(found, conversion), spec)))
    return parts


def error_of(content: bytes) -> DpauditError:
    """Return the exception that was sent; its texts are shown and never formatted, whatever is in them."""
    try:
        sent = msgspec.msgpack.decode(content, type=_Error)
    except msgspec.MsgspecError:
        return ToolFault("a process sent an error that cannot be read")
    kind = _ERRORS.get(sent.kind, ToolFault)
    message, texts, names = "", dict[str, Any](), dict[str, None]()
    for i, part in enumerate(sent.message):
        name, text = ("", part) if isinstance(part, str) else part
        texts[f"_{i}"] = name if text is None else text
        if name.isidentifier() and not name.startswith("_") and issubclass(kind, InputError):
            names[name] = None
            message += f"{{{name}}}" if text is None else f"{{{name}:={{_{i}}}}}"
        else:
            message += f"{{_{i}}}"
    if not names:
        message, texts = message.format(**texts), {}
    if not issubclass(kind, InputError):
        return kind(message)
    return kind(message, names=tuple(names), parameter=sent.parameter, value=sent.value, **texts)
