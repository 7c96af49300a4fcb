"""The report of a run as one HTML page: the answer, a figure of all claims, the numbers, then a part a mechanism.

Nothing is loaded from elsewhere, and nothing needs the few lines of script: they sort and filter the table.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from dpaudit.contract import Verdict
from dpaudit.engine.records import Run
from dpaudit.record import Count, Frozen, Level, Size, decode
from dpaudit.report.numbers import count, percent
from dpaudit.report.page.answer import answer, controls_words, counts, lede, ledger_words, missing_words
from dpaudit.report.page.claim_figures import aside, claim_row, claims_axis, grid
from dpaudit.report.page.ledger import ledgers
from dpaudit.report.page.part import part, repeat
from dpaudit.report.page.table import control_line, line
from dpaudit.report.page.template import filled
from dpaudit.report.page.words import WORDS
from dpaudit.report.summary import Summary, shown_of, summarise
from dpaudit.report.view import Mechanism

__all__ = ["render"]

_MOST = 12
"""The most mechanisms, or controls, that get a line each; more are folded together."""
_VERDICTS = (
    ("bad", "violation"),
    ("none", "no evidence"),
    ("ok", "consistent"),
    ("nc", "no claim"),
    ("caught", "caught"),
)


def render(run: Run) -> str:
    """Return the report of a run as one self-contained HTML page; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    summary = summarise(run)
    learners, controls, missed, looked = shown_of(summary)
    rest = [m for m in controls if not m.state.needs_look]
    few = rest if len(rest) <= _MOST else []
    parts = {m.id: part(m, repeat(run, m.name)) for m in (*missed, *learners, *few)}
    page = {
        "answer": answer(summary, learners, controls),
        "counts": counts(learners, controls),
        "missing": missing_words(summary),
        "lede": lede(learners),
        "ledger_words": ledger_words(summary),
        "contents": _contents(summary),
        "grid": grid(),
        "axis": claims_axis(),
        "rows": [_row(m) for m in (*missed, *learners)],
        "control_rows": [_row(m) for m in few],
        "confidence": _confidence(summary),
        "verdicts": _VERDICTS,
        "lines": [line(m) for m in (*missed, *learners, *few)],
        "open": [parts[m.id] for m in looked],
        "calm": [parts[m.id] for m in learners if not m.needs_look],
        "most": _MOST,
        "controls_words": controls_words(summary, controls),
        "controls": [parts[m.id] for m in few],
        "control_lines": [] if few else [control_line(m) for m in rest],
        "calibration": calibration_words(),
        "ledgers": ledgers(summary.ledger),
        "pending": [key + (f": {summary.errors[key]}" if key in summary.errors else "") for key in summary.pending],
        "faults": [f"{fault.learner}: {fault.error}" for fault in summary.faults],
        "words": WORDS,
        "command": run.header.command,
        "remake": _remake(run),
    }
    return filled("run.html.j2", page)


def _contents(summary: Summary) -> list[tuple[str, str]]:
    """Return the anchors and names of the sections."""
    found = [("figure", "All claims"), ("table", "Table"), ("each", "Each mechanism"), ("controls", "Controls")]
    found += [("ledger", "Ledger of papers")] if summary.ledger else []
    found += [("pending", "Without a result")] if summary.pending or summary.faults else []
    return [*found, ("words", "Words"), ("again", "Repeat")]


class ClaimRow(NamedTuple):
    """A row of the figure of all claims."""

    id: str
    name: str
    state: Verdict
    svg: str
    aside: str


def _row(mechanism: Mechanism) -> ClaimRow:
    return ClaimRow(mechanism.id, mechanism.name, mechanism.state, claim_row(mechanism), aside(mechanism))


def _confidence(summary: Summary) -> str:
    """Return the confidences of the lower bounds."""
    rows = (*summary.learners, *summary.controls)
    found = sorted({row.blackbox.confidence for row in rows if row.blackbox is not None})
    return " or ".join(map(percent, found)) or "not"


class Calibration(Frozen, frozen=True):
    """The rates at which this version of the auditor errs (`scripts/calibrate.py`; tables in `docs/calibration.md`).

    Attributes
    ----------
    level : float
        The rate of violations found that is allowed where a claim holds.
    audits, refuted : int
        Audits of claims that hold, and those that found a violation.
    faults, detected : int
        Learners with a planted leak, and those in which it was found.
    """

    level: Level
    audits: Size
    refuted: Count
    faults: Size
    detected: Count


def calibration_words() -> str:
    """Return how often the auditor finds a violation of a claim that holds, and how often it misses a planted leak."""
    place = files("dpaudit").joinpath("data", "calibration.json")
    found: Calibration = decode(place.read_bytes(), Calibration)
    return (
        f"How often the auditor errs: {count(found.refuted)} of {count(found.audits)} audits of claims that hold found "
        f"a violation ({percent(found.level)} are allowed), and {count(found.detected)} of {count(found.faults)} "
        "learners with a planted leak were detected. All settings are in docs/calibration.md."
    )


def _remake(run: Run) -> str:
    """Return what it takes to remake the page."""
    header = run.header
    used = ", ".join(f"{name} {version}" for name, version in sorted(header.versions.items()))
    digests = "".join(f"; {name} has the digest {digest}" for name, digest in sorted(header.sources.items()))
    return (
        f"Profile {header.profile}, seed {header.seed}. The same command with the same versions gives the same bytes: "
        f"{used}{digests}. Seal of the results, as `dpaudit verify` tells it: {run.seal}."
    )
