"""The table of a check, and the lines of a history and of a comparison."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence

from dpaudit.contract import Verdict
from dpaudit.escaping import harmless
from dpaudit.project.compare import Change
from dpaudit.project.history import Kept
from dpaudit.project.rows import Row
from dpaudit.report.grid import Column, grid
from dpaudit.report.numbers import plural, significant, value_text

__all__ = ["CHANGES", "accepted_words", "change_cells", "changes_text", "check_text", "history_cells", "history_text"]

WIDTH = 80
_DIGITS = 3
_MARKS = {Verdict.VIOLATION: "!", Verdict.NO_EVIDENCE: "?", Verdict.FAILED: "x", Verdict.ACCEPTED: "~"}
_STYLES = {
    Verdict.VIOLATION: "bold red",
    Verdict.FAILED: "bold red",
    Verdict.NO_EVIDENCE: "bold",
    Verdict.ACCEPTED: "bold",
    Verdict.CONSISTENT: "blue",
}
_LOUD = (Verdict.VIOLATION, Verdict.FAILED)
_COLUMNS = (
    Column("", "word"),
    Column("mechanism", "name"),
    Column("claimed\nepsilon"),
    Column("found\nepsilon>="),
    Column("exact\nepsilon"),
    Column("would\ncatch>="),
    Column("verdict", "word"),
)
CHANGES = (Column("", "word"), Column("mechanism", "name"), Column("change", "text"))


def check_text(rows: Sequence[Row], color: bool = False, width: int = WIDTH) -> str:
    """Return the rows of a check as a table, with a line for each one that needs attention."""
    lines = grid(_COLUMNS, [_cells(row) for row in rows], [_STYLES[row.verdict] for row in rows], width, color)
    return "\n".join([*lines, _sum(rows), *_remarks(rows, width)]) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row; lower bounds are rounded down, what would be caught is rounded up."""
    verdict = _word(row)
    if row.claimed is None:
        return (_MARKS.get(row.verdict, ""), row.name, "-", "-", "-", "-", verdict)
    numbers = ((row.found, "down"), (row.exact, "nearest"), (row.detectable, "up"))
    shown = [_number(value, towards, row.claimed) for value, towards in numbers]
    if row.detectable is not None and (math.isinf(row.detectable) or row.verdict == Verdict.NO_EVIDENCE):
        shown[-1] = "never"
    return (_MARKS.get(row.verdict, ""), row.name, value_text(row.claimed), *shown, verdict)


def _word(row: Row) -> str:
    """Return the verdict, in capitals where it needs attention."""
    return row.verdict.upper() if row.verdict in _LOUD else row.verdict.value


def _number(value: float | None, towards: str, claimed: float) -> str:
    return "-" if value is None else significant(value, towards, digits=_DIGITS, apart_from=claimed)


def _sum(rows: Sequence[Row]) -> str:
    """Return how many claims have which verdict, the gravest first."""
    counts = Counter(row.verdict for row in rows)
    said = [
        plural(counts[verdict], verdict) if verdict == Verdict.VIOLATION else f"{counts[verdict]} {verdict}"
        for verdict in Verdict
        if counts[verdict]
    ]
    return f"{plural(len(rows), 'claim')}: {', '.join(said)}."


def _remarks(rows: Sequence[Row], width: int) -> list[str]:
    """Return what is behind each verdict that needs attention, and which violations the project lives with."""
    remarks = []
    for row in rows:
        if row.verdict in _LOUD or row.verdict == Verdict.NO_EVIDENCE:
            remarks.append(f"{_word(row)} {row.name}: {row.why}")
        if row.accepted is not None:
            remarks.append(_accepted(row))
    if any(row.verdict in (Verdict.VIOLATION, Verdict.NO_EVIDENCE) for row in rows):
        remarks.append("Next: dpaudit check --out report.html shows all of it; dpaudit help check")
    return [line for remark in remarks for line in textwrap.wrap(harmless(remark), width, subsequent_indent="  ")]


def _accepted(row: Row) -> str:
    """Return why a violation is accepted, or that it need not be or is not any more."""
    assert row.accepted is not None
    known, up_to = row.accepted, value_text(row.accepted.epsilon)
    if row.verdict == Verdict.ACCEPTED:
        return f"accepted {row.name} {accepted_words(row)}"
    if row.verdict == Verdict.VIOLATION:
        return f"{row.name} was accepted up to {up_to} ({known.date}), and shows more"
    return f"{row.name} was accepted up to {up_to} ({known.date}), and no violation was found: remove `accepted`"


def accepted_words(row: Row) -> str:
    """Return up to which epsilon a violation is accepted, why and since when."""
    assert row.accepted is not None
    return f"up to {value_text(row.accepted.epsilon)}: {row.accepted.reason} ({row.accepted.date})"


def history_cells(checks: Sequence[Kept]) -> tuple[list[Column], list[list[str]]]:
    """Return the columns and the cells of a history, the latest first: how many claims had each verdict that occurs."""
    counts = [Counter(row.verdict for row in one.rows) for one in reversed(checks)]
    found = [verdict for verdict in Verdict if any(verdict in count for count in counts)]
    rows = [
        [f"{one.at:%Y-%m-%d %H:%M}", str(count.total()), *(str(count[verdict]) for verdict in found)]
        for one, count in zip(reversed(checks), counts, strict=True)
    ]
    return [Column("at (UTC)", "word"), Column("claims"), *(Column(verdict.value) for verdict in found)], rows


def history_text(checks: Sequence[Kept], color: bool = False, width: int = WIDTH) -> str:
    """Return checks as a table, the latest first; those with a violation or a failure are red."""
    loud = [any(row.verdict in _LOUD for row in one.rows) for one in reversed(checks)]
    styles = ["bold red" if one else "" for one in loud]
    return "\n".join(grid(*history_cells(checks), styles, width, color)) + "\n"


def change_cells(change: Change) -> tuple[str, str, str]:
    """Return what a change is, what it is about, and what it is in words."""
    label = "WORSE" if change.worse else "better" if change.worse is False else "other"
    return label, change.name, change.text


def changes_text(changes: Sequence[Change], color: bool = False, width: int = WIDTH) -> str:
    """Return what changed, the worse first."""
    if not changes:
        return "nothing changed\n"
    ordered = sorted(changes, key=lambda change: not change.worse)
    styles = ["bold red" if change.worse else "" for change in ordered]
    return "\n".join(grid(CHANGES, [change_cells(change) for change in ordered], styles, width, color)) + "\n"
