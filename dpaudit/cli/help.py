"""The help of the whole command line, ``dpaudit help`` and ``dpaudit completion``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import click

from dpaudit.cli.command import STATUS, command
from dpaudit.cli.options import argument
from dpaudit.cli.streams import say
from dpaudit.errors import InputError, nearest

COMPLETION = "_DPAUDIT_COMPLETE"
"""The variable by which a shell asks for completions."""
COMMANDS = {
    "privacy": ("privacy", "test a claim by running it: this refutes, never proves"),
    "exact": ("learner", "the true epsilon, if the output law is known"),
    "supremum": ("learner", "the greatest loss over samples of every size"),
    "utility": ("learner", "how often a learner fails, against what is promised"),
    "sample-complexity": ("learner", "how many examples a learner needs at worst"),
    "scaling": ("learner", "how that number grows with a parameter"),
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

WORDS = {
    "violation": "the claim is refuted, a witness shows it",
    "consistent": "nothing found, although a leak could have been seen; no proof",
    "no evidence": "nothing found, and nothing could have been: see the line `next`",
    "holds": "of accuracy: the failure rate is at most what is allowed, on the cases tried",
    "undecided": "of accuracy: the interval contains what is allowed; more trials would tell",
    "vacuous": "of accuracy: the claim promises next to nothing, so that it is no merit to keep it",
    "claim": "a promise of a mechanism: epsilon and delta, or alpha and beta",
    "pair": "two neighbouring inputs, on which outputs should be nearly equally likely",
    "event": "a set of outputs whose probability is compared on both inputs of a pair",
    "witness": "the pair and the event that show a leak best, with their counts",
    "shows >=": "a lower bound on epsilon: it may be more, and is less with at most the stated error",
    "power": "the least epsilon that this audit would have caught 19 times in 20",
    "exact": "the worst case over all pairs that were enumerated, with a proved error",
    "trials": "runs of the mechanism on each of the two inputs of a pair",
    "control": "a learner with a planted fault: an audit that misses it is blind",
}
"""Word -> its meaning in a line."""

_START = """\
dpaudit checks claims of differential privacy by running the code.

Start here
  dpaudit privacy FILE.py:function --epsilon 1    with the PAIRS beside it
  dpaudit new mechanism NAME        a file to begin with, its test and its audit
  dpaudit check                     every claim of this project, one table
  dpaudit help privacy              how to say what your neighbours are

Commands
{verbs}

Words
{words}

{status}
More: dpaudit help COMMAND, dpaudit help words
"""
_FIRST = ("violation", "consistent", "no evidence")


def _listed(texts: Mapping[str, str]) -> str:
    """Return names with their texts, aligned."""
    width = max(map(len, texts)) + 2
    return "\n".join(f"  {name.ljust(width)}{text}" for name, text in texts.items())


WHOLE = _START.format(
    verbs=_listed({name: line for name, (_, line) in COMMANDS.items()}),
    words=_listed({word: WORDS[word] for word in _FIRST}),
    status=STATUS,
)


@command("help", "dpaudit help privacy")
def help_on(topic: Annotated[tuple[str, ...], argument("[TOPIC]")]) -> int:
    """Show the help of all, of a command, or of a word: words for all of them."""
    above = click.get_current_context().find_root()
    assert isinstance(above.command, click.Group)
    asked = " ".join(topic).replace("no-evidence", "no evidence").lower()
    if asked in COMMANDS:
        found = above.command.get_command(above, asked)
        assert found is not None
        with click.Context(found, info_name=asked, parent=above, **found.context_settings) as context:
            say(found.get_help(context) + "\n")
    elif asked in ("", "words"):
        say(_listed(WORDS) + "\n" if asked else WHOLE)
    elif asked in WORDS:
        say(_listed({asked: WORDS[asked]}) + "\n")
    else:
        hint = nearest(asked, [*COMMANDS, *WORDS, "words"]) or f"; there are words, {', '.join(COMMANDS)}"
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
