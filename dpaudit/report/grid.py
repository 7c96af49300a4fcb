"""Tables for a terminal, by rich: every table of the console is made here."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from dpaudit.escaping import harmless

__all__ = ["Column", "grid"]

_LEAST, _TEXT = 12, 30
"""The least columns that a name and a text have."""
_GAP = 2
_ESCAPE, _END = re.compile(r"\x1b\[[0-9;]*m"), re.compile(r"(?: |\x1b\[[0-9;]*m)+$")


Cell: TypeAlias = str | tuple[str, ...]


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    head : str
        Its head, which may have several lines.
    kind : {"number", "word", "name", "text"}
        Numbers stand at the right. Where a line is too long, names go on in a second one, if they may, and lose what
        does not fit, and texts are broken as often as they have to be.
    """

    head: str
    kind: str = "number"


def grid(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    styles: Sequence[str],
    width: int,
    color: bool,
    deep: int = 2,
) -> list[str]:
    """Return the lines of a table with a rule below its heads and one at its end.

    Parameters
    ----------
    columns : sequence of Column
        The columns.
    rows : sequence of sequences of Cell
        The cells: a text, or several lines.
    styles : sequence of str
        The style of each row, in rich's words, as "bold red"; "" is none.
    width : int
        The most columns of a line.
    color : bool
        Whether to colour with ANSI escapes.
    deep : int
        The most lines of a name.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    top = max(column.head.count("\n") for column in columns) + 1
    for column in columns:
        table.add_column(
            "\n" * (top - 1 - column.head.count("\n")) + column.head,
            justify="right" if column.kind == "number" else "left",
            no_wrap=column.kind == "word" or (column.kind == "name" and deep == 1),
            overflow="fold",
            min_width=None if column.kind in ("name", "text") else max(map(len, column.head.split("\n"))),
        )
    for row, style in zip(_cut(columns, rows, width, deep), styles, strict=True):
        table.add_row(*map(Text, row), style=style or None)
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
    lines = ["".join(part.text for part in line).rstrip() for line in console.render_lines(table, pad=False)]
    rule = "-" * max(map(len, lines))
    with console.capture() as captured:
        console.print(table)
    told = [_END.sub(_escapes, line) for line in captured.get().splitlines()]
    return [*told[:top], rule, *told[top:], rule]


def _escapes(end: re.Match[str]) -> str:
    """Return the escapes in the end of a line, without the blanks that fill the last cells."""
    return "".join(_ESCAPE.findall(end[0]))


def _shown(cell: Cell) -> str:
    return harmless(cell) if isinstance(cell, str) else "\n".join(map(harmless, cell))


def _cut(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, deep: int) -> list[list[str]]:
    """Return the rows with names cut to as many lines of what the other columns leave; of texts nothing is cut."""
    rest = 0
    for i, column in enumerate(columns):
        cells = (column.head, *(_shown(row[i]) for row in rows))
        needed = max(len(line) for cell in cells for line in cell.split("\n"))
        rest += {"name": 0, "text": min(needed, _TEXT)}.get(column.kind, needed)
    room = deep * max(_LEAST, width - rest - _GAP * (len(columns) - 1))
    kinds = [column.kind for column in columns]
    return [
        [_shortened(_shown(one), room) if kind == "name" else _shown(one) for kind, one in zip(kinds, row, strict=True)]
        for row in rows
    ]


def _shortened(text: str, room: int) -> str:
    """Return a text that fits: parameters lose their end; of a name both ends stay, which tell it from others."""
    kept = room - 2
    if len(text) <= room:
        return text
    return f"{text[:kept]}.." if " (" in text[:kept] else f"{text[: kept - kept // 2]}..{text[-(kept // 2) :]}"
