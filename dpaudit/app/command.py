"""A command: a typed function whose parameters declare its arguments and options, and whose docstring is its help."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click

from dpaudit.app.options import FORMS
from dpaudit.app.streams import kept_clean
from dpaudit.audit.options import LOOKS
from dpaudit.errors import DpauditError, InputError, in_python
from dpaudit.report.glossary import STATUSES

STATUS = """\
Exit status: 0 {}, 1 {},
             2 {}, 3 {}""".format(*STATUSES)
_SIGNALS = "             129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM, with everything saved"


# Parameters of the Python interface that an argument of a command sets -> its place.
_PLACES = {"f": "ID", "m": "--flip"}

# Parameters of the Python interface that an option of another name sets.
_OPTIONS = {"backend": "on", "address": "on"}


class BadInput(click.UsageError):
    """Bad input to a command, in terms of its options; the words themselves are in order."""


# The value of --claim in commands whose claim may be a curve: `sensitivity` has another one.
CLAIM = "CLAIM"
# What the parameter of a curve claim is looked for as, and how the claim is given.
INSTEAD = {
    "--mu": "--claim gaussian:MU",
    "--rho": "--claim zero-concentrated:RHO",
    "--alpha": "--claim renyi:ALPHA,EPSILON",
    "--renyi": "--claim renyi:ALPHA,EPSILON",
}


class Command(click.Command):
    """A command of the command line.

    The action returns the exit status. Each of its parameters is annotated with ``Annotated[type, given(...)]``, or
    with a named tuple whose fields are, which is a group of options that several commands share. `forms` are the
    suffixes that ``--out`` may have; empty where that is no file that is written beside what is shown.
    """

    def __init__(self, name: str, action: Callable[..., int], example: str, forms: Collection[str]) -> None:
        self.action = action
        self.example = example
        self.forms = forms
        self._parameters = get_type_hints(action, include_extras=True)
        del self._parameters["return"]
        declared = [one for parameter in self._parameters.items() for one in _declared(*parameter)]
        text = " ".join((action.__doc__ or "").split())
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 90}
        super().__init__(name, context_settings=settings, params=declared, help=text)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; an error in them names this command, whose help and example are then shown."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            claimed = any(one.metavar == CLAIM for one in self.params)
            if claimed and isinstance(error, click.NoSuchOption) and error.option_name in INSTEAD:
                name = error.option_name
                text = f"no such option {name}; the claim is given by {INSTEAD[name]}"
                raise click.UsageError(text, error.ctx) from None
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example and the exit status as they are."""
        formatter.write(f"\nExample:\n  {self.example}\n\n{STATUS},\n{_SIGNALS}\n")

    def invoke(self, ctx: click.Context) -> int:
        """Call the action with what was given, and return the exit status."""
        with kept_clean():
            try:
                out = None
                if self.forms:
                    out = ctx.params["out"]
                if out is not None:
                    # Both are refused before the action, which may take hours.
                    suffix_of(out, self.forms)
                check_folder("out", out)
                return self.action(*(_taken(ctx.params, *parameter) for parameter in self._parameters.items()))
            except InputError as error:
                raise BadInput(error.worded(in_options(self)), ctx) from error


def command(name: str, example: str, forms: Collection[str] = ()) -> Callable[[Callable[..., int]], Command]:
    """Return a decorator that makes a function a command; see `Command`."""
    return lambda action: Command(name, action, example, forms)


def here() -> Command:
    """Return the command that is being run."""
    running = click.get_current_context().command
    assert isinstance(running, Command)
    return running


def _declared(name: str, hint: Any) -> list[click.Parameter]:
    if isinstance(hint, type):
        # A group of options: a named tuple whose fields are options.
        group = get_type_hints(hint, include_extras=True)
        return [one for parameter in group.items() for one in _declared(*parameter)]
    kind, how = get_args(hint)
    declared: list[click.Parameter] = how.declared(name, kind)
    return declared


def _taken(values: Mapping[str, Any], name: str, hint: Any) -> Any:
    if isinstance(hint, type):
        return hint(*(_taken(values, *each) for each in get_type_hints(hint, include_extras=True).items()))
    return get_args(hint)[1].taken(name, values)


def option_words(command: click.Command, name: str, value: object = None) -> list[str]:
    """Return the option of a command that sets a parameter, and its value, as they are typed; none if there is none."""
    # Three parameters of the Python interface are words of one option.
    for word, looked in LOOKS.items():
        if name == looked.name:
            return ["--look", word]
    name = _OPTIONS.get(name, name)
    for option in command.params:
        if isinstance(option, click.Option) and option.name == name:
            # A flag that is off is typed as --no-..., where it has such a form.
            if value == "False" and option.secondary_opts:
                return option.secondary_opts[:1]
            if value is None or option.is_flag:
                return [option.opts[0]]
            return [option.opts[0], str(value)]
    return []


def in_options(command: click.Command) -> Callable[[str, str | None], str]:
    """Return the function by which an `InputError` names a command's options; see `InputError.worded`."""
    return lambda name, value: " ".join(option_words(command, name, value)) or in_python(_PLACES.get(name, name), value)


# Messages of the Python interface name parameters; a command has the same under other names.
def in_words(error: DpauditError) -> str:
    """Return the text of an error, in which bad input is in terms of the options of the command that is being run."""
    if isinstance(error, InputError):
        return error.worded(in_options(here()))
    return str(error)


def check_folder(name: str, path: str | None) -> None:
    """Raise `InputError`, by the parameter's name, if a file that is to be written is in no folder that exists."""
    if path is not None and not Path(path).parent.is_dir():
        raise InputError.of(name, path, "a file in a folder that exists")


def suffix_of(path: str, forms: Collection[str] = FORMS) -> str:
    """Return the suffix of a file without its dot; `InputError` if it is not one of the formats."""
    suffix = Path(path).suffix.lower()
    if suffix not in forms:
        raise InputError.of("out", path, f"a file that ends in {', '.join(forms)}")
    return suffix[1:]
