"""Aligned tables for a terminal, with colours."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dpaudit.harmless import harmless

__all__ = ["BOLD", "MAGENTA", "RED", "WIDTH", "YELLOW", "paint", "painted", "table"]

WIDTH = 120
RED, MAGENTA, YELLOW, BOLD = "\x1b[1;31m", "\x1b[35m", "\x1b[33m", "\x1b[1m"

_END = "\x1b[0m"
_LAST = 19  # the least width of the last column, which is wrapped


def table(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> list[str]:
    """Return aligned lines no longer than `WIDTH`, a ruler below the heads.

    The first column is cut to what is left, the last one wrapped. The note of a row, if any, stands below it.
    """
    cells = [[harmless(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [*heads, *cells]) for i in range(len(heads[0]))]
    widths[0] = min(widths[0], WIDTH - sum(widths[1:-1]) - 2 * (len(widths) - 1) - min(widths[-1], _LAST))
    used = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = []
    for line, note in zip([*heads, *cells], [*[""] * len(heads), *notes], strict=True):
        first, *more = textwrap.wrap(line[-1], WIDTH - used) or [""]
        left = "  ".join(_cut(cell, width).ljust(width) for cell, width in zip(line[:-1], widths, strict=False))
        below = [" " * used + text for text in more] + ([f"     {note}"] if note else [])
        lines.append("\n".join([f"{left}  {first}".rstrip(), *below]))
    ruler = "-" * min(WIDTH, used + widths[-1])
    return [*lines[: len(heads)], ruler, *lines[len(heads) :]]


def _cut(text: str, width: int) -> str:
    """Return the text, its end replaced by dots where it is too long."""
    return text if len(text) <= width else text[: width - 2] + ".."


def paint(lines: Sequence[str], heads: int, tones: Sequence[str]) -> list[str]:
    """Return the lines of a table with bold heads and rows in their tones; an empty one is none."""
    tops, ruler, rows = lines[:heads], lines[heads], lines[heads + 1 :]
    return [*(painted(line, BOLD) for line in tops), ruler, *map(painted, rows, tones)]


def painted(text: str, tone: str) -> str:
    """Return text in a tone."""
    return f"{tone}{text}{_END}" if tone else text
