"""The command that shows the help of all, of a command or of a word."""

from __future__ import annotations

from difflib import get_close_matches

import click

from dpaudit.cli.app import app
from dpaudit.cli.streams import say
from dpaudit.cli.topics import VERBS, WHOLE, WORDS, words_text
from dpaudit.cli.verb import Given
from dpaudit.errors import InputError

__all__ = ["command"]


def command(args: Given) -> int:
    """Show help."""
    topic = " ".join(args.topic).replace("no-evidence", "no evidence").lower()
    if topic in VERBS:
        with click.Context(app, info_name="dpaudit") as above:
            verb = app.get_command(above, topic)
            assert verb is not None
            with click.Context(verb, info_name=topic, parent=above, **verb.context_settings) as context:
                say(verb.get_help(context) + "\n")
    elif topic in ("", "words"):
        say(words_text(WORDS) if topic else WHOLE)
    elif topic in WORDS:
        say(words_text({topic: WORDS[topic]}))
    else:
        near = get_close_matches(topic, [*VERBS, *WORDS, "words"])
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are words, {', '.join(VERBS)}"
        raise InputError(f"there is no help on {topic!r}; {hint}")
    return 0
