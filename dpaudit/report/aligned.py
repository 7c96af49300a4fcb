"""Labels with texts as aligned lines, for a terminal, a pipe or a notebook."""

from __future__ import annotations

import shlex
import textwrap

from dpaudit.escaping import harmless
from dpaudit.report.table import BOLD, RED, painted

__all__ = ["BLUE", "Lines", "aligned", "laid_out"]

Lines = list[tuple[str, str]]
"""A label and a text for each line."""

_TEXT_AT = 13
"""The column at which texts begin."""
BLUE = "\x1b[34m"
_TONES = {
    "VIOLATION": RED,
    "CONSISTENT": BLUE,
    "HOLDS": BLUE,
    "NO EVIDENCE": BOLD,
    "UNDECIDED": BOLD,
    "BAD INPUT": BOLD,
    "INTERRUPTED": BOLD,
}
_COMMANDS = ("repeat", "resume")
"""Labels of commands, which are broken so that a shell reads them as one."""


def laid_out(lines: Lines, width: int = 80, color: bool = False, *, shell: bool = True) -> str:
    """Return lines as aligned text, broken below themselves at `width` columns, commands so that a shell takes them.

    With ``shell=False`` what repeats a finding is Python, which is broken as text is.
    """
    rows: list[str] = []
    for label, text in lines:
        fill = _command_parts if shell and label in _COMMANDS else _text_parts
        first, *more = fill(text, max(width - _TEXT_AT, 20)) or [""]
        rows.append(painted(label, _TONES.get(label, "") if color else "") + " " * (_TEXT_AT - len(label)) + first)
        rows += [" " * _TEXT_AT + part for part in more]
    return "\n".join(row.rstrip() for row in rows) + "\n"


def aligned(lines: Lines) -> str:
    """Return lines with their texts below each other, unbroken."""
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name.ljust(width)}  {harmless(text)}" for name, text in lines) + "\n"


def _text_parts(text: str, width: int) -> list[str]:
    return textwrap.wrap(harmless(text), width, break_on_hyphens=False)


def _command_parts(text: str, width: int) -> list[str]:
    """Break a command between its words; all parts but the last end with a backslash."""
    parts = [""]
    try:
        words = shlex.split(text)
    except ValueError:  # a file that somebody wrote by hand may hold any text there
        return _text_parts(text, width)
    for word in words:
        told = harmless(shlex.quote(word))
        if parts[-1] and len(parts[-1]) + len(told) + 3 > width:
            parts.append("")
        parts[-1] += f" {told}" if parts[-1] else told
    return [*(f"{part} \\" for part in parts[:-1]), parts[-1]]
