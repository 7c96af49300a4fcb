"""The ledger in words: how many statements got which verdict, and the statements as a table."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from dpaudit.contract import StatementVerdict
from dpaudit.engine.findings import LedgerRow
from dpaudit.harmless import harmless
from dpaudit.reporters.numbers import plural
from dpaudit.reporters.table import BOLD, WIDTH, YELLOW, painted

__all__ = ["counts", "counts_text", "render"]

_HEADS = ("VERDICT", "STATEMENT", "EVIDENCE", "WHAT IT SAYS, AND WHAT WAS FOUND")


def counts(rows: Sequence[LedgerRow]) -> dict[StatementVerdict, int]:
    """Return how many statements got each verdict."""
    found = Counter(row.verdict for row in rows)
    return {verdict: found[verdict] for verdict in StatementVerdict}


def counts_text(rows: Sequence[LedgerRow]) -> str:
    """Return the counts as "4 statements checked: 1 holds, 1 loose, 2 refuted, 0 undecided"."""
    found = {str(verdict): n for verdict, n in counts(rows).items()}
    told = ", ".join(f"{n} {'hold' if verdict == 'holds' and n != 1 else verdict}" for verdict, n in found.items())
    return f"{plural(len(rows), 'statement')} checked: {told}"


def render(rows: Sequence[LedgerRow], color: bool = False) -> str:
    """Return statements as a table of at most 120 columns, with ANSI escapes if `color`; empty without statements."""
    if not rows:
        return ""
    cells = [_HEADS[:3], *((str(row.verdict), harmless(row.id), str(row.grade)) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(3)]
    # Ids are short words; one that is not must leave room for the statement.
    widths[1] = min(widths[1], 40)
    told = [[_HEADS[3]], *(_told(row, WIDTH - sum(widths) - 6) for row in rows)]
    lines = [_block(line, widths, text) for line, text in zip(cells, told, strict=True)]
    if color:
        lines[0] = painted(lines[0], BOLD)
        for i, row in enumerate(rows, start=1):
            if row.verdict == StatementVerdict.REFUTED:
                lines[i] = painted(row.verdict, YELLOW) + lines[i].removeprefix(row.verdict)
    return "\n".join(lines) + "\n"


def _told(row: LedgerRow, width: int) -> list[str]:
    """Return the statement, what was found, the witness and the best constant known, wrapped."""
    parts = [row.statement, f"-> {row.summary}"]
    parts += [f"witness: {row.witness}"] * bool(row.witness) + [f"best known: {row.best}"] * bool(row.best)
    indents = ["", *["   "] * 3]
    return [
        line
        for part, indent in zip(parts, indents, strict=False)
        for line in textwrap.wrap(harmless(part), width, subsequent_indent=indent, break_on_hyphens=False)
    ]


def _block(cells: Sequence[str], widths: Sequence[int], told: Sequence[str]) -> str:
    """Return the lines of one statement: its cells beside the first line of the text, the rest of it below."""
    id, *more = textwrap.wrap(cells[1], widths[1]) or [""]
    left = f"{cells[0].ljust(widths[0])}  {id.ljust(widths[1])}  {cells[2].ljust(widths[2])}  "
    rest = max(len(more), len(told) - 1)
    below = [
        f"{' ' * (widths[0] + 2)}{(more[i] if i < len(more) else '').ljust(widths[1])}"
        f"{' ' * (widths[2] + 4)}{told[i + 1] if i + 1 < len(told) else ''}".rstrip()
        for i in range(rest)
    ]
    return "\n".join([(left + told[0]).rstrip(), *below])
