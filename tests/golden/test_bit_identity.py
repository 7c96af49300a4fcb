"""A run that was stored once, and the same tasks done today: every number is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from stored_numbers import numbers_of, same

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.events.event import Cells
from dpaudit.evidence.perform import perform
from dpaudit.evidence.records import Result
from dpaudit.evidence.store import load_run
from dpaudit.evidence.tasks import Task
from dpaudit.record import encodable
from dpaudit.report.words.events import event_words

BEFORE = load_run(Path(__file__).parent / "run_pinned.jsonl")


def events_of(result: Result) -> list[str]:
    """Return the events of a black-box audit in words."""
    finding = result.finding
    if not isinstance(finding, PrivacyFinding):
        return []
    events = (finding.witness.event, *(test.event for test in finding.tests))
    # The run that was stored is older than the values as reports list them.
    return [event_words(replace(one, shown=UNSET) if isinstance(one, Cells) else one) for one in events]


# Tasks that take seconds, whose events nearly tie, and audits of privacy in the same design as of the other learners.
DEAR = {
    "broken-threshold-doubled/privacy/n4-a1a18aec36", "point-exponential/privacy/n4-0106ae660d",
    "threshold-exponential/privacy/n4-5268a7aa96",
    "convex-polygon/privacy/n2-c6c3b7e5a6", "disc-union/privacy/n2-ac70c3f359",
    "hull-point-exponential/privacy/n3-1f8192634c",
}  # fmt: skip


@pytest.mark.parametrize(
    "before",
    [pytest.param(r, marks=[pytest.mark.full] if r.task in DEAR else [], id=r.task) for r in BEFORE.results],
)
def test_a_task_finds_today_what_it_found_before(before: Result) -> None:
    task = Task(before.learner, before.parameters, before.arguments)
    assert task.key == before.task
    today = perform(task, seed=BEFORE.header.seed)
    assert same(numbers_of(encodable(before)), numbers_of(encodable(today))), (before, today)
    assert events_of(before) == events_of(today)


def test_the_run_holds_every_kind_of_audit_on_controls_and_others() -> None:
    found = {(result.kind, result.fault is not None) for result in BEFORE.results}
    assert found == {
        ("exact", False), ("exact", True), ("picture", False), ("privacy", False), ("privacy", True), ("utility", False)
    }  # fmt: skip
    assert {result.finding.design for result in BEFORE.results if result.kind == "privacy"} == {"fixed", "sequential"}
    assert len(BEFORE.results) == len(BEFORE.header.plan) == 80


def test_the_comparison_sees_another_seed() -> None:
    before = next(result for result in BEFORE.results if result.task.startswith("threshold-exponential/privacy/n3"))
    today = perform(Task(before.learner, before.parameters, before.arguments), seed=BEFORE.header.seed + 1)
    told = encodable(today)
    told["finding"]["seed"] = BEFORE.header.seed
    assert not same(numbers_of(encodable(before)), numbers_of(told))
