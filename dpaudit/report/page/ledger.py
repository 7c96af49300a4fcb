"""The ledger on the page: the statements of papers by verdict, those that want a look open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dpaudit.contract import Verdict
from dpaudit.engine.findings import LedgerRow
from dpaudit.report.page.text import raised

__all__ = ["Ledger", "Statement", "ledgers"]

_TONES = {"refuted": "bad", "loose": "nc", "holds": "ok", "undecided": "none"}


class Statement(NamedTuple):
    """A statement of a paper in its table."""

    id: str
    short: str
    statement: str
    verdict: str
    tone: str
    printed: str
    found: str
    best: str
    summary: str
    witness: str
    grade: str
    source: str
    repeat: str


class Ledger(NamedTuple):
    """The statements with one verdict."""

    id: str
    label: str
    rows: list[Statement]
    open: bool


def ledgers(rows: Sequence[LedgerRow]) -> list[Ledger]:
    """Return the statements by verdict; those that want a look are open."""
    labels = {
        Verdict.REFUTED: "Refuted, with a witness",
        Verdict.UNDECIDED: "Undecided",
        Verdict.LOOSE: "True, but loose",
        Verdict.HOLDS: "Holding",
    }
    found = {verdict: [_statement(row) for row in rows if row.verdict == verdict] for verdict in labels}
    looked = (Verdict.REFUTED, Verdict.UNDECIDED)
    return [Ledger(f"ledger-{v}", labels[v], found[v], v in looked) for v in labels if found[v]]


def _statement(row: LedgerRow) -> Statement:
    values: dict[str, Any] = {name: str(getattr(row, name)) for name in Statement._fields if name != "tone"}
    values |= {"short": row.short or row.statement, "tone": _TONES[row.verdict]}
    values |= {name: raised(values[name]) for name in ("printed", "found", "best")}
    values["summary"] = row.summary.rstrip(".")
    return Statement(**values)
