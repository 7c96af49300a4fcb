"""Write two reference pages from the code: ``python scripts/write.py commands`` remakes them.

docs/research/commands.md has the commands, their arguments, options, defaults and examples; docs/research/glossary.md
the words of reports and of the help.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from dpaudit.app.application import COMMANDS, app
from dpaudit.app.command import STATUS, Command
from dpaudit.report.formats import escaped
from dpaudit.report.glossary import GLOSSARY

DOCS = Path(__file__).resolve().parents[2] / "docs"
_HEAD = """\
# Commands

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
| shard, merge | `--backend dask` |
| completion | the line above |

"""
_WORDS = """\
# Glossary

The words of reports and of the help, as `dpaudit help words` shows them. Made by `scripts/write.py commands`.

| word | meaning |
|---|---|
"""


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
    options = [one for one in command.params if isinstance(one, click.Option)]
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
    """Return an option as a row: its names and value, its help, and the default that the help names at its end."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {option.metavar or _kind(option)}"
    text, found, usual = str(option.help).rpartition(" (default: ")
    assert found, f"the help of {names} names no default"
    return f"| `{names}{value}` | {escaped(text)} | {escaped(usual.removesuffix(')'))} |"


def _kind(option: click.Option) -> str:
    """Return how the help names a value without a metavar of its own."""
    if isinstance(option.type, click.Choice):
        return f"[{'|'.join(map(str, option.type.choices))}]"
    return option.type.name.upper()


def glossary_page() -> str:
    """Return the words with their meanings."""
    return _WORDS + "".join(f"| {word} | {re.sub(' +', ' ', escaped(text))} |\n" for word, text in GLOSSARY.items())


PAGES = {"research/commands.md": commands_page, "research/glossary.md": glossary_page}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
