"""The command `dpaudit`: its verbs, each loaded when it is typed, and the help of the whole."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click

from dpaudit import __version__
from dpaudit.cli.topics import VERBS, WHOLE

__all__ = ["App", "app"]


class App(click.Group):
    """A group whose verbs stand in modules of ``dpaudit.cli.verbs`` that are loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb, or None."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"dpaudit.cli.verbs.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that was typed; of a word that is none, say which one was meant."""
        word = args[0]
        command = self.get_command(ctx, word)
        if command is None and not word.startswith("-"):
            ctx.fail(_unknown(word))
        return super().resolve_command(ctx, args) if command is None else (word, command, args[1:])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the whole."""
        formatter.write(WHOLE)


def _unknown(word: str) -> str:
    """Return what to type instead of a verb that there is not."""
    if ":" in word or word.endswith(".py"):
        return f"there is no command {word!r}; a mechanism is audited by: dpaudit privacy {word} --epsilon 1"
    near = get_close_matches(word, VERBS)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(VERBS)}"
    return f"there is no command {word!r}; {hint}"


@click.command(cls=App, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dpaudit", message="%(prog)s %(version)s")
@click.pass_context
def app(ctx: click.Context) -> int:
    """Show the help where no verb is given."""
    if ctx.invoked_subcommand is None:
        click.echo(WHOLE, nl=False)
    return 0
