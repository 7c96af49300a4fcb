"""Performs a task: the learner is built and audited, or the statement checked; the finding becomes a record."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace
from numpy.typing import NDArray

from dpaudit.audit.audit import audit_privacy
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Distribution
from dpaudit.engine.arguments import (
    ExactArguments,
    LedgerArguments,
    PictureArguments,
    PrivacyArguments,
    UtilityArguments,
)
from dpaudit.engine.decoding import decoded
from dpaudit.engine.drawing import draw_picture
from dpaudit.engine.evidence import check_statement
from dpaudit.engine.findings import PictureFinding
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task
from dpaudit.exact.audit import audit_law
from dpaudit.exact.composition import tabulate
from dpaudit.exact.finding import LawFinding
from dpaudit.jsonable import jsonable
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.named import pairs_of_source
from dpaudit.progress import Progress
from dpaudit.registry import PRIVATE, load
from dpaudit.registry.import_spec import send_by_value
from dpaudit.utility.audit import audit_utility
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.hard_cases import hard_cases

__all__ = ["perform"]


def perform(
    task: Task, *, seed: int, paths: tuple[str, ...] = (), n_jobs: int = 1, progress: Progress = False
) -> Result:
    """Run one audit, or check one statement, and return its record.

    The record of an audit also holds the learner's claim and, for a positive control, its fault; that of an audit of
    privacy, what the outputs stand for that its finding names.

    Parameters
    ----------
    task : Task
        The task.
    seed : int
        The root seed of the run; the audits derive their streams from it and from what they audit.
    paths : tuple of str
        Files and folders with learners, besides the installed packages.
    n_jobs : int
        Processes for this one audit; checks of statements use one.
    progress : bool or callable
        As for the audits.
    """
    arguments = task.arguments
    if isinstance(arguments, LedgerArguments):
        statement = load(paths).get_statement(task.learner).statement
        row = check_statement(statement, paths=paths, time_limit=arguments.time_limit)
        return Result(task=task.key, learner=task.learner, parameters={}, arguments=arguments, finding=row)
    entry = load(paths).get(task.learner)
    learner = entry.build(**task.parameters)
    package = entry.learner.__module__.partition(".")[0]
    if n_jobs != 1 and package.startswith(PRIVATE):
        send_by_value(package)
    finding = _audit(arguments, learner, seed=seed, n_jobs=n_jobs, progress=progress)
    return Result(
        task=task.key,
        learner=task.learner,
        parameters=jsonable(task.parameters),
        arguments=arguments,
        finding=finding,
        fault=entry.fault,
        claim=learner.privacy,
        decoded=decoded(learner, finding),
    )


@singledispatch
def _audit(arguments: Any, learner: Any, **options: Any) -> Any:
    """Make one audit; the type of its arguments says which."""
    raise TypeError(f"no audit takes {arguments!r:.100}")


@_audit.register
def _exact(arguments: ExactArguments, learner: Any, *, seed: int, n_jobs: int, progress: Progress) -> LawFinding:
    """Enumerate; there is nothing to draw and nothing to spread over processes."""
    chosen: dict[str, Any] = {"n": arguments.n}
    if arguments.samples == "crafted":
        chosen = {"samples": crafted_pairs(learner.domain, arguments.n, arguments.relation)}
    finding = audit_law(
        learner, **chosen, relation=arguments.relation, enclosure=arguments.enclosure, progress=progress
    )
    if arguments.compose is None:
        return finding
    return replace(finding, composition=tabulate(finding.profiles, arguments.compose, finding.grade))


@_audit.register
def _privacy(
    arguments: PrivacyArguments, learner: Any, *, seed: int, n_jobs: int, progress: Progress
) -> PrivacyFinding:
    chosen = asdict(arguments)
    source = chosen.pop("pairs")
    if source is not None:
        pairs = pairs_of_source(source, learner, n=chosen.pop("n"), relation=arguments.relation, seed=seed)
        chosen["pairs"] = pairs
    return audit_privacy(learner, **chosen, seed=seed, n_jobs=n_jobs, progress=progress)


@_audit.register
def _utility(
    arguments: UtilityArguments, learner: Any, *, seed: int, n_jobs: int, progress: Progress
) -> UtilityFinding:
    concept = arguments.concept
    distribution: Distribution | str = "uniform"
    noise: NDArray[np.float64] | float | None = arguments.noise
    if arguments.case_index is not None:
        case = hard_cases(learner, arguments.alpha, arguments.setting)[arguments.case_index]
        concept = case.concept_code if concept is None else concept
        distribution = case.distribution
        noise = case.noise if noise is None else noise
    return audit_utility(
        learner,
        0 if concept is None else concept,
        distribution,
        alpha=arguments.alpha,
        beta=arguments.beta,
        n=arguments.n,
        trials=arguments.trials,
        most=arguments.most,
        confidence=arguments.confidence,
        setting=arguments.setting,
        noise=noise,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )


@_audit.register
def _picture(
    arguments: PictureArguments, learner: Any, *, seed: int, n_jobs: int, progress: Progress
) -> PictureFinding:
    return draw_picture(learner, arguments.n, arguments.runs, seed)
