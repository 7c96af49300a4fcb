"""Checks that a stored record is consistent: each number agrees with the others, and the record with its header."""

from __future__ import annotations

from typing import Any

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import PrivacyClaim
from dpaudit.engine.arguments import ExactArguments, PrivacyArguments, UtilityArguments
from dpaudit.engine.recomputed import at_most, recomputed
from dpaudit.engine.records import Failure, Header, LedgerRow, Result
from dpaudit.engine.tasks import Task
from dpaudit.errors import ToolFault
from dpaudit.exact.finding import LawFinding
from dpaudit.utility.finding import UtilityFinding

_OF_THE_TASK = {
    "privacy": ("confidence",),
    "exact": ("relation",),
    "utility": ("alpha", "beta", "n", "confidence", "setting"),
    "ledger": ("statement",),
    "picture": ("runs",),
}
"""The fields of a finding of each kind that are those of the arguments of its task."""


def check_record(header: Header, record: Result | Failure) -> None:
    """Raise `ToolFault` unless a record is that of its task in the plan and, of a result, its finding is consistent.

    The fields of a finding are compared with each other (verdict with bound and claim, counts with runs), with the
    arguments of its task, with the learner's claim, and with seed, controls and versions in the header.
    """
    planned = header.plan[record.index] if record.index < len(header.plan) else None
    if planned is None or planned.task != record.task:
        raise ToolFault(f"{record.task!r:.200} is not task {record.index} of the plan")
    _same("learner", record.learner, planned.learner, "the plan")
    _same("kind", record.kind, planned.kind, "the plan")
    if isinstance(record, Result):
        _check_finding(header, record)
    key = Task(record.learner, record.parameters, record.arguments).key
    if key != record.task:
        raise ToolFault(f"learner, parameters and arguments are those of {key:.200}, not of {record.task:.200}")
    if isinstance(record, Result):
        _same("fault", record.fault, header.controls.get(record.learner), "the header")
        _same("versions", record.finding.versions, header.versions, "the header")


def _check_finding(header: Header, record: Result) -> None:
    """Raise `ToolFault` unless a finding agrees with itself, the header, the arguments of its task, and the claim."""
    finding, arguments, claim = record.finding, record.arguments, record.claim
    if not isinstance(finding, LawFinding | LedgerRow):
        _same("seed", finding.seed, header.seed, "the header")
    for name in _OF_THE_TASK[record.kind]:
        _same(name, getattr(finding, name), getattr(arguments, name), "the task")
    if isinstance(finding, PrivacyFinding) and isinstance(arguments, PrivacyArguments):
        _check_privacy(finding, arguments, claim)
    elif isinstance(finding, LawFinding) and isinstance(arguments, ExactArguments):
        if arguments.samples == "all":
            _same("n", finding.n, arguments.n, "the task")
        _same("claimed_epsilon", finding.claimed_epsilon, claim and claim.epsilon, "the claim")
        _same("claimed_delta", finding.claimed_delta, claim.delta if claim else 0.0, "the claim")
    elif isinstance(finding, UtilityFinding) and isinstance(arguments, UtilityArguments):
        at_most("trials", finding.trials, max(arguments.trials, arguments.most or 0))
        at_most("the trials planned", arguments.trials, finding.trials)
    elif isinstance(finding, LedgerRow):
        _same("id", finding.id, record.learner, "the plan")
    recomputed(finding)


def _check_privacy(finding: PrivacyFinding, arguments: PrivacyArguments, claim: PrivacyClaim | None) -> None:
    if arguments.time_limit is None:
        _same("trials", finding.trials, arguments.trials, "the task")
    else:
        at_most("trials", finding.trials, arguments.trials)
    # Of a claim that is a curve the audit states a point of its own choice.
    for name in ("epsilon", "delta") if finding.curve_test is None else ():
        asked = getattr(arguments, name)
        if asked is None and claim is not None:
            asked = getattr(claim, name)
        if asked is not None:
            _same(name, getattr(finding, name), asked, "the claim")


def _same(name: str, found: Any, other: Any, where: str) -> None:
    if found != other:
        raise ToolFault(f"{name} {found!r:.200} is not that of {where}, {other!r:.200}")
