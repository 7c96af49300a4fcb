"""The table of a check, and the lines of a history and of a comparison."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence

from dpaudit.harmless import harmless
from dpaudit.project.compare import Change
from dpaudit.project.history import Kept
from dpaudit.project.rows import Row, Verdict
from dpaudit.reporters.aligned import BLUE
from dpaudit.reporters.numbers import plural, significant, value_text
from dpaudit.reporters.table import BOLD, RED, painted

__all__ = ["changes_text", "check_text", "history_text"]

WIDTH = 80
_DIGITS = 3
_MARKS = {Verdict.VIOLATION: "!", Verdict.NO_EVIDENCE: "?", Verdict.FAILED: "x", Verdict.ACCEPTED: "~"}
_TONES = {
    Verdict.VIOLATION: RED,
    Verdict.FAILED: RED,
    Verdict.NO_EVIDENCE: BOLD,
    Verdict.ACCEPTED: BOLD,
    Verdict.CONSISTENT: BLUE,
}
_LOUD = (Verdict.VIOLATION, Verdict.FAILED)
_HEADS = (
    ("  ", "mechanism", "claimed", "found", "exact", "would", "verdict"),
    ("", "", "epsilon", "epsilon>=", "epsilon", "catch>=", ""),
)


def check_text(rows: Sequence[Row], color: bool = False) -> str:
    """Return the rows of a check as a table, with a line for each one that needs attention."""
    cells = [[harmless(cell) for cell in _cells(row)] for row in rows]
    widths = [max(len(line[i]) for line in (*_HEADS, *cells)) for i in range(len(_HEADS[0]))]
    widths[1] = min(widths[1], WIDTH - sum(widths) - 2 * len(widths) + widths[1])
    lines = [_laid(line, widths) for line in _HEADS]
    ruler = "-" * (sum(widths) + 2 * (len(widths) - 1))
    body = [
        painted(_laid(line, widths), _TONES[row.verdict] if color else "")
        for line, row in zip(cells, rows, strict=True)
    ]
    return "\n".join([*lines, ruler, *body, ruler, _sum(rows), *_remarks(rows)]) + "\n"


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


def _laid(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line: the mark, the name and the verdict to the left, numbers to the right."""
    mark, name, *numbers, verdict = cells
    name = name if len(name) <= widths[1] else f"{name[: widths[1] - 2]}.."
    aligned = [number.rjust(width) for number, width in zip(numbers, widths[2:-1], strict=True)]
    return "  ".join([mark.rjust(widths[0]), name.ljust(widths[1]), *aligned, verdict]).rstrip()


def _sum(rows: Sequence[Row]) -> str:
    """Return how many claims have which verdict, the gravest first."""
    counts = Counter(row.verdict for row in rows)
    said = [
        plural(counts[verdict], verdict) if verdict == Verdict.VIOLATION else f"{counts[verdict]} {verdict}"
        for verdict in Verdict
        if counts[verdict]
    ]
    return f"{plural(len(rows), 'claim')}: {', '.join(said)}."


def _remarks(rows: Sequence[Row]) -> list[str]:
    """Return what is behind each verdict that needs attention, and which violations the project lives with."""
    remarks = []
    for row in rows:
        if row.verdict in _LOUD or row.verdict == Verdict.NO_EVIDENCE:
            remarks.append(f"{_word(row)} {row.name}: {row.why}")
        if row.accepted is not None:
            remarks.append(_accepted(row))
    if any(row.verdict in (Verdict.VIOLATION, Verdict.NO_EVIDENCE) for row in rows):
        remarks.append("Next: dpaudit check --out report.html shows all of it; dpaudit help check")
    return [line for remark in remarks for line in textwrap.wrap(harmless(remark), WIDTH, subsequent_indent="  ")]


def _accepted(row: Row) -> str:
    """Return why a violation is accepted, or that it need not be or is not any more."""
    assert row.accepted is not None
    known, up_to = row.accepted, value_text(row.accepted.epsilon)
    if row.verdict == Verdict.ACCEPTED:
        return f"accepted {row.name} up to {up_to}: {known.reason} ({known.date})"
    if row.verdict == Verdict.VIOLATION:
        return f"{row.name} was accepted up to {up_to} ({known.date}), and shows more"
    return f"{row.name} was accepted up to {up_to} ({known.date}), and no violation was found: remove `accepted`"


def history_text(checks: Sequence[Kept]) -> str:
    """Return a line for each check, the latest first: when, and how many claims have which verdict."""
    return "".join(f"{one.at:%Y-%m-%d %H:%M}  {_sum(one.rows)}\n" for one in reversed(checks))


def changes_text(changes: Sequence[Change], color: bool = False) -> str:
    """Return what changed, the worse first."""
    if not changes:
        return "nothing changed\n"
    lines = []
    for change in sorted(changes, key=lambda change: not change.worse):
        label = "WORSE" if change.worse else "better" if change.worse is False else "other"
        tone = RED if change.worse and color else ""
        text = textwrap.wrap(harmless(f"{change.name}: {change.text}"), WIDTH - 8) or [""]
        lines.append(painted(label.ljust(6), tone) + "  " + ("\n" + " " * 8).join(text))
    return "\n".join(lines) + "\n"
