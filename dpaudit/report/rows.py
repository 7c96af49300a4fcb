"""From the records of a run to one row a learner, in the order in which the learners first appear in the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import PrivacyClaim, Verdict
from dpaudit.engine.arguments import ExactArguments, UtilityArguments
from dpaudit.engine.findings import PictureFinding
from dpaudit.engine.outcome import AUDITS, is_ladder
from dpaudit.engine.records import Failure, Parameters, Result, Run
from dpaudit.engine.tasks import canonical
from dpaudit.exact.finding import LawFinding
from dpaudit.report.row import Case, Drawn, Row, Trouble
from dpaudit.report.verdicts import worst
from dpaudit.utility.finding import UtilityFinding

__all__ = ["row_of", "rows_of"]

_SCOPES = {"all": "all samples", "crafted": "crafted samples only"}


def rows_of(run: Run) -> list[Row]:
    """Return the rows of a run, those of the positive controls among them."""
    results = sorted(run.results, key=attrgetter("index"))
    parts = _parts(run, results)
    labels = _labels([(part.learner, part.parameters) for part in parts])
    rows = [_row(label, part) for label, part in zip(labels, parts, strict=True)]
    accepted = {learner: listed.accepted for learner, listed in run.listed.items()}
    return _related([replace(row, accepted=accepted.get(row.learner, "")) for row in rows], results)


def row_of(results: Sequence[Result]) -> Row:
    """Return the row of the results of single audits of one mechanism, at one setting of its parameters."""
    first = results[0]
    return _row(first.learner, _Part(first.learner, first.parameters, 0, first.fault, list(results)))


@dataclass
class _Part:
    """The records of one learner at one setting of its parameters, which are unknown if nothing was run."""

    learner: str
    parameters: Parameters
    place: int
    fault: str | None
    results: list[Result] = field(default_factory=list)
    failures: list[Trouble] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)


def _parts(run: Run, results: Sequence[Result]) -> list[_Part]:
    """Return what was planned of each learner and what became of it, in the order of the plan."""
    controls = run.header.controls
    found: dict[tuple[str, str], _Part] = {}
    records: tuple[Result | Failure, ...] = (*results, *run.failures)
    for record in (record for record in records if record.kind in AUDITS):
        fresh = _Part(record.learner, record.parameters, record.index, controls.get(record.learner))
        part = found.setdefault((record.learner, canonical(record.parameters)), fresh)
        part.place = min(part.place, record.index)
        if isinstance(record, Result):
            part.results.append(record)
            part.fault = record.fault or part.fault
        else:
            part.failures.append(Trouble(record.kind, record.error))
    known = {record.task for record in records}
    for place, planned in enumerate(run.header.plan):
        learner = planned.learner
        if planned.task not in known and planned.kind in AUDITS:
            mine = (part for part in found.values() if part.learner == learner)
            fresh = _Part(learner, {}, place, controls.get(learner))
            part = next(mine, None) or found.setdefault((learner, ""), fresh)
            part.pending.append(planned.kind)
    for fault in run.header.faults:
        learner, failures = fault.learner, [Trouble("plan", fault.error)]
        fresh = _Part(learner, {}, len(run.header.plan), controls.get(learner), failures=failures)
        found.setdefault((learner, "unplanned"), fresh)
    return sorted(found.values(), key=attrgetter("place"))


def _labels(instances: Sequence[tuple[str, Parameters]]) -> list[str]:
    """Return the learners' ids, of those that occur more than once with the parameters in which they differ."""
    found = []
    for learner, parameters in instances:
        others = [p for id, p in instances if id == learner and p != parameters]
        own = {name: v for name, v in parameters.items() if any(name not in p or p[name] != v for p in others)}
        found.append(f"{learner} ({_compact(own or parameters)})" if others else learner)
    return found


def _related(rows: Sequence[Row], results: Sequence[Result]) -> list[Row]:
    """Return the rows, the first one of each learner with the learner's picture, further instances marked."""
    left = {r.learner: Drawn(r.parameters, r.finding) for r in results if isinstance(r.finding, PictureFinding)}
    judged = {row.learner for row in rows if row.privacy_verdict != Verdict.NOT_CHECKED}
    found = []
    for row in rows:
        further = row.privacy_verdict == Verdict.NOT_CHECKED and row.learner in judged
        reasons = dict.fromkeys(row.missing, "audited at other parameters: see this learner's other row")
        missing = reasons if further else row.missing
        found.append(replace(row, picture=left.pop(row.learner, None), further=further, missing=missing))
    return found


def _row(label: str, part: _Part) -> Row:
    """Return the row of what a run holds of one learner."""
    exact = worst([r.finding for r in part.results if isinstance(r.finding, LawFinding)], lambda f: f.epsilon)
    blackbox = worst(
        [r.finding for r in part.results if isinstance(r.finding, PrivacyFinding)], lambda f: f.epsilon_lower
    )
    # Below the theorem's sample size a failure rate above beta refutes nothing: the ladder never decides a verdict.
    cases, ladder = ([case for r in part.results if is_ladder(r) == k for case in _case(r)] for k in (False, True))
    utility = worst([case.finding for case in cases], lambda f: f.failure_upper)
    claim = next((r.claim for r in part.results if r.claim is not None), None) or _tested(blackbox, exact)
    chosen = {"exact": exact, "privacy": blackbox, "utility": utility}
    missing = {kind: _reason(kind, part, claim) for kind, finding in chosen.items() if finding is None}
    if ladder and not cases:
        missing["utility"] = "only smaller samples than the theorem's were run"
    return Row(
        label=label,
        learner=part.learner,
        parameters=part.parameters,
        claim=claim,
        fault=part.fault,
        exact=exact,
        blackbox=blackbox,
        utility=utility,
        cases=cases,
        ladder=ladder,
        scope=next((_scope(r) for r in part.results if r.finding is exact), ""),
        missing=missing,
        results=part.results,
        failures=part.failures,
        pending=part.pending,
    )


def _tested(blackbox: PrivacyFinding | None, exact: LawFinding | None) -> PrivacyClaim | None:
    """Return the claim that was tested on a mechanism that states none itself, as a user's function."""
    if blackbox is not None:
        return PrivacyClaim(blackbox.epsilon, blackbox.delta, claim_id=blackbox.claim_id)
    if exact is not None and exact.claimed_epsilon is not None:
        return PrivacyClaim(exact.claimed_epsilon, exact.claimed_delta, exact.relation, exact.claim_id)
    return None


def _case(result: Result) -> list[Case]:
    """Return the hard case that a result of utility is about; nothing for other results."""
    if not isinstance(result.finding, UtilityFinding) or not isinstance(result.arguments, UtilityArguments):
        return []
    return [Case(result.arguments.case, result.finding)]


def _scope(result: Result) -> str:
    """Return what an exact audit covered."""
    return _SCOPES[result.arguments.samples] if isinstance(result.arguments, ExactArguments) else ""


def _reason(kind: str, part: _Part, claim: PrivacyClaim | None) -> str:
    """Say why a learner has no finding of a kind."""
    errors = [failure.error for failure in part.failures if failure.kind in (kind, "plan")]
    if errors:
        return f"failed: {errors[0]}"
    if kind in part.pending:
        return "planned, but not run to its end"
    if kind == "exact":
        return "no exact output law was enumerated in this run"
    if kind == "privacy":
        return "the learner claims no privacy" if claim is None else "no black-box audit was planned"
    return "no audit of utility was planned"


def _compact(parameters: Parameters) -> str:
    """Return parameters as `name=value, ...`, sorted: their label."""
    return ", ".join(f"{name}={json.dumps(parameters[name], sort_keys=True)}" for name in sorted(parameters))
