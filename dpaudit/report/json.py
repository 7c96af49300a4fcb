"""The report as a JSON document: header, one row a learner, the ledger and all findings, numbers as they are."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any, TypeVar

from dpaudit.contract import Verdict
from dpaudit.engine.records import Run
from dpaudit.record import encodable
from dpaudit.report.document import (
    BlackBoxNumbers,
    Control,
    ExactNumbers,
    Learner,
    LedgerPart,
    Power,
    Report,
    SettingNumbers,
    Totals,
    UtilityNumbers,
    Verdicts,
)
from dpaudit.report.evidence import origin_counts
from dpaudit.report.ledger import counts
from dpaudit.report.summary import Summary, summarise
from dpaudit.report.view import Row

__all__ = ["render", "report_of"]

Numbers = TypeVar("Numbers", ExactNumbers, BlackBoxNumbers, SettingNumbers, UtilityNumbers, Power)


def render(run: Run) -> str:
    """Return the report of a run as JSON that validates against the schema "report".

    Keys are sorted and the text ends with a newline: equal results give equal bytes. Infinity is the string "inf".

    Parameters
    ----------
    run : Run
        The stored run.

    Raises
    ------
    ToolFault
        If a number is NaN.
    """
    document = encodable(report_of(run))
    return json.dumps(document, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=True) + "\n"


def report_of(run: Run) -> Report:
    """Return the report of a run as a typed record."""
    summary = summarise(run)
    return Report(
        header=run.header,
        totals=_totals(summary),
        learners=tuple(Learner(**_row(row)) for row in summary.learners),
        positive_controls=tuple(Control(**_row(row), convicted_by=row.convicted_by) for row in summary.controls),
        ledger=LedgerPart(counts(summary.ledger), tuple(summary.ledger)),
        pending=tuple(summary.pending),
        failures=run.failures,
        results=tuple(sorted(run.results, key=attrgetter("index"))),
        seal=run.seal,
    )


def _totals(summary: Summary) -> Totals:
    """Return the counts of the summing line."""
    return Totals(
        learners=len(summary.learners),
        violations=len(summary.violations),
        undecided=len(summary.undecided),
        no_evidence=len(summary.without_evidence),
        vacuous=sum(row.utility_verdict == Verdict.VACUOUS for row in summary.learners),
        positive_controls=len(summary.controls),
        convicted=len(summary.convicted),
        pending=len(summary.pending),
        failed=len(summary.errors),
        unplanned=len(summary.faults),
    )


def _row(row: Row) -> dict[str, Any]:
    """Return the fields of one learner's row."""
    utility = row.utility and _copied(
        UtilityNumbers,
        row.utility,
        hard_cases=len(row.cases),
        joint_confidence=row.utility_confidence,
        settings=tuple(_setting(row.in_setting(setting)) for setting in row.settings),
    )
    return {
        "label": row.label,
        "learner": row.learner,
        "parameters": row.parameters,
        "fault": row.fault,
        "claim": row.claim,
        "exact": row.exact and _copied(ExactNumbers, row.exact),
        "blackbox": row.blackbox
        and _copied(
            BlackBoxNumbers, row.blackbox, power=_copied(Power, row.blackbox, origins=origin_counts(row.blackbox))
        ),
        "utility": utility,
        "missing": dict(row.missing),
        "verdict": Verdicts(row.privacy_verdict, row.utility_verdict, row.verdict),
        "conflict": row.conflict,
    }


def _setting(row: Row) -> SettingNumbers:
    """Return the deciding numbers of one setting; `row` holds the cases of that one alone."""
    return _copied(SettingNumbers, row.utility, hard_cases=len(row.cases))


def _copied(kind: type[Numbers], finding: Any, **more: Any) -> Numbers:
    """Return the numbers that a record takes over from a finding, and some more."""
    return kind(**{name: getattr(finding, name) for name in kind.__struct_fields__ if name not in more}, **more)
