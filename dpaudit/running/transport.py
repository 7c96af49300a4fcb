"""Bytes between processes: work is sent out as a pickle; what comes back is outputs taken apart, and so are errors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from secrets import token_hex
from typing import Any

from dpaudit.errors import DpauditError, Exited, InputError, SharedPart, ToolFault, place_of
from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.places import cloudpickle
from dpaudit.running.failed_runs import RunFault
from dpaudit.withheld import raised_words

_UNSENDABLE = (
    "with {timeout}, runs are made in a process of their own, to which data must travel, and something cannot be sent: "
    "{why:.500}; leave it out, or give plain data"
)
# Characters of an exception's message that are sent.
MOST_TEXT = 100_000
# The types that errors come back as; others of dpaudit come as those that they are derived from. A name that was sent
# is looked up here and nowhere else.
_ERRORS: dict[str, type[DpauditError]] = {
    kind.__name__: kind for kind in (Exited, SharedPart, RunFault, InputError, ToolFault)
}


def sendable(value: Any, message: str = _UNSENDABLE, names: tuple[str, ...] = ("timeout",)) -> bytes:
    """Return a value as bytes, with the definitions of the script itself; `InputError` if it cannot be pickled."""
    # Tried first, as cloudpickle is needed for the definitions of the script alone. What pickle raises depends on what
    # it meets.
    with suppress(Exception):
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
    """Return an exception as its texts; one that is none of dpaudit's becomes a `ToolFault`.

    They are the name of the class, the parts of the message, and of bad input the parameter and the value; of an exit,
    the number of the input.
    """
    if not isinstance(error, DpauditError):
        said = _clean(f"{raised_words(error)} ({place_of(error)})")
        return encode([[ToolFault.__name__, [[said, "", ""]], None, None, None]])
    kind = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS), ToolFault.__name__)
    if not isinstance(error, InputError):
        return encode([[kind, [[_clean(str(error)), "", ""]], None, None, None]])
    value = error.value
    if not isinstance(value, float | bool | None):
        value = _clean(str(value))
    turn = error.turn if isinstance(error, Exited) else None
    return encode([[kind, _parts(error), error.parameter, value, turn]])


def _clean(text: str) -> str:
    """Return a text that is not too long, without halves of surrogate pairs, which no stream takes."""
    return text[:MOST_TEXT].encode("utf-8", "replace").decode()


def _parts(error: InputError) -> list[list[str]]:
    """Return the texts of a message, each with the parameter that follows it, and what is shown of that.

    The command line words parameters as options, and needs to know where they are.
    """
    # No text of a message has it.
    mark = token_hex(16)

    def marked(name: str, value: str | None) -> str:
        shown = "" if value is None else f"={value}"
        return mark + name + mark + shown + mark

    said = error.worded(marked)
    pieces = [*map(_clean, said.split(mark)), "", ""]
    return [pieces[i : i + 3] for i in range(0, len(pieces), 3)]


def error_of(content: bytes) -> DpauditError:
    """Return the exception that was sent; its texts are shown and never formatted, whatever is in them."""
    try:
        name, parts, parameter, value, turn = decode(content, 1)[0]
        template, names, texts = _template(parts)
        if not (isinstance(parameter, str | None) and isinstance(value, str | int | float | None)):
            raise TypeError
    except (ToolFault, ValueError, TypeError):
        return ToolFault("a process sent an error that cannot be read")
    kind = _ERRORS.get(name, ToolFault)
    if not issubclass(kind, InputError):
        return kind("".join(map("".join, parts)))
    if not names:  # a message without parameters is no template
        template = "".join(texts.values())
        texts = {}
    error = kind(template, names=names, parameter=parameter, value=value, **texts)
    if isinstance(error, Exited) and turn in (0, 1):
        error.turn = turn
    return error


def _template(parts: list[list[str]]) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Return the template of a message, the parameters in it, and the texts that fill it."""
    template = ""
    names: dict[str, None] = {}
    texts: dict[str, str] = {}
    for i, (text, name, shown) in enumerate(parts):
        if not all(isinstance(one, str) for one in (text, name, shown)):
            raise TypeError
        texts[f"text_{i}_"] = text
        template += f"{{text_{i}_}}"
        if name.isidentifier() and not name.startswith("_"):
            names[name] = None
            texts[f"shown_{i}_"] = shown.removeprefix("=")
            template += f"{{{name}:={{shown_{i}_}}}}" if shown else f"{{{name}}}"
        elif name:
            texts[f"text_{i}_"] += name + shown
    return template, tuple(names), texts
