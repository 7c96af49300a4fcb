"""The help of the whole command line, ``dpaudit help`` and ``dpaudit completion``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import click

from dpaudit.cli.command import STATUS, command
from dpaudit.cli.options import argument
from dpaudit.cli.streams import say
from dpaudit.errors import InputError, nearest
from dpaudit.report.glossary import GLOSSARY

COMPLETION = "_DPAUDIT_COMPLETE"
"""The variable by which a shell asks for completions."""
COMMANDS = {
    "privacy": ("privacy", "test a claim by running it: this refutes, never proves"),
    "exact": ("learner", "the true epsilon, if the output law is known"),
    "supremum": ("learner", "the greatest loss over samples of every size"),
    "utility": ("learner", "how often a learner fails, against what is promised"),
    "sample-complexity": ("learner", "how many examples a learner needs at worst"),
    "scaling": ("learner", "how that number grows with a parameter"),
    "coins": ("one_run", "fair coins for an audit of a training in one run"),
    "scores": ("one_run", "test a claim by the scores of a training's canaries"),
    "samples": ("one_run", "test a claim by outputs recorded elsewhere"),
    "sensitivity": ("sensitivity", "how far a record moves a value, without noise"),
    "shard": ("shards", "make a part of an audit that privacy --plan began"),
    "merge": ("shards", "the finding of an audit whose parts are made"),
    "check": ("project", "all claims of a project; exit status 1 if one is broken"),
    "diff": ("project", "what got worse between two checks or runs"),
    "history": ("project", "the checks of a project"),
    "new": ("project", "begin a mechanism or a learner, its test and its audit"),
    "run": ("runs", "all audits, controls included, and the report"),
    "ledger": ("listing", "what papers claim, what computation finds"),
    "replay": ("privacy", "run the violation of a certificate again"),
    "report": ("runs", "show a stored run again: text, html, json"),
    "verify": ("runs", "that nothing in a stored run was changed"),
    "list": ("listing", "what can be audited"),
    "completion": ("help", "what completes commands in bash, zsh or fish"),
    "help": ("help", "this text; help COMMAND, help words"),
}
"""Command -> the module of `dpaudit.cli` that has it, and a line."""

_START = """\
dpaudit checks claims of differential privacy by running the code.

Start here
  dpaudit privacy FILE.py:function --epsilon 1    with the PAIRS beside it
  dpaudit new mechanism NAME        a file to begin with, its test and its audit
  dpaudit check                     every claim of this project, one table

Commands
{verbs}

Words
{words}

{status}
"""
_FIRST = ("violation", "consistent", "no evidence")


def _listed(texts: Mapping[str, str]) -> str:
    width = max(map(len, texts)) + 2
    return "\n".join(f"  {name.ljust(width)}{text}" for name, text in texts.items())


WHOLE = _START.format(
    verbs=_listed({name: line for name, (_, line) in COMMANDS.items()}),
    words=_listed({word: GLOSSARY[word] for word in _FIRST}),
    status=STATUS,
)


@command("help", "dpaudit help privacy")
def help_on(topic: Annotated[tuple[str, ...], argument("[TOPIC]")]) -> int:
    """Show the help of all, of a command, or of a word: words for all of them."""
    from dpaudit.report.terminal import in_ascii

    above = click.get_current_context().find_root()
    assert isinstance(above.command, click.Group)
    asked = " ".join(topic).replace("no-evidence", "no evidence").lower()
    if asked in COMMANDS:
        found = above.command.get_command(above, asked)
        assert found is not None
        with click.Context(found, info_name=asked, parent=above, **found.context_settings) as context:
            say(found.get_help(context) + "\n")
    elif asked in ("", "words"):
        say(in_ascii(_listed(GLOSSARY)) + "\n" if asked else WHOLE)
    elif asked in GLOSSARY:
        say(in_ascii(_listed({asked: GLOSSARY[asked]})) + "\n")
    else:
        hint = nearest(asked, [*COMMANDS, *GLOSSARY, "words"]) or f"; there are words, {', '.join(COMMANDS)}"
        raise InputError(f"there is no help on {asked!r}{hint}")
    return 0


@command("completion", 'eval "$(dpaudit completion bash)"')
def completion(shell: Annotated[str, argument("{bash|zsh|fish}", choices=["bash", "zsh", "fish"])]) -> int:
    """Print the script that a shell reads to complete commands and options."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(click.get_current_context().find_root().command, {}, "dpaudit", COMPLETION)
    say(script.source_template % script.source_vars() + "\n")
    return 0
