"""Faults of the tool or of its input; what an audit learns is a finding, never an exception."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpaudit.withheld import hides, hiding, raised_words


class DpauditError(Exception):
    """Base of every error that dpaudit raises on purpose."""


class InputError(DpauditError, ValueError):
    """The input cannot be audited: the message names the parameter, the value and what is allowed.

    Parameters
    ----------
    message : str
        The message. With `names` it is a template of `str.format` in which they, and `values`, stand in braces. Of a
        parameter in braces the Python interface shows the name, the command line the option; of ``{trials:=10}`` they
        show ``trials=10`` and ``--trials 10``, of ``{strict:=True}`` ``strict=True`` and ``--strict``.
    parameter : str, optional
        The parameter at fault; by default the first of `names`.
    value : object
        What was given.
    allowed : str
        What is allowed, in words.
    names : tuple of str
        The parameters that the message names.
    **values
        What else the template shows.
    """

    def __init__(
        self,
        message: str,
        *,
        parameter: str | None = None,
        value: object = None,
        allowed: str = "",
        names: tuple[str, ...] = (),
        **values: object,
    ) -> None:
        self.message = message
        self.value = value
        self.allowed = allowed
        self.parameter = names[0] if parameter is None and names else parameter
        self.names = names
        self.values = values
        super().__init__(self.worded(in_python))

    @classmethod
    def of(cls, parameter: str, value: object, allowed: str, hint: str = "", comma: str = ",") -> InputError:
        """Return the error that a parameter must be what is allowed, and was given something else."""
        message = f"{{0}} must be {{allowed_}}{comma} got {{value_:.100}}"
        if hint:
            message += "; {hint_}"
        shown = {"allowed_": allowed, "value_": repr(value), "hint_": hint}
        return cls(message, value=value, allowed=allowed, names=(parameter,), **shown)

    @classmethod
    def among(cls, parameter: str, value: object, allowed: Iterable[str]) -> InputError:
        """Return the error that a parameter must be one of some words, and was given something else."""
        return cls.of(parameter, value, f"one of {', '.join(allowed)}", comma=";")

    def worded(self, shown: Callable[[str, str | None], str]) -> str:
        """Return the message with `shown(name, value)` for each parameter; value is None for the name alone."""
        if not self.names:
            return self.message
        named = {name: _Named(name, shown) for name in self.names}
        return self.message.format(*named.values(), **named, **self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel between processes with its parts; a value that might not pickle becomes its `repr`."""
        # Any object may be a value: only plain ones are sure to pickle.
        parts = dict(self.__dict__)
        if not (self.value is None or isinstance(self.value, bool | int | float | str)):
            parts["value"] = repr(self.value)
        return _rebuilt, (type(self), self.message, parts)


def in_python(name: str, value: str | None) -> str:
    """Return a parameter as a caller of the Python interface writes it: ``name`` or ``name=value``."""
    return name if value is None else f"{name}={value}"


class _Named:
    """A parameter in the template of a message: what follows its colon is the value that it is shown with."""

    def __init__(self, name: str, shown: Callable[[str, str | None], str]) -> None:
        self._name = name
        self._shown = shown

    def __format__(self, spec: str) -> str:
        return self._shown(self._name, spec.removeprefix("=") if spec else None)


def _rebuilt(kind: type[InputError], message: str, parts: dict[str, Any]) -> InputError:
    error = kind.__new__(kind)
    error.__dict__.update(parts)
    DpauditError.__init__(error, error.worded(in_python))
    return error


class UnknownArgument(InputError, TypeError):
    """A function was called with an argument that it does not have, which Python calls a `TypeError`."""


class Exited(InputError):
    """A mechanism or learner raised `SystemExit`, which no audit takes for an output.

    Of two inputs on which runs are made in turn, `turn` is the number of the one whose run did so, if that is known.
    """

    turn: int | None = None


class SharedPart(InputError):
    """Outputs of several runs share a part and change it; the value is the places of such parts, as JSON."""


class ToolFault(DpauditError, RuntimeError):
    """The tool itself failed (a worker died, a result file is corrupt); nothing is known of the mechanism."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the names closest to an unknown one, as the end of a message; empty if none is close."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known))
    if not near:
        return ""
    return f"; did you mean {' or '.join(near)}?"


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Turn what other people's code raises, even an exit, into an `InputError` naming it, its error and its line."""
    try:
        yield
        return
    # Whatever it is, it is theirs.
    except (Exception, SystemExit) as error:
        if isinstance(error, DpauditError) and not (hides() and _innermost(error)[2]):
            raise
        kind = Exited if isinstance(error, SystemExit) else InputError
        fault = kind(f"{what} raised {raised_words(error)} ({place_of(error)})")
        if not hides():
            raise fault from error
    # Outside of the block, so that nothing leads to what it says.
    raise fault


@contextmanager
def withholding(on: bool) -> Iterator[None]:
    """Let no error that leaves the block, if it is on, say or lead to what audited code says."""
    if not on:
        yield
        return
    try:
        with hiding(), _converted():
            yield
    except DpauditError as error:
        error.__cause__ = error.__context__ = None
        if isinstance(error, InputError):
            error.value = None
        raise


@contextmanager
def _converted() -> Iterator[None]:
    """Turn whatever other code raises into a `ToolFault`; interrupts without a text, as those of a user are, pass."""
    try:
        yield
    except DpauditError:
        raise
    # Of any type: what other code raises may say something of a record.
    except BaseException as error:
        if type(error) in (KeyboardInterrupt, GeneratorExit) and not error.args:
            raise
        raise ToolFault(f"unexpected {raised_words(error)} ({place_of(error)})") from None


_LIBRARIES = tuple(
    {str(Path(__file__).parent) + os.sep, *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib"))}
)


def place_of(error: BaseException) -> str:
    """Say where an exception was raised: the last line outside of libraries, or the last of all."""
    file, line, _ = _innermost(error)
    # Code may be compiled under any name, also one that says something of a record.
    if file and (not hides() or os.path.isfile(file)):
        return f"{file}, line {line}"
    return "unknown place"


def _innermost(error: BaseException) -> tuple[str, int, bool]:
    """Return the file and the line of the last line outside of libraries, or of all, and whether it is outside."""
    trace = error.__traceback__
    found = ("", 0, False)
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        outside = not name.startswith(_LIBRARIES)
        if outside or not found[2]:
            found = name, trace.tb_lineno, outside
        trace = trace.tb_next
    return found
