"""Faults of the tool or of its input; what an audit learns is a finding, never an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["DpauditError", "InputError", "ToolFault", "blamed", "place_of"]


class DpauditError(Exception):
    """Base of every error that dpaudit raises on purpose."""


class InputError(DpauditError, ValueError):
    """The input cannot be audited: the message names the parameter, the value and what is allowed.

    Parameters
    ----------
    message : str
        The message. With `names` or `flags` it is a template of `str.format` in which they, and `values`, stand in
        braces: the Python interface then shows ``trials`` and ``strict=True`` where the command line shows its options.
    parameter : str, optional
        The parameter at fault.
    value : object
        What was given.
    allowed : str
        What is allowed, in words.
    names, flags : tuple of str
        Parameters, and Boolean parameters that are to be set, of which the message speaks.
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
        flags: tuple[str, ...] = (),
        **values: object,
    ) -> None:
        self.message, self.parameter, self.value, self.allowed = message, parameter, value, allowed
        self.names, self.flags, self.values = names, flags, values
        super().__init__(self.told(str))

    @classmethod
    def of(cls, parameter: str, value: object, allowed: str, hint: str = "") -> InputError:
        """Return the error that a parameter must be what is allowed, and was given something else."""
        template = "{" + parameter + "} must be {allowed_}, got {value_:.100}" + ("; {hint_}" if hint else "")
        return cls(
            template,
            parameter=parameter,
            value=value,
            allowed=allowed,
            names=(parameter,),
            allowed_=allowed,
            value_=repr(value),
            hint_=hint,
        )

    def told(self, option: Callable[[str], str]) -> str:
        """Return the message with `option(name)` in the place of each parameter's name."""
        if not self.names and not self.flags and not self.values:
            return self.message
        shown = {name: option(name) for name in self.names}
        shown |= {name: f"{name}=True" if option(name) == name else option(name) for name in self.flags}
        return self.message.format(**shown, **self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel between processes with its parts."""
        return _rebuilt, (type(self), self.message, self.__dict__.copy())


def _rebuilt(kind: type[InputError], message: str, parts: dict[str, Any]) -> InputError:
    """Return an error with the parts of one that was pickled."""
    error = kind.__new__(kind)
    error.__dict__.update(parts)
    DpauditError.__init__(error, error.told(str))
    return error


class ToolFault(DpauditError, RuntimeError):
    """The tool itself failed (a worker died, a result file is corrupt); nothing is known of the mechanism."""


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Turn what other people's code raises, even an exit, into an `InputError` naming it, its error and its line."""
    try:
        yield
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:  # whatever it is, it is theirs
        raise InputError(f"{what} raised {type(error).__name__}: {error} ({place_of(error)})") from error


def place_of(error: BaseException) -> str:
    """Say where an exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "unknown place" if trace is None else f"{trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"
