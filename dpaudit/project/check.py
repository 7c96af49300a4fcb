"""Audits the mechanisms of a project, one after the other, each on its own: one that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from dpaudit.audit.audit import audit_privacy
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import OPTIONS
from dpaudit.contract import HasLaw, Verdict, exit_status
from dpaudit.engine.arguments import Arguments, ExactArguments, PrivacyArguments
from dpaudit.engine.outcome import leaves_open, refutes
from dpaudit.engine.records import Result, decoded
from dpaudit.engine.tasks import Task
from dpaudit.errors import DpauditError, InputError
from dpaudit.exact.audit import audit_law
from dpaudit.exact.finding import LawFinding
from dpaudit.jsonable import jsonable
from dpaudit.project.history import Standing, standing_of
from dpaudit.project.settings import Audit, read_project
from dpaudit.project.subject import Subject, subject_of
from dpaudit.report.findings import OneAudit, because
from dpaudit.running.child import Child
from dpaudit.running.processes import ChildDied, can_fork

__all__ = ["Checked", "Listener", "check", "estimate", "status"]

Listener = Callable[[int, int, str, float], None]
"""Called with how many audits are done, of how many, the name of the next, and the share of its runs that are made."""

ESTIMATED_SECONDS = 0.2
"""A mechanism is run for about so long to estimate how long its audit will take."""


class Checked(NamedTuple):
    """The row of an audit, and its results as a run stores them: none if it failed."""

    row: Standing
    results: tuple[Result, ...]


def check(
    settings: Path,
    names: Iterable[str] = (),
    *,
    n_jobs: int = 1,
    listener: Listener = lambda *step: None,
    keep: Callable[[Checked], None] = lambda one: None,
    timeout: float | None = None,
    time_limit: float | None = None,
    alone: bool = False,
) -> tuple[Checked, ...]:
    """Audit the mechanisms of a project, in the order of its settings.

    Parameters
    ----------
    settings : Path
        ``audit.toml`` or a ``pyproject.toml``; `find_settings` finds those of a folder.
    names : iterable of str
        The audits to make; all by default.
    n_jobs : int
        Processes, as joblib counts them; no number depends on them.
    listener : callable, optional
        Called before each audit, during it, and after the last one.
    keep : callable, optional
        Called with each audit when it is done, so that an interrupted check loses one at most.
    timeout, time_limit : float, optional
        The most seconds of a run, and of each audit, where the settings say nothing of it.
    alone : bool
        Whether each audit is made in a copy of this process, so that one which ends its process has failed alone. Only
        where processes fork.

    Returns
    -------
    tuple of Checked
        A mechanism that cannot be audited has a row with the verdict "failed" and the error.

    Raises
    ------
    InputError
        If the settings are not there or wrong, or there is no audit of a name.
    """
    found: list[Checked] = []
    chosen = read_project(settings).chosen(names)
    limits = {"timeout": timeout, "time_limit": time_limit}
    for i, each in enumerate(chosen):
        audit = replace(each, **{name: limit for name, limit in limits.items() if getattr(each, name) is None})
        tell = partial(listener, i, len(chosen), audit.name)
        tell(0.0)
        options = {"n_jobs": n_jobs, "progress": partial(_share, tell)}
        make = _alone if alone and can_fork() else _checked
        found.append(make(audit, settings.resolve().parent, options))
        keep(found[-1])
    listener(len(chosen), len(chosen), "", 1.0)
    return tuple(found)


def status(rows: Iterable[Standing], *, allow_no_evidence: bool = False) -> int:
    """Return the exit status of a check.

    2 if an audit failed, else 1 for a violation that is not accepted, else 3 where one could have seen no leak, else 0.
    """
    return exit_status((row.verdict for row in rows), allow_open=allow_no_evidence)


def estimate(settings: Path, names: Iterable[str] = ()) -> dict[str, float | str]:
    """Return about how many seconds the runs of each audit will take, by its name; the error of one that fails.

    Each mechanism is run on one input for about a fifth of a second. What the audit spends beside the runs, a second or
    two, is not counted.
    """
    found: dict[str, float | str] = {}
    for audit in read_project(settings).chosen(names):
        try:
            with subject_of(audit, settings.resolve().parent) as subject:
                found[audit.name] = _seconds(subject)
        except DpauditError as error:
            found[audit.name] = str(error)
    return found


def _share(tell: Callable[[float], None], done: int, total: int) -> None:
    tell(done / total)


def _alone(audit: Audit, root: Path, options: dict[str, Any]) -> Checked:
    """Return the row of one audit that a copy of this process makes."""
    child = Child(lambda emit: _checked(audit, root, options))
    try:
        _, checked = child.call()
    except DpauditError as error:
        why = f"the audit {error}" if isinstance(error, ChildDied) else str(error)
        return Checked(Standing(name=audit.name, mechanism=audit.mechanism, verdict=Verdict.FAILED, why=why), ())
    finally:
        child.close()
    return Checked(*checked)


def _checked(audit: Audit, root: Path, options: dict[str, Any]) -> Checked:
    """Return the row of one audit; it holds the error of a mechanism that cannot be audited."""
    try:
        with subject_of(audit, root) as subject:
            results = (*([_exact(audit, subject)] if audit.exact else []), _blackbox(audit, subject, options))
    except DpauditError as error:
        return Checked(Standing(name=audit.name, mechanism=audit.mechanism, verdict=Verdict.FAILED, why=str(error)), ())
    findings = [one.finding for one in results if isinstance(one.finding, PrivacyFinding | LawFinding)]
    loud = (one for one in results if refutes(one) or leaves_open(one))
    why = next((because(one.finding, one.decoded or None) for one in loud if isinstance(one.finding, OneAudit)), "")
    return Checked(standing_of(audit.name, audit.mechanism, *findings, why=why, accepted=audit.accepted), results)


def _blackbox(audit: Audit, subject: Subject, options: dict[str, Any]) -> Result:
    """Return the result of the black-box audit."""
    finding = audit_privacy(subject.mechanism, **subject.arguments, **options)
    stored = {name: value for name, value in subject.arguments.items() if name in OPTIONS}
    stored |= {"pairs": subject.source, "data": audit.data}  # by name: a report holds no records
    return _result(audit, subject, PrivacyArguments(**stored), finding)


def _exact(audit: Audit, subject: Subject) -> Result:
    """Return the result by exact laws, on all samples if there are few enough, else on the crafted ones."""
    learner, relation = subject.learner, subject.arguments["relation"]
    if learner is None or not isinstance(learner, HasLaw):
        raise InputError(f"exact is for learners with an exact law; {audit.mechanism} has none")
    every = learner.instance.exhaustive and subject.n is not None
    given = {"n": subject.n} if every else {"samples": subject.pairs()}
    finding = audit_law(learner, relation=relation, **given)
    samples: Literal["all", "crafted"] = "all" if every else "crafted"
    n = learner.instance.n if subject.n is None else subject.n
    return _result(audit, subject, ExactArguments(n=n, relation=finding.relation, samples=samples), finding)


def _result(audit: Audit, subject: Subject, arguments: Arguments, finding: PrivacyFinding | LawFinding) -> Result:
    """Return a finding as a run stores it."""
    learner = subject.learner
    return Result(
        task=Task(audit.mechanism, audit.parameters, arguments).key,
        learner=audit.mechanism,
        parameters=jsonable(audit.parameters),
        arguments=arguments,
        finding=finding,
        claim=None if learner is None else learner.privacy,
        decoded={} if learner is None else decoded(learner, finding),
    )


def _seconds(subject: Subject) -> float:
    """Return about how long the runs of an audit take."""
    trials, runs = int(subject.arguments["trials"]), 1
    while (spent := subject.timed(runs)) < ESTIMATED_SECONDS and runs < trials:
        runs = min(4 * runs, trials)
    return spent / runs * 2 * trials * len(subject.pairs())
