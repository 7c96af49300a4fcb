"""Audits the mechanisms of a project, one after the other, each on its own: one that fails stops no other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from dpaudit.arguments import check_built
from dpaudit.audit.audit import audit_privacy
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import OPTIONS
from dpaudit.contract import HasLaw, Learner, Pair, Relation, Verdict, exit_status
from dpaudit.engine.arguments import Arguments, ExactArguments, PrivacyArguments
from dpaudit.engine.outcome import leaves_open, refutes
from dpaudit.engine.records import Result, decoded
from dpaudit.engine.tasks import Task
from dpaudit.errors import DpauditError, InputError, blamed
from dpaudit.exact.audit import audit_law
from dpaudit.exact.finding import LawFinding
from dpaudit.jsonable import jsonable
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.named import is_source, pairs_at, pairs_beside, pairs_of_source
from dpaudit.neighbours.own_data.files import read_dataset
from dpaudit.neighbours.own_data.pairs import neighbours_of
from dpaudit.project.history import Standing, standing_of
from dpaudit.project.settings import Audit, Project, read_project
from dpaudit.registry import load
from dpaudit.registry.import_spec import Place, importable, is_place
from dpaudit.report.brief import because, next_step, no_power
from dpaudit.running.adapters import as_mechanism
from dpaudit.running.child import Child
from dpaudit.running.processes import ChildDied, can_fork

__all__ = ["Checked", "Listener", "Subject", "check", "estimate", "status", "subject_of"]

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
    project = read_project(settings)
    chosen = project.chosen(names)
    found = []
    for i, each in enumerate(chosen):
        audit = _limited(each, timeout, time_limit)
        tell = partial(listener, i, len(chosen), audit.name)
        tell(0.0)
        options = {"n_jobs": n_jobs, "progress": partial(_share, tell)}
        make = _alone if alone and can_fork() else _checked
        found.append(make(audit, project, settings.resolve().parent, options))
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
    project = read_project(settings)
    found: dict[str, float | str] = {}
    for audit in project.chosen(names):
        try:
            with subject_of(audit, project, settings.resolve().parent) as subject:
                found[audit.name] = _seconds(subject)
        except DpauditError as error:
            found[audit.name] = str(error)
    return found


def _share(tell: Callable[[float], None], done: int, total: int) -> None:
    tell(done / total)


def _limited(audit: Audit, timeout: float | None, time_limit: float | None) -> Audit:
    """Return an audit with limits that its settings leave open."""
    given = {"timeout": timeout, "time_limit": time_limit}
    return replace(audit, **{name: value for name, value in given.items() if getattr(audit, name) is None})


def _alone(audit: Audit, project: Project, root: Path, options: dict[str, Any]) -> Checked:
    """Return the row of one audit that a copy of this process makes."""
    child = Child(lambda emit: _checked(audit, project, root, options))
    try:
        _, checked = child.call()
    except DpauditError as error:
        why = f"the audit {error}" if isinstance(error, ChildDied) else str(error)
        return Checked(Standing(name=audit.name, mechanism=audit.mechanism, verdict=Verdict.FAILED, why=why), ())
    finally:
        child.close()
    return Checked(*checked)


def _checked(audit: Audit, project: Project, root: Path, options: dict[str, Any]) -> Checked:
    """Return the row of one audit; it holds the error of a mechanism that cannot be audited."""
    try:
        with subject_of(audit, project, root) as subject:
            results = (*([_exact(audit, subject)] if audit.exact else []), _blackbox(audit, subject, options))
    except DpauditError as error:
        return Checked(Standing(name=audit.name, mechanism=audit.mechanism, verdict=Verdict.FAILED, why=str(error)), ())
    why = next((_because(one) for one in results if refutes(one) or leaves_open(one)), "")
    findings = [one.finding for one in results if isinstance(one.finding, PrivacyFinding | LawFinding)]
    return Checked(standing_of(audit.name, audit.mechanism, *findings, why=why, accepted=audit.accepted), results)


def _blackbox(audit: Audit, subject: Subject, options: dict[str, Any]) -> Result:
    """Return the result of the black-box audit."""
    finding = audit_privacy(subject.mechanism, **subject.arguments, **options)
    stored = {name: value for name, value in subject.arguments.items() if name in OPTIONS and name != "pairs"}
    return _result(audit, subject, PrivacyArguments(**stored, pairs=subject.source), finding)


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


def _because(result: Result) -> str:
    """Return what shows a violation; or why a leak could not have been detected, and what to do about it."""
    finding = result.finding
    assert isinstance(finding, PrivacyFinding | LawFinding)
    if isinstance(finding, PrivacyFinding) and not refutes(result):
        return f"{no_power(finding)}; {next_step(finding)}"
    return because(finding, result.decoded or None)


def _seconds(subject: Subject) -> float:
    """Return about how long the runs of an audit take."""
    trials, runs = int(subject.arguments["trials"]), 1
    while (spent := subject.timed(runs)) < ESTIMATED_SECONDS and runs < trials:
        runs = min(4 * runs, trials)
    return spent / runs * 2 * trials * len(subject.pairs())


_INPUTS = ("pairs", "data", "bounds", "unit", "n")
"""Options that say on what a mechanism is audited."""


@dataclass(frozen=True)
class Subject:
    """A mechanism that is about to be audited.

    Attributes
    ----------
    mechanism : Learner or callable
        The mechanism.
    arguments : dict
        The keyword arguments of `audit_privacy`.
    source : str or None
        Where the pairs are from, in the words of the settings; None for crafted ones.
    """

    mechanism: Any
    arguments: dict[str, Any]
    source: str | None = None

    @property
    def learner(self) -> Learner | None:
        """The mechanism if it is a learner, else None."""
        return self.mechanism if isinstance(self.mechanism, Learner) else None

    @property
    def n(self) -> int | None:
        """Examples in crafted samples; None where pairs are given."""
        if self.learner is None or self.arguments.get("pairs") is not None:
            return None
        n: int = self.arguments.get("n") or self.learner.instance.n
        return n

    def pairs(self) -> list[Any]:
        """Return the pairs that its audit begins with."""
        if self.arguments.get("data") is not None:
            of_data = {name: self.arguments[name] for name in ("bounds", "unit", "seed")}
            relation = self.arguments["relation"] or Relation.ADD_REMOVE_ONE
            return neighbours_of(self.arguments["data"], relation, **of_data)
        given = self.arguments.get("pairs")
        if given is not None or self.learner is None:
            return list(given or ())
        claim, n, relation = self.learner.privacy, self.n, self.arguments["relation"]
        assert n is not None
        relation = relation or (claim.relation if claim else Relation.REPLACE_ONE)
        return crafted_pairs(self.learner.domain, n, relation)

    def timed(self, runs: int) -> float:
        """Return how many seconds so many runs on one side of the first pair take; one call makes all of them."""
        first = self.pairs()[0]
        mechanism = as_mechanism(self.mechanism, batched=self.arguments["batched"])
        rng = np.random.default_rng(self.arguments["seed"])
        began = time.perf_counter()
        mechanism(first.data if isinstance(first, Pair) else first[0], rng, runs)
        return time.perf_counter() - began


@contextmanager
def subject_of(audit: Audit, project: Project, root: Path) -> Iterator[Subject]:
    """Load a mechanism and its pairs, and let the modules beside them be imported while the block runs.

    Parameters
    ----------
    audit : Audit
        The entry.
    project : Project
        The project, whose trials, confidence and seed count where the entry gives none.
    root : Path
        The folder of the settings, from which files and modules are found.

    Raises
    ------
    InputError
        If the mechanism or its pairs are not there, or do not fit each other.
    """
    relation = None if audit.relation is None else Relation.parse(audit.relation)
    chosen: dict[str, Any] = {name: getattr(audit, name) for name in OPTIONS if name not in _INPUTS}
    own = {name: getattr(audit, name) for name in ("trials", "confidence", "seed")}
    chosen |= {name: getattr(project, name) if value is None else value for name, value in own.items()}
    chosen["relation"] = relation
    place, pairs = _place(audit.mechanism, "mechanism", root), _place(audit.pairs, "pairs", root)
    with _folder(root), importable(str(root), *(one.folder for one in (place, pairs) if one)):
        mechanism, source = _learner(audit) if place is None else _placed(audit, place), audit.pairs
        given = audit.pairs is not None or audit.data is not None
        if place is not None and not given and not isinstance(mechanism, Learner):
            pairs = pairs_beside(place, "pairs")
            source = f"{audit.mechanism.rpartition(':')[0]}:{pairs.name}"
        chosen |= _inputs(audit, mechanism, pairs, relation, chosen["seed"])
        yield Subject(mechanism, chosen, source)


def _inputs(audit: Audit, mechanism: Any, pairs: Place | None, relation: Relation | None, seed: int) -> dict[str, Any]:
    """Return the arguments that say on what a mechanism is audited."""
    if audit.data is not None:
        return {"pairs": audit.pairs, "data": read_dataset(audit.data), "bounds": audit.bounds, "unit": audit.unit}
    own = {"bounds": audit.bounds, "unit": audit.unit}  # without data they are refused by the audit
    if pairs is not None:
        return {**own, "pairs": pairs_at(pairs, seed)}
    if audit.pairs is not None:
        return {**own, "pairs": pairs_of_source(audit.pairs, mechanism, n=audit.n, relation=relation, seed=seed)}
    return {**own, "n": audit.n}


def _place(text: str | None, role: str, root: Path) -> Place | None:
    """Return the place that a text names, files from the root; None for an id, for pairs:NUMBER and for none."""
    if text is None or is_source(text) or not is_place(text):
        return None
    place = Place.parse(role, text)
    return Place(role, os.path.join(root, place.source), place.name) if place.is_file else place


def _learner(audit: Audit) -> Learner:
    """Return an installed learner, with its example's parameters where the entry gives none."""
    entry = load().get(audit.mechanism)
    with blamed(f"the learner {entry.id}"):
        return entry.build(**{**entry.instance.parameters, **audit.parameters})


def _placed(audit: Audit, place: Place) -> Any:
    """Return what stands at a place, which must be a function or a learner."""
    if audit.parameters:
        raise InputError(f"parameters are for installed learners; {audit.mechanism} takes none")
    mechanism = place.find()
    check_built(mechanism, audit.mechanism)
    if not isinstance(mechanism, Learner) and not callable(mechanism):
        raise InputError(
            f"{audit.mechanism} must be a function (data, rng) -> output or a learner, got {mechanism!r:.100}"
        )
    if not isinstance(mechanism, Learner) and audit.n is not None:
        raise InputError(f"n is for learners, whose samples are crafted; {audit.mechanism} gets the pairs given")
    return mechanism


@contextmanager
def _folder(root: Path) -> Iterator[None]:
    """Let a folder be the current one, from which mechanisms read their files."""
    before = os.getcwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
