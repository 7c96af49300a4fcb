"""Write three reference pages from the code: ``python scripts/write.py commands`` remakes them.

docs/commands.md has what each command is for, an example and its options; docs/research/commands.md the arguments and
defaults too, as the help has them; docs/research/glossary.md the words of reports and of the help.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from pathlib import Path

import click

from dpaudit.app.application import COMMANDS, app
from dpaudit.app.command import STATUS, Command
from dpaudit.report.formats import escaped
from dpaudit.report.glossary import GLOSSARY

DOCS = Path(__file__).resolve().parents[2] / "docs"
_SHORT_HEAD = """\
# Commands

```console
$ dpaudit --help            # all commands
$ dpaudit help privacy      # one of them, with defaults
$ dpaudit help words        # the words of reports
```

{status}.

The line `eval "$(_DPAUDIT_COMPLETE=bash_source dpaudit)"` in a file that the shell reads at its start completes
commands and options; other shells have zsh or fish in the place of bash. [The complete reference](research/commands.md)
has defaults too. `scripts/write.py commands` makes both pages.

## Options of several commands

The help of a command says which of these it takes.

{shared}
"""
# Options that two commands take with the same meaning are listed once, and one that so many take with any.
_COMMON = 5
# Of an option with one of these values the help lists what it may be; of others its first clause is enough.
_LISTED = {"WHAT", "SOURCE", "WHERE", "WORD", "CLAIM"}
_HEAD = """\
# Commands, complete

Made from the commands by `scripts/write.py commands`. `dpaudit help COMMAND` shows the same in a terminal.

To complete commands and options in bash, zsh or fish, add this line to the file that the shell reads at its start:

```sh
eval "$(_DPAUDIT_COMPLETE=bash_source dpaudit)"   # or zsh_source, fish_source
```

| command of an earlier version | what it became |
|---|---|
| supremum | `dpaudit exact ID --supremum` |
| scaling | `dpaudit sample-complexity ID --along NAME=VALUE,VALUE,...` |
| coins | `dpaudit scores --flip CANARIES --coins FILE` |
| history | `dpaudit diff`: the last two checks are kept |
| shard, merge | `--on`, the scheduler of a dask cluster |
| completion | the line above |

"""
_WORDS = """\
# Glossary

The words of reports and of the help, as `dpaudit help words` shows them. Made by `scripts/write.py commands`.

| word | meaning |
|---|---|
"""


def short_page() -> str:
    """Return the page of a user: what each command is for, its example, and a line for each option of its own."""
    context = click.Context(app, info_name="dpaudit")
    commands = [app.get_command(context, name) for name in COMMANDS]
    takers = Counter(option.opts[-1] for command in commands for option in _options(command))
    lines: dict[str, str] = {}
    seen: set[str] = set()
    for option in (one for command in commands for one in _options(command)):
        line = _line(option)
        if takers[option.opts[-1]] >= _COMMON or line in seen:
            lines.setdefault(option.opts[-1], line)
        seen.add(line)
    head = _SHORT_HEAD.format(status=" ".join(STATUS.split()), shared="".join(lines.values()))
    own = {name for name, count in takers.items() if count < _COMMON or name not in lines}
    return head + "\n".join(_short_section(command, set(lines.values()), own) for command in commands)


def _short_section(command: click.Command | None, shared: Set[str], own: Set[str]) -> str:
    """Return the short section of one command: options of these names, but for lines that are shared."""
    assert isinstance(command, Command)
    purpose, _, _ = str(command.help).partition(". ")
    lines = [f"## {command.name}", "", f"{escaped(purpose.rstrip('.'))}.".replace("\\`", "`"), ""]
    lines += ["```sh", command.example, "```", ""]
    options = [_line(option) for option in _options(command) if option.opts[-1] in own]
    text = "".join(line for line in options if line not in shared)
    return "\n".join([*lines, text] if text else lines)


def _options(command: click.Command | None) -> list[click.Option]:
    assert command is not None
    return [one for one in command.params if isinstance(one, click.Option)]


def _line(option: click.Option) -> str:
    """Return an option as a line: its names and value, and what the help says of it first."""
    names, text, _ = _described(option)
    if option.metavar not in _LISTED:
        text, _, _ = text.partition("; ")
    return f"* `{names}`: {escaped(text)}\n"


def commands_page() -> str:
    """Return the reference of all commands."""
    context = click.Context(app, info_name="dpaudit")
    listed = "".join(f"| [{name}](#{name}) | {escaped(line)} |\n" for name, (_, line) in COMMANDS.items())
    status = " ".join(STATUS.split())
    parts = [_section(app.get_command(context, name), context) for name in COMMANDS]
    return f"{_HEAD}| command | what it does |\n|---|---|\n{listed}\n{status}.\n\n{chr(10).join(parts)}"


def _section(command: click.Command | None, above: click.Context) -> str:
    """Return the section of one command: usage, text, example, and a table of its options."""
    assert isinstance(command, Command)
    assert command.name is not None
    # A command keeps the names of its help that it is first asked for.
    inside = click.Context(command, info_name=command.name, parent=above, **command.context_settings)
    usage = command.collect_usage_pieces(inside)
    options = _options(command)
    lines = [
        f"## {command.name}",
        "",
        f"`dpaudit {command.name} {' '.join(usage)}`",
        "",
        escaped(str(command.help)).replace("\\`", "`"),
    ]
    lines += ["", "```sh", command.example, "```", ""]
    if options:
        lines += ["| option | meaning | default |", "|---|---|---|", *map(_row, options), ""]
    return "\n".join(lines)


def _row(option: click.Option) -> str:
    """Return an option as a row: its names and value, its help, and its default."""
    names, text, usual = _described(option)
    return f"| `{names}` | {escaped(text)} | {escaped(usual)} |"


def _described(option: click.Option) -> tuple[str, str, str]:
    """Return the names of an option with its value, its help, and the default that the help names at its end."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {option.metavar or _kind(option)}"
    text, found, usual = str(option.help).rpartition(" (default: ")
    assert found, f"the help of {names} names no default"
    return f"{names}{value}", text, usual.removesuffix(")")


def _kind(option: click.Option) -> str:
    """Return how the help names a value without a metavar of its own."""
    if isinstance(option.type, click.Choice):
        return f"[{'|'.join(map(str, option.type.choices))}]"
    return option.type.name.upper()


def glossary_page() -> str:
    """Return the words with their meanings."""
    return _WORDS + "".join(f"| {word} | {re.sub(' +', ' ', escaped(text))} |\n" for word, text in GLOSSARY.items())


PAGES = {
    "commands.md": short_page,
    "research/commands.md": commands_page,
    "research/glossary.md": glossary_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
