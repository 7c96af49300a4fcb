"""A command: a typed function whose parameters declare its arguments and options, and whose docstring is its help."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, get_args, get_type_hints

import click

from dpaudit.cli.options import Declared
from dpaudit.cli.streams import kept_clean
from dpaudit.errors import InputError, in_python

__all__ = ["STATUS", "BadInput", "Command", "command", "here", "in_options", "option_words"]

STATUS = """\
Exit status: 0 no violation, 1 a violation or a missed control,
             2 bad input, a fault, no result, 3 no evidence or undecided"""
_SIGNALS = "             129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM, with everything saved"


class BadInput(Exception):
    """Bad input to a command, in terms of its options."""

    def __init__(self, message: str, command: Command) -> None:
        self.command = command
        super().__init__(message)


class Command(click.Command):
    """A command of the command line.

    Parameters
    ----------
    name : str
        The word that is typed.
    action : callable
        Returns the exit status. Each parameter is annotated with ``Annotated[type, given(...)]``, or with a
        named tuple whose fields are, which is a group of options that several commands share.
    example : str
        A command line.
    """

    def __init__(self, name: str, action: Callable[..., int], example: str) -> None:
        self.action, self.example = action, example
        hints = get_type_hints(action, include_extras=True)
        self._taken = [(parameter, hints[parameter]) for parameter in signature(action).parameters]
        declared = [one for parameter, hint in self._taken for one in _declared(parameter, hint)]
        text = " ".join((action.__doc__ or "").split())
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 90}
        super().__init__(name, context_settings=settings, params=declared, help=text)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; an error in them names this command, whose help and example are then shown."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example and the exit status as they are."""
        formatter.write(f"\nExample:\n  {self.example}\n\n{STATUS},\n{_SIGNALS}\n")

    def invoke(self, ctx: click.Context) -> int:
        """Call the action with what was given, and return the exit status."""
        with kept_clean():
            try:
                return self.action(*(_taken(ctx, parameter, hint) for parameter, hint in self._taken))
            except InputError as error:
                raise BadInput(error.told(in_options(self)), self) from error


def command(name: str, example: str) -> Callable[[Callable[..., int]], Command]:
    """Return a decorator that makes a function a command; see `Command`."""
    return lambda action: Command(name, action, example)


def here() -> Command:
    """Return the command that is being run."""
    running = click.get_current_context().command
    assert isinstance(running, Command)
    return running


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple)


def _declared(parameter: str, hint: Any) -> list[click.Parameter]:
    """Return the arguments and options that a parameter of a command declares."""
    if _is_group(hint):
        inner = get_type_hints(hint, include_extras=True)
        return [one for name in hint._fields for one in _declared(name, inner[name])]
    kind, how = get_args(hint)
    if isinstance(how, Declared):
        return how.declared()
    return [how.declared(parameter, kind)]


def _taken(ctx: click.Context, parameter: str, hint: Any) -> Any:
    """Return the value of a parameter of a command."""
    if _is_group(hint):
        inner = get_type_hints(hint, include_extras=True)
        return hint(*(_taken(ctx, name, inner[name]) for name in hint._fields))
    _, how = get_args(hint)
    return {name: ctx.params[name] for name in how.names} if isinstance(how, Declared) else ctx.params[parameter]


def option_words(command: click.Command, name: str, value: object = None) -> list[str]:
    """Return the option of a command that sets a parameter, and its value, as they are typed; none if there is none."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name == name:
            return [option.opts[0], *([] if value is None or option.is_flag else [str(value)])]
    return []


def in_options(command: click.Command) -> Callable[[str, str | None], str]:
    """Return the function by which an `InputError` names a command's options; see `InputError.told`."""
    return lambda name, value: " ".join(option_words(command, name, value)) or in_python(name, value)
