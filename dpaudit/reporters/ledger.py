"""The ledger in words: how many claims got which verdict, and the claims as a table in plain ASCII."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.reporters.wording import plain_ascii

__all__ = ["TONES", "VERDICTS", "counts", "counts_text", "render"]

VERDICTS = ("holds", "loose", "refuted", "undecided")
TONES = {"holds": "clear", "loose": "neutral", "refuted": "undecided", "undecided": "neutral"}
"""The word that colours a verdict: a paper's error wants attention, but no learner breaks a promise by it."""

_WIDTH = 120
_HEADS = ("VERDICT", "CLAIM", "EVIDENCE", "STATEMENT, AND WHAT WAS FOUND")
_YELLOW, _BOLD, _END = "\x1b[33m", "\x1b[1m", "\x1b[0m"


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many claims got each verdict."""
    found = Counter(row["verdict"] for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS}


def counts_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the counts as "4 claims checked: 1 holds, 1 loose, 2 refuted, 0 undecided"."""
    n, found = len(rows), counts(rows)
    words = {**{verdict: verdict for verdict in VERDICTS}, "holds": "holds" if found["holds"] == 1 else "hold"}
    told = ", ".join(f"{found[verdict]} {words[verdict]}" for verdict in VERDICTS)
    return f"{n} claim{'' if n == 1 else 's'} checked: {told}"


def render(rows: Sequence[Mapping[str, Any]], color: bool = False) -> str:
    """Return claims as a table of at most 120 columns; it is empty without claims.

    Parameters
    ----------
    rows : sequence of mappings
        As `LedgerRow.to_dict` gives them.
    color : bool
        Whether to colour with ANSI escapes.
    """
    if not rows:
        return ""
    cells = [_HEADS[:3], *((row["verdict"], plain_ascii(row["id"]), row["grade"]) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(3)]
    # Ids are short words; one that is not must leave room for the statement.
    widths[1] = min(widths[1], 40)
    told = [[_HEADS[3]], *(_told(row, _WIDTH - sum(widths) - 6) for row in rows)]
    lines = [_block(line, widths, text) for line, text in zip(cells, told, strict=True)]
    if color:
        lines[0] = f"{_BOLD}{lines[0]}{_END}"
        marked = [f"{_YELLOW}refuted{_END}{line[7:]}" if line.startswith("refuted") else line for line in lines[1:]]
        lines[1:] = marked
    return "\n".join(lines) + "\n"


def _told(row: Mapping[str, Any], width: int) -> list[str]:
    """Return the statement, what was found and the witness, wrapped."""
    parts = [row["statement"], f"-> {row['summary']}"] + ([f"witness: {row['witness']}"] if row["witness"] else [])
    indents = ["", "   ", "   "]
    return [
        line
        for part, indent in zip(parts, indents, strict=False)
        for line in textwrap.wrap(plain_ascii(part), width, subsequent_indent=indent, break_on_hyphens=False)
    ]


def _block(cells: Sequence[str], widths: Sequence[int], told: Sequence[str]) -> str:
    """Return the lines of one claim: its cells beside the first line of the text, the rest of it below."""
    id, *more = textwrap.wrap(cells[1], widths[1]) or [""]
    left = f"{cells[0].ljust(widths[0])}  {id.ljust(widths[1])}  {cells[2].ljust(widths[2])}  "
    rest = max(len(more), len(told) - 1)
    below = [
        f"{' ' * (widths[0] + 2)}{(more[i] if i < len(more) else '').ljust(widths[1])}"
        f"{' ' * (widths[2] + 4)}{told[i + 1] if i + 1 < len(told) else ''}".rstrip()
        for i in range(rest)
    ]
    return "\n".join([(left + told[0]).rstrip(), *below])
