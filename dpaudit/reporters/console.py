"""The report for a terminal: plain ASCII, at most 120 columns, violations first to the eye."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.reporters.ledger import counts_text
from dpaudit.reporters.row import NO_VIOLATION, Row
from dpaudit.reporters.summary import Summary, summarise
from dpaudit.reporters.unseen import POWER, delta_text, frontier_text
from dpaudit.reporters.wording import claim_text, count, plain_ascii, rate, significant, value_text

__all__ = ["render"]

_WIDTH = 120
_RED, _YELLOW, _BOLD, _END = "\x1b[1;31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"

_LAST = 19  # the least width of the last column, which is wrapped

_LEARNERS = ("   learner", "claimed", "exact", "black-box", "detect-", "failure rate", "beta", "verdict")
_UNITS = ("", "epsilon", "epsilon", "lower", "able", "[interval]", "", "")
_CONTROLS = ("   positive control", "claimed", "exact", "black-box", "convicted by", "what it leaks")
_UNSEEN = ("   what was not seen", "claimed", "design", "pairs", "events", "delta")
_LEGEND = """\
exact epsilon: the worst case over the inputs enumerated; e = error proved, n = numeric, error estimated.
black-box lower, detectable, failure rate: statistical, at the confidence that the full report gives; -: not computed.
Every number holds for the instances, inputs and events that were tried, and for nothing else."""


def render(run: Mapping[str, Any], color: bool = False) -> str:
    """Return the report of a run as a table in plain ASCII.

    Parameters
    ----------
    run : mapping
        ``{"header": {...}, "results": [...]}``.
    color : bool
        Whether to colour with ANSI escapes; without, a violation is marked by ``!!`` alone.

    Raises
    ------
    InputError
        If the run is of another schema version.
    """
    summary, header = summarise(run), run["header"]
    parts = [plain_ascii(f"dpaudit: profile {header['profile']}, seed {header['seed']}")]
    if summary.learners:
        notes = [_note(row) for row in summary.learners]
        table = _table([_LEARNERS, _UNITS], [_learner(row) for row in summary.learners], notes)
        parts += ["", *_paint(table, 2, summary.learners, color)]
    if summary.controls:
        notes = [_note(row) for row in summary.controls]
        table = _table([_CONTROLS], [_control(row) for row in summary.controls], notes)
        parts += ["", *_paint(table, 1, summary.controls, color)]
    parts += _not_seen(summary.learners)
    parts += ["", _LEGEND]
    if summary.pending:
        parts += [
            "",
            f"Planned, without a result: {len(summary.pending)}",
            *(f"  {plain_ascii(key)}" for key in summary.pending),
        ]
    return "\n".join([*parts, "", *_total(summary, color)]) + "\n"


def _not_seen(rows: Sequence[Row]) -> list[str]:
    """Return, behind an empty line, the least leaks that each black-box audit would have convicted."""
    audited = [(row, row.blackbox, dict(frontier_text(row.blackbox))) for row in rows if row.blackbox is not None]
    masses = sorted({mass for *_, frontier in audited for mass in frontier}, key=float, reverse=True)
    if not audited:
        return []
    units = ("", "epsilon", "", "", "", "from", *("from" for _ in masses))
    heads = [(*_UNSEEN, *(f"eps({mass})" for mass in masses)), units]
    lines = [
        [
            f"   {row.label}",
            claim_text({"epsilon": finding["epsilon"], "delta": finding["delta"]}),
            finding["design"],
            count(finding["pairs"]),
            count(finding["events"]) if finding["design"] == "fixed" else "bets",
            delta_text(finding),
            *(frontier.get(mass, "-") for mass in masses),
        ]
        for row, finding, frontier in audited
    ]
    return ["", *_table(heads, lines, [""] * len(lines)), *_unseen_legend(audited)]


def _unseen_legend(audited: Sequence[tuple[Row, Mapping[str, Any], Any]]) -> list[str]:
    """Say what the numbers of the table mean."""
    lines = [
        f"eps(q) from: the least true epsilon convicted with probability {POWER} on an event of probability q on the",
        "unlikelier side; delta from: the same for an event impossible there; inf: no such leak was within reach.",
    ]
    if any(finding["design"] == "sequential" for _, finding, _ in audited):
        lines.append("Sequential design: as for a fixed design of as many runs; betting needs somewhat more.")
    return lines


def _learner(row: Row) -> list[str]:
    """Return the cells of one learner."""
    black = row.blackbox
    detectable = "-" if black is None else significant(black["detectable_epsilon"], "up")
    failure, beta = "-", "-"
    if row.utility is not None:
        u = row.utility
        failure = (
            f"{rate(u['failure_rate'], beta=u['beta'])} [{rate(u['failure_lower'], 'down', beta=u['beta'])}, "
            f"{rate(u['failure_upper'], 'up', beta=u['beta'])}]"
        )
        beta = value_text(u["beta"])
    verdict = row.verdict.replace("violation:", "VIOLATION:") + (" (!)" if row.conflict else "")
    return [_label(row), claim_text(row.claim), _exact(row), _lower(row), detectable, failure, beta, verdict]


def _control(row: Row) -> list[str]:
    """Return the cells of one positive control."""
    convicted = " + ".join(row.convicted_by) or "NOT CONVICTED"
    return [_label(row), claim_text(row.claim), _exact(row), _lower(row), convicted, str(row.fault)]


def _label(row: Row) -> str:
    """Return the learner's name behind its mark."""
    alarm = row.verdict.startswith("violation") if row.fault is None else not row.convicted_by
    return ("!! " if alarm else "   ") + row.label


def _exact(row: Row) -> str:
    """Return the exact worst case with the initial of its grade."""
    if row.exact is None:
        return "-"
    shown = significant(row.exact["epsilon"], apart_from=row.exact["claimed_epsilon"], error=row.exact["error"])
    return f"{shown} {row.exact['grade'][0]}"


def _note(row: Row) -> str:
    """Return the delta at the claimed epsilon where the claim has one: there it decides, not the exact epsilon."""
    f = row.exact
    if f is None or f["claimed_epsilon"] is None or f["claimed_delta"] == 0:
        return ""
    delta = significant(f["delta_at_claim"], apart_from=f["claimed_delta"], error=f["error"])
    claimed = f"(claimed {value_text(f['claimed_delta'])})"
    return f"{f['grade']} delta at epsilon {value_text(f['claimed_epsilon'])}: {delta} {claimed}"


def _lower(row: Row) -> str:
    """Return the black-box lower bound."""
    if row.blackbox is None:
        return "-"
    return significant(row.blackbox["epsilon_lower"], "down", apart_from=row.blackbox["epsilon"])


def _table(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> list[str]:
    """Return aligned lines no longer than the width: the first column is cut to what is left, the last one wrapped.

    The note of a row, if any, stands below it.
    """
    cells = [[plain_ascii(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [*heads, *cells]) for i in range(len(heads[0]))]
    widths[0] = min(widths[0], _WIDTH - sum(widths[1:-1]) - 2 * (len(widths) - 1) - min(widths[-1], _LAST))
    used = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = []
    for line, note in zip([*heads, *cells], [*[""] * len(heads), *notes], strict=True):
        first, *more = textwrap.wrap(line[-1], _WIDTH - used) or [""]
        left = "  ".join(_cut(cell, width).ljust(width) for cell, width in zip(line[:-1], widths, strict=False))
        below = [" " * used + text for text in more] + ([f"     {note}"] if note else [])
        lines.append("\n".join([f"{left}  {first}".rstrip(), *below]))
    ruler = "-" * min(_WIDTH, used + widths[-1])
    return [*lines[: len(heads)], ruler, *lines[len(heads) :]]


def _cut(text: str, width: int) -> str:
    """Return the text, its end replaced by dots where it is too long."""
    return text if len(text) <= width else text[: width - 2] + ".."


def _paint(lines: Sequence[str], heads: int, rows: Sequence[Row], color: bool) -> list[str]:
    """Colour the head bold, alarms red and undecided rows yellow."""
    if not color:
        return list(lines)
    painted = [f"{_BOLD}{line}{_END}" for line in lines[:heads]] + [lines[heads]]
    for line, row in zip(lines[heads + 1 :], rows, strict=True):
        tone = _RED if line.startswith("!!") else _YELLOW if row.verdict.startswith("undecided") else ""
        painted.append(f"{tone}{line}{_END}" if tone else line)
    return painted


def _total(summary: Summary, color: bool) -> list[str]:
    """Return the line that sums up, behind notes on contradictions, and one on the ledger if the run checked it."""
    notes = [
        f"(!) {plain_ascii(row.label)}: the black-box lower bound exceeds the exact worst case; see the full report."
        for row in summary.learners
        if row.conflict
    ]
    bad = len(summary.violations)
    verdict = f"{bad} VIOLATION{'S' if bad > 1 else ''}" if bad else f"{NO_VIOLATION} at these runs"
    line = (
        f"{_plural(len(summary.learners), 'learner')}: {verdict}, {len(summary.undecided)} undecided; "
        f"controls convicted: {len(summary.convicted)} of {len(summary.controls)}; "
        f"missing results: {len(summary.pending)}"
    )
    alarm = bad or len(summary.convicted) < len(summary.controls)
    ledger = [f"ledger: {counts_text(summary.ledger)}"] if summary.ledger else []
    return [*notes, f"{_RED if alarm else _BOLD}{line}{_END}" if color else line, *ledger]


def _plural(n: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
