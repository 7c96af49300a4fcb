"""Checks that a stored record is consistent: each number agrees with the others, and the record with its header."""

from __future__ import annotations

import math
from typing import Any

from msgspec import UNSET

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.contract import PrivacyClaim, Verdict
from dpaudit.engine.arguments import ExactArguments, PrivacyArguments, UtilityArguments
from dpaudit.engine.records import Failure, Header, LedgerRow, Result
from dpaudit.engine.tasks import Task
from dpaudit.errors import ToolFault
from dpaudit.events.families import likelier_first
from dpaudit.exact.finding import LawFinding
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.interval import is_vacuous, verdict

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
        _check_exact(finding, arguments, claim)
    elif isinstance(finding, UtilityFinding) and isinstance(arguments, UtilityArguments):
        _check_utility(finding, arguments)
    elif isinstance(finding, LedgerRow):
        _same("id", finding.id, record.learner, "the plan")


def _check_privacy(finding: PrivacyFinding, arguments: PrivacyArguments, claim: PrivacyClaim | None) -> None:
    if arguments.time_limit is None:
        _same("trials", finding.trials, arguments.trials, "the task")
    else:
        _at_most("trials", finding.trials, arguments.trials)
    # Of a claim that is a curve the audit states a point of its own choice.
    for name in ("epsilon", "delta") if finding.curve_test is None else ():
        asked = getattr(arguments, name)
        if asked is None and claim is not None:
            asked = getattr(claim, name)
        if asked is not None:
            _same(name, getattr(finding, name), asked, "the claim")
    # In sequential audits stored before, verdict and bound are two statements, and the bound may be below the claim.
    refuted = finding.epsilon_lower > finding.epsilon or (
        finding.curve_test is not None and finding.curve_test.by_holder
    )
    stands = finding.verdict == Verdict.VIOLATION
    meaningless = any(check.meaningless for check in finding.checks)
    if (refuted and not stands and not meaningless) or (finding.design == "fixed" and stands > refuted):
        raise ToolFault(f"{finding.verdict} with epsilon >= {finding.epsilon_lower} and a claim of {finding.epsilon}")
    if finding.tests and max(test.epsilon_lower for test in finding.tests) != finding.epsilon_lower:
        raise ToolFault(f"epsilon >= {finding.epsilon_lower} is not the best bound of its tests")
    _check_counts(finding)
    if not math.isclose(math.fsum(finding.errors.values()), 1 - finding.confidence, rel_tol=1e-9):
        raise ToolFault(f"errors {finding.errors} do not add up to 1 - {finding.confidence}")


def _check_counts(finding: PrivacyFinding) -> None:
    runs, witness = finding.confirmation_trials, finding.witness
    if finding.design != "fixed":
        _at_most("budget used", finding.budget["used"], finding.budget["allowed"])
        _same("confirmation_trials", runs, finding.budget["used"] // 2, "its budget")
        return
    if finding.stopped is UNSET or finding.stopped.looks is None:
        _same("confirmation_trials", runs, finding.budget["confirmation"], "its budget")
    else:
        _at_most("confirmation_trials", runs, finding.budget["confirmation"])
    sides = witness.trials or 0, witness.neighbour_trials or 0
    _same("runs of the witness", sum(sides), 2 * runs, "confirmation_trials")
    data, neighbour = likelier_first(witness.direction, *sides)
    stored = (finding.representation,) if finding.representation is not None else ()
    for counted in (witness, *finding.tests, *stored):
        first, other = likelier_first(counted.direction, data, neighbour)
        _at_most("hits", counted.hits or 0, first)
        _at_most("neighbour_hits", counted.neighbour_hits or 0, other)
    for test in (*finding.tests, *stored):
        if test.count is not UNSET:
            _at_most("right guesses", test.count.right, test.count.guesses)
            if not finding.delta:
                lower = float(epsilon_lower(test.count.right, test.count.guesses, test.error))
                if not math.isclose(lower, test.epsilon_lower, rel_tol=1e-9, abs_tol=1e-12):
                    raise ToolFault(f"epsilon >= {test.epsilon_lower} of an event, whose guesses give {lower}")


def _check_exact(finding: LawFinding, arguments: ExactArguments, claim: PrivacyClaim | None) -> None:
    if arguments.samples == "all":
        _same("n", finding.n, arguments.n, "the task")
    _same("claimed_epsilon", finding.claimed_epsilon, claim and claim.epsilon, "the claim")
    _same("claimed_delta", finding.claimed_delta, claim.delta if claim else 0.0, "the claim")
    stands = finding.verdict == Verdict.VIOLATION
    if finding.claimed_epsilon is None:
        possible = not stands
    elif finding.claimed_delta:  # the error of delta is not stored
        possible = finding.delta_at_claim > finding.claimed_delta or not stands
    else:
        least = finding.epsilon - finding.error if finding.enclosure is None else finding.enclosure[0]
        possible = (least > finding.claimed_epsilon) == stands
    if not possible:
        found = f"{finding.verdict} with epsilon {finding.epsilon}, delta {finding.delta_at_claim} at the claim"
        raise ToolFault(f"{found}, and a claim of {finding.claimed_epsilon}, {finding.claimed_delta}")


def _check_utility(finding: UtilityFinding, arguments: UtilityArguments) -> None:
    _at_most("trials", finding.trials, max(arguments.trials, arguments.most or 0))
    _at_most("the trials planned", arguments.trials, finding.trials)
    _at_most("failures", finding.failures, finding.trials)
    _same("failure_rate", finding.failure_rate, finding.failures / finding.trials, "its counts")
    lower, upper = finding.failure_lower, finding.failure_upper
    if not lower <= finding.failure_rate <= upper:
        raise ToolFault(f"a failure rate of {finding.failure_rate} is not in its interval from {lower} to {upper}")
    # The number of concepts is not at hand: two make the most claims vacuous, ever more of them the fewest.
    judged = [
        str(verdict(lower, upper, finding.beta, is_vacuous(finding.alpha, finding.beta, finding.setting, concepts)))
        for concepts in (2**64, 2)
    ]
    if finding.verdict not in judged:
        _same("verdict", str(finding.verdict), judged[0], "its interval")


def _same(name: str, found: Any, other: Any, where: str) -> None:
    if found != other:
        raise ToolFault(f"{name} {found!r:.200} is not that of {where}, {other!r:.200}")


def _at_most(name: str, found: int, most: int) -> None:
    if found > most:
        raise ToolFault(f"{name} {found:.6g} are more than {most:.6g}")
