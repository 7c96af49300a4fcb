"""From run records to one row a learner: the only place where reports decide what the results amount to.

Every report format is a view of these rows, so that no two of them can disagree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.errors import InputError
from dpaudit.results import SCHEMA_VERSION, number

__all__ = ["NO_VIOLATION", "Row", "Summary", "summarise"]

NO_VIOLATION = "no violation found"

_KINDS = ("exact", "privacy", "utility")
_SEVERITY = {"violation": 2, "undecided": 1}

Finding = Mapping[str, Any]
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """What a run learned about one learner at one setting of its parameters.

    Attributes
    ----------
    label : str
        The learner's id, followed by its parameters where the run holds the learner more than once.
    claim : mapping or None
        The claim of privacy: epsilon, delta, relation, claim_id, source.
    fault : str or None
        For a positive control, what it leaks.
    exact, blackbox, utility : finding or None
        The finding that decides each column: the violation if there is one, else the strongest number.
    ladder, cases : sequence of results
        Utility results below the theorem's sample size, and at it (one a hard case).
    missing : mapping
        For each column that is None, why.
    """

    label: str
    learner: str
    parameters: Mapping[str, Any]
    claim: Mapping[str, Any] | None
    fault: str | None
    exact: Finding | None
    blackbox: Finding | None
    utility: Finding | None
    cases: Sequence[Result]
    ladder: Sequence[Result]
    missing: Mapping[str, str]
    findings: Sequence[Finding] = field(repr=False)

    @property
    def privacy_verdict(self) -> str:
        """"violation", "no violation found", "no claim" or "not checked"."""
        judged = [f for f in self.findings if f["kind"] == "privacy" or _judges_claim(f)]
        if any(f["verdict"] == "violation" for f in judged):
            return "violation"
        if judged:
            return NO_VIOLATION
        return "no claim" if self.claim is None else "not checked"

    @property
    def utility_verdict(self) -> str:
        """"violation", "undecided", "holds" or "not checked", over the hard cases at the theorem's sample size."""
        verdicts = {case["finding"]["verdict"] for case in self.cases}
        return next((v for v in ("violation", "undecided", "holds") if v in verdicts), "not checked")

    @property
    def verdict(self) -> str:
        """Both verdicts in one phrase."""
        broken = [name for name in ("privacy", "utility") if getattr(self, f"{name}_verdict") == "violation"]
        if broken:
            return "violation: " + " and ".join(broken)
        if self.utility_verdict == "undecided":
            return "undecided: utility"
        if self.privacy_verdict == "no claim":
            return "no privacy claim"
        return "privacy not checked" if self.privacy_verdict == "not checked" else NO_VIOLATION

    @property
    def convicted_by(self) -> tuple[str, ...]:
        """Which privacy audits found a violation."""
        names = {"exact": "exact", "privacy": "black box"}
        return tuple(name for kind, name in names.items()
                     if any(f["kind"] == kind and f["verdict"] == "violation" for f in self.findings))

    @property
    def utility_confidence(self) -> float | None:
        """The confidence at which the intervals of all hard cases hold together (Bonferroni); None without cases."""
        if not self.cases:
            return None
        return max(0.0, round(1 - sum(1 - case["finding"]["confidence"] for case in self.cases), 12))

    @property
    def conflict(self) -> bool:
        """Whether the black-box lower bound exceeds the exact worst case by more than that one's error.

        A mechanism's epsilon at delta > 0 is at most the one at delta = 0, so that the comparison is fair at every delta.
        """
        if self.exact is None or self.blackbox is None or self.exact["relation"] != self.blackbox["relation"]:
            return False
        return number(self.blackbox["epsilon_lower"]) > number(self.exact["epsilon"]) + number(self.exact["error"])


@dataclass(frozen=True)
class Summary:
    """The rows of a run: the learners, the positive controls, and the planned tasks that have no result."""

    learners: Sequence[Row]
    controls: Sequence[Row]
    pending: Sequence[str]

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
        if result["kind"] not in _KINDS:
            raise InputError(f"kind must be one of {', '.join(_KINDS)}; got {result['kind']!r}")
        groups.setdefault((result["learner"], _compact(result["parameters"])), []).append(result)
    done = {result["task"] for result in results}
    pending = [key for key in header["plan"] if key not in done]
    ids = [learner for learner, _ in groups]
    rows = [_row(learner if ids.count(learner) == 1 else f"{learner} ({parameters})", group, pending)
            for (learner, parameters), group in groups.items()]
    return Summary([r for r in rows if r.fault is None], [r for r in rows if r.fault is not None], pending)


def _row(label: str, results: Sequence[Result], pending: Sequence[str]) -> Row:
    """Return the row of one learner's results."""
    first = results[0]
    claim = next((r["claim"] for r in results if r["claim"] is not None), None)
    of = {kind: [r["finding"] for r in results if r["kind"] == kind] for kind in _KINDS}
    utility = [r for r in results if r["kind"] == "utility"]
    # Below the theorem's sample size a failure rate above beta refutes nothing: the ladder never decides a verdict.
    ladder = [r for r in utility if r["arguments"].get("role") == "ladder"]
    cases = [r for r in utility if r["arguments"].get("role") != "ladder"]
    chosen = {"exact": _worst(of["exact"], "epsilon"), "privacy": _worst(of["privacy"], "epsilon_lower"),
              "utility": _worst([r["finding"] for r in cases], "failure_upper")}
    missing = {kind: _reason(kind, first["learner"], claim, pending) for kind in _KINDS if chosen[kind] is None}
    return Row(label, first["learner"], first["parameters"], claim, next((r["fault"] for r in results if r["fault"]), None),
               chosen["exact"], chosen["privacy"], chosen["utility"], cases, ladder, missing, [r["finding"] for r in results])


def _judges_claim(finding: Finding) -> bool:
    """Say whether a finding from exact laws compares with a claim; without one its verdict says nothing."""
    return finding["kind"] == "exact" and finding["claimed_epsilon"] is not None


def _worst(findings: Sequence[Finding], key: str) -> Finding | None:
    """Return the finding with the gravest verdict, and among those with the largest `key`."""
    return max(findings, key=lambda f: (_SEVERITY.get(f["verdict"], 0), number(f[key])), default=None)


def _reason(kind: str, learner: str, claim: Mapping[str, Any] | None, pending: Sequence[str]) -> str:
    """Say why a learner has no finding of a kind."""
    if any(_names(key, learner) and _names(key, kind) for key in pending):
        return "planned, but without a result: not yet run, or its task failed"
    if kind == "exact":
        return "no exact output law was enumerated in this run"
    if kind == "privacy":
        return "the learner claims no privacy" if claim is None else "no black-box audit was planned"
    return "no audit of utility was planned"


def _names(key: str, word: str) -> bool:
    """Say whether a task's readable key contains a word (hyphens belong to words)."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", key) is not None


def _compact(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `name=value, ...`, sorted: their identity and their label."""
    return ", ".join(f"{name}={json.dumps(parameters[name], sort_keys=True)}" for name in sorted(parameters))
