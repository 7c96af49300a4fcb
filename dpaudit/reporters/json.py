"""The report as a JSON document: header, one row a learner, the ledger and all findings, numbers as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dpaudit.reporters.ledger import counts
from dpaudit.reporters.row import Row
from dpaudit.reporters.summary import Summary, summarise
from dpaudit.reporters.unseen import unseen
from dpaudit.results import SCHEMA_VERSION

__all__ = ["render"]

_EXACT = (
    "epsilon",
    "error",
    "grade",
    "verdict",
    "claimed_epsilon",
    "claimed_delta",
    "delta_at_claim",
    "n",
    "pairs",
)
_BLACKBOX = (
    "epsilon_lower",
    "detectable_epsilon",
    "epsilon",
    "delta",
    "confidence",
    "trials",
    "grade",
    "verdict",
)
_UTILITY = (
    "setting",
    "failure",
    "failure_rate",
    "failure_lower",
    "failure_upper",
    "alpha",
    "beta",
    "n",
    "confidence",
    "trials",
    "grade",
    "verdict",
)


def render(run: Mapping[str, Any]) -> str:
    """Return the report of a run as JSON that validates against schema/report.json.

    Keys are sorted and the text ends with a newline: equal results give equal bytes. Infinity is the string "inf".

    Parameters
    ----------
    run : mapping
        ``{"header": {...}, "results": [...]}``.

    Raises
    ------
    InputError
        If the run is of another schema version.
    """
    summary = summarise(run)
    document = {
        "record": "report",
        "schema_version": SCHEMA_VERSION,
        "header": run["header"],
        "totals": _totals(summary),
        "learners": [_row(row) for row in summary.learners],
        "positive_controls": [{**_row(row), "convicted_by": list(row.convicted_by)} for row in summary.controls],
        "ledger": {"counts": counts(summary.ledger), "claims": list(summary.ledger)},
        "pending": list(summary.pending),
        "failures": list(run.get("failures", ())),
        "results": sorted(run["results"], key=lambda result: int(result["index"])),
    }
    return json.dumps(document, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=True) + "\n"


def _totals(summary: Summary) -> dict[str, int]:
    """Return the counts of the summing line."""
    return {
        "learners": len(summary.learners),
        "violations": len(summary.violations),
        "undecided": len(summary.undecided),
        "positive_controls": len(summary.controls),
        "convicted": len(summary.convicted),
        "pending": len(summary.pending),
        "failed": len(summary.errors),
        "unplanned": len(summary.faults),
    }


def _row(row: Row) -> dict[str, Any]:
    """Return one learner's row."""
    return {
        "label": row.label,
        "learner": row.learner,
        "parameters": dict(row.parameters),
        "fault": row.fault,
        "claim": None if row.claim is None else dict(row.claim),
        "exact": _cell(row, "exact", row.exact, _EXACT),
        "blackbox": _cell(row, "privacy", row.blackbox, _BLACKBOX)
        | ({} if row.blackbox is None else {"unseen": unseen(row.blackbox)}),
        "utility": _cell(row, "utility", row.utility, _UTILITY)
        | {"hard_cases": len(row.cases), "joint_confidence": row.utility_confidence}
        | {"settings": [_in_setting(row.in_setting(setting)) for setting in row.settings]},
        "verdict": {"privacy": row.privacy_verdict, "utility": row.utility_verdict, "overall": row.verdict},
        "conflict": row.conflict,
    }


def _in_setting(row: Row) -> dict[str, Any]:
    """Return the deciding numbers of one setting; `row` holds the cases of that one alone."""
    return _cell(row, "utility", row.utility, _UTILITY) | {"hard_cases": len(row.cases)}


def _cell(row: Row, kind: str, finding: Mapping[str, Any] | None, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the deciding numbers of one column, or why there are none."""
    if finding is None:
        return {"computed": False, "reason": row.missing[kind]}
    return {"computed": True} | {name: finding[name] for name in names}
