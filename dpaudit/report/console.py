"""The report for a terminal: at most 120 columns, violations first to the eye."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.evidence import POWER, delta_text, frontier_text, gap_words, learning_share
from dpaudit.report.grid import Column, grid
from dpaudit.report.ledger import counts_text
from dpaudit.report.numbers import count, plural, rate, significant, value_text
from dpaudit.report.summary import Summary, learners_text, summarise
from dpaudit.report.table import BOLD, RED, WIDTH, painted
from dpaudit.report.view import Row
from dpaudit.report.wording import claim_text, short_verdict, verdict_words

__all__ = ["render"]

_LEARNERS = (
    Column("", "word"),
    Column("learner", "name"),
    Column("claimed\nepsilon"),
    Column("exact\nepsilon"),
    Column("black-box\nlower"),
    Column("detect-\nable"),
    Column("failure rate\n[interval]", "word"),
    Column("beta"),
    Column("verdict", "text"),
)
_CONTROLS = (
    Column("", "word"),
    Column("positive control", "name"),
    Column("claimed"),
    Column("exact"),
    Column("black-box"),
    Column("detected by", "text"),
    Column("what it leaks", "text"),
)
_POWERS = (
    Column("black-box power", "name"),
    Column("claimed\nepsilon"),
    Column("design", "word"),
    Column("pairs"),
    Column("events"),
    Column("delta\nfrom"),
)
_LEGEND = """\
exact epsilon: the worst case over the inputs enumerated; e = error proved, n = numeric, error estimated.
black-box lower, detectable, failure rate: statistical, at the confidence that the full report gives; -: not computed.
failure rate: of the worst case; r = realizable, a = agnostic, e = empirical, s = solution, as the full report says.
Every number holds for the instances, inputs and events that were tried, and for nothing else."""
_NO_EVIDENCE = (
    "no evidence: the black-box audit could not have seen that the claim fails, so that its silence says nothing:"
)


def render(run: Run, color: bool = False) -> str:
    """Return the report of a run as tables of plain text.

    Parameters
    ----------
    run : Run
        The stored run.
    color : bool
        Whether to colour with ANSI escapes; without, a violation is marked by ``!!`` alone.
    """
    summary, header = summarise(run), run.header
    parts = [harmless(f"dpaudit: profile {header.profile}, seed {header.seed}")]
    for rows, columns, cells in ((summary.learners, _LEARNERS, _learner), (summary.controls, _CONTROLS, _control)):
        if rows:
            styles = [_style(row) for row in rows]
            parts += ["", *grid(columns, [cells(row) for row in rows], styles, WIDTH, color), *_notes(rows)]
    parts += [*_power(summary.learners, color), "", _LEGEND]
    if unseen := [row for row in summary.learners if row.blackbox and row.blackbox.verdict == Verdict.NO_EVIDENCE]:
        parts += [_NO_EVIDENCE, *_gaps(unseen)]
    if summary.pending:
        parts += ["", f"Planned, without a result: {len(summary.pending)}", *_without_result(summary)]
    if summary.faults:
        parts += ["", f"Not planned: {len(summary.faults)}"]
        parts += [f"  {harmless(f'{fault.learner}: {fault.error}')}" for fault in summary.faults]
    return "\n".join([*parts, "", *_total(summary, color), f"seal: {run.seal}"]) + "\n"


def _without_result(summary: Summary) -> list[str]:
    """Return a line for each task without a result, with what it raised if it failed."""
    told = (key + (f": {summary.errors[key]}" if key in summary.errors else "") for key in summary.pending)
    return [
        line
        for text in told
        for line in textwrap.wrap(harmless(text), WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


def _gaps(rows: Sequence[Row]) -> list[str]:
    """Return a line or more for each row: why its black-box audit could not have seen a leak."""
    told = [
        f"{row.label}: {'; '.join(map(gap_words, row.blackbox.gaps)) or 'no power'}" for row in rows if row.blackbox
    ]
    return [
        line
        for text in told
        for line in textwrap.wrap(harmless(text), WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


class _Audited(NamedTuple):
    """A row with its black-box audit and the frontier of that, by the probability of the event."""

    row: Row
    finding: PrivacyFinding
    frontier: dict[str, str]


def _power(rows: Sequence[Row], color: bool) -> list[str]:
    """Return, behind an empty line, the least leaks that each black-box audit would have detected."""
    audited = [_Audited(row, row.blackbox, dict(frontier_text(row.blackbox))) for row in rows if row.blackbox]
    if not audited:
        return []
    masses = sorted({mass for one in audited for mass in one.frontier}, key=float, reverse=True)
    columns = (*_POWERS, *(Column(f"eps({mass})\nfrom") for mass in masses))
    lines = [
        [
            row.label,
            claim_text(finding),
            finding.design,
            count(finding.pairs),
            count(finding.events) if finding.design == "fixed" else "bets",
            delta_text(finding),
            *(frontier.get(mass, "-") for mass in masses),
        ]
        for row, finding, frontier in audited
    ]
    legend = [
        f"eps(q) from: the least true epsilon detected with probability {POWER} on an event of probability q on",
        "the unlikelier side; delta from: the same for an event impossible there; inf: no such leak was within reach.",
        f"They are those that {learning_share('fixed')} of the runs detect on an event that is given (of bets "
        f"{learning_share('sequential')}): the others pay for learning it.",
    ]
    if any(one.finding.design == "sequential" for one in audited):
        legend.append("Sequential design: by bets on one event in the runs of the pair that leads from the start.")
    return ["", *grid(columns, lines, [""] * len(lines), WIDTH, color), *legend]


def _learner(row: Row) -> list[str]:
    """Return the cells of one learner."""
    detectable, failure, beta = "-", "-", "-"
    if row.blackbox is not None:
        detectable = significant(row.blackbox.detectable_epsilon, "up", infinity="never")
    if (u := row.utility) is not None:
        ends = f"[{rate(u.failure_lower, 'down', beta=u.beta)}, {rate(u.failure_upper, 'up', beta=u.beta)}]"
        failure, beta = f"{rate(u.failure_rate, beta=u.beta)} {ends} {u.setting[0]}", value_text(u.beta)
    verdict = verdict_words(row.verdict, row.to_blame)
    if row.verdict == Verdict.VIOLATION:
        verdict = verdict.replace("violation", "VIOLATION", 1)
    verdict += " (!)" if row.conflict else ""
    return [_mark(row), row.label, _claim(row), _exact(row), _lower(row), detectable, failure, beta, verdict]


def _control(row: Row) -> list[str]:
    """Return the cells of one positive control."""
    missed = "NOT DETECTED" if row.complete else short_verdict(row.verdict)
    convicted = " + ".join(row.convicted_by) or missed
    return [_mark(row), row.label, _claim(row), _exact(row), _lower(row), convicted, str(row.fault)]


def _claim(row: Row) -> str:
    """Return the claim; of a learner without any result it is not known."""
    return claim_text(row.claim) if row.results else "-"


def _alarming(row: Row) -> bool:
    """Say whether a learner breaks a promise, or a control was missed."""
    return row.verdict == Verdict.VIOLATION if row.fault is None else row.complete and not row.convicted_by


def _mark(row: Row) -> str:
    return "!!" if _alarming(row) else ""


def _style(row: Row) -> str:
    """Return the style of a row: alarms are red, what no audit could see magenta, what else is open yellow."""
    if _alarming(row):
        return "bold red"
    if row.verdict == Verdict.NO_EVIDENCE:
        return "magenta"
    return "yellow" if row.verdict.status or row.verdict == Verdict.NOT_CHECKED else ""


def _exact(row: Row) -> str:
    """Return the exact worst case with the initial of its grade."""
    if row.exact is None:
        return "-"
    shown = significant(row.exact.epsilon, apart_from=row.exact.claimed_epsilon, error=row.exact.error)
    return f"{shown} {row.exact.grade[0]}"


def _notes(rows: Sequence[Row]) -> list[str]:
    """Return a line for each row with a claimed delta: there it decides, not the exact epsilon."""
    return [f"  {harmless(row.label)}: {note}" for row in rows if (note := _note(row))]


def _note(row: Row) -> str:
    f = row.exact
    if f is None or f.claimed_epsilon is None or f.claimed_delta == 0:
        return ""
    delta = significant(f.delta_at_claim, apart_from=f.claimed_delta, error=f.error)
    claimed = f"(claimed {value_text(f.claimed_delta)})"
    return f"{f.grade} delta at epsilon {value_text(f.claimed_epsilon)}: {delta} {claimed}"


def _lower(row: Row) -> str:
    """Return the black-box lower bound."""
    if row.blackbox is None:
        return "-"
    return significant(row.blackbox.epsilon_lower, "down", apart_from=row.blackbox.epsilon)


def _total(summary: Summary, color: bool) -> list[str]:
    """Return the line that sums up, behind notes on contradictions, and one on the ledger if the run checked it."""
    notes = [
        f"(!) {harmless(row.label)}: the black-box lower bound exceeds the exact worst case; see the full report."
        for row in summary.learners
        if row.conflict
    ]
    line = (
        f"{learners_text(summary.learners)}: {_verdicts(summary)}\n"
        f"controls detected: {len(summary.convicted)} of {len(summary.controls)}; "
        f"missing results: {len(summary.pending)}"
        + (f" ({len(summary.errors)} failed)" if summary.errors else "")
        + (f"; not planned: {plural(len(summary.faults), 'learner')}" if summary.faults else "")
    )
    if color:
        alarm = summary.violations or summary.faults or summary.errors or summary.missed
        line = painted(line, RED if alarm else BOLD)
    return [*notes, line, *([f"ledger: {counts_text(summary.ledger)}"] if summary.ledger else [])]


def _verdicts(summary: Summary) -> str:
    """Return how many rows have each verdict, the gravest first; every row is counted once."""
    found = Counter(row.verdict for row in summary.learners)
    bad = found.pop(Verdict.VIOLATION, 0)
    parts = [f"{bad} VIOLATION{'S' if bad > 1 else ''}"] if bad else []
    parts += [f"{found.pop(verdict)} {verdict}" for verdict in Verdict if verdict.status and verdict in found]
    silent = found.pop(Verdict.CONSISTENT, 0)
    parts += [f"{silent} {Verdict.CONSISTENT} at these runs"] if silent else []
    parts += [f"{n} with {short_verdict(verdict)}" for verdict, n in found.items()]
    return ", ".join(parts) or "nothing audited"
