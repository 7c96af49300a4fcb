"""The forms of a terminal: tables, by rich, and lines of a label and a text; colours repeat words and marks.

The signs of mathematics in lines and in cells of text become ASCII here, character by character.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from dpaudit.contract import Verdict
from dpaudit.escaping import printable

Cell: TypeAlias = str | tuple[str, ...]
# A label, which may be a `Verdict`, and a text for each line.
Lines: TypeAlias = list[tuple[str, str]]

# The columns of what is shown whole.
WIDTH = 120
# The escapes of ANSI of each style in rich's words, for text that rich does not write.
_ESCAPES = {"bold red": "\x1b[1;31m", "blue": "\x1b[34m", "bold": "\x1b[1m"}
_SIGNS_IN_ASCII = str.maketrans(
    {
        "ε": "epsilon",
        "δ": "delta",
        "μ": "mu",
        "ρ": "rho",
        "é": "e",
        "≥": ">=",
        "≤": "<=",
        "∞": "inf",
        "“": '"',
        "”": '"',
    }
)
# The style of what is wrong.
WORSE = "bold red"
# Verdicts by their gravity: what is wrong, what is left open, and what is kept.
_BAD = ("missed", "violation", "refuted", "false", "gap")
_LEFT_OPEN = (
    "misprint", "edge case", "failed", "incomplete", "no evidence", "undecided", "accepted"
)  # fmt: skip
_KEPT = ("loose", "holds", "not refuted", "consistent")
# The style of each verdict, in rich's words; that of others is none.
STYLES = {**dict.fromkeys(_BAD, WORSE), **dict.fromkeys(_LEFT_OPEN, "bold"), **dict.fromkeys(_KEPT, "blue")}
# The mark of each verdict in tables, which says the same as its style; others have none.
MARKS = {
    **dict.fromkeys(_BAD, "!"),
    "misprint": "~",
    "edge case": "~",
    "failed": "x",
    "incomplete": "x",
    "no evidence": "?",
    "undecided": "~",
    "accepted": "~",
}
# The column in which texts begin, behind the longest label.
_TEXT_COLUMN = 13
# In a table: the least columns of a name and of a text, and those between two cells.
_LEAST = 12
_TEXT = 30
_GAP = 2
# An escape of ANSI, and the blanks and escapes at the end of a line.
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")


class Copied(str):
    """The text of a line that is there to be copied, and keeps its signs."""


class ShellCommand(Copied):
    """The text of a line that is a command, which stays one line, so that a shell reads it as it is."""


def said(*lines: tuple[str, str]) -> Lines:
    """Return the lines that have a text."""
    return [line for line in lines if line[1]]


def style_of(verdict: Verdict, calm: str = "") -> str:
    """Return the style of the row of a verdict; `calm` where nothing about it needs a look."""
    if verdict.needs_look:
        return STYLES.get(verdict, "")
    return calm


def painted(text: str, style: str) -> str:
    """Return text with the ANSI escapes of a style."""
    if style:
        return f"{_ESCAPES[style]}{text}\x1b[0m"
    return text


def in_ascii(text: str) -> str:
    """Return the text of a line with its signs in ASCII; one that is there to be copied stays as it is."""
    if isinstance(text, Copied):
        return text
    return text.translate(_SIGNS_IN_ASCII)


def label_text(label: str) -> str:
    """Return the label of a line, a verdict in capitals."""
    if isinstance(label, Verdict):
        return label.upper()
    return label


def laid_out(lines: Lines, width: int = 80, color: bool = False) -> str:
    """Return lines as aligned text, broken below themselves at `width` columns; commands stay whole.

    Of labels, verdicts have their colours, and others in capitals are bold.
    """
    rows: list[str] = []
    for label, text in lines:
        shown = printable(in_ascii(text))
        room = max(width - _TEXT_COLUMN, 20)
        # A command that is broken over lines is no command any more.
        if isinstance(text, ShellCommand):
            first = shown
            more = []
        else:
            first, *more = textwrap.wrap(shown, room, break_on_hyphens=False) or [""]
        if isinstance(label, Verdict):
            style = STYLES.get(label, "")
        else:
            style = "bold" * label.isupper()
        head = label_text(label)
        if color:
            head = painted(head, style)
        # By the label without its escapes, which take no columns.
        rows.append(head + " " * (_TEXT_COLUMN - len(label)) + first)
        rows += [" " * _TEXT_COLUMN + part for part in more]
    return "\n".join(row.rstrip() for row in rows) + "\n"


def aligned(lines: Lines) -> str:
    """Return lines with their texts below each other, unbroken."""
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{label_text(name).ljust(width)}  {printable(in_ascii(text))}" for name, text in lines) + "\n"


class Head(NamedTuple):
    """The head of a column: its text, which may have several lines, and its kind, "number", "word", "name" or "text".

    Numbers stand at the right. Where a line is too long, names go on in a second one, if they may, and lose what does
    not fit, and texts are broken as often as they have to be.
    """

    text: str
    kind: str = "number"


def table(
    heads: Sequence[Head],
    rows: Sequence[Sequence[Cell]],
    styles: Sequence[str] = (),
    width: int = WIDTH,
    color: bool = False,
    deep: int = 2,
) -> list[str]:
    """Return the lines of a table with a rule below its heads and one at its end.

    A cell is a text, or several lines. Each row has a style, in rich's words, as "bold red"; "" is none. Lines have at
    most `width` columns, and names at most `deep` lines; `color` is whether to colour with ANSI escapes.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    # Heads of fewer lines are filled up from above, so that all stand on the rule.
    top = max(head.text.count("\n") for head in heads) + 1
    for head in heads:
        drawn.add_column(
            "\n" * (top - 1 - head.text.count("\n")) + head.text,
            justify="right" if head.kind == "number" else "left",
            no_wrap=head.kind == "word" or (head.kind == "name" and deep == 1),
            overflow="fold",
            min_width=None if head.kind in ("name", "text") else max(map(len, head.text.split("\n"))),
        )
    for row, style in zip(_cut(heads, rows, width, deep), styles or [""] * len(rows), strict=True):
        drawn.add_row(*map(Text, row), style=style or None)
    # Nothing is asked of the terminal, so that equal rows give equal lines everywhere.
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(drawn)
    # The blanks that fill the last cells go; the escapes among them stay.
    shown = [_END.sub(lambda end: "".join(_ESCAPE.findall(end[0])), line) for line in captured.get().splitlines()]
    rule = "-" * max(len(_ESCAPE.sub("", line).rstrip()) for line in shown)
    return [*shown[:top], rule, *shown[top:], rule]


def _cut(heads: Sequence[Head], rows: Sequence[Sequence[Cell]], width: int, deep: int) -> list[list[str]]:
    """Return the rows with names cut to as many lines of what the other columns leave; of texts nothing is cut."""
    shown = [[_written(one, head.kind) for head, one in zip(heads, row, strict=True)] for row in rows]
    # Names get what the other columns leave; a text may be broken, so that it asks for a little only.
    rest = 0
    for i, head in enumerate(heads):
        cells = (head.text, *(row[i] for row in shown))
        needed = max(len(line) for cell in cells for line in cell.split("\n"))
        rest += {"name": 0, "text": min(needed, _TEXT)}.get(head.kind, needed)
    room = deep * max(_LEAST, width - rest - _GAP * (len(heads) - 1))
    return [
        [_shortened(one, room) if head.kind == "name" else one for head, one in zip(heads, row, strict=True)]
        for row in shown
    ]


def _written(cell: Cell, kind: str) -> str:
    lines = (cell,) if isinstance(cell, str) else cell
    return "\n".join(printable(in_ascii(line) if kind == "text" else line) for line in lines)


def _shortened(text: str, room: int) -> str:
    """Return a text that fits: parameters lose their end; of a name both ends stay, which differ from others'."""
    # Two of the columns are for the dots.
    kept = room - 2
    if len(text) <= room:
        return text
    if " (" in text[:kept]:
        return f"{text[:kept]}.."
    return f"{text[: kept - kept // 2]}..{text[-(kept // 2) :]}"
