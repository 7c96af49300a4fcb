"""The table of a check, and the lines of a history and of a comparison."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence

from dpaudit.contract import Verdict
from dpaudit.escaping import printable
from dpaudit.project.comparison import Change
from dpaudit.project.history import ProjectCheck
from dpaudit.project.standings import Standing
from dpaudit.report.columns import PRIVACY, columns_of
from dpaudit.report.numbers import plural, value_text
from dpaudit.report.terminal import Head, in_ascii, style_of, table

WIDTH = 80
_LOUD = (Verdict.VIOLATION, Verdict.FAILED)
CHANGES = (Head("", "word"), Head("mechanism", "name"), Head("change", "text"))


def check_text(found: Sequence[Standing], color: bool = False, width: int = WIDTH) -> str:
    """Return what a check found as a table, with a line for each mechanism that needs attention."""
    # Without evidence no epsilon would have been detected.
    unseen = {"detectable_epsilon": math.inf}
    numbers = [one.numbers | (unseen if one.verdict == Verdict.NO_EVIDENCE else {}) for one in found]
    columns = columns_of(numbers, PRIVACY)
    heads = [Head("", "word"), Head("mechanism", "name"), *(Head(c.head) for c in columns), Head("verdict", "word")]
    cells = [
        [
            one.verdict.mark,
            one.name,
            *(column.text(own) if one.numbers else "-" for column in columns),
            _word(one),
        ]
        for one, own in zip(found, numbers, strict=True)
    ]
    lines = table(heads, cells, [style_of(one.verdict, "blue") for one in found], width, color)
    counts = Counter(one.verdict for one in found)
    sums = ", ".join(verdict.counted(counts[verdict]) for verdict in Verdict if counts[verdict])
    return "\n".join([*lines, f"{plural(len(found), 'claim')}: {sums}.", *_remarks(found, width)]) + "\n"


def _word(one: Standing) -> str:
    """Return the verdict, in capitals where it needs attention."""
    return one.verdict.upper() if one.verdict in _LOUD else one.verdict.value


def _remarks(found: Sequence[Standing], width: int) -> list[str]:
    """Return what is behind each verdict that needs attention, and which violations are accepted."""
    remarks = []
    for one in found:
        if one.verdict.status:
            remarks.append(f"{_word(one)} {one.name}: {one.why}")
        if one.verdict == Verdict.ACCEPTED:
            remarks.append(f"accepted {one.name} {accepted_words(one)}")
        elif one.accepted is not None:
            up_to = f"up to {value_text(one.accepted.epsilon)} ({one.accepted.date})"
            more = one.verdict == Verdict.VIOLATION
            now = "and shows more" if more else "and no violation was found: remove `accepted`"
            remarks.append(f"{one.name} was accepted {up_to}, {now}")
    if any(one.verdict in (Verdict.VIOLATION, Verdict.NO_EVIDENCE) for one in found):
        remarks.append("Next: dpaudit check --out report.html shows all of it; dpaudit help check")
    return [
        line for remark in remarks for line in textwrap.wrap(printable(in_ascii(remark)), width, subsequent_indent="  ")
    ]


def accepted_words(one: Standing) -> str:
    """Return up to which epsilon a violation is accepted, why and since when."""
    assert one.accepted is not None
    return f"up to {value_text(one.accepted.epsilon)}: {one.accepted.reason} ({one.accepted.date})"


def history_cells(checks: Sequence[ProjectCheck]) -> tuple[list[Head], list[list[str]]]:
    """Return the columns and the cells of a history, the latest first: how many claims had each verdict that occurs."""
    counts = [Counter(row.verdict for row in one.rows) for one in reversed(checks)]
    found = [verdict for verdict in Verdict if any(verdict in count for count in counts)]
    rows = [
        [f"{one.at:%Y-%m-%d %H:%M}", str(count.total()), *(str(count[verdict]) for verdict in found)]
        for one, count in zip(reversed(checks), counts, strict=True)
    ]
    return [Head("at (UTC)", "word"), Head("claims"), *(Head(verdict.value) for verdict in found)], rows


def history_text(checks: Sequence[ProjectCheck], color: bool = False, width: int = WIDTH) -> str:
    """Return checks as a table, the latest first; those with a violation or a failure are red."""
    loud = [any(row.verdict in _LOUD for row in one.rows) for one in reversed(checks)]
    styles = ["bold red" if one else "" for one in loud]
    return "\n".join(table(*history_cells(checks), styles, width, color)) + "\n"


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
    return "\n".join(table(CHANGES, [change_cells(change) for change in ordered], styles, width, color)) + "\n"
