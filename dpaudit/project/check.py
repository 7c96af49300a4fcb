"""Audits the mechanisms of a project, one after the other, each on its own: one that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from dpaudit.blackbox.audit import audit_privacy
from dpaudit.blackbox.finding import PrivacyFinding
from dpaudit.contract import HasLaw, PrivacyVerdict
from dpaudit.errors import DpauditError, InputError
from dpaudit.exact.audit import audit_law
from dpaudit.exact.finding import LawFinding
from dpaudit.project.rows import Row, Verdict, row_of
from dpaudit.project.settings import Audit, Project, find_settings, read_project
from dpaudit.project.subject import Subject, subject_of
from dpaudit.reporters.brief import brief_lines

__all__ = ["Listener", "check", "estimate", "status"]

Listener = Callable[[int, int, str], None]
"""Is told how many audits are done, of how many, and the name of the next."""

ESTIMATED_SECONDS = 0.2
"""A mechanism is run for about so long to estimate how long its audit will take."""


def check(
    path: Path | str | None = None,
    names: Iterable[str] = (),
    *,
    n_jobs: int = 1,
    listener: Listener | None = None,
) -> tuple[Row, ...]:
    """Audit the mechanisms of a project and return a row for each, in the order of the settings.

    Parameters
    ----------
    path : Path or str, optional
        The settings, ``audit.toml`` or a ``pyproject.toml``; by default those of the current folder, or above it.
    names : iterable of str
        The audits to make; all by default.
    n_jobs : int
        Processes, as joblib counts them; no number depends on them.
    listener : callable, optional
        Is told before each audit, and after the last one.

    Returns
    -------
    tuple of Row
        A mechanism that cannot be audited has a row with the verdict "failed" and the error.

    Raises
    ------
    InputError
        If there are no settings, they are wrong, or there is no audit of a name.
    """
    where, project = _settings(path)
    chosen = project.chosen(names)
    rows = []
    for i, audit in enumerate(chosen):
        if listener is not None:
            listener(i, len(chosen), audit.name)
        rows.append(_checked(audit, project, where.parent, n_jobs))
    if listener is not None:
        listener(len(chosen), len(chosen), "")
    return tuple(rows)


def status(rows: Iterable[Row], *, allow_no_evidence: bool = False) -> int:
    """Return the exit status of a check.

    2 if an audit failed, else 1 for a violation that is not accepted, else 3 where one could have seen no leak, else 0.
    """
    verdicts = {row.verdict for row in rows}
    if Verdict.FAILED in verdicts:
        return 2
    if Verdict.VIOLATION in verdicts:
        return 1
    return 3 if Verdict.NO_EVIDENCE in verdicts and not allow_no_evidence else 0


def estimate(path: Path | str | None = None, names: Iterable[str] = ()) -> dict[str, float | str]:
    """Return about how many seconds the runs of each audit will take, by its name; the error of one that fails.

    Each mechanism is run on one input for about a fifth of a second. What the audit spends beside the runs, a second or
    two, is not counted.
    """
    where, project = _settings(path)
    found: dict[str, float | str] = {}
    for audit in project.chosen(names):
        try:
            with subject_of(audit, project, where.parent) as subject:
                found[audit.name] = _seconds(subject)
        except DpauditError as error:
            found[audit.name] = str(error)
    return found


def _settings(path: Path | str | None) -> tuple[Path, Project]:
    where = find_settings() if path is None else Path(path).resolve()
    if not where.is_file():
        raise InputError(f"there is no file {str(where)!r}")
    return where, read_project(where)


def _checked(audit: Audit, project: Project, root: Path, n_jobs: int) -> Row:
    """Return the row of one audit; a fault of the mechanism's file, or of the tool, is told in it."""
    try:
        with subject_of(audit, project, root) as subject:
            findings: list[PrivacyFinding | LawFinding] = [_exact(audit, subject)] if audit.exact else []
            findings.append(audit_privacy(subject.mechanism, **subject.arguments, n_jobs=n_jobs))
    except DpauditError as error:
        return Row(name=audit.name, mechanism=audit.mechanism, verdict=Verdict.FAILED, why=str(error))
    why = next((_because(one) for one in findings if one.verdict == PrivacyVerdict.VIOLATION), "")
    return row_of(audit.name, audit.mechanism, *findings, why=why, accepted=audit.accepted)


def _exact(audit: Audit, subject: Subject) -> LawFinding:
    """Return the finding by exact laws, on all samples if there are few enough, else on the crafted ones."""
    learner = subject.learner
    if learner is None or not isinstance(learner, HasLaw):
        raise InputError(f"exact is for learners with an exact law; {audit.mechanism} has none")
    if learner.instance.exhaustive and audit.n is None:
        return audit_law(learner, relation=subject.arguments["relation"])
    return audit_law(learner, samples=subject.pairs(), relation=subject.arguments["relation"])


def _because(finding: PrivacyFinding | LawFinding) -> str:
    """Return what shows a violation."""
    return dict(brief_lines(finding))["because"]


def _seconds(subject: Subject) -> float:
    """Return about how long the runs of an audit take."""
    trials, runs = int(subject.arguments["trials"]), 1
    while (spent := subject.timed(runs)) < ESTIMATED_SECONDS and runs < trials:
        runs = min(4 * runs, trials)
    return spent / runs * 2 * trials * len(subject.pairs())
