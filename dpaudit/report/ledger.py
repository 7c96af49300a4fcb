"""The ledger in words: how many statements got which verdict, and the statements as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpaudit.contract import OF_STATEMENTS, Verdict
from dpaudit.engine.records import LedgerRow
from dpaudit.report.grid import Column, grid
from dpaudit.report.numbers import plural
from dpaudit.report.table import WIDTH

__all__ = ["counts", "counts_text", "render"]

_COLUMNS = (
    Column("verdict", "word"),
    Column("statement", "name"),
    Column("evidence", "word"),
    Column("what it says, and what was found", "text"),
)


def counts(rows: Sequence[LedgerRow]) -> dict[Verdict, int]:
    """Return how many statements got each verdict."""
    found = Counter(row.verdict for row in rows)
    return {verdict: found[verdict] for verdict in OF_STATEMENTS}


def counts_text(rows: Sequence[LedgerRow]) -> str:
    """Return the counts as "4 statements checked: 1 holds, 1 loose, 2 refuted, 0 undecided"."""
    found = {str(verdict): n for verdict, n in counts(rows).items()}
    told = ", ".join(f"{n} {'hold' if verdict == 'holds' and n != 1 else verdict}" for verdict, n in found.items())
    return f"{plural(len(rows), 'statement')} checked: {told}"


def render(rows: Sequence[LedgerRow], color: bool = False, width: int = WIDTH) -> str:
    """Return statements as a table, with ANSI escapes if `color`; empty without statements."""
    if not rows:
        return ""
    cells = [(str(row.verdict), row.id, str(row.grade), _told(row)) for row in rows]
    styles = ["yellow" if row.verdict == Verdict.REFUTED else "" for row in rows]
    return "\n".join(grid(_COLUMNS, cells, styles, width, color)) + "\n"


def _told(row: LedgerRow) -> tuple[str, ...]:
    """Return the statement, and on lines of their own what was found, the witness and the best constant known."""
    parts = [row.statement, f"-> {row.summary}"]
    parts += [f"witness: {row.witness}"] * bool(row.witness) + [f"best known: {row.best}"] * bool(row.best)
    return tuple(" ".join(part.split()) for part in parts)
