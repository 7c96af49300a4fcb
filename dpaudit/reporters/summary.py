"""From run records to one row a learner: the only place where reports decide what the results amount to.

Every report format is a view of these rows, so that no two of them can disagree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import InputError
from dpaudit.reporters.row import Finding, Result, Row
from dpaudit.results import SCHEMA_VERSION, number

__all__ = ["Summary", "summarise"]

_KINDS = ("exact", "privacy", "utility")
_SCOPES = {"all": "all samples", "crafted": "crafted samples only"}
_SEVERITY = {"violation": 2, "undecided": 1}


@dataclass(frozen=True)
class Summary:
    """The rows of a run: the learners, the positive controls, the planned tasks without a result, and the ledger."""

    learners: Sequence[Row]
    controls: Sequence[Row]
    pending: Sequence[str]
    ledger: Sequence[Finding] = ()

    @property
    def violations(self) -> Sequence[Row]:
        """The learners (controls excluded) with a violation."""
        return [row for row in self.learners if row.verdict.startswith("violation")]

    @property
    def undecided(self) -> Sequence[Row]:
        """The learners whose utility is undecided."""
        return [row for row in self.learners if row.verdict.startswith("undecided")]

    @property
    def convicted(self) -> Sequence[Row]:
        """The positive controls that an audit of privacy caught."""
        return [row for row in self.controls if row.convicted_by]


def summarise(run: Mapping[str, Any]) -> Summary:
    """Return the rows of a run, in the order in which its learners first appear.

    Parameters
    ----------
    run : mapping
        ``{"header": {...}, "results": [...]}`` as the engine stores it.

    Raises
    ------
    InputError
        If the schema version or the kind of a result is not known.
    """
    header, results = run["header"], sorted(run["results"], key=lambda r: int(r["index"]))
    if header["schema_version"] != SCHEMA_VERSION:
        raise InputError(f"schema_version must be {SCHEMA_VERSION}, got {header['schema_version']!r}")
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result["kind"] not in (*_KINDS, "ledger"):
            raise InputError(f"kind must be one of {', '.join(_KINDS)}, ledger; got {result['kind']!r}")
        if result["kind"] == "ledger":
            continue
        groups.setdefault((result["learner"], _compact(result["parameters"])), []).append(result)
    done = {result["task"] for result in results}
    pending = [key for key in header["plan"] if key not in done]
    ids = [learner for learner, _ in groups]
    rows = [
        _row(learner if ids.count(learner) == 1 else f"{learner} ({parameters})", group, pending)
        for (learner, parameters), group in groups.items()
    ]
    ledger = [result["finding"] for result in results if result["kind"] == "ledger"]
    return Summary([r for r in rows if r.fault is None], [r for r in rows if r.fault is not None], pending, ledger)


def _row(label: str, results: Sequence[Result], pending: Sequence[str]) -> Row:
    """Return the row of one learner's results."""
    first = results[0]
    claim = next((r["claim"] for r in results if r["claim"] is not None), None)
    of = {kind: [r["finding"] for r in results if r["kind"] == kind] for kind in _KINDS}
    utility = [r for r in results if r["kind"] == "utility"]
    # Below the theorem's sample size a failure rate above beta refutes nothing: the ladder never decides a verdict.
    ladder = [r for r in utility if r["arguments"].get("role") == "ladder"]
    cases = [r for r in utility if r["arguments"].get("role") != "ladder"]
    chosen = {
        "exact": _worst(of["exact"], "epsilon"),
        "privacy": _worst(of["privacy"], "epsilon_lower"),
        "utility": _worst([r["finding"] for r in cases], "failure_upper"),
    }
    missing = {kind: _reason(kind, first["learner"], claim, pending) for kind in _KINDS if chosen[kind] is None}
    if ladder and not cases:
        missing["utility"] = "only smaller samples than the theorem's were run"
    scope = next(
        (_SCOPES.get(r["arguments"].get("samples"), "") for r in results if r["finding"] is chosen["exact"]),
        "",
    )
    return Row(
        label,
        first["learner"],
        first["parameters"],
        claim,
        next((r["fault"] for r in results if r["fault"]), None),
        chosen["exact"],
        chosen["privacy"],
        chosen["utility"],
        cases,
        ladder,
        scope,
        missing,
        [r["finding"] for r in results],
    )


def _worst(findings: Sequence[Finding], key: str) -> Finding | None:
    """Return the finding with the gravest verdict, and among those with the largest `key`."""
    return max(findings, key=lambda f: (_SEVERITY.get(f["verdict"], 0), number(f[key])), default=None)


def _reason(kind: str, learner: str, claim: Mapping[str, Any] | None, pending: Sequence[str]) -> str:
    """Say why a learner has no finding of a kind."""
    # A task's key begins with the learner and the kind of audit.
    if any(key.startswith(f"{learner}/{kind}/") for key in pending):
        return "planned, but without a result: not yet run, or its task failed"
    if kind == "exact":
        return "no exact output law was enumerated in this run"
    if kind == "privacy":
        return "the learner claims no privacy" if claim is None else "no black-box audit was planned"
    return "no audit of utility was planned"


def _compact(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `name=value, ...`, sorted: their identity and their label."""
    return ", ".join(f"{name}={json.dumps(parameters[name], sort_keys=True)}" for name in sorted(parameters))
