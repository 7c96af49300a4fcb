"""The words of the command line for those of the Python interface, in messages that both share."""

from __future__ import annotations

import re

__all__ = ["in_options"]

_WORDS = (
    (r"use n_jobs=1 \(--jobs 1\)", "use --jobs 1"),
    (r"\b(strict|sequential|batched|curve)=True", r"--\1"),
    (r"\bleave (strict) out", r"leave --\1 out"),
    (r"\btakes neither curve nor strict", "takes neither --curve nor --strict"),
    (r"\b(trials|n|seed|confidence|epsilon|delta)=(-?[0-9])", r"--\1 \2"),
    (r"\btrials >= (?=[0-9]+ with one pair)", "--trials "),
    (r"\blower trials\b", "lower --trials"),
    (r"^epsilon must be given", "--epsilon must be given"),
    (r"\bgive n$", "give --n"),
    (r"\bgive a few samples or pairs by samples=", "use --crafted"),
    (r"\bgive them by samples=", "use --crafted"),
    (r"; or give probe=points,", "; or call dpaudit.audit_privacy with probe=points,"),
)


def in_options(message: str) -> str:
    """Return a message with the options' names where it speaks of arguments."""
    for words, option in _WORDS:
        message = re.sub(words, option, message)
    return message
