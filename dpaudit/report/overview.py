"""The summary of a run for a terminal: the answer, a table of what matters most, and what to do; under 40 lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpaudit.contract import Verdict
from dpaudit.engine.outcome import outcome
from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.aligned import Lines, laid_out
from dpaudit.report.brief import brief_lines
from dpaudit.report.evidence import gap_words
from dpaudit.report.grid import Column, grid
from dpaudit.report.ledger import counts_text
from dpaudit.report.numbers import count, plural, significant
from dpaudit.report.summary import Summary, summarise
from dpaudit.report.table import BOLD, RED, STYLES, painted
from dpaudit.report.view import Row
from dpaudit.report.wording import claim_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["render"]

_ROWS = 14
"""The most mechanisms that are shown; the calm ones among the others are counted."""
_SPARE = 8
"""The most lines of their table beside one for each of them; with more, long names are cut."""
_NAMED = 3
"""The most things of one kind that are named."""
_COLUMNS = (
    Column("", "word"),
    Column("mechanism", "name"),
    Column("claimed\nepsilon"),
    Column("exact\nepsilon"),
    Column("found\n>="),
    Column("would\ncatch>="),
    Column("fails\n%"),
    Column("allowed\n%"),
)
_LEGEND = "!  violation   ? no evidence   ~ accuracy undecided   x no result"
_CAVEAT = "Silence is no proof: all numbers are about the inputs and answers tried."
_STATUS = {
    0: "no violation",
    1: "a violation, or a missed control",
    2: "results are missing",
    3: "no evidence or undecided",
}


def render(run: Run, color: bool = False, width: int = 80) -> str:
    """Return the summary of a run.

    Parameters
    ----------
    run : Run
        The stored run.
    color : bool
        Whether to colour with ANSI escapes; marks say the same.
    width : int
        The columns of the terminal.
    """
    summary, status = summarise(run), outcome(run).status
    rows = sorted((row for row in summary.learners if _speaks(row)), key=_gravity)
    headline = harmless(_headline(summary))
    parts = [painted(headline, RED if status == 1 else BOLD) if color else headline, ""]
    if rows:
        parts += [*_table(rows, width, color), ""]
    parts += laid_out(_counts(summary), width, color).splitlines()
    if reasons := _reasons(summary):
        parts += ["", *laid_out(reasons, width, color).splitlines()]
    ends = [("repeat", run.header.command), ("seal", run.seal), ("status", f"{status} ({_STATUS[status]})")]
    return "\n".join([*parts, "", _CAVEAT, laid_out(ends, width, color)])


def _speaks(row: Row) -> bool:
    """Say whether a row has something to say: of a further instance, whose utility alone was audited, only bad news."""
    return not row.further or row.verdict.needs_look


def _gravity(row: Row) -> tuple[int, float]:
    """Return by what rows are ordered: the gravest first, and among equals those nearest to their claim."""
    return row.verdict.rank, -row.nearness


def _headline(summary: Summary) -> str:
    """Return the answer in a sentence."""
    claims = sum(row.claim is not None and not row.further for row in summary.learners)
    broken = [row for row in summary.learners if row.privacy_verdict == Verdict.VIOLATION]
    failing = [row for row in summary.learners if row.utility_verdict == Verdict.VIOLATION]
    if summary.missed:
        return f"The audit is blind: it missed the planted fault of {_names(summary.missed)}."
    if broken:
        verb = "is" if len(broken) == 1 else "are"
        return f"{len(broken)} of {plural(claims, 'privacy claim')} {verb} broken: {_names(broken)}."
    if failing:
        return f"No privacy claim is broken, but {plural(len(failing), 'promise')} of accuracy: {_names(failing)}."
    if not summary.whole:
        return f"No violation so far, but {plural(len(summary.pending) + len(summary.faults), 'result')} missing."
    if not claims:
        return "No claim of privacy was tested."
    unseen = len(summary.without_evidence)
    accepted = sum(row.privacy_verdict == Verdict.ACCEPTED for row in summary.learners)
    lived_with = f"{plural(accepted, 'violation')} accepted; no other found in" if accepted else "No violation found in"
    return f"{lived_with} {plural(claims, 'privacy claim')}" + (f"; {unseen} without evidence." if unseen else ".")


def _names(rows: Sequence[Row]) -> str:
    """Return what rows are about: a few of their names."""
    labels = list(dict.fromkeys(row.label for row in rows))
    more = len(labels) - _NAMED
    return ", ".join(labels[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _table(rows: Sequence[Row], width: int, color: bool) -> list[str]:
    """Return the table of the gravest rows, what its marks mean, and how many are left out."""
    shown = rows[:_ROWS]
    styles = [STYLES.get(row.verdict.tone, "") for row in shown]
    cells = [_cells(row) for row in shown]
    lines = grid(_COLUMNS, cells, styles, width, color)
    if len(lines) > _ROWS + _SPARE:
        lines = grid(_COLUMNS, cells, styles, width, color, deep=1)
    left = len(rows) - len(shown)
    more = [f"   and {plural(left, 'mechanism')} more, none graver; -v shows all"] if left else []
    marks = any(row.verdict.meaning.mark for row in rows)
    accepted = any(row.verdict == Verdict.ACCEPTED for row in shown)
    legend = [_LEGEND.replace("~ accuracy", "~ accepted, or accuracy") if accepted else _LEGEND] if marks else []
    return [*lines[:-1], *more, lines[-1], *legend]


def _cells(row: Row) -> list[str]:
    """Return the cells of one row, numbers rounded the safe way."""
    mark = row.verdict.meaning.mark
    found = catch = fails = allowed = "-"
    if (f := row.blackbox) is not None:
        found = significant(f.epsilon_lower, "down", digits=3, apart_from=f.epsilon)
        catch = significant(f.detectable_epsilon, "up", digits=3, apart_from=f.epsilon, infinity="never")
    if (u := row.utility) is not None:
        allowed = significant(100 * u.beta, digits=3)
        fails = significant(100 * u.failure_rate, digits=3, apart_from=100 * u.beta)
    name = f"{row.label} (!)" if row.conflict else row.label
    return [mark, name, claim_text(row.claim) if row.results else "-", _exact(row), found, catch, fails, allowed]


def _exact(row: Row) -> str:
    """Return the exact epsilon at the claimed delta, which is 0 without a claim."""
    f = row.exact
    if f is None:
        return "-"
    least = f.epsilon_at_claim if f.claimed_delta else f.epsilon
    return "-" if least is None else significant(least, digits=3, apart_from=f.claimed_epsilon, error=f.error)


def _counts(summary: Summary) -> Lines:
    """Return how many claims, promises, controls and statements ended how."""
    lines = [("privacy", _tally([row.privacy_verdict for row in summary.learners if not row.further]))]
    accuracy = [row.utility_verdict for row in summary.learners if row.cases]
    if accuracy:
        lines.append(("accuracy", _tally(accuracy)))
    if summary.controls:
        missed = f"; missed: {_names(summary.missed)}" if summary.missed else ""
        caught = f"{len(summary.convicted)} of {plural(len(summary.controls), 'planted fault')} caught"
        lines.append(("controls", caught + missed))
    if summary.ledger:
        lines.append(("ledger", counts_text(summary.ledger)))
    lines.append(("missing", plural(len(summary.pending), "result") + _failed(summary)))
    return lines


def _failed(summary: Summary) -> str:
    """Return how many of what is missing failed, or was never planned."""
    failed = f", of which {len(summary.errors)} failed" if summary.errors else ""
    return failed + (f"; not planned: {plural(len(summary.faults), 'learner')}" if summary.faults else "")


def _tally(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts there are of each kind, the gravest first."""
    found = Counter(verdicts)
    words = {Verdict.HOLDS: "hold", Verdict.NO_CLAIM: "without a claim"}
    return ", ".join(f"{count(found[v])} {words.get(v, v)}" for v in Verdict if found[v]) or "nothing audited"


def _reasons(summary: Summary) -> Lines:
    """Return why the gravest verdicts are what they are, a few of each kind."""
    lines: Lines = []
    for row in summary.violations[:_NAMED]:
        lines.append(("because", f"{row.label}: {_because(row)}"))
    lines += [("accepted", f"{row.label} {row.accepted}") for row in summary.learners if row.accepted]
    for row in summary.without_evidence[:_NAMED]:
        gaps = "; ".join(gap_words(gap) for gap in row.blackbox.gaps) if row.blackbox else "no power"
        lines.append(("no evidence", f"{row.label}: {gaps}"))
    for task in summary.pending[:_NAMED]:
        lines.append(("missing", f"{task}: {summary.errors.get(task, 'not run yet; --resume goes on')}"))
    lines += [("not planned", f"{fault.learner}: {fault.error}") for fault in summary.faults[:_NAMED]]
    lines += [
        ("(!)", f"{row.label}: the black-box lower bound exceeds the exact worst case; see the full report")
        for row in summary.learners
        if row.conflict
    ]
    return lines


def _because(row: Row) -> str:
    """Return the reason of the finding by which a row is a violation: exact before black box before utility."""
    for finding in (row.exact, row.blackbox, row.utility):
        if finding is not None and finding.verdict == Verdict.VIOLATION:
            decoded = {} if isinstance(finding, UtilityFinding) else row.decoded(finding)
            return dict(brief_lines(finding, row.label, decoded=decoded))["because"]
    return str(row.verdict)
