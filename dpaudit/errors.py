"""Faults of the tool or of its input; what an audit learns is a finding, never an exception."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["DpauditError", "InputError", "ToolFault", "blamed", "place_of"]


class DpauditError(Exception):
    """Base of every error that dpaudit raises on purpose."""


class InputError(DpauditError, ValueError):
    """The input cannot be audited: the message names the parameter, the value and what is allowed."""


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
