"""A verb of the command line: its options and its help; what it does is loaded when it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import SimpleNamespace

import click

from dpaudit.cli.streams import kept_clean
from dpaudit.errors import InputError, in_python

__all__ = ["STATUS", "BadInput", "Given", "Verb", "in_options", "option_words"]

STATUS = """\
Exit status: 0 no violation, 1 a violation or a missed control,
             2 bad input, a fault or a missing result, 3 no evidence or undecided,
             129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM, with everything saved"""


class Given(SimpleNamespace):
    """The parameters given to a verb, by name, and `verb`, which is the verb itself."""


class BadInput(Exception):
    """Bad input to a verb, told in its options."""

    def __init__(self, message: str, verb: Verb) -> None:
        self.verb = verb
        super().__init__(message)


class Verb(click.Command):
    """A verb, whose action is `command` of a module named after it, as `dpaudit.cli.list_command` is.

    Parameters
    ----------
    name : str
        The word that is typed.
    paragraph : str
        Its help.
    example : str
        A command line.
    params : sequence of click.Parameter
        Its arguments and options.
    """

    def __init__(self, name: str, paragraph: str, example: str, params: Sequence[click.Parameter]) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 90}
        super().__init__(name, context_settings=settings, params=list(params), help=" ".join(paragraph.split()))
        self.example = example

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; what is wrong with them is an error of this verb, whose help and example are then named."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example and the exit status as they are."""
        formatter.write(f"\nExample:\n  {self.example}\n\n{STATUS}\n")

    def invoke(self, ctx: click.Context) -> int:
        """Load the action, call it with what was given, and return the exit status."""
        action: Callable[[Given], int] = import_module(
            f"dpaudit.cli.{(self.name or '').replace('-', '_')}_command"
        ).command
        with kept_clean():
            try:
                return action(Given(**ctx.params, verb=self))
            except InputError as error:
                raise BadInput(error.told(in_options(self)), self) from error


def option_words(verb: click.Command, name: str, value: object = None) -> list[str]:
    """Return the option of a verb that sets a parameter, and its value, as they are typed; none if there is none."""
    for option in verb.params:
        if isinstance(option, click.Option) and option.name == name:
            return [option.opts[0], *([] if value is None or option.is_flag else [str(value)])]
    return []


def in_options(verb: click.Command) -> Callable[[str, str | None], str]:
    """Return the function by which an `InputError` speaks of a verb's options; see `InputError.told`."""
    return lambda name, value: " ".join(option_words(verb, name, value)) or in_python(name, value)
