"""Runs one command: whatever it raises becomes a message on standard error and an exit status."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, NoReturn

import click

from dpaudit.cli.app import app
from dpaudit.cli.streams import complain, drop_output, tell
from dpaudit.cli.verb import BadInput, Verb
from dpaudit.errors import DpauditError
from dpaudit.escaping import harmless
from dpaudit.running.processes import STOPPING, ChildDied
from dpaudit.running.supervised import supervised

__all__ = ["COMPLETION", "main"]

COMPLETION = "_DPAUDIT_COMPLETE"
"""The variable by which a shell asks for completions."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: see `cli.verb.STATUS`."""
    words = list(sys.argv[1:] if argv is None else argv)
    if instruction := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "dpaudit", COMPLETION, instruction)
    if argv is not None:  # a program that calls this handles its own end, and reads what is written to its streams
        return _run(words, ends=False)
    try:
        return supervised(partial(_run, words, ends=True))
    except ChildDied as died:
        tell("error", str(died))
        return 2


def _run(words: list[str], ends: bool) -> int:
    """Run one command; `ends` says that its process ends with it."""
    with _stoppable(ends):
        try:
            return _status(words)
        except MemoryError:  # not even for the words of an error; uncaught it would end with 1, a violation
            os.write(2, b"dpaudit: error: there is no memory left\n")
            return 2


class Stopped(KeyboardInterrupt):
    """A signal asks the command to end.

    Attributes
    ----------
    signal : int
        Its number.
    """

    def __init__(self, number: int) -> None:
        self.signal = number
        super().__init__()


@contextmanager
def _stoppable(ends: bool) -> Iterator[None]:
    """Let a request to end do so as Ctrl-C does: results kept, workers ended, a message, a status that names it.

    Where the process ends with the command, further requests are ignored until it has.
    """
    import threading

    here = threading.current_thread() is threading.main_thread()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in STOPPING if here}
    # Whoever embeds the command, or has it ignore a signal, has plans of its own.
    ours = [n for n, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for each in ours:  # a second one would break off the end of the workers, and be waited for in vain
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        stopped = any(signal.getsignal(number) == signal.SIG_IGN for number in ours)
        for number in ours if not (ends and stopped) else ():
            signal.signal(number, before[number])


def _status(words: list[str]) -> int:
    """Run one command; whatever it raises becomes a message on stderr and a status."""
    try:
        with app.make_context("dpaudit", words) as context:
            return int(app.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        verb = error.ctx.command if error.ctx else app
        example = [("example", verb.example)] if isinstance(verb, Verb) else []
        complain("BAD INPUT", error.format_message(), *example, *_help(verb))
    except BadInput as error:
        complain("BAD INPUT", str(error), *_help(error.verb))
    except DpauditError as error:
        tell("error", str(error))
    except BrokenPipeError:
        drop_output()
    except OSError as error:
        tell("error", f"{error.filename or _unnamed(error)}: {error.strerror or error}")
    except KeyboardInterrupt as stop:
        told = [note for note in getattr(stop, "__notes__", ())]
        first, *more = told or ["nothing was stored"]
        complain("INTERRUPTED", first, *(("resume", line) for line in more))
        return 128 + getattr(stop, "signal", signal.SIGINT)
    except MemoryError:
        raise
    # An uncaught exception would exit with 1, which means a violation; an exit of what is audited with 0, even.
    except (Exception, SystemExit) as error:
        import traceback

        print(*map(harmless, traceback.format_exc().splitlines()), sep="\n", file=sys.stderr)
        tell("error", f"unexpected {type(error).__name__}: {error}")
    return 2


def _unnamed(error: OSError) -> str:
    """Return where an error lies that names no file: our own files are named, those of the libraries' workers not."""
    if error.errno != errno.ENOSPC:
        return "file system"
    from tempfile import gettempdir

    return f"/dev/shm or {gettempdir()}, which processes share data in"


def _help(verb: click.Command) -> list[tuple[str, str]]:
    return [("help", f"dpaudit help {verb.name}" if isinstance(verb, Verb) else "dpaudit help")]
