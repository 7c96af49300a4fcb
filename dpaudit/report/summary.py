"""From the records of a run to its view, which every format shows, so that no two formats can disagree."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import UNSET

from dpaudit.contract import PrivacyVerdict, TaskVerdict, UtilityVerdict
from dpaudit.evidence.outcome import AUDITS, family_size, in_family, outcome
from dpaudit.evidence.records import Failure, Fault, LedgerRow, Listed, PictureFinding, Result, Run
from dpaudit.evidence.tasks import canonical
from dpaudit.report.view import AuditedMechanism, Row, mechanisms, view_of
from dpaudit.report.words.claims import family_promise


@dataclass(frozen=True)
class MissingResult:
    """An audit without a result, or a learner for which no plan could be made, with its name and why."""

    learner: str
    name: str
    why: str


@dataclass(frozen=True)
class Summary:
    """The view of a run.

    Learners and positive controls stand in the order in which the plan first names them. `pending` are the planned
    tasks without a result, `ledger` the statements of papers that were checked, `faults` the learners for which no plan
    could be made, `errors` those of failed tasks, and `lost` the audits without a result and the mechanisms that could
    not be planned. `promise` says how often a run accuses anybody falsely, where its claims are judged together.
    """

    learners: Sequence[Row]
    controls: Sequence[Row]
    pending: Sequence[str]
    ledger: Sequence[LedgerRow] = ()
    faults: Sequence[Fault] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    lost: Sequence[MissingResult] = ()
    promise: str = ""

    @property
    def violations(self) -> Sequence[Row]:
        """The learners (controls excluded) with a violation."""
        return [row for row in self.learners if row.verdict == PrivacyVerdict.VIOLATION]

    @property
    def undecided(self) -> Sequence[Row]:
        """The learners whose utility is undecided."""
        return [row for row in self.learners if row.verdict == UtilityVerdict.UNDECIDED]

    @property
    def without_evidence(self) -> Sequence[Row]:
        """The learners whose privacy no audit could have found violated."""
        return [row for row in self.learners if row.privacy_verdict == PrivacyVerdict.NO_EVIDENCE]

    @property
    def convicted(self) -> Sequence[Row]:
        """The positive controls that an audit of privacy detected."""
        return [row for row in self.controls if row.state == TaskVerdict.CAUGHT]

    @property
    def missed(self) -> Sequence[Row]:
        """The positive controls that none of their audits detected, all of which were made."""
        return [row for row in self.controls if row.state == TaskVerdict.MISSED]

    @property
    def whole(self) -> bool:
        """Whether every learner could be planned and every planned task has a result."""
        return not self.pending and not self.faults


def shown_of(summary: Summary) -> tuple[list[AuditedMechanism], list[AuditedMechanism], list[AuditedMechanism]]:
    """Return the mechanisms of the learners, of the controls that were not caught, and of the other controls."""
    controls = mechanisms(summary.controls)
    missed = [m for m in controls if m.state.needs_look]
    return mechanisms(summary.learners), missed, [m for m in controls if not m.state.needs_look]


def summarise(run: Run) -> Summary:
    """Return the view of a run."""
    run = in_family(run)
    together = run.header.family_wise is not UNSET
    found = outcome(run)
    results = sorted(run.results, key=lambda result: result.index)
    every = _rows(run, results)
    errors = {failure.task: failure.error for failure in run.failures}
    # The first row of a learner has its picture; further instances are those whose privacy another row judges.
    left = {r.learner: r for r in results if isinstance(r.finding, PictureFinding)}
    judged = {row.learner for row in every if row.privacy_verdict != TaskVerdict.NOT_CHECKED}
    further = [row.privacy_verdict == TaskVerdict.NOT_CHECKED and row.learner in judged for row in every]
    rows = [
        replace(
            row,
            label=_label(row, every),
            picture=left.pop(row.learner, None),
            further=also,
            in_family=together and row.fault is None,
        )
        for row, also in zip(every, further, strict=True)
    ]
    planned = [one for one in run.header.plan if one.task in found.missing]
    lost = [MissingResult(one.learner, one.task, errors.get(one.task, "not run to its end")) for one in planned]
    return Summary(
        learners=[row for row in rows if row.fault is None],
        controls=[row for row in rows if row.fault is not None],
        pending=found.missing,
        ledger=[result.finding for result in results if isinstance(result.finding, LedgerRow)],
        faults=found.faults,
        errors=errors,
        lost=[*lost, *(MissingResult(fault.learner, fault.learner, fault.error) for fault in found.faults)],
        promise=_promise(run),
    )


def _promise(run: Run) -> str:
    """Return how often a run accuses anybody falsely, if its claims are judged together; else nothing."""
    error = run.header.family_wise
    if error is UNSET:
        return ""
    if run.single:
        return family_promise(error, family_size(run))
    return family_promise(error, family_size(run), "reports", "a learner that keeps its claims")


def _rows(run: Run, results: Sequence[Result]) -> list[Row]:
    # A row is a learner at one setting of its parameters; the order of rows is that of the plan.
    records: dict[tuple[str, str], list[Result | Failure]] = {}
    every: tuple[Result | Failure, ...] = (*results, *run.failures)
    for record in every:
        if record.kind in AUDITS:
            records.setdefault((record.learner, canonical(record.parameters)), []).append(record)
    # Results come in as tasks end, whose order depends on the workers; the plan's does not.
    places = {id: min(record.index for record in own) for id, own in records.items()}
    known = {record.task for own in records.values() for record in own}
    pending: dict[tuple[str, str], list[str]] = defaultdict(list)
    for place, planned in enumerate(run.header.plan):
        if planned.kind in AUDITS and planned.task not in known:
            # The parameters of a task that was not run are unknown: it counts for the learner's first row.
            id = next((id for id in places if id[0] == planned.learner), (planned.learner, ""))
            places.setdefault(id, place)
            pending[id].append(planned.kind)
    rows = [_row(run, id[0], records.get(id, ()), pending[id]) for id in sorted(places, key=places.__getitem__)]
    unplanned = ((_row(run, fault.learner, (), ()), [("plan", fault.error)]) for fault in run.header.faults)
    return [*rows, *(replace(row, failures=failures) for row, failures in unplanned)]


def _row(run: Run, learner: str, records: Sequence[Result | Failure], pending: Sequence[str]) -> Row:
    views = [view_of(record) for record in records if isinstance(record, Result)]
    listed = run.listed.get(learner, Listed(""))
    return Row(
        learner,
        records[0].parameters if records else {},
        views,
        fault=next((view.fault for view in views if view.fault is not None), run.header.controls.get(learner)),
        failures=[(record.kind, record.error) for record in records if isinstance(record, Failure)],
        pending=pending,
        accepted=listed.accepted,
        audit=listed.name,
    )


def _label(row: Row, rows: Sequence[Row]) -> str:
    """Return the learner's id, with the parameters in which it differs from other rows of the learner."""
    others = [one.parameters for one in rows if one.learner == row.learner and one.parameters != row.parameters]
    if not others:
        return row.learner
    own = {name: v for name, v in row.parameters.items() if any(name not in p or p[name] != v for p in others)}
    shown = sorted((own or row.parameters).items())
    return f"{row.learner} ({', '.join(f'{name}={json.dumps(value, sort_keys=True)}' for name, value in shown)})"
