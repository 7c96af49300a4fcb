"""The report of a run for a terminal: the answer, a table of what matters most, reasons; in full on request."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dpaudit.contract import PrivacyVerdict
from dpaudit.escaping import printable
from dpaudit.evidence.outcome import outcome
from dpaudit.evidence.records import Run
from dpaudit.report.about import started_words
from dpaudit.report.columns import PRIVACY, Column, cells_of, columns_of, heads_of, numbers_of
from dpaudit.report.glossary import CATCHES, OFTEN, STATUSES
from dpaudit.report.numbers import count, plural
from dpaudit.report.sentences import CAVEAT, headline, tallies
from dpaudit.report.summary import Summary, summarise
from dpaudit.report.terminal import MARKS, WIDTH, WORSE, Head, Lines, ShellCommand, laid_out, painted, style_of, table
from dpaudit.report.view import Row
from dpaudit.report.words.claims import verdict_words
from dpaudit.report.words.finding import because
from dpaudit.report.words.privacy import ASSUMED, claim_text, delta_text, frontier_text, gaps_words

# Rows of the table on the first screen: those of the gravest verdicts.
_MOST_ROWS = 14
# The most lines of their table beside one for each of them; with more, long names are cut.
_SPARE = 8
# Reasons of a kind that are given there; the full report has all.
_MOST_NAMED = 3
_LEGEND = """\
exact epsilon: the worst case over the inputs enumerated; e = error proved, n = numeric, error estimated.
found, would catch, fails: statistical, at the confidence that the page gives; -: not computed.
fails: of the worst case at the theorem's sample size; r = realizable, a = agnostic, e = empirical, s = solution."""
_POWER_LEGEND = (
    f"eps(q) from: the least true epsilon detected {OFTEN}, on an event of probability q on the unlikelier side; "
    f"delta from: the same for an event impossible there; inf: no such leak was within reach; {ASSUMED}."
)
_POWER_HEADS = (
    Head("black-box power", "name"),
    Head("claimed\nepsilon"),
    Head("design", "word"),
    Head("pairs"),
    Head("events"),
    Head("delta\nfrom"),
)


def render(run: Run, color: bool = False, width: int = 80) -> str:
    """Return the short report of a run, for a terminal of so many columns; marks say the same as colours."""

    def gravity(row: Row) -> tuple[int, float]:
        return row.verdict.rank, -row.nearness

    summary = summarise(run)
    # A further instance repeats a mechanism: it is shown only if its utility asks for a look.
    rows = sorted((row for row in summary.learners if not row.further or row.verdict.needs_look), key=gravity)
    shown = rows[:_MOST_ROWS]
    lines = _learners(shown, width, color)
    # The answer, the table and the reasons are to fit on one screen.
    if len(lines) > _MOST_ROWS + _SPARE:
        lines = _learners(shown, width, color, deep=1)
    if left := len(rows) - len(shown):
        lines.insert(len(lines) - 1, f"   and {plural(left, 'mechanism')} more, none graver; -v shows all")
    return _framed(run, summary, [*lines, *_legend(shown)], _MOST_NAMED, color, width)


def full(run: Run, color: bool = False) -> str:
    """Return the full report of a run, 120 columns wide; marks say the same as colours."""
    summary = summarise(run)
    lines = _learners(summary.learners, WIDTH, color, full=True)
    lines += [
        *_legend(summary.learners),
        *_controls(summary.controls, color),
        *_powers(summary.learners, color),
        "",
        *_LEGEND.splitlines(),
    ]
    learners = len({row.learner for row in summary.learners})
    instances = len(summary.learners)
    several = ""
    if learners != instances:
        several = f" in {instances} instances"
    head = f"{plural(learners, 'learner')}{several}; profile {run.header.profile}, seed {run.header.seed}"
    return _framed(run, summary, [printable(head), *lines], None, color, WIDTH)


def _framed(run: Run, summary: Summary, lines: Sequence[str], named: int | None, color: bool, width: int) -> str:
    status = outcome(run).status
    answer = textwrap.fill(printable(headline(summary)), width)
    if color and status == 1:
        answer = painted(answer, WORSE)
    elif color:
        answer = painted(answer, "bold")
    parts = [answer, ""]
    if lines:
        parts += [*lines, ""]
    parts += laid_out(tallies(summary), width, color).splitlines()
    if reasons := _reasons(summary, named):
        parts += ["", *laid_out(reasons, width, color).splitlines()]
    # Last, where a terminal shows it without scrolling: how to repeat the run, and what the shell gets.
    ends = [("repeat", ShellCommand(run.header.command)), ("started", started_words(run))]
    if not run.single:
        ends.append(("seal", run.seal))
    ends.append(("status", f"{status} ({STATUSES[status]})"))
    return "\n".join([*parts, "", textwrap.fill(CAVEAT, width), laid_out(ends, width, color)])


def _learners(rows: Sequence[Row], width: int, color: bool, deep: int = 2, full: bool = False) -> list[str]:

    def initial(row: Row, column: Column) -> str:
        """Return the initial of the grade of an exact number, or of the setting of a failure rate."""
        kinds = {"exact_epsilon": row.exact and row.exact.grade, "failure_rate": row.utility and row.utility.setting}
        if full and (kind := kinds.get(column.name)):
            return f" {kind[0]}"
        return ""

    if not rows:
        return []
    numbers = [numbers_of(row) for row in rows]
    columns = columns_of(numbers, whole=full)
    heads = heads_of("mechanism", columns)
    if full:
        heads.append(Head("verdict", "text"))
    cells = []
    for row, own in zip(rows, numbers, strict=True):
        name = row.label
        if row.conflict:
            name += " (!)"
        mark, name, *shown = cells_of(row.verdict, name, columns, own if row.views else None)
        marked = (text + initial(row, column) for text, column in zip(shown, columns, strict=True))
        line = [mark, name, *marked]
        if full:
            line.append(verdict_words(row.verdict, row.to_blame))
        cells.append(line)
    return table(heads, cells, [style_of(row.verdict) for row in rows], width, color, deep)


def _legend(rows: Sequence[Row]) -> list[str]:
    marked = dict.fromkeys(row.verdict for row in rows if row.verdict.needs_look)
    marks = "   ".join(f"{MARKS[verdict]} {verdict}" for verdict in marked)
    if rows:
        return [*filter(None, [marks, CATCHES])]
    return []


def _controls(rows: Sequence[Row], color: bool) -> list[str]:
    if not rows:
        return []
    numbers = [numbers_of(row) for row in rows]
    # What would be detected is of no interest where it is known what leaks.
    columns = [column for column in columns_of(numbers, PRIVACY) if column.name != "detectable_epsilon"]
    cells = [
        [
            *cells_of(row.state, row.label, columns, own if row.views else None),
            " + ".join(row.convicted_by) or row.state,
            str(row.fault),
        ]
        for row, own in zip(rows, numbers, strict=True)
    ]
    heads = [*heads_of("positive control", columns), Head("detected by", "text"), Head("what it leaks", "text")]
    return ["", *table(heads, cells, [style_of(row.state) for row in rows], WIDTH, color)]


def _powers(rows: Sequence[Row], color: bool) -> list[str]:
    audited = [(row.label, row.blackbox, dict(frontier_text(row.blackbox))) for row in rows if row.blackbox]
    if not audited:
        return []
    masses = sorted({mass for *_, frontier in audited for mass in frontier}, key=float, reverse=True)
    heads = (*_POWER_HEADS, *(Head(f"eps({mass})\nfrom") for mass in masses))
    cells = [
        [
            label,
            claim_text(finding),
            finding.design,
            count(finding.pairs),
            count(finding.events) if finding.design == "fixed" else "bets",
            delta_text(finding),
            *(frontier.get(mass, "-") for mass in masses),
        ]
        for label, finding, frontier in audited
    ]
    return ["", *table(heads, cells, width=WIDTH, color=color), *textwrap.wrap(_POWER_LEGEND, WIDTH)]


def _reasons(summary: Summary, named: int | None) -> Lines:
    lines = []
    for row in summary.violations[:named]:
        findings = [one for one in (row.exact, row.blackbox, row.utility) if one is not None]
        reasons = (because(f, row.view_of(f).decoded) for f in findings if f.verdict == PrivacyVerdict.VIOLATION)
        lines.append(("because", f"{row.label}: {next(reasons, row.verdict)}"))
    lines += [("accepted", f"{row.label} {row.accepted}") for row in summary.learners if row.accepted]
    for row in summary.without_evidence[:named]:
        lines.append(("no evidence", f"{row.label}: {gaps_words(row.blackbox)}"))
    for task in summary.pending[:named]:
        lines.append(("missing", f"{task}: {summary.errors.get(task, 'not run yet; --resume goes on')}"))
    lines += [("not planned", f"{fault.learner}: {fault.error}") for fault in summary.faults[:named]]
    conflict = "the black-box lower bound exceeds the exact worst case; see the page"
    return [*lines, *(("(!)", f"{row.label}: {conflict}") for row in summary.learners if row.conflict)]
