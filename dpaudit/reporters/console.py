"""The report for a terminal: plain ASCII, at most 120 columns, violations first to the eye."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.reporters.ledger import counts_text
from dpaudit.reporters.row import NO_VIOLATION, Row, powerless
from dpaudit.reporters.summary import Summary, learners_text, summarise
from dpaudit.reporters.unseen import POWER, delta_text, frontier_text
from dpaudit.reporters.wording import claim_text, count, plain_ascii, rate, significant, value_text

__all__ = ["render"]

_WIDTH = 120
_RED, _YELLOW, _BOLD, _END = "\x1b[1;31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"

_UNSETTLED = ("failed", "incomplete", "undecided", "privacy not")

_LAST = 19  # the least width of the last column, which is wrapped

_LEARNERS = ("   learner", "claimed", "exact", "black-box", "detect-", "failure rate", "beta", "verdict")
_UNITS = ("", "epsilon", "epsilon", "lower", "able", "[interval]", "", "")
_CONTROLS = ("   positive control", "claimed", "exact", "black-box", "convicted by", "what it leaks")
_UNSEEN = ("   what was not seen", "claimed", "design", "pairs", "events", "delta")
_LEGEND = """\
exact epsilon: the worst case over the inputs enumerated; e = error proved, n = numeric, error estimated.
black-box lower, detectable, failure rate: statistical, at the confidence that the full report gives; -: not computed.
failure rate: of the worst case; r = realizable, a = agnostic, e = empirical, s = solution, as the full report says.
Every number holds for the instances, inputs and events that were tried, and for nothing else."""


_NO_POWER = """\
no power: on the event that was tested no leak, however large, would have been convicted: silence there says nothing."""


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
    if summary.powerless:
        parts.append(_NO_POWER)
    if summary.pending:
        parts += ["", f"Planned, without a result: {len(summary.pending)}", *_without_result(summary)]
    if summary.faults:
        parts += ["", f"Not planned: {len(summary.faults)}", *(f"  {plain_ascii(text)}" for text in summary.faults)]
    return "\n".join([*parts, "", *_total(summary, color)]) + "\n"


def _without_result(summary: Summary) -> list[str]:
    """Return a line for each task without a result, with what it raised if it failed."""
    told = (key + (f": {summary.errors[key]}" if key in summary.errors else "") for key in summary.pending)
    return [
        line
        for text in told
        for line in textwrap.wrap(plain_ascii(text), _WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


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
        f"eps(q) from: the least true epsilon convicted with probability {POWER} on an event of probability q on",
        "the unlikelier side; delta from: the same for an event impossible there; inf: no such leak was within reach.",
        "Learning the event is reckoned to cost half of the runs.",
    ]
    if any(finding["design"] == "sequential" for _, finding, _ in audited):
        lines.append("Sequential design: by bets on one event in the runs of the pair that leads from the start.")
    return lines


def _learner(row: Row) -> list[str]:
    """Return the cells of one learner."""
    black = row.blackbox
    detectable = "-" if black is None else significant(black["detectable_epsilon"], "up")
    if black is not None and powerless(black):
        detectable = "no power"
    failure, beta = "-", "-"
    if row.utility is not None:
        u = row.utility
        failure = (
            f"{rate(u['failure_rate'], beta=u['beta'])} [{rate(u['failure_lower'], 'down', beta=u['beta'])}, "
            f"{rate(u['failure_upper'], 'up', beta=u['beta'])}] {u['setting'][0]}"
        )
        beta = value_text(u["beta"])
    verdict = row.verdict.replace("violation:", "VIOLATION:") + (" (!)" if row.conflict else "")
    return [_label(row), _claim(row), _exact(row), _lower(row), detectable, failure, beta, verdict]


def _control(row: Row) -> list[str]:
    """Return the cells of one positive control."""
    missed = "NOT CONVICTED" if row.complete else row.verdict.partition(":")[0]
    convicted = " + ".join(row.convicted_by) or missed
    return [_label(row), _claim(row), _exact(row), _lower(row), convicted, str(row.fault)]


def _claim(row: Row) -> str:
    """Return the claim; of a learner without any result it is not known."""
    return claim_text(row.claim) if row.results else "-"


def _label(row: Row) -> str:
    """Return the learner's name behind its mark."""
    alarm = row.verdict.startswith("violation") if row.fault is None else row.complete and not row.convicted_by
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
        tone = _RED if line.startswith("!!") else _YELLOW if row.verdict.startswith(_UNSETTLED) else ""
        painted.append(f"{tone}{line}{_END}" if tone else line)
    return painted


def _total(summary: Summary, color: bool) -> list[str]:
    """Return the line that sums up, behind notes on contradictions, and one on the ledger if the run checked it."""
    notes = [
        f"(!) {plain_ascii(row.label)}: the black-box lower bound exceeds the exact worst case; see the full report."
        for row in summary.learners
        if row.conflict
    ]
    line = (
        f"{learners_text(summary.learners)}: {_verdicts(summary)}\n"
        f"controls convicted: {len(summary.convicted)} of {len(summary.controls)}; "
        f"missing results: {len(summary.pending)}"
        + (f" ({len(summary.errors)} failed)" if summary.errors else "")
        + (f"; not planned: {_plural(len(summary.faults), 'learner')}" if summary.faults else "")
    )
    alarm = summary.violations or summary.faults or summary.errors or summary.missed
    ledger = [f"ledger: {counts_text(summary.ledger)}"] if summary.ledger else []
    return [*notes, f"{_RED if alarm else _BOLD}{line}{_END}" if color else line, *ledger]


def _verdicts(summary: Summary) -> str:
    """Return how many rows have each verdict, the gravest first; every row is counted once."""
    found = Counter(row.verdict.partition(":")[0] for row in summary.learners)
    bad = found.pop("violation", 0)
    parts = [f"{bad} VIOLATION{'S' if bad > 1 else ''}"] if bad else []
    parts += [f"{found.pop(word)} {word}" for word in ("failed", "incomplete", "undecided") if word in found]
    silent = found.pop(NO_VIOLATION, 0)
    parts += [f"{silent} with {NO_VIOLATION} at these runs"] if silent else []
    return ", ".join([*parts, *(f"{n} with {word}" for word, n in found.items())]) or "nothing audited"


def _plural(n: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
