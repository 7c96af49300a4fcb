"""Runs one command: whatever it raises becomes a line on standard error and an exit status."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module

from dpaudit.cli.grammar import build_parser
from dpaudit.cli.options import in_options
from dpaudit.cli.streams import drop_output, kept_clean, tell
from dpaudit.errors import DpauditError, InputError
from dpaudit.harmless import harmless

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: see `cli.help_text.STATUS`."""
    args, unknown = build_parser().parse_known_args(argv)
    if unknown:
        args.parser.error(_unknown(args.parser, unknown))
    with _terminable(), kept_clean():
        return _status(args)


def _unknown(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """Return what to say of words that a command does not take: the options that it does, the nearest first."""
    options = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
    near = [match for word in words for match in get_close_matches(word.partition("=")[0], options)]
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; there are {', '.join(options)}"
    return f"unrecognized arguments: {' '.join(words)}{hint}"


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to terminate end a command as Ctrl-C does: results kept, workers ended, a message, status 2."""
    import threading

    handler = signal.getsignal(signal.SIGTERM)
    if handler != signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield  # whoever embeds the command has plans of its own
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def _status(args: argparse.Namespace) -> int:
    """Run one command; whatever it raises becomes a line on stderr and the status 2."""
    try:
        return _action(args.command)(args)
    except InputError as error:
        message = error.told(in_options(args.parser))
    except DpauditError as error:
        message = str(error)
    except BrokenPipeError:
        drop_output()
        return 2
    except OSError as error:
        message = f"{error.filename or 'file system'}: {error.strerror or error}"
    except KeyboardInterrupt:
        message = "interrupted"
    # An uncaught exception would exit with 1, which means a violation; an exit of what is audited with 0, even.
    except (Exception, SystemExit) as error:
        import traceback

        print(*map(harmless, traceback.format_exc().splitlines()), sep="\n", file=sys.stderr)
        message = f"unexpected {type(error).__name__}: {error}"
    tell("error", message)
    return 2


def _action(command: str) -> Callable[[argparse.Namespace], int]:
    """Return what a command does; its module is loaded only now."""
    action: Callable[[argparse.Namespace], int] = import_module(f"dpaudit.cli.{command}_command").command
    return action
