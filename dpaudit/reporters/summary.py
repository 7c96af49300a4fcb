"""From run records to one row a learner: what every report shows, in order.

What the records amount to is decided in `engine.outcome`; every report format is a view of these rows, so that no two
of them can disagree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpaudit.engine.outcome import AUDITS, group, outcome
from dpaudit.errors import InputError
from dpaudit.reporters.row import Finding, Result, Row, powerless, worst
from dpaudit.results import SCHEMA_VERSION

__all__ = ["Summary", "learners_text", "summarise"]

_ASIDE = ("ledger", "picture")
_SCOPES = {"all": "all samples", "crafted": "crafted samples only"}


@dataclass(frozen=True)
class Summary:
    """The rows of a run: the learners, the positive controls, what has no result, and the ledger.

    `pending` holds the planned tasks without a result, `errors` what those of them raised that failed, `faults` the
    learners for which no plan could be made; `done` tasks have a result.
    """

    learners: Sequence[Row]
    controls: Sequence[Row]
    pending: Sequence[str]
    ledger: Sequence[Finding] = ()
    faults: Sequence[str] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    done: int = 0

    @property
    def violations(self) -> Sequence[Row]:
        """The learners (controls excluded) with a violation."""
        return [row for row in self.learners if row.verdict.startswith("violation")]

    @property
    def undecided(self) -> Sequence[Row]:
        """The learners whose utility is undecided."""
        return [row for row in self.learners if row.verdict.startswith("undecided")]

    @property
    def unfinished(self) -> Sequence[Row]:
        """The learners without a violation of which an audit failed or was not run."""
        return [row for row in self.learners if row.verdict.startswith(("failed", "incomplete"))]

    @property
    def powerless(self) -> Sequence[Row]:
        """The learners whose black-box audit could convict no leak on the event that it confirmed."""
        return [row for row in self.learners if row.blackbox is not None and powerless(row.blackbox)]

    @property
    def convicted(self) -> Sequence[Row]:
        """The positive controls that an audit of privacy caught."""
        return [row for row in self.controls if row.convicted_by]

    @property
    def missed(self) -> Sequence[Row]:
        """The positive controls that none of their audits caught, all of which were made."""
        return [row for row in self.controls if not row.convicted_by and row.complete]

    @property
    def whole(self) -> bool:
        """Whether every learner could be planned and every planned task has a result."""
        return not self.pending and not self.faults


def learners_text(rows: Sequence[Row]) -> str:
    """Return how many learners the rows are about, and how many instances of them if these are more."""
    learners = len({row.learner for row in rows})
    told = f"{learners} learner{'' if learners == 1 else 's'}"
    return told if learners == len(rows) else f"{told} in {len(rows)} instances"


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
    for result in results:
        if result["kind"] not in (*AUDITS, *_ASIDE):
            raise InputError(f"kind must be one of {', '.join((*AUDITS, *_ASIDE))}; got {result['kind']!r}")
    found, parts = outcome(run), _parts(run, results)
    labels = _labels([(part.learner, part.parameters) for part in parts])
    rows = _related([_row(label, part) for label, part in zip(labels, parts, strict=True)], results)
    ledger = [result["finding"] for result in results if result["kind"] == "ledger"]
    sides = [r for r in rows if r.fault is None], [r for r in rows if r.fault is not None]
    failures = {failure["task"]: failure["error"] for failure in run.get("failures", ())}
    return Summary(*sides, list(found.missing), ledger, list(found.faults), failures, len(results))


@dataclass
class _Part:
    """What a run holds of one learner at one setting of its parameters, which are unknown if nothing was run."""

    learner: str
    parameters: Mapping[str, Any]
    place: int
    fault: str | None
    results: Sequence[Result] = ()
    failures: Sequence[Mapping[str, Any]] = ()
    pending: Sequence[str] = ()


def _parts(run: Mapping[str, Any], results: Sequence[Result]) -> list[_Part]:
    """Return what was planned of each learner and what became of it, in the order of the plan."""
    header, failures = run["header"], run.get("failures", ())
    faults = header.get("controls", {})
    found: dict[tuple[str, str], _Part] = {}
    for records, name in ((results, "results"), (failures, "failures")):
        for identity, members in group(records).items():
            first = members[0]
            fault = next((r["fault"] for r in members if r.get("fault")), faults.get(first["learner"]))
            fresh = _Part(first["learner"], first["parameters"], int(first["index"]), fault)
            part = found.setdefault(identity, fresh)
            setattr(part, name, members)
            part.place = min(part.place, fresh.place)
    known = {record["task"] for record in [*results, *failures]}
    for place, key in enumerate(header["plan"]):
        # A task's key begins with the learner and the kind of audit; of the parameters it has only a hash.
        learner, _, rest = key.partition("/")
        kind = rest.partition("/")[0]
        if key not in known and kind in AUDITS:
            mine = (part for part in found.values() if part.learner == learner)
            part = next(mine, None) or found.setdefault((learner, ""), _Part(learner, {}, place, faults.get(learner)))
            part.pending = [*part.pending, kind]
    for text in header.get("faults", ()):
        learner, _, error = text.partition(": ")
        unplanned = _Part(learner, {}, len(header["plan"]), faults.get(learner))
        unplanned.failures = [{"kind": "plan", "error": error}]
        found.setdefault((learner, "unplanned"), unplanned)
    return sorted(found.values(), key=lambda part: part.place)


def _labels(instances: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return the learners' ids, of those that occur more than once with the parameters in which they differ."""
    found = []
    for learner, parameters in instances:
        others = [p for id, p in instances if id == learner and p != parameters]
        own = {name: v for name, v in parameters.items() if any(name not in p or p[name] != v for p in others)}
        found.append(f"{learner} ({_compact(own or parameters)})" if others else learner)
    return found


def _related(rows: Sequence[Row], results: Sequence[Result]) -> list[Row]:
    """Return the rows, the first one of each learner with the learner's picture, further instances marked."""
    left = {result["learner"]: result for result in results if result["kind"] == "picture"}
    judged = {row.learner for row in rows if row.privacy_verdict != "not checked"}
    found = []
    for row in rows:
        further = row.privacy_verdict == "not checked" and row.learner in judged
        reasons = dict.fromkeys(row.missing, "audited at other parameters: see this learner's other row")
        missing = reasons if further else row.missing
        found.append(replace(row, picture=left.pop(row.learner, None), further=further, missing=missing))
    return found


def _row(label: str, part: _Part) -> Row:
    """Return the row of what a run holds of one learner."""
    results = part.results
    claim = next((r["claim"] for r in results if r["claim"] is not None), None)
    of = {kind: [r["finding"] for r in results if r["kind"] == kind] for kind in AUDITS}
    utility = [r for r in results if r["kind"] == "utility"]
    # Below the theorem's sample size a failure rate above beta refutes nothing: the ladder never decides a verdict.
    ladder = [r for r in utility if r["arguments"].get("role") == "ladder"]
    cases = [r for r in utility if r["arguments"].get("role") != "ladder"]
    chosen = {
        "exact": worst(of["exact"], "epsilon"),
        "privacy": worst(of["privacy"], "epsilon_lower"),
        "utility": worst([r["finding"] for r in cases], "failure_upper"),
    }
    missing = {kind: _reason(kind, part, claim) for kind in AUDITS if chosen[kind] is None}
    if ladder and not cases:
        missing["utility"] = "only smaller samples than the theorem's were run"
    scope = next(
        (_SCOPES.get(r["arguments"].get("samples"), "") for r in results if r["finding"] is chosen["exact"]),
        "",
    )
    return Row(
        label,
        part.learner,
        part.parameters,
        claim,
        part.fault,
        chosen["exact"],
        chosen["privacy"],
        chosen["utility"],
        cases,
        ladder,
        scope,
        missing,
        results,
        failures=part.failures,
        pending=part.pending,
    )


def _reason(kind: str, part: _Part, claim: Mapping[str, Any] | None) -> str:
    """Say why a learner has no finding of a kind."""
    errors = [failure["error"] for failure in part.failures if failure["kind"] in (kind, "plan")]
    if errors:
        return f"failed: {errors[0]}"
    if kind in part.pending:
        return "planned, but not run to its end"
    if kind == "exact":
        return "no exact output law was enumerated in this run"
    if kind == "privacy":
        return "the learner claims no privacy" if claim is None else "no black-box audit was planned"
    return "no audit of utility was planned"


def _compact(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `name=value, ...`, sorted: their label."""
    return ", ".join(f"{name}={json.dumps(parameters[name], sort_keys=True)}" for name in sorted(parameters))
