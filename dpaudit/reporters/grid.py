"""Tables of short cells for a terminal: a word and numbers, by rich."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.harmless import harmless

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["grid"]


def grid(
    heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str], width: int, color: bool
) -> list[str]:
    """Return the lines of a table with a rule below its heads and one at its end.

    Parameters
    ----------
    heads : sequence of str
        A head for each column, which may have several lines.
    rows : sequence of sequences of str
        The cells; those of the first two columns stand at the left, all others at the right.
    styles : sequence of str
        The style of each row, in rich's words, as "bold red"; "" is none.
    width : int
        The most columns of a line; what does not fit is cut in the second column.
    color : bool
        Whether to colour with ANSI escapes.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for i, head in enumerate(heads):
        table.add_column(
            head,
            justify="left" if i < 2 else "right",
            vertical="bottom",
            no_wrap=i < 2,
            overflow="crop" if i < 2 else "fold",
            min_width=None if i == 1 else max(map(len, head.split("\n"))),
        )
    _fill(table, _cut(heads, rows, width), styles)
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
    told = [line.rstrip() for line in captured.get().splitlines()]
    top = max(head.count("\n") for head in heads) + 1
    return [*told[:top], rule, *told[top:], rule]


def _cut(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return the rows with the cells of the second column cut to what the others leave of a line."""
    columns = zip(*([head.split("\n") for head in heads], *([[cell] for cell in row] for row in rows)), strict=True)
    widths = [max(len(line) for lines in column for line in lines) for column in columns]
    room = max(12, width - sum(widths[:1] + widths[2:]) - 2 * (len(widths) - 1))
    return [[_shortened(one, room) if i == 1 else one for i, one in enumerate(row)] for row in rows]


def _shortened(text: str, room: int) -> str:
    """Return a text that fits: parameters lose their end; of a name both ends stay, which tell it from others."""
    kept = room - 2
    if len(text) <= room:
        return text
    return f"{text[:kept]}.." if " (" in text[:kept] else f"{text[: kept - kept // 2]}..{text[-(kept // 2) :]}"


def _fill(table: Table, rows: Sequence[Sequence[str]], styles: Sequence[str]) -> None:
    from rich.text import Text

    for row, style in zip(rows, styles, strict=True):
        table.add_row(*(Text(harmless(cell)) for cell in row), style=style or None)
