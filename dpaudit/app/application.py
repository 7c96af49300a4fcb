"""The command `dpaudit`: its commands, each loaded when it is typed; what one raises becomes a message and a status."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from json import dumps
from types import FrameType
from typing import Annotated, Any, NoReturn

import click

from dpaudit import __version__
from dpaudit.app.command import STATUS, BadInput, Command, command
from dpaudit.app.options import argument
from dpaudit.app.streams import complain, drop_output, lost, lost_by_help, notify, open_missing, plain_warnings, say
from dpaudit.errors import DpauditError, InputError, nearest
from dpaudit.escaping import printable
from dpaudit.report.glossary import GLOSSARY
from dpaudit.running.processes import STOPPING, bound_memory, keep_apart

# Seconds after the end of a command in which its process may end by itself.
LEFT = 2.0
# click's own name for the variable by which a shell asks for completions.
COMPLETION_VARIABLE = "_DPAUDIT_COMPLETE"
# Command of every day -> the module of `dpaudit.app` that has it, and a line.
DAILY = {
    "new": ("project_commands", "begin a mechanism or a learner, its test and its audit"),
    "privacy": ("privacy", "test a claim by running it: this refutes, never proves"),
    "check": ("project_commands", "all claims of a project; exit status 1 if one is broken"),
    "diff": ("project_commands", "what got worse between two checks or runs"),
    "report": ("runs", "show a stored run again: text, html, json"),
    "list": ("listing", "what can be audited"),
    "run": ("runs", "all audits, controls included, and the report"),
    "verify": ("runs", "that nothing in a stored run was changed"),
    "replay": ("privacy", "run the violation of a certificate again"),
    "help": ("application", "this text; help COMMAND, help words"),
}
# The same of the others.
SPECIAL = {
    "exact": ("learner", "the true epsilon, if the output law is known"),
    "utility": ("learner", "how often a learner fails, against what is promised"),
    "sample-complexity": ("learner", "how many examples a learner needs at worst"),
    "ledger": ("listing", "what papers claim, what computation finds"),
    "scores": ("one_run", "test a claim by the scores of a training's canaries"),
    "samples": ("one_run", "test a claim by outputs recorded elsewhere"),
    "sensitivity": ("sensitivity", "how far a record moves a value, without noise"),
}
COMMANDS = DAILY | SPECIAL

_START = """\
dpaudit checks claims of differential privacy by running the code.

Start here
  dpaudit privacy FILE.py:function --epsilon 1    with the PAIRS beside it
  dpaudit new mechanism NAME        a file to begin with, its test and its audit
  dpaudit check                     every claim of this project, one table

Every day
{daily}

Learners, theorems, and what was run elsewhere
{special}

Words
{words}

{status}
"""
# What a first audit can say; `dpaudit help words` has the rest.
_FIRST = ("violation", "consistent", "no evidence")


def _listed(texts: Mapping[str, str]) -> str:
    width = max(map(len, texts)) + 2
    return "\n".join(f"  {name.ljust(width)}{text}" for name, text in texts.items())


WHOLE = _START.format(
    daily=_listed({name: line for name, (_, line) in DAILY.items()}),
    special=_listed({name: line for name, (_, line) in SPECIAL.items()}),
    words=_listed({word: GLOSSARY[word] for word in _FIRST}),
    status=STATUS,
)


@command("help", "dpaudit help privacy")
def help_on(topic: Annotated[tuple[str, ...], argument("[TOPIC]")]) -> int:
    """Show the help of all, of a command, or of a word: words for all of them; schema KIND is a JSON Schema."""
    from dpaudit.report.terminal import in_ascii

    above = click.get_current_context().find_root()
    assert isinstance(above.command, click.Group)
    asked = " ".join(topic).replace("no-evidence", "no evidence").lower()
    # A command comes before a word of the same name.
    if asked in COMMANDS:
        found = above.command.get_command(above, asked)
        assert found is not None
        with click.Context(found, info_name=asked, parent=above, **found.context_settings) as context:
            say(found.get_help(context) + "\n")
    elif topic[:1] == ("schema",):
        from dpaudit.report.schema import load

        say(dumps(load(" ".join(topic[1:])), indent=1) + "\n")
    elif asked in ("", "words"):
        text = in_ascii(_listed(GLOSSARY)) + "\n" if asked else WHOLE
        say(text)
    elif asked in GLOSSARY:
        say(in_ascii(_listed({asked: GLOSSARY[asked]})) + "\n")
    else:
        hint = nearest(asked, [*COMMANDS, *GLOSSARY, "words"]) or f"; there are words, {', '.join(COMMANDS)}"
        raise InputError(f"there is no help on {asked!r}{hint}")
    return 0


class App(click.Group):
    """A group whose commands stand in modules of ``dpaudit.app`` that are loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None."""
        if cmd_name not in COMMANDS:
            return None
        # Only the module of the command that was typed: help and other commands load no audit.
        home = import_module(f"dpaudit.app.{COMMANDS[cmd_name][0]}")
        return next(one for one in vars(home).values() if isinstance(one, Command) and one.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was typed; for an unknown word, the error names the closest one."""
        word = args[0]
        if word in COMMANDS or word.startswith("-"):
            return super().resolve_command(ctx, args)
        if ":" in word or word.endswith(".py"):
            hint = f"; a mechanism is audited by: dpaudit privacy {word} --epsilon 1"
        else:
            hint = nearest(word, COMMANDS) or f"; there are {', '.join(COMMANDS)}"
        ctx.fail(f"there is no command {word!r}{hint}")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the whole."""
        formatter.write(WHOLE)


@click.command(cls=App, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dpaudit", message="%(prog)s %(version)s")
@click.pass_context
def app(ctx: click.Context) -> int:
    """Show the help where no command is given."""
    if ctx.invoked_subcommand is None:
        click.echo(WHOLE, nl=False)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: see `command.STATUS`."""
    if argv is None:
        words = sys.argv[1:]
        # Before any file is opened, which would take the number of a stream that is closed.
        open_missing()
    else:
        words = list(argv)
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "dpaudit", COMPLETION_VARIABLE, instruction)
    # A program that calls this handles its own end, and reads what is written to its streams.
    if argv is not None:
        return _run(words, ends=False)
    try:
        return _alone(words)
    # Where the system lets no file be open.
    except OSError as error:
        return _barely(str(error))


def _alone(words: list[str]) -> int:
    """Run one command in a process that is its own, with what audited code runs kept apart from it."""
    # First of all, because the limit is a part of the memory that is free at the start.
    bound_memory()
    keep_apart()
    # Where standard output is closed, or there is none, nothing has to be kept apart.
    with suppress(OSError, ValueError, AttributeError):
        # What code of C prints goes to standard error, and `sys.stdout` alone to standard output.
        shown = sys.stdout
        own = os.dup(1)
        os.dup2(2, 1)
        buffered = 1 if shown.line_buffering else -1
        # It is open until the process ends: a file that closed its descriptor would be told of as unclosed then.
        sys.stdout = open(own, "w", buffered, encoding=shown.encoding, errors=shown.errors, closefd=False)
    with _exits_told():
        status = _run(words, ends=True)
    # Ends the process whatever threads a module that was loaded has left.
    leaving = threading.Timer(LEFT, os._exit, (status,))
    # It must not keep the process that it is to end.
    leaving.daemon = True
    # There may be no memory left for a thread.
    with suppress(RuntimeError):
        leaving.start()
    return status


@contextmanager
def _exits_told() -> Iterator[None]:
    """Let `os._exit` in a module that is loaded raise `SystemExit` in the block: its status could pass for a result.

    Mechanisms run in processes of their own, where it ends the process.
    """
    exits = os._exit
    home = os.getpid()

    def told(status: int) -> NoReturn:
        if os.getpid() != home:
            exits(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = told
    try:
        yield
    finally:
        os._exit = exits


def _barely(words: str) -> int:
    """Show an error by what takes no memory or files, and return 2: uncaught it would end with 1, a violation."""
    os.write(2, f"dpaudit: error: {words}\n".encode(errors="replace"))
    return 2


def _run(words: list[str], ends: bool) -> int:
    """Run one command; `ends` says that its process ends with it."""
    with _stoppable(ends), plain_warnings():
        try:
            return _status(words)
        except MemoryError:
            return _barely("there is no memory left")
        # The modules of a message cannot be read where the system lets no more files be open.
        except OSError as error:
            return _barely(str(error))


class SignalReceived(KeyboardInterrupt):
    """A signal, of a number, asks the command to end."""

    def __init__(self, number: int) -> None:
        self.signal = number
        super().__init__()


@contextmanager
def _stoppable(ends: bool) -> Iterator[None]:
    """Let a request to end do so as Ctrl-C does: results kept, workers ended, a message, a status that names it.

    Where the process ends with the command, further requests are ignored until it has.
    """
    here = threading.current_thread() is threading.main_thread()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in STOPPING if here}
    # A program that embeds the command, or ignores a signal, keeps its own handlers.
    ours = [n for n, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        # A second signal would break off the end of the workers, and be waited for in vain.
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        raise SignalReceived(number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        stopped = any(signal.getsignal(number) == signal.SIG_IGN for number in ours)
        if not (ends and stopped):
            for number in ours:
                signal.signal(number, before[number])


def _status(words: list[str]) -> int:
    lost.clear()
    try:
        with app.make_context("dpaudit", words) as context:
            status = int(app.invoke(context) or 0)
        # A violation stays one where its page was lost; anything else that was not shown is a missing result.
        if lost and status != 1:
            return 2
        return status
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        # Errors of the line before a command is known have the help of the whole.
        asked = error.ctx.command if error.ctx else app
        if isinstance(asked, Command):
            example = []
            if not isinstance(error, BadInput):
                example.append(("example", asked.example))
            complain("BAD INPUT", error.format_message(), *example, ("help", f"dpaudit help {asked.name}"))
        else:
            complain("BAD INPUT", error.format_message(), ("help", "dpaudit help"))
    except DpauditError as error:
        notify("error", str(error))
    except BrokenPipeError:
        drop_output()
    except OSError as error:
        from tempfile import gettempdir

        if lost_by_help(error):
            return 2
        # Our own files are named, those of the libraries' workers, which share data in memory or on disk, are not.
        unnamed = "file system"
        if error.errno == errno.ENOSPC:
            unnamed = f"/dev/shm or {gettempdir()}, which processes share data in"
        notify("error", f"{error.filename or unnamed}: {error.strerror or error}")
    except KeyboardInterrupt as stop:
        from dpaudit.report.terminal import ShellCommand

        # The code that was interrupted knows what is kept; its further notes are commands that go on from there.
        first, *more = getattr(stop, "__notes__", ()) or ["the command did not come to its end"]
        complain("INTERRUPTED", first, *(("resume", ShellCommand(line)) for line in more))
        # As shells report a program that a signal ended.
        return 128 + getattr(stop, "signal", signal.SIGINT)
    except MemoryError:
        raise
    # An uncaught exception would exit with 1, which means a violation; an exit of audited code even with 0.
    except (Exception, SystemExit) as error:
        import traceback

        print(*map(printable, traceback.format_exc().splitlines()), sep="\n", file=sys.stderr)
        notify("error", f"unexpected {type(error).__name__}: {error}")
    return 2
